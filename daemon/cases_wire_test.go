package daemon

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	lsp "go.lsp.dev/protocol"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

func TestC191_MessageOf5MiB(t *testing.T) {
	h := newHost(t, nil)
	agent := h.agent("a")
	line := "a line with <tags>, \"quotes\" and 你好\n"
	text := strings.Repeat(line, 5<<20/len(line)+1)
	out := agent.MustTool("write_file", args{"path": "f", "content": text})
	back := agent.MustTool("read_file", args{"path": "f", "max_bytes": 6 << 20})
	if back.Text("contents") != text || back.Fields["truncated"] != false {
		t.Errorf("%d bytes came back of %d", len(back.Text("contents")), len(text))
	}
	if failure := decideAll(h.reviewer(), out.Text("proposal"), protocol.Accept); failure != nil {
		t.Fatal(failure)
	}
	h.wantDisk("f", text)
	agent.MustTool("read_file", args{"path": "f", "limit": 1})
}

func TestC192_SplitAndJoinedFrames(t *testing.T) {
	h := newHost(t, map[string]string{"你.txt": "你好\n"})
	agent := h.agent("a")
	read := func() (id, frame string) {
		return agent.Request(protocol.MethodToolsCall, daemontest.ToolCall("read_file", args{"path": "你.txt"}))
	}
	wantRead := func(id string) {
		t.Helper()
		if out := agent.Outcome(agent.Result(id)); out.Text("contents") != "你好\n" {
			t.Errorf("request %s gave %s", id, out.StructuredContent)
		}
	}
	t.Run("1-byte writes", func(t *testing.T) {
		id, frame := read()
		for i := range len(frame) {
			agent.Write(frame[i : i+1])
		}
		wantRead(id)
	})
	t.Run("10 requests in one write", func(t *testing.T) {
		var ids []string
		var all strings.Builder
		for range 10 {
			id, frame := read()
			ids = append(ids, id)
			all.WriteString(frame)
		}
		agent.Write(all.String())
		for _, id := range ids {
			wantRead(id)
		}
	})
	t.Run("a cut at every byte, also inside 你", func(t *testing.T) {
		for cut := 0; ; cut++ {
			id, frame := read()
			at := min(cut, len(frame))
			agent.Write(frame[:at])
			agent.Write(frame[at:])
			wantRead(id)
			if cut > len(frame) {
				break
			}
		}
	})
}

func TestC196_CancelIsAnswered(t *testing.T) {
	hold := newHolding()
	h := newHost(t, map[string]string{"f": "x\n"}, lend(hold))
	agent := h.agent("a")
	id := agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("hold", args{}))
	h.await(hold.started, "the call to start")
	agent.Cancel(id)
	if m := agent.Result(id); m.Error == nil || m.Error.Code != rpc.CodeRequestCancelled {
		t.Errorf("got %s", m)
	}
	h.await(hold.ended, "the tool's context to end")
	agent.MustTool("read_file", args{"path": "f"})

	// An id that is a string, and one of many at once.
	var ids []string
	for range 20 {
		ids = append(ids, agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("hold", args{})))
	}
	agent.Expect(`"sieben"`)
	agent.Write(daemontest.Frame(`{"jsonrpc":"2.0","id":"sieben","method":"loom/tools/call","params":{"name":"hold","arguments":{}}}`))
	for range 21 {
		h.await(hold.started, "the calls to start")
	}
	agent.Cancel(`"sieben"`)
	if m := agent.Result(`"sieben"`); m.Error == nil || m.Error.Code != rpc.CodeRequestCancelled {
		t.Errorf("got %s", m)
	}
	h.await(hold.ended, "the tool's context to end")
	select {
	case id := <-hold.ended:
		t.Errorf("call %s was not cancelled", id)
	default:
	}
	agent.MustTool("read_file", args{"path": "f"})
	for _, id := range ids {
		agent.Cancel(id)
	}
	for _, id := range ids {
		if m := agent.Result(id); m.Error == nil || m.Error.Code != rpc.CodeRequestCancelled {
			t.Errorf("got %s", m)
		}
	}
	// A second answer to any of them would be reported when the agent parts.
}

func TestC198_LateAndUnknownCancels(t *testing.T) {
	hold := newHolding()
	h := newHost(t, map[string]string{"f": "x\n"}, lend(hold))
	agent := h.agent("a")
	done := agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("read_file", args{"path": "f"}))
	agent.Outcome(agent.Result(done))
	for _, id := range []string{done, done, "999", `"no such"`, "null", "1.5"} {
		agent.Cancel(id)
	}
	agent.Notify("$/cancelRequest", args{})
	agent.MustTool("read_file", args{"path": "f"})
	id := agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("hold", args{}))
	h.await(hold.started, "the call to start")
	agent.Cancel(id)
	agent.Cancel(id)
	if m := agent.Result(id); m.Error == nil || m.Error.Code != rpc.CodeRequestCancelled {
		t.Errorf("got %s", m)
	}
	agent.Cancel(id)
	agent.MustTool("read_file", args{"path": "f"})
}

func TestC199_ClientDiesInTheMiddle(t *testing.T) {
	hold := newHolding()
	h := newHost(t, map[string]string{"f": "x\n"}, lend(hold))
	before := h.agent("b")
	a := h.agent("a")
	a.MustTool("edit_file", editOf("f", "x", "y"))
	for range 3 {
		a.Send(protocol.MethodToolsCall, daemontest.ToolCall("hold", args{}))
		h.await(hold.started, "the call to start")
	}
	_, half := a.Request(protocol.MethodToolsCall, daemontest.ToolCall("write_file", args{"path": "never", "content": "never\n"}))
	a.Write(half[:len(half)-5])
	a.Vanish()
	for range 3 {
		h.await(hold.ended, "the tool's context to end")
	}
	before.MustTool("read_file", args{"path": "f"})
	after := h.agent("a") // the session lives on
	if out := after.MustTool("read_file", args{"path": "f"}); out.Text("contents") != "y\n" {
		t.Errorf("the proposal is gone: %s", out.StructuredContent)
	}
	if out := after.Tool("read_file", args{"path": "never"}); !out.IsError || out.Text("code") != "file_not_found" {
		t.Errorf("half a frame was taken: %s", out.StructuredContent)
	}
	h.wantDisk("f", "x\n")
}

func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func open(editor *daemontest.Peer, uri, text string) {
	editor.Notify("textDocument/didOpen", args{"textDocument": args{"uri": uri, "languageId": "plaintext", "version": 1, "text": text}})
	editor.Must(protocol.MethodStatus, args{}, nil) // it has been handled
}

func TestC201_URISpellings(t *testing.T) {
	h := newHost(t, map[string]string{"a b.txt": "disk, space\n", "a%20b.txt": "disk, percent\n", "ü.txt": "disk\n"})
	agent, editor := h.agent("a"), daemontest.Editor(t, h.dial())
	base := fileURI(h.root)
	open(editor, base+"/a%20b.txt", "buffer, space\n")
	open(editor, base+"/a%2520b.txt", "buffer, percent\n")
	open(editor, base+"/%C3%BC.txt", "buffer\n")
	for name, want := range map[string]string{"a b.txt": "buffer, space\n", "a%20b.txt": "buffer, percent\n", "ü.txt": "buffer\n"} {
		if out := agent.MustTool("read_file", args{"path": name}); out.Text("contents") != want {
			t.Errorf("%s reads %q, want %q", name, out.Text("contents"), want)
		}
	}
	// Another spelling of the same document is the same document.
	for _, same := range []string{base + "/a%20b%2Etxt", base + "/./a%20b.txt", strings.Replace(base, "file:///", "file://localhost/", 1) + "/a%20b.txt"} {
		editor.Notify("textDocument/didChange", args{
			"textDocument": args{"uri": same, "version": 2}, "contentChanges": []args{{"text": same}},
		})
		editor.Must(protocol.MethodStatus, args{}, nil)
		if out := agent.MustTool("read_file", args{"path": "a b.txt"}); out.Text("contents") != same {
			t.Errorf("after a change by %s it reads %q", same, out.Text("contents"))
		}
	}
	editor.Notify("textDocument/didClose", args{"textDocument": args{"uri": base + "/%61%20b.txt"}})
	editor.Must(protocol.MethodStatus, args{}, nil)
	if out := agent.MustTool("read_file", args{"path": "a b.txt"}); out.Text("contents") != "disk, space\n" {
		t.Errorf("after the close it reads %q", out.Text("contents"))
	}
}

func TestC201_DriveForms(t *testing.T) {
	one, ok := fileOf("file:///c%3A/x")
	if !ok || !strings.HasPrefix(one, "C:") {
		t.Fatalf("file:///c%%3A/x is %q", one)
	}
	for _, same := range []string{"file:///C:/x", "file:///c:/x", "file:///C%3A/x", "file:///C%3a/%78", "file://localhost/c:/x"} {
		if got, ok := fileOf(lsp.DocumentURI(same)); !ok || got != one {
			t.Errorf("%s is %q, want %q", same, got, one)
		}
	}
	for _, other := range []string{"untitled:Untitled-1", "file://server/share/x", "http://localhost/c:/x", "file:///a%00b", "file:///%zz", ""} {
		if got, ok := fileOf(lsp.DocumentURI(other)); ok {
			t.Errorf("%q is taken for the file %q", other, got)
		}
	}
}

func TestC204_ClientSpeaksAnOlderSupportedVersion(t *testing.T) {
	h := newHost(t, map[string]string{"f": "x\n"})
	hello := func(version string) json.RawMessage {
		return json.RawMessage(`{"capabilities":{},"initializationOptions":{"loom":{"role":"agent"` + version + `}}}`)
	}
	oldest := protocol.SupportedVersions[0]
	for _, c := range []struct {
		asked string
		want  int
	}{{fmt.Sprintf(`,"protocolVersion":%d`, oldest), oldest}, {"", protocol.Version}} {
		p := daemontest.New(t, h.dial())
		var got daemontest.Hello
		p.Must("initialize", hello(c.asked), &got)
		if v := got.Capabilities.Experimental.Loom.ProtocolVersion; v != c.want {
			t.Errorf("asked %q: answered with version %d, want %d", c.asked, v, c.want)
		}
		p.MustTool("read_file", args{"path": "f"})
	}
	p := daemontest.New(t, h.dial())
	for _, asked := range []string{`,"protocolVersion":9999`, `,"protocolVersion":-1`} {
		failure := p.Call("initialize", hello(asked), nil)
		if failure == nil || failure.Code != rpc.CodeInvalidParams || len(failure.Data.Supported) == 0 || failure.Data.Supported[0] != oldest {
			t.Errorf("asked %s: %s", asked, failure)
		}
	}
	p.Must("initialize", hello(""), nil)
	p.MustTool("read_file", args{"path": "f"})
}
