package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// newFrameHost serves with a limit of 64 KiB per frame.
func newFrameHost(t *testing.T) (*host, *daemontest.Peer) {
	t.Helper()
	h := &host{t: t, top: t.TempDir(), state: t.TempDir()}
	h.root = h.top + "/ws"
	h.save("ok", "ok\n")
	h.serve(Options{MaxFrame: 64 << 10})
	return h, h.agent("a")
}

func TestBadInputFrameTooLarge(t *testing.T) {
	h, agent := newFrameHost(t)
	was := h.tree()
	wantComplaint := func(size int) {
		t.Helper()
		c := agent.Complaint()
		if c.Code != rpc.CodeInvalidRequest || !strings.Contains(c.Message, fmt.Sprint(size)) || !strings.Contains(c.Message, "65536") {
			t.Errorf("a frame of %d bytes: %s", size, c)
		}
	}
	// The body comes and is passed over.
	body := `{"jsonrpc":"2.0","id":7,"method":"loom/tools/call","params":{"name":"write_file","arguments":{"path":"no","content":"` +
		strings.Repeat("x", 64<<10) + `"}}}`
	agent.Write(daemontest.Frame(body))
	wantComplaint(len(body))
	wantUsable(t, agent)
	// What is claimed is said to be too large before it has come.
	const claim = 1 << 20
	agent.Write(fmt.Sprintf("Content-Length: %d\r\n\r\n", claim))
	wantComplaint(claim)
	agent.Write(strings.Repeat(" ", claim))
	wantUsable(t, agent)
	h.wantTree(was, "a frame that is too large")
	if got := proposals(agent); got != `{"proposals":[],"total":0}` {
		t.Errorf("proposed: %s", got)
	}
}

func TestBadInputGarbage(t *testing.T) {
	h, agent := newFrameHost(t)
	was := h.tree()
	const write = `{"jsonrpc":"2.0","id":7,"method":"loom/tools/call","params":{"name":"write_file","arguments":{"path":"no","content":"x"}}`
	for name, c := range map[string]struct {
		raw  string
		code int64
		says string
	}{
		"a line of text":         {"hello, daemon\r\n", rpc.CodeParse, "header"},
		"HTTP":                   {"GET / HTTP/1.1\r\n", rpc.CodeParse, "header"},
		"a message without head": {write + "}\n", rpc.CodeParse, "header"},
		"binary":                 {"\x00\x01\x02\xff\xfe\r\n", rpc.CodeParse, "header"},
		"no length":              {"Content-Type: text/plain\r\n\r\n", rpc.CodeParse, "Content-Length"},
		"another length":         {"Content-Length: -1\r\n\r\n", rpc.CodeParse, "number"},
		"no JSON":                {daemontest.Frame("hello"), rpc.CodeParse, "JSON"},
		"an empty body":          {daemontest.Frame(""), rpc.CodeParse, "JSON"},
		"cut JSON":               {daemontest.Frame(write), rpc.CodeParse, "JSON"}, // half a message in a whole frame
		"invalid UTF-8":          {daemontest.Frame("{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"), rpc.CodeParse, "UTF-8"},
		"a scalar":               {daemontest.Frame("7"), rpc.CodeInvalidRequest, "object"},
		"a batch":                {daemontest.Frame("[" + write + "}]"), rpc.CodeInvalidRequest, "batch"},
		"an empty object":        {daemontest.Frame("{}"), rpc.CodeInvalidRequest, "jsonrpc"},
		"deep nesting":           {daemontest.Frame(strings.Repeat("[", 60_000)), rpc.CodeParse, "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			agent.Write(c.raw)
			if got := agent.Complaint(); got.Code != c.code || !strings.Contains(got.Message, c.says) {
				t.Errorf("%s, want error %d that says %q", got, c.code, c.says)
			}
			wantUsable(t, agent)
			h.wantTree(was, "garbage")
		})
	}
	if got := proposals(agent); got != `{"proposals":[],"total":0}` {
		t.Errorf("proposed: %s", got)
	}
}

func TestBadInputHalfAFrame(t *testing.T) {
	h, other := newFrameHost(t)
	was := h.tree()
	// Half now, the rest later: the connection waits and goes on.
	slow := h.agent("slow")
	id, frame := slow.Request(protocol.MethodToolsCall, daemontest.ToolCall("read_file", args{"path": "ok"}))
	slow.Write(frame[:len(frame)/2])
	wantUsable(t, other)
	slow.Write(frame[len(frame)/2:])
	slow.Outcome(slow.Result(id))
	// Half and no more: nothing of it happens.
	for _, part := range []int{10, len("Content-Length: 123\r\n\r\n"), -10, -1} {
		p := h.agent("half")
		_, frame := p.Request(protocol.MethodToolsCall, daemontest.ToolCall("write_file", args{"path": "no", "content": "x"}))
		if part < 0 {
			part += len(frame)
		}
		p.Write(frame[:part])
		p.Vanish()
		wantUsable(t, other)
	}
	again := h.agent("half")
	if got := proposals(again); got != `{"proposals":[],"total":0}` {
		t.Errorf("proposed: %s", got)
	}
	h.wantTree(was, "half a frame")
}
