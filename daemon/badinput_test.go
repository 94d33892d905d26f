package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// Bad input gets a clear failure that names the field or path; nothing is
// written, nothing is lost, and the same connection goes on.

// badCall is a tool call that must fail.
type badCall struct {
	name  string
	tool  string
	args  any // an object, or JSON as it is
	code  string
	names string // in the message: the field or path
	hint  string // in the hint
}

// refused makes the call and checks what holds of all bad input.
func (h *host) refused(agent *daemontest.Peer, c badCall) daemontest.Outcome {
	h.t.Helper()
	was, stood := h.tree(), proposals(agent)
	out := agent.Tool(c.tool, c.args)
	if !out.IsError || out.Text("code") != c.code {
		h.t.Errorf("%s %s: %s, want %s", c.name, c.tool, out.StructuredContent, c.code)
	}
	if !strings.Contains(out.Text("message"), c.names) || !strings.Contains(out.Text("hint"), c.hint) {
		h.t.Errorf("%s %s: %s, want it to name %q and to hint at %q", c.name, c.tool, out.StructuredContent, c.names, c.hint)
	}
	h.wantTree(was, c.name)
	if now := proposals(agent); now != stood {
		h.t.Errorf("%s: proposals were %s and are %s", c.name, stood, now)
	}
	wantUsable(h.t, agent)
	return out
}

// wantUsable reads a file that every host of these tests has.
func wantUsable(t *testing.T, agent *daemontest.Peer) {
	t.Helper()
	if out := agent.MustTool("read_file", args{"path": "ok"}); out.Text("contents") != "ok\n" {
		t.Errorf("ok reads %s", out.StructuredContent)
	}
}

// proposals is what stands, for comparing.
func proposals(p *daemontest.Peer) string {
	var list protocol.ProposalsListResult
	p.Must(protocol.MethodProposalsList, args{}, &list)
	text, _ := json.Marshal(list)
	return string(text)
}

func TestBadInputTools(t *testing.T) {
	h := newHost(t, map[string]string{"ok": "ok\n"})
	agent := h.agent("a")
	for name, hint := range map[string]string{"edit_fil": "edit_file", "Read_File": "read_file", "bash -c": "", "": ""} {
		was := h.tree()
		failure := agent.Call(protocol.MethodToolsCall, daemontest.ToolCall(name, args{"path": "ok"}), nil)
		if failure == nil || failure.Code != rpc.CodeInvalidParams || failure.Data.Kind != "unknown_tool" ||
			!strings.Contains(failure.Message, fmt.Sprintf("%q", name)) || !strings.Contains(failure.Data.Hint, hint) {
			t.Errorf("tool %q: %s, hint %q", name, failure, failure.Data.Hint)
		}
		h.wantTree(was, "an unknown tool")
		wantUsable(t, agent)
	}
	for params, names := range map[string]string{
		`{"name":5}`:                  "name",
		`{"arguments":{"path":"ok"}}`: `""`,
		`[]`:                          "parameters",
		`{"name":"read_file","arguments":{},"callId":7}`: "callId",
	} {
		failure := agent.Call(protocol.MethodToolsCall, json.RawMessage(params), nil)
		if failure == nil || failure.Code != rpc.CodeInvalidParams || !strings.Contains(failure.Message, names) {
			t.Errorf("%s: %s", params, failure)
		}
		wantUsable(t, agent)
	}
	if failure := agent.Call("loom/tools/cal", args{}, nil); failure == nil || failure.Code != rpc.CodeMethodNotFound || !strings.Contains(failure.Message, "loom/tools/cal") {
		t.Errorf("an unknown method: %s", failure)
	}
	wantUsable(t, agent)
}

func TestBadInputArguments(t *testing.T) {
	h := newHost(t, map[string]string{"ok": "ok\n"})
	agent := h.agent("a")
	const good = `{"old_str":"ok","new_str":"no"}`
	for _, c := range []badCall{
		{name: "unknown argument", tool: "read_file", args: args{"path": "ok", "maxbytes": 1}, names: "maxbytes", hint: "max_bytes"},
		{name: "unknown argument", tool: "write_file", args: args{"path": "ok", "contents": "x"}, names: "contents", hint: "content"},
		{name: "unknown argument deep in", tool: "edit_file", args: json.RawMessage(`{"path":"ok","edits":[` + good + `,{"old_str":"a","new_str":"b","all":true}]}`), names: "edits[1].all"},
		{name: "string for number", tool: "read_file", args: args{"path": "ok", "max_bytes": "1"}, names: "max_bytes"},
		{name: "float for integer", tool: "read_file", args: args{"path": "ok", "max_bytes": 1.5}, names: "max_bytes"},
		{name: "number for string", tool: "write_file", args: args{"path": "ok", "content": 1}, names: "content"},
		{name: "null for string", tool: "write_file", args: args{"path": "ok", "content": nil}, names: "content"},
		{name: "object for list", tool: "edit_file", args: args{"path": "ok", "edits": args{"old_str": "ok", "new_str": "no"}}, names: "edits"},
		{name: "empty list", tool: "edit_file", args: args{"path": "ok", "edits": []args{}}, names: "edits"},
		{name: "string for boolean", tool: "list_files", args: args{"recursive": "yes"}, names: "recursive"},
		{name: "missing argument", tool: "write_file", args: args{"path": "ok"}, names: "content"},
		{name: "missing deep in", tool: "edit_file", args: args{"path": "ok", "edits": []args{{"old_str": "ok"}}}, names: "edits[0].new_str"},
		{name: "out of range", tool: "read_file", args: args{"path": "ok", "max_bytes": 0}, names: "max_bytes"},
		{name: "out of range", tool: "read_file", args: args{"path": "ok", "offset": -1}, names: "offset"},
		{name: "out of range", tool: "list_files", args: args{"max_depth": 100_000}, names: "max_depth"},
		{name: "empty path", tool: "read_file", args: args{"path": ""}, names: "path"},
		{name: "NUL in a path", tool: "write_file", args: args{"path": "a\x00b", "content": "x"}, names: "a"},
		{name: "no object", tool: "write_file", args: []string{"ok", "x"}, names: "object"},
		{name: "given twice", tool: "write_file", args: json.RawMessage(`{"path":"ok","path":"no","content":"x"}`), names: "path"},
		{name: "half a character", tool: "write_file", args: json.RawMessage(`{"path":"ok","content":"\ud800"}`), names: "content"},
	} {
		c.code = "invalid_arguments"
		t.Run(c.name+" "+c.tool, func(t *testing.T) { h.refused(agent, c) })
	}
}

// everyTool calls all tools that take a path.
func everyTool(path string) map[string]args {
	return map[string]args{
		"read_file":  {"path": path},
		"write_file": {"path": path, "content": "bad\n"},
		"edit_file":  editOf(path, "", "bad\n"),
		"list_files": {"path": path},
	}
}

func TestBadInputPathOutside(t *testing.T) {
	h := newHost(t, map[string]string{"ok": "ok\n", "d/f": "x\n"})
	evil := filepath.Join(h.top, "ws-evil")
	must(t, os.Mkdir(evil, 0o755))
	must(t, os.WriteFile(filepath.Join(evil, "s.txt"), []byte("the secret\n"), 0o644))
	for link, target := range map[string]string{
		"file":           "../ws-evil/s.txt",
		"absolute":       filepath.Join(evil, "s.txt"),
		"dir":            "../ws-evil",
		"dangling":       "../ws-evil/absent",
		"danglingdir":    "../absent",
		"null":           os.DevNull,
		"chain":          "dir",
		"d/up":           "../..",
		"danglinginside": "no/such/../../../ws-evil/s.txt",
	} {
		must(t, os.Symlink(target, filepath.Join(h.root, link)))
	}
	agent := h.agent("a")
	for _, pair := range [][2]string{ // in each, the one is there and the other is not
		{"../ws-evil/s.txt", "../ws-evil/no.txt"},
		{filepath.Join(evil, "s.txt"), filepath.Join(evil, "no.txt")},
		{"d/../../ws-evil/s.txt", "d/../../ws-evil/no.txt"},
		{"no/such/../../../ws-evil/s.txt", "no/such/../../../ws-evil/no.txt"},
		{h.root + "-evil/s.txt", h.root + "-evil/no.txt"},
		{"dir/s.txt", "dir/no.txt"},
		{"chain/s.txt", "chain/no.txt"},
		{"d/up/ws-evil/s.txt", "d/up/ws-evil/no.txt"},
		{"file", "dangling"},
		{"absolute", "danglingdir/no.txt"},
		{"null", "danglinginside"},
		{os.DevNull, "/no/such"},
		{"..", "../absent"},
		{"/", "/absent"},
	} {
		t.Run(pair[0], func(t *testing.T) {
			for tool := range everyTool("") {
				var said [2]string
				for i, path := range pair {
					out := h.refused(agent, badCall{name: path, tool: tool, args: everyTool(path)[tool], code: "path_outside_workspace", names: path})
					said[i] = strings.ReplaceAll(string(out.StructuredContent), path, "PATH")
					if strings.Contains(string(out.StructuredContent), "secret") {
						t.Errorf("%s %s shows what is there: %s", tool, path, out.StructuredContent)
					}
				}
				if said[0] != said[1] {
					t.Errorf("%s tells whether a file is there:\n%s\n%s", tool, said[0], said[1])
				}
			}
		})
	}
}

// A directory that does not exist yet can become a link before the decision.
func TestBadInputParentBecomesALink(t *testing.T) {
	h := newHost(t, map[string]string{"ok": "ok\n", "there/f": "x\n"})
	evil := filepath.Join(h.top, "ws-evil")
	must(t, os.Mkdir(evil, 0o755))
	must(t, os.WriteFile(filepath.Join(evil, "f"), []byte("x\n"), 0o644))
	agent, reviewer := h.agent("a"), h.reviewer()
	fresh := agent.MustTool("write_file", args{"path": "new/f", "content": "bad\n"})
	edited := agent.MustTool("edit_file", editOf("there/f", "x", "bad"))
	must(t, os.Symlink("../ws-evil", filepath.Join(h.root, "new")))
	must(t, os.RemoveAll(filepath.Join(h.root, "there")))
	must(t, os.Symlink(evil, filepath.Join(h.root, "there")))
	was := h.tree()
	for _, out := range []daemontest.Outcome{fresh, edited} {
		failure := decideAll(reviewer, out.Text("proposal"), protocol.Accept)
		if failure == nil || !strings.Contains(failure.Message, out.Text("path")) {
			t.Errorf("accepting %s: %s", out.Text("path"), failure)
		}
		h.wantTree(was, "an accept through a link")
		wantUsable(t, agent)
	}
	for _, link := range []string{"new", "there"} {
		must(t, os.Remove(filepath.Join(h.root, link)))
	}
	if failure := decideAll(reviewer, fresh.Text("proposal"), protocol.Accept); failure != nil {
		t.Errorf("without the link: %s", failure)
	}
	h.wantDisk("new/f", "bad\n")
}

func TestBadInputFiles(t *testing.T) {
	h := newHost(t, map[string]string{"ok": "ok\n", "d/f": "x\n", "binary": "\x7fELF\x00\x01\x02\x00\x00"})
	sparse := filepath.Join(h.root, "large")
	must(t, os.WriteFile(sparse, []byte("a line\n"), 0o644))
	must(t, os.Truncate(sparse, 256<<20+1))
	agent := h.agent("a")
	for _, c := range []badCall{
		{name: "absent", tool: "read_file", args: args{"path": "okk"}, code: "file_not_found", names: "okk", hint: "ok"},
		{name: "absent", tool: "edit_file", args: editOf("no", "a", "b"), code: "file_not_found", names: "no"},
		{name: "absent", tool: "list_files", args: args{"path": "no"}, code: "file_not_found", names: "no"},
		{name: "below a file", tool: "write_file", args: args{"path": "ok/x", "content": "x"}, code: "not_regular_file", names: "ok"},
		{name: "below a file", tool: "read_file", args: args{"path": "ok/x"}, code: "file_not_found", names: "ok/x"},
		{name: "directory", tool: "read_file", args: args{"path": "d"}, code: "is_directory", names: "d"},
		{name: "directory", tool: "edit_file", args: editOf("d", "", "x"), code: "is_directory", names: "d"},
		{name: "directory", tool: "write_file", args: args{"path": "d", "content": "x"}, code: "is_directory", names: "d"},
		{name: "directory by its slash", tool: "write_file", args: args{"path": "new/", "content": "x"}, code: "is_directory", names: "new/"},
		{name: "the root", tool: "write_file", args: args{"path": ".", "content": "x"}, code: "is_directory", names: "."},
		{name: "file", tool: "list_files", args: args{"path": "ok"}, code: "not_regular_file", names: "ok"},
		{name: "not text", tool: "read_file", args: args{"path": "binary"}, code: "not_text", names: "binary"},
		{name: "not text", tool: "edit_file", args: editOf("binary", "ELF", "x"), code: "not_text", names: "binary"},
		{name: "too large", tool: "edit_file", args: editOf("large", "a line", "x"), code: "too_large", names: "large"},
		{name: "too large", tool: "edit_file", args: editOf("large", "", "x"), code: "too_large", names: "large"},
		{name: "too large", tool: "write_file", args: args{"path": "large", "content": "x"}, code: "too_large", names: "large"},
		{name: "protected", tool: "write_file", args: args{"path": ".git/hooks/pre-commit", "content": "x"}, code: "protected_path", names: ".git/hooks/pre-commit"},
		{name: "protected", tool: "edit_file", args: editOf("sub/.GIT/config", "", "x"), code: "protected_path", names: "sub/.GIT/config"},
		{name: "protected", tool: "write_file", args: args{"path": ".loom/config.toml", "content": "x"}, code: "protected_path", names: ".loom/config.toml"},
	} {
		t.Run(c.name+" "+c.tool, func(t *testing.T) { h.refused(agent, c) })
	}
}
