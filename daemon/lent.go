package daemon

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// Bounds of a call that a client carries out.
const (
	defLentSecs = 60
	maxLentSecs = 600
	maxLentSize = 4 << 20 // bytes of an answer
)

func (c *client) toolsRegister(_ context.Context, p protocol.ToolsRegisterParams) (protocol.Empty, error) {
	session, err := c.lendsTo(p.Scope)
	if err != nil {
		return protocol.Empty{}, err
	}
	if len(p.Tools) == 0 {
		return protocol.Empty{}, invalid("tools: empty")
	}
	var fresh []*lentTool
	for i, t := range p.Tools {
		tool, err := c.lentTool(t)
		if err != nil {
			return protocol.Empty{}, invalid("tools[%d]: %v", i, err)
		}
		if slices.ContainsFunc(fresh, func(l *lentTool) bool { return l.tool.Name == t.Name }) {
			return protocol.Empty{}, invalid("tools[%d]: %s is in the list twice", i, t.Name)
		}
		fresh = append(fresh, &lentTool{tool: tool, owner: c, session: session})
	}
	return protocol.Empty{}, c.server.changeTools(func() error {
		i, err := c.server.toolbox.lend(fresh)
		if errors.Is(err, errNameTaken) {
			return &rpc.Error{
				Code: rpc.CodeInvalidParams, Message: fmt.Sprintf("tools[%d]: there is a tool %s already", i, p.Tools[i].Name),
				Data: protocol.ErrorData{Kind: "name_taken"},
			}
		}
		return err
	})
}

// lendsTo is the session that a client's tools are for, "" for every one.
func (c *client) lendsTo(scope protocol.Scope) (string, error) {
	switch {
	case scope == protocol.ScopeAll && c.session != "":
		return "", forbidden("a connection of role %s lends tools to its own session only", protocol.RoleAgent)
	case scope == protocol.ScopeAll:
		return "", nil
	case scope != "" && scope != protocol.ScopeOwn:
		return "", invalid("scope is %q: it is own or all", scope)
	case c.session == "":
		return "", invalid("scope: only an agent has a session of its own; say all")
	}
	return c.session, nil
}

func (c *client) toolsUnregister(_ context.Context, p protocol.ToolsUnregisterParams) (protocol.Empty, error) {
	if len(p.Names) == 0 {
		return protocol.Empty{}, invalid("names: empty")
	}
	return protocol.Empty{}, c.server.changeTools(func() error {
		if missing := c.server.toolbox.takeBack(c, p.Names); len(missing) > 0 {
			return invalid("names: this connection lends no tool %q", missing[0])
		}
		return nil
	})
}

// lentTool makes a tool of what a client says of it.
func (c *client) lentTool(t protocol.LentTool) (tools.Tool, error) {
	if err := tools.CheckForeign(t.Name, t.Description); err != nil {
		return tools.Tool{}, err
	}
	input, err := tools.ParseForeignSchema(t.InputSchema)
	if err != nil {
		return tools.Tool{}, fmt.Errorf("%s: inputSchema: %w", t.Name, err)
	}
	secs := t.TimeoutSecs
	switch {
	case secs == 0:
		secs = defLentSecs
	case secs < 0 || secs > maxLentSecs:
		return tools.Tool{}, fmt.Errorf("%s: timeoutSecs is %d: from 1 to %d", t.Name, secs, maxLentSecs)
	}
	hints := tools.Annotations{Destructive: true, OpenWorld: true}
	if a := t.Annotations; a != nil {
		hints = tools.Annotations{ReadOnly: a.ReadOnlyHint, Destructive: a.DestructiveHint, Idempotent: a.IdempotentHint, OpenWorld: a.OpenWorldHint}
	}
	name, limit := t.Name, time.Duration(secs)*time.Second
	return tools.Tool{
		Name: name, Description: t.Description, Input: input, Annotations: hints,
		Call: func(ctx context.Context, tc *tools.Context, args json.RawMessage) (tools.Result, error) {
			return c.invoke(ctx, limit, protocol.ToolsInvokeParams{Name: name, Arguments: args, CallID: tc.CallID, Session: tc.Session})
		},
	}, nil
}

// invoke has the client carry a call out and takes its answer.
func (c *client) invoke(ctx context.Context, limit time.Duration, p protocol.ToolsInvokeParams) (tools.Result, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var answer json.RawMessage
	err := c.conn.Call(bounded, protocol.MethodToolsInvoke, p, &answer)
	var refused *rpc.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return tools.Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return tools.Result{}, tools.Failuref(tools.CodeTimeout, "the client that lent %s did not answer within %v", p.Name, limit)
	case errors.As(err, &refused):
		return tools.Result{}, lentFailure(protocol.ToolsInvokeResult{}, refused.Message)
	default:
		return tools.Result{}, tools.Failuref(string(diffpreview.CodeUnavailable), "the client that lent %s has gone", p.Name)
	}
	if len(answer) > maxLentSize {
		return tools.Result{}, tools.Failuref(string(diffpreview.CodeTooLarge), "the client that lent %s answered with %d bytes: at most %d", p.Name, len(answer), maxLentSize)
	}
	var r protocol.ToolsInvokeResult
	if err := json.Unmarshal(answer, &r); err != nil {
		return tools.Result{}, tools.Failuref(tools.CodeToolFailed, "the client that lent %s answered what is no result of a tool: %v", p.Name, undecodable(err))
	}
	return lentResult(r)
}

// lentResult is what a client answered, as a tool's result.
func lentResult(r protocol.ToolsInvokeResult) (tools.Result, error) {
	var texts []string
	var blocks []tools.Block
	for _, b := range r.Content {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
			blocks = append(blocks, tools.Block{Type: "text", Text: b.Text})
		case "image":
			data, err := base64.StdEncoding.DecodeString(b.Data)
			if err != nil || !slices.Contains(imageTypes, b.MimeType) {
				return tools.Result{}, tools.Failuref(tools.CodeToolFailed, "the client answered with an image that is none: base64 of one of %s", strings.Join(imageTypes, ", "))
			}
			blocks = append(blocks, tools.Block{Type: "image", Data: data, MimeType: b.MimeType})
		default:
			return tools.Result{}, tools.Failuref(tools.CodeToolFailed, "the client answered with content of type %q: text and image are taken", b.Type)
		}
	}
	text := strings.Join(texts, "\n")
	if r.IsError {
		return tools.Result{}, lentFailure(r, text)
	}
	structured := r.StructuredContent
	switch {
	case isAbsent(structured):
		return tools.Result{Structured: map[string]string{"value": text}, Content: blocks}, nil
	case structured[0] != '{':
		return tools.Result{Structured: map[string]json.RawMessage{"value": structured}, Content: blocks}, nil
	}
	return tools.Result{Structured: structured, Content: blocks}, nil
}

// imageTypes are what models are shown.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func isAbsent(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

var failureCode = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// maxFailureText bounds the words of a failure, in bytes.
const maxFailureText = 8 << 10

// lentFailure is the failure that a client tells, in its words.
func lentFailure(r protocol.ToolsInvokeResult, text string) *tools.Failure {
	var said struct{ Code, Message, Hint string }
	// What is no failure's shape is told by the text.
	_ = json.Unmarshal(r.StructuredContent, &said)
	if !failureCode.MatchString(said.Code) {
		said.Code = tools.CodeToolFailed
	}
	for _, words := range []string{said.Message, text, "the tool says that it failed, and not why"} {
		if words != "" {
			f := tools.Failuref(said.Code, "%s", cutText(words, maxFailureText))
			f.Hint = cutText(said.Hint, maxFailureText)
			return f
		}
	}
	return nil
}

// cutText is the beginning of a text, at most size bytes, cut between characters.
func cutText(s string, size int) string {
	if len(s) <= size {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:size], "") + "…"
}
