package daemon

import (
	"context"
	"errors"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// wireError gives an error its code and data on the wire. This is the one
// place that does.
func (s *Server) wireError(err error) error {
	var wire *rpc.Error
	var unknown *tools.UnknownToolError
	var toolset *tools.UnknownToolsetError
	var review *diffpreview.Error
	switch {
	case errors.As(err, &wire):
		return err
	case errors.Is(err, context.Canceled):
		return err // package rpc knows the code
	case errors.As(err, &unknown):
		return &rpc.Error{
			Code: rpc.CodeInvalidParams, Message: err.Error(),
			Data: protocol.ErrorData{Kind: "unknown_tool", Hint: unknown.Hint},
		}
	case errors.As(err, &toolset):
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error(), Data: protocol.ErrorData{Kind: "unknown_toolset"}}
	case errors.As(err, &review):
		return &rpc.Error{Code: codeOf(review.Code), Message: err.Error(), Data: s.dataOf(review)}
	}
	return &rpc.Error{Code: rpc.CodeInternal, Message: err.Error(), Data: protocol.ErrorData{Kind: "internal"}}
}

func codeOf(code diffpreview.Code) int64 {
	switch code {
	case diffpreview.CodeInvalidArguments:
		return rpc.CodeInvalidParams
	case diffpreview.CodeAlreadyDecided, diffpreview.CodeChangedSince, diffpreview.CodeConflict, diffpreview.CodeStale:
		return rpc.CodeContentModified
	case diffpreview.CodeInternal:
		return rpc.CodeInternal
	}
	return rpc.CodeRequestFailed
}

func (s *Server) dataOf(e *diffpreview.Error) protocol.ErrorData {
	data := protocol.ErrorData{Kind: string(e.Code), Hint: e.Hint, Path: e.Path}
	if e.Proposal != nil {
		wire := s.wireProposal(e.Proposal, whole)
		data.Proposal = &wire
	}
	for _, p := range e.Blocking {
		data.Proposals = append(data.Proposals, s.wireProposal(p, summary))
	}
	return data
}
