package daemontest

import (
	"encoding/json"
	"net"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// Hello is what initialize answers, as far as tests look at it.
type Hello struct {
	Capabilities struct {
		Experimental struct {
			Loom protocol.LoomCapabilities `json:"loom"`
		} `json:"experimental"`
	} `json:"capabilities"`
}

// Agent connects an agent that joins the session of a label.
func Agent(t testing.TB, nc net.Conn, label string) *Peer {
	t.Helper()
	return greet(t, nc, protocol.LoomOptions{Role: protocol.RoleAgent, Session: &protocol.SessionOptions{Label: label}})
}

// Editor connects an editor. It is told of every proposal.
func Editor(t testing.TB, nc net.Conn) *Peer {
	t.Helper()
	return greet(t, nc, protocol.LoomOptions{Role: protocol.RoleEditor})
}

// Reviewer connects a reviewer. It is told of every proposal.
func Reviewer(t testing.TB, nc net.Conn) *Peer {
	t.Helper()
	return greet(t, nc, protocol.LoomOptions{Role: protocol.RoleReviewer})
}

func greet(t testing.TB, nc net.Conn, options protocol.LoomOptions) *Peer {
	t.Helper()
	p := New(t, nc)
	p.Must("initialize", map[string]any{
		"capabilities":          map[string]any{},
		"clientInfo":            map[string]any{"name": "test " + string(options.Role)},
		"initializationOptions": map[string]any{"loom": options},
	}, nil)
	p.Notify("initialized", struct{}{})
	return p
}

// Call sends a request and reads its answer into result, unless that is nil.
func (p *Peer) Call(method string, params, result any) *Failure {
	p.t.Helper()
	return p.Decode(p.Result(p.Send(method, params)), result)
}

// Decode reads an answer into result, unless that is nil.
func (p *Peer) Decode(m Message, result any) *Failure {
	p.t.Helper()
	if m.Error != nil || result == nil {
		return m.Error
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		p.t.Fatalf("%v in %.300s", err, m.Result)
	}
	return nil
}

// Must is Call for what must succeed.
func (p *Peer) Must(method string, params, result any) {
	p.t.Helper()
	if failure := p.Call(method, params, result); failure != nil {
		p.t.Fatalf("%s: %s", method, failure)
	}
}

// Outcome is how a tool call ended.
type Outcome struct {
	protocol.ToolsCallResult
	Fields map[string]any // of the structured content
}

// Text is a field of the structured content that is a string.
func (o Outcome) Text(field string) string {
	s, _ := o.Fields[field].(string)
	return s
}

// ToolCall is the parameters of a tool call. A json.RawMessage is taken as it
// is.
func ToolCall(name string, args any) map[string]any {
	return map[string]any{"name": name, "arguments": args}
}

// Tool calls a tool. A tool that fails is an outcome.
func (p *Peer) Tool(name string, args any) Outcome {
	p.t.Helper()
	return p.Outcome(p.Result(p.Send(protocol.MethodToolsCall, ToolCall(name, args))))
}

// Outcome reads the answer to a tool call and checks its shape.
func (p *Peer) Outcome(m Message) Outcome {
	p.t.Helper()
	var out Outcome
	if failure := p.Decode(m, &out.ToolsCallResult); failure != nil {
		p.t.Fatalf("a tool call: %s", failure)
	}
	if err := json.Unmarshal(out.StructuredContent, &out.Fields); err != nil {
		p.t.Fatalf("%v in %.300s", err, out.StructuredContent)
	}
	if len(out.Content) != 1 || out.Content[0].Text != string(out.StructuredContent) || out.Reviews == nil {
		p.t.Errorf("the outcome's shape is %+v", out.ToolsCallResult)
	}
	return out
}

// MustTool calls a tool that must succeed.
func (p *Peer) MustTool(name string, args any) Outcome {
	p.t.Helper()
	out := p.Tool(name, args)
	if out.IsError {
		p.t.Fatalf("%s: %s", name, out.StructuredContent)
	}
	return out
}

// Proposal awaits the notification of a proposal in a state.
func (p *Peer) Proposal(path string, state protocol.ProposalState) protocol.Proposal {
	p.t.Helper()
	var got protocol.ProposalDidChangeParams
	p.Next(protocol.MethodProposalsDidChange, func(params json.RawMessage) bool {
		got = protocol.ProposalDidChangeParams{}
		return json.Unmarshal(params, &got) == nil && got.Proposal.Path == path && got.Proposal.State == state
	})
	return got.Proposal
}
