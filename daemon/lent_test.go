package daemon

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
)

const ticketSchema = `{"type":"object","properties":{"id":{"type":"integer","minimum":1}},"required":["id"],"additionalProperties":false}`

func lending(scope protocol.Scope, names ...string) protocol.ToolsRegisterParams {
	p := protocol.ToolsRegisterParams{Scope: scope}
	for _, name := range names {
		p.Tools = append(p.Tools, protocol.LentTool{Name: name, Description: "Shows a ticket.", InputSchema: json.RawMessage(ticketSchema)})
	}
	return p
}

func toolNames(p *daemontest.Peer) []string {
	var list protocol.ToolsListResult
	p.Must(protocol.MethodToolsList, struct{}{}, &list)
	return namesIn(list)
}

func namesIn(list protocol.ToolsListResult) []string {
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

// wantChanged awaits that the agent is told of its tools, with this one or
// without it.
func wantChanged(t *testing.T, p *daemontest.Peer, name string, there bool) {
	t.Helper()
	var list protocol.ToolsListResult
	must(t, json.Unmarshal(p.Next(protocol.MethodToolsDidChange, nil), &list))
	if slices.Contains(namesIn(list), name) != there {
		t.Errorf("told of %v, want %s: %v", namesIn(list), name, there)
	}
}

func answering(p *daemontest.Peer, result string) {
	p.Answer(protocol.MethodToolsInvoke, func(json.RawMessage) any { return json.RawMessage(result) })
}

// An agent's host lends a tool to the agent: that session alone has it, its
// arguments are checked before the host hears of a call.
func TestLentToolOfASession(t *testing.T) {
	h := newHost(t, nil)
	host, other := h.agent("mine"), h.agent("other")
	host.Must(protocol.MethodToolsRegister, lending("", "ticket"), nil)
	wantChanged(t, host, "ticket", true)
	if names := toolNames(host); names[len(names)-1] != "ticket" {
		t.Errorf("the lender's tools are %v", names)
	}
	if names := toolNames(other); slices.Contains(names, "ticket") {
		t.Errorf("another session's tools are %v", names)
	}
	if f := other.Call(protocol.MethodToolsCall, daemontest.ToolCall("ticket", args{"id": 1}), nil); f == nil || f.Data.Kind != "unknown_tool" {
		t.Errorf("from another session: %s", f)
	}
	if out := host.Tool("ticket", args{"id": 0}); out.Text("code") != "invalid_arguments" || out.Text("field") != "id" {
		t.Errorf("a wrong argument: %s", out.StructuredContent)
	}
	var got protocol.ToolsInvokeParams
	host.Answer(protocol.MethodToolsInvoke, func(params json.RawMessage) any {
		must(t, json.Unmarshal(params, &got))
		return json.RawMessage(`{"structuredContent":{"title":"Crash"}}`)
	})
	out := host.MustTool("ticket", args{"id": 7})
	if string(out.StructuredContent) != `{"title":"Crash"}` {
		t.Errorf("the answer is %s", out.StructuredContent)
	}
	if string(got.Arguments) != `{"id":7}` || got.Name != "ticket" || got.CallID != out.CallID || got.Session == "" {
		t.Errorf("the host was asked %+v", got)
	}
	// A second connection of the session has it, too, until it is taken back.
	second := h.agent("mine")
	if !slices.Contains(toolNames(second), "ticket") {
		t.Error("the session's other connection does not have it")
	}
	host.Must(protocol.MethodToolsUnregister, protocol.ToolsUnregisterParams{Names: []string{"ticket"}}, nil)
	wantChanged(t, host, "ticket", false)
	wantChanged(t, second, "ticket", false)
	if f := host.Call(protocol.MethodToolsUnregister, protocol.ToolsUnregisterParams{Names: []string{"ticket"}}, nil); f == nil {
		t.Error("taken back twice")
	}
}

// What an editor lends every session has, as long as the editor is there.
func TestLentToolGoesWithItsClient(t *testing.T) {
	h := newHost(t, nil)
	editor, agent := h.reviewer(), h.agent("a")
	if f := editor.Call(protocol.MethodToolsRegister, lending("own", "problems"), nil); f == nil {
		t.Error("an editor has a session of its own")
	}
	if f := agent.Call(protocol.MethodToolsRegister, lending("all", "problems"), nil); f == nil || f.Data.Kind != "rights" {
		t.Errorf("an agent lends to all: %s", f)
	}
	editor.Must(protocol.MethodToolsRegister, lending("all", "problems"), nil)
	wantChanged(t, agent, "problems", true)
	if f := agent.Call(protocol.MethodToolsRegister, lending("own", "problems"), nil); f == nil || f.Data.Kind != "name_taken" {
		t.Errorf("a name that is lent already: %s", f)
	}
	call := agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("problems", args{"id": 1}))
	editor.Next(protocol.MethodToolsInvoke, nil)
	editor.Vanish()
	if out := agent.Outcome(agent.Result(call)); out.Text("code") != "unavailable" {
		t.Errorf("the client went during a call: %s", out.StructuredContent)
	}
	wantChanged(t, agent, "problems", false)
	if f := agent.Call(protocol.MethodToolsCall, daemontest.ToolCall("problems", args{"id": 1}), nil); f == nil || f.Data.Kind != "unknown_tool" {
		t.Errorf("after it went: %s", f)
	}
}

// What makes no tool is refused, and with it all that came in the same message.
func TestLentToolRefused(t *testing.T) {
	h := newHost(t, nil)
	agent := h.agent("a")
	for _, c := range []struct {
		change func(*protocol.ToolsRegisterParams)
		want   string
	}{
		{func(p *protocol.ToolsRegisterParams) { p.Tools[1].Name = "read_file" }, "there is a tool read_file already"},
		{func(p *protocol.ToolsRegisterParams) { p.Tools[1].Name = "ok" }, "ok is in the list twice"},
		{func(p *protocol.ToolsRegisterParams) { p.Tools[1].Name = "no such" }, "name"},
		{func(p *protocol.ToolsRegisterParams) { p.Tools[1].Description = " " }, "description"},
		{func(p *protocol.ToolsRegisterParams) { p.Tools[1].InputSchema = json.RawMessage(`{"type":"array"}`) }, "not object"},
		{func(p *protocol.ToolsRegisterParams) { p.Tools[1].TimeoutSecs = 601 }, "timeoutSecs"},
		{func(p *protocol.ToolsRegisterParams) { p.Scope = "some" }, "own or all"},
		{func(p *protocol.ToolsRegisterParams) { p.Tools = nil }, "empty"},
	} {
		p := lending("", "ok", "second")
		c.change(&p)
		if f := agent.Call(protocol.MethodToolsRegister, p, nil); f == nil || !strings.Contains(f.Message, c.want) {
			t.Errorf("want %q: %s", c.want, f)
		}
	}
	if slices.Contains(toolNames(agent), "ok") {
		t.Error("a part of what was refused is there")
	}
	many := lending("")
	for i := range maxLent + 1 {
		many.Tools = append(many.Tools, lending("", "t"+strings.Repeat("x", i%60)+string(rune('a'+i/60))).Tools...)
	}
	if f := agent.Call(protocol.MethodToolsRegister, many, nil); f == nil || !strings.Contains(f.Message, "at most") {
		t.Errorf("too many: %s", f)
	}
}

func TestLentToolAnswers(t *testing.T) {
	h := newHost(t, nil)
	agent := h.agent("a")
	agent.Ignore(protocol.MethodToolsDidChange, "$/cancelRequest")
	agent.Must(protocol.MethodToolsRegister, lending("", "ticket"), nil)
	for _, c := range []struct{ answer, want string }{
		{`{"structuredContent":["a"]}`, `{"value":["a"]}`},
		{`{"structuredContent":"a"}`, `{"value":"a"}`},
		{`{"content":[]}`, `{"value":""}`},
		{`{"isError":true,"structuredContent":{"code":"Odd code","message":"m","hint":"h"}}`, `{"code":"tool_failed","message":"m","hint":"h"}`},
		{`{"isError":true,"structuredContent":{"code":"no_ticket","message":"m"}}`, `{"code":"no_ticket","message":"m","hint":""}`},
		{`{"isError":true,"content":[{"type":"text","text":"t"}]}`, `{"code":"tool_failed","message":"t","hint":""}`},
		{`{"isError":1}`, `{"code":"tool_failed","message":"the client that lent ticket answered what is no result of a tool: isError must be true or false, not a number","hint":""}`},
		{`{"content":[{"type":"video"}]}`, `{"code":"tool_failed","message":"the client answered with content of type \"video\": text and image are taken","hint":""}`},
		{`{"structuredContent":"` + strings.Repeat("x", maxLentSize) + `"}`, `{"code":"too_large","message":"the client that lent ticket answered with 4194328 bytes: at most 4194304","hint":""}`},
	} {
		answering(agent, c.answer)
		if out := agent.Tool("ticket", args{"id": 1}); string(out.StructuredContent) != c.want {
			t.Errorf("%.80s became %.300s", c.answer, out.StructuredContent)
		}
	}
	var out protocol.ToolsCallResult
	answering(agent, `{"content":[{"type":"text","text":"seen"},{"type":"image","mimeType":"image/png","data":"aGk="}]}`)
	agent.Must(protocol.MethodToolsCall, daemontest.ToolCall("ticket", args{"id": 1}), &out)
	if len(out.Content) != 2 || out.Content[0].Text != "seen" || out.Content[1].Data != "aGk=" || string(out.StructuredContent) != `{"value":"seen"}` {
		t.Errorf("%+v", out)
	}
}

// A client that does not answer is not waited for.
func TestLentToolTakesTooLong(t *testing.T) {
	h := newHost(t, nil)
	agent := h.agent("a")
	agent.Ignore(protocol.MethodToolsDidChange)
	hasty := lending("", "ticket")
	hasty.Tools[0].TimeoutSecs = 1
	agent.Must(protocol.MethodToolsRegister, hasty, nil)
	call := agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("ticket", args{"id": 1}))
	agent.Next(protocol.MethodToolsInvoke, nil)
	if out := agent.Outcome(agent.Result(call)); out.Text("code") != "timeout" {
		t.Errorf("%s", out.StructuredContent)
	}
	agent.Next("$/cancelRequest", nil)
	// A call that is given up is given up there, too.
	agent.Must(protocol.MethodToolsRegister, lending("", "ticket"), nil)
	call = agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("ticket", args{"id": 1}))
	agent.Next(protocol.MethodToolsInvoke, nil)
	agent.Cancel(call)
	if f := agent.Decode(agent.Result(call), nil); f == nil || f.Code != -32800 {
		t.Errorf("cancelled: %s", f)
	}
	agent.Next("$/cancelRequest", nil)
}
