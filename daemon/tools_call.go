package daemon

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

func (c *client) toolsList(context.Context, protocol.Empty) (protocol.ToolsListResult, error) {
	c.server.configure()
	registry := c.server.toolbox.everything()
	if c.session != "" {
		var err error
		if registry, err = c.sessionTools(); err != nil {
			return protocol.ToolsListResult{}, err
		}
	}
	return protocol.ToolsListResult{Tools: wireTools(registry)}, nil
}

// Tools lists loomd's own tools as every daemon of this version advertises them.
func Tools() ([]protocol.Tool, error) {
	registry, err := tools.Builtin()
	if err != nil {
		return nil, err
	}
	return wireTools(registry), nil
}

func wireTools(registry *tools.Registry) []protocol.Tool {
	out := []protocol.Tool{}
	for _, t := range registry.List() {
		out = append(out, protocol.Tool{
			Name: t.Name, Description: t.Description,
			InputSchema: t.Input.JSON, OutputSchema: t.Output.JSON,
			Annotations: protocol.ToolAnnotations{
				ReadOnlyHint: t.Annotations.ReadOnly, DestructiveHint: t.Annotations.Destructive,
				IdempotentHint: t.Annotations.Idempotent, OpenWorldHint: t.Annotations.OpenWorld,
			},
		})
	}
	return out
}

func (c *client) toolsCall(ctx context.Context, p protocol.ToolsCallParams) (any, error) {
	sess, _ := c.server.store.Session(c.session)
	if !sess.Open {
		return nil, &rpc.Error{
			Code: rpc.CodeRequestFailed, Message: "session " + c.session + " is closed",
			Data: protocol.ErrorData{Kind: "session_closed", Hint: "connect again for a new session"},
		}
	}
	c.server.configure()
	registry, err := c.server.toolbox.of(sess.ID, sess.Toolset)
	if err != nil {
		return nil, err
	}
	if p.CallID == "" {
		p.CallID = c.server.nextCallID()
	}
	c.server.refreshSecrets(ctx)
	progress := &progress{conn: c.conn, token: p.WorkDoneToken, title: p.Name, clean: c.server.shown}
	outcome, err := registry.Run(ctx, p.Name, p.CallID, p.Arguments, tools.Context{
		View: c.server.store.View(c.session), Logger: c.server.logger.With("session", c.session),
		ReviewWait: func() time.Duration { return c.server.reviewWait(sess) }, Progress: progress.report,
		Index: c.server.indexes.searchers(), Jobs: c.server.jobsOf(c.session), Session: sess.ID, Services: c.server.services(),
		Allow: c.server.allow(sess, p.Name, progress.report), Sandbox: c.server.sandboxOf(sess), Secrets: c.server.secrets,
	})
	progress.end()
	if err != nil {
		return nil, err
	}
	if outcome.Cancelled {
		return nil, interrupted(outcome)
	}
	pending := c.server.store.Reviews(c.session)
	moved := c.server.store.Moved(c.session)
	answer, err := c.server.answerOf(outcome, pending, moved)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // nobody reads this: the reviews wait for the next call
	}
	if err := c.server.store.Told(c.session, pending); err != nil {
		// They are in the result; after a restart the agent hears of them again.
		c.server.logger.Warn("What the agent was told could not be journalled", "session", c.session, "error", err)
	}
	c.server.store.ToldMoved(c.session, moved)
	return answer, nil
}

// interrupted is the error of a call that was cancelled and has something to show.
func interrupted(o tools.Outcome) error {
	return &rpc.Error{
		Code: rpc.CodeRequestCancelled, Message: "request cancelled",
		Data: protocol.ErrorData{Kind: "cancelled", Hint: "partial is what there was until then", Partial: o.Structured},
	}
}

// answerOf is a [protocol.ToolsCallResult]. What a registry has made is JSON in
// valid UTF-8, and without secrets, so it is left where it is.
func (s *Server) answerOf(o tools.Outcome, pending []diffpreview.Review, moved []diffpreview.Moved) (rpc.Pieces, error) {
	var out pieces
	out.text(`{"callId":`)
	out.value(s.shown(o.CallID))
	out.text(`,"content":[`)
	for i, b := range o.Content {
		if i > 0 {
			out.text(`,`)
		}
		if b.Quoted == nil {
			out.value(protocol.Content{Type: b.Type, Text: b.Text, MimeType: b.MimeType, Data: base64.StdEncoding.EncodeToString(b.Data)})
			continue
		}
		out.text(`{"type":"text","text":"`)
		out.long(b.Quoted...)
		out.text(`"}`)
	}
	out.text(`],"structuredContent":`)
	switch {
	case o.Pieces != nil:
		out.long(o.Pieces...)
	case len(o.Structured) > 0:
		out.long(o.Structured)
	default:
		out.text(`{}`)
	}
	out.text(`,"isError":`)
	out.value(o.IsError)
	out.text(`,"reviews":`)
	reviews := make([]protocol.Review, len(pending))
	for i, r := range pending {
		reviews[i] = wireReview(r)
	}
	out.value(s.shown(reviews))
	if len(moved) > 0 {
		list := make([]protocol.Moved, len(moved))
		for i, m := range moved {
			list[i] = protocol.Moved{Proposal: m.Proposal, Path: m.Path, Hash: m.Hash, Diff: m.Diff, Truncated: m.Truncated}
		}
		out.text(`,"moved":`)
		out.value(s.shown(list))
	}
	out.text(`}`)
	return rpc.Pieces{JSON: out.list, Written: o.Release}, out.err
}

// pieces is JSON in the making.
type pieces struct {
	list [][]byte
	open bool // the last of list is ours, and goes on
	err  error
}

func (p *pieces) text(s string) {
	if !p.open {
		p.list, p.open = append(p.list, nil), true
	}
	last := len(p.list) - 1
	p.list[last] = append(p.list[last], s...)
}

func (p *pieces) value(v any) {
	encoded, err := json.Marshal(v)
	p.err = errors.Join(p.err, err)
	p.text(string(encoded))
}

func (p *pieces) long(list ...[]byte) { p.list, p.open = append(p.list, list...), false }

func wireReview(r diffpreview.Review) protocol.Review {
	out := protocol.Review{
		Proposal: r.Proposal, Path: r.Path, Hunk: r.Hunk, Decision: r.Decision, Comment: r.Comment, By: r.By, Rule: r.Rule, Hash: r.Hash,
	}
	if t := r.Conflict; t != nil {
		out.Conflict = &protocol.Conflict{Base: t.Base, Tree: t.Tree, Agent: t.Agent}
	}
	return out
}
