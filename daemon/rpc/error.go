package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Error codes of JSON-RPC 2.0 and of LSP 3.17.
const (
	CodeParse                int64 = -32700
	CodeInvalidRequest       int64 = -32600
	CodeMethodNotFound       int64 = -32601
	CodeInvalidParams        int64 = -32602
	CodeInternal             int64 = -32603
	CodeServerNotInitialized int64 = -32002
	CodeRequestCancelled     int64 = -32800
	CodeContentModified      int64 = -32801
	CodeRequestFailed        int64 = -32803
)

// ErrClosed is what Call and Notify return when the connection has ended or
// ends before the answer came.
var ErrClosed = errors.New("connection closed")

// ErrSlow ends a connection whose peer does not read: more than
// Options.MaxQueued bytes were waiting for it.
var ErrSlow = errors.New("peer does not read")

// Error is a JSON-RPC error object: what a handler returns to choose the code
// of an answer, and what Call returns for an error answer.
type Error struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	// Data is encoded as JSON. In an Error that came from the peer it is a
	// json.RawMessage, or nil.
	Data any `json:"data,omitempty"`
}

// Error returns the message alone, so that wrapping an Error gives a sentence.
func (e *Error) Error() string { return e.Message }

// UnmarshalJSON keeps data as it came: see [Error.DecodeData].
func (e *Error) UnmarshalJSON(text []byte) error {
	var wire struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(text, &wire); err != nil {
		return fmt.Errorf("error object: %w", err)
	}
	*e = Error{Code: wire.Code, Message: wire.Message}
	if len(wire.Data) > 0 && string(wire.Data) != "null" {
		e.Data = wire.Data
	}
	return nil
}

// DecodeData puts the data of an Error that came from the peer into v. Without
// data v is left as it is.
func (e *Error) DecodeData(v any) error {
	raw, ok := e.Data.(json.RawMessage)
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("error data: %w", err)
	}
	return nil
}

// errorOf makes the answer for a handler's err. An *Error anywhere in the chain
// gives code and data, the outermost error gives the text. Of a request that
// was cancelled every other error means: cancelled.
func errorOf(err error, cancelled bool) *Error {
	var own *Error
	switch {
	case errors.As(err, &own) && own != nil:
		if own.Code == 0 {
			return &Error{Code: CodeInternal, Message: err.Error(), Data: own.Data}
		}
		return &Error{Code: own.Code, Message: err.Error(), Data: own.Data}
	case cancelled && errors.Is(err, context.Canceled):
		return cancelledError()
	case cancelled:
		return &Error{Code: CodeRequestCancelled, Message: "request cancelled: " + err.Error()}
	default:
		return &Error{Code: CodeInternal, Message: err.Error()}
	}
}

func cancelledError() *Error {
	return &Error{Code: CodeRequestCancelled, Message: "request cancelled"}
}
