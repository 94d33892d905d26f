package daemon

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

func (c *client) toolsList(context.Context, protocol.Empty) (protocol.ToolsListResult, error) {
	registry := c.tools
	if registry == nil {
		registry = c.server.tools
	}
	out := protocol.ToolsListResult{Tools: []protocol.Tool{}}
	for _, t := range registry.List() {
		out.Tools = append(out.Tools, protocol.Tool{
			Name: t.Name, Description: t.Description,
			InputSchema: t.Input.JSON, OutputSchema: t.Output.JSON,
			Annotations: protocol.ToolAnnotations{
				ReadOnlyHint: t.Annotations.ReadOnly, DestructiveHint: t.Annotations.Destructive,
				IdempotentHint: t.Annotations.Idempotent, OpenWorldHint: t.Annotations.OpenWorld,
			},
		})
	}
	return out, nil
}

func (c *client) toolsCall(ctx context.Context, p protocol.ToolsCallParams) (any, error) {
	sess, _ := c.server.store.Session(c.session)
	if !sess.Open {
		return nil, &rpc.Error{
			Code: rpc.CodeRequestFailed, Message: "session " + c.session + " is closed",
			Data: protocol.ErrorData{Kind: "session_closed", Hint: "connect again for a new session"},
		}
	}
	if p.CallID == "" {
		p.CallID = c.server.nextCallID()
	}
	progress := &progress{conn: c.conn, token: p.WorkDoneToken, title: p.Name}
	outcome, err := c.tools.Run(ctx, p.Name, p.CallID, p.Arguments, tools.Context{
		View: c.server.store.View(c.session), Logger: c.server.logger,
		ReviewWait: c.server.reviewWait(sess), Progress: progress.report,
		Index: c.server.indexes.searchers(),
	})
	progress.end()
	if err != nil {
		return nil, err
	}
	result := &protocol.ToolsCallResult{
		CallID: outcome.CallID, Content: wireContent(outcome.Content),
		StructuredContent: outcome.Structured, IsError: outcome.IsError, Reviews: []protocol.Review{},
	}
	if len(result.StructuredContent) == 0 {
		result.StructuredContent = json.RawMessage("{}")
	}
	pending := c.server.store.Reviews(c.session)
	for _, r := range pending {
		result.Reviews = append(result.Reviews, wireReview(r))
	}
	moved := c.server.store.Moved(c.session)
	for _, m := range moved {
		result.Moved = append(result.Moved, protocol.Moved{
			Proposal: m.Proposal, Path: m.Path, Hash: m.Hash, Diff: m.Diff, Truncated: m.Truncated,
		})
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // nobody reads this: the reviews wait for the next call
	}
	if err := c.server.store.Told(c.session, pending); err != nil {
		// They are in the result; after a restart the agent hears of them again.
		c.server.logger.Warn("What the agent was told could not be journalled", "session", c.session, "error", err)
	}
	c.server.store.ToldMoved(c.session, moved)
	switch {
	case outcome.Pieces != nil:
		return inPieces(result, outcome.Pieces, outcome.Release)
	case len(result.StructuredContent) > maxCopied:
		return inPieces(result, [][]byte{result.StructuredContent}, nil)
	}
	return result, nil
}

// maxCopied is the size in bytes up to which a structured result is checked and
// copied into the answer with the rest: below it the system calls for pieces
// cost more.
const maxCopied = 32 << 10

// inPieces is the answer with a structured content that a registry has made and
// so is JSON, left where it is.
func inPieces(result *protocol.ToolsCallResult, structured [][]byte, written func()) (any, error) {
	text, err := json.Marshal(struct {
		CallID  string             `json:"callId"`
		Content []protocol.Content `json:"content"`
	}{result.CallID, result.Content})
	if err != nil {
		return nil, err
	}
	head := append(text[:len(text)-1], `,"structuredContent":`...)
	tail, err := json.Marshal(struct {
		IsError bool              `json:"isError"`
		Reviews []protocol.Review `json:"reviews"`
		Moved   []protocol.Moved  `json:"moved,omitempty"`
	}{result.IsError, result.Reviews, result.Moved})
	if err != nil {
		return nil, err
	}
	tail[0] = ','
	return rpc.Pieces{JSON: slices.Concat([][]byte{head}, structured, [][]byte{tail}), Written: written}, nil
}

func wireReview(r diffpreview.Review) protocol.Review {
	out := protocol.Review{
		Proposal: r.Proposal, Path: r.Path, Hunk: r.Hunk, Decision: r.Decision, Comment: r.Comment, By: r.By, Rule: r.Rule, Hash: r.Hash,
	}
	if t := r.Conflict; t != nil {
		out.Conflict = &protocol.Conflict{Base: t.Base, Tree: t.Tree, Agent: t.Agent}
	}
	return out
}

func wireContent(blocks []tools.Block) []protocol.Content {
	out := make([]protocol.Content, len(blocks))
	for i, b := range blocks {
		out[i] = protocol.Content{Type: b.Type, Text: b.Text, MimeType: b.MimeType}
		if len(b.Data) > 0 {
			out[i].Data = base64.StdEncoding.EncodeToString(b.Data)
		}
	}
	return out
}
