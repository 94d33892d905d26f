package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// grep returns "path:line" of every match.
func (g *guest) grep(pattern string) string {
	g.t.Helper()
	var out []string
	got, result := g.tool("grep", fmt.Sprintf(`{"pattern":%q}`, pattern))
	if result.IsError {
		g.t.Fatalf("grep: %v", got)
	}
	for _, m := range got["matches"].([]any) {
		m := m.(map[string]any)
		out = append(out, fmt.Sprint(m["path"], ":", m["line"]))
	}
	return strings.Join(out, " ")
}

func (g *guest) wantGrep(pattern, want string) {
	g.t.Helper()
	if got := g.grep(pattern); got != want {
		g.t.Errorf("grep %s: %q, want %q", pattern, got, want)
	}
}

// What the daemon keeps within its own root, as under a home, no search sees, nor git.
func TestSearchLeavesTheDaemonsStateOut(t *testing.T) {
	root := t.TempDir()
	h := newHouseKeeping(t, filepath.Join(root, ".local", "state"), root)
	h.save("f", "one\n")
	agent := h.connect(helloAgent, nil)
	agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"one","new_str":"remarkable"}]}`)
	agent.wantGrep("remarkable", "f:1")
	got, _ := agent.tool("list_files", `{"recursive":true,"max_depth":9}`)
	for _, f := range got["files"].([]any) {
		if path := f.(map[string]any)["path"].(string); strings.HasPrefix(path, ".local/state/loomd/") {
			t.Errorf("listed: %s", path)
		}
	}
}

// What an agent proposes its session finds; once it is accepted everybody does,
// without waiting for the watcher.
func TestSearchFollowsTheReview(t *testing.T) {
	h := newHouse(t, map[string]string{"a.go": "one\n", "b.go": "two\n"})
	agent, person := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	other := h.connect(`{"capabilities":{},"initializationOptions":{"loom":{"role":"agent","session":{"label":"other"}}}}`, nil)
	agent.wantGrep("one|two", "a.go:1 b.go:1")
	got, _ := agent.tool("edit_file", `{"path":"a.go","edits":[{"old_str":"one","new_str":"three"}]}`)
	agent.wantGrep("one|three", "a.go:1")
	other.wantGrep("three", "")
	var decided protocol.DecideResult
	person.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: got["proposal"].(string), Version: 1, Decision: "accept"}, &decided)
	h.wantDisk("a.go", "three\n")
	other.wantGrep("three", "a.go:1")
	agent.wantGrep("one|three", "a.go:1")
	h.save("b.go", "four\n")
	agent.wantGrep("two|four", "b.go:1")
	agent.wantGrep("two", "")
}

// An unsaved buffer is what everybody finds.
func TestSearchSeesTheEditor(t *testing.T) {
	h := newHouse(t, map[string]string{"a.go": "saved\n"})
	agent, editor := h.connect(helloAgent, nil), h.connect(helloEditor, nil)
	uri := "file://" + filepath.ToSlash(filepath.Join(h.root, "a.go"))
	editor.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "go", "version": 1, "text": "unsaved\n"}})
	editor.must(protocol.MethodStatus, protocol.Empty{}, nil) // notifications before it have been handled
	agent.wantGrep("saved", "a.go:1")
	agent.wantGrep("^saved", "")
	editor.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
	editor.must(protocol.MethodStatus, protocol.Empty{}, nil)
	agent.wantGrep("^saved", "a.go:1")
}

func TestIndexMethods(t *testing.T) {
	files := map[string]string{"daemon/server.go": "text\n", "daemon/rpc/serve.go": "text\n", "bin": "\x00", ".gitignore": "node_modules/\n"}
	for i := range 300 {
		files[fmt.Sprintf("node_modules/d%d/x", i)] = "text\n"
	}
	h := newHouse(t, files)
	g := h.connect(helloReviewer, nil)
	var st protocol.IndexStatusResult
	g.must(protocol.MethodIndexSync, protocol.IndexSyncParams{Built: true}, &st)
	if st.State != protocol.IndexLive || st.Files != 4 || st.Dirs < 2 || st.Binary != 1 || st.Build != nil || st.Problems == nil {
		t.Errorf("%+v", st)
	}
	h.save("late.go", "text\n")
	before := st.Generation
	g.must(protocol.MethodIndexSync, protocol.IndexSyncParams{}, &st)
	if st.Files != 5 || st.Generation <= before {
		t.Errorf("after a file came: %+v, was generation %d", st, before)
	}
	var found protocol.IndexFindResult
	g.must(protocol.MethodIndexFind, protocol.IndexFindParams{Query: "dmnsrv", Limit: new(2)}, &found)
	if len(found.Files) != 2 || found.Files[0].Path != "daemon/server.go" {
		t.Errorf("%+v", found)
	}
	for _, wrong := range []struct{ params, message string }{
		{`{"query":"a","limit":0}`, "limit is 0: it is from 1 to 1000"},
		{`{"query":"a","limit":-1}`, "limit is -1: it is from 1 to 1000"},
		{`{"query":"a","limit":1001}`, "limit is 1001: it is from 1 to 1000"},
		{`{"query":"a","limit":"5"}`, "limit must be an integer, not a string"},
		{`{"query":"a","limit":1.5}`, "limit must be an integer, not 1.5"},
		{`{"query":["a"]}`, "query must be a string, not an array"},
		{`["a"]`, "the parameters must be an object, not an array"},
		{`{"query":"` + strings.Repeat("a", 2000) + `"}`, "query has 2000 bytes: at most 1000 are taken"},
	} {
		err := g.call(protocol.MethodIndexFind, json.RawMessage(wrong.params), nil)
		var failure *rpc.Error
		if !errors.As(err, &failure) || failure.Code != rpc.CodeInvalidParams || failure.Message != wrong.message {
			t.Errorf("%.40s: %v; want %s", wrong.params, err, wrong.message)
		}
	}
}

func TestC155_IgnoredTreesTakeNoWatches(t *testing.T) {
	files := map[string]string{".gitignore": "node_modules/\n"}
	for i := range 300 {
		files[fmt.Sprintf("node_modules/p%d/lib/x.js", i)] = "text\n"
	}
	for i := range 20 {
		files[fmt.Sprintf("d%d/x.js", i)] = "text\n"
	}
	g := newHouse(t, files).connect(helloReviewer, nil)
	var st protocol.IndexStatusResult
	g.must(protocol.MethodIndexSync, protocol.IndexSyncParams{Built: true}, &st)
	if st.Watches < 20 || st.Watches > 100 || st.Files != 21 {
		t.Errorf("%d watches, %d files", st.Watches, st.Files)
	}
}

// A call that waits for the first build tells how far that is, in order and with
// an end.
func TestProgressOfTheFirstBuild(t *testing.T) {
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("d%d/f%d.txt", i%50, i)] = strings.Repeat("some text\n", 20) + fmt.Sprint("number ", i, "\n")
	}
	root := t.TempDir()
	first := &house{t: t, root: root}
	for name, text := range files {
		first.save(name, text)
	}
	begun, ended := make(chan struct{}), make(chan struct{})
	heard := func(params json.RawMessage) (any, error) {
		var p struct{ Value progressValue }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		switch p.Value.Kind {
		case "begin":
			close(begun)
		case "end":
			close(ended)
		}
		if p.Value.Kind != "end" && (p.Value.Percentage == nil || p.Value.Message == "") {
			t.Errorf("%s", params)
		}
		return nil, nil
	}
	h := newHouseAt(t, root)
	g := h.connect(helloReviewer, map[string]func(json.RawMessage) (any, error){"$/progress": heard})
	var st protocol.IndexStatusResult
	g.must(protocol.MethodIndexSync, protocol.IndexSyncParams{Built: true, WorkDoneToken: json.RawMessage(`"t"`)}, &st)
	h.connect(helloAgent, nil).wantGrep("number 1234$", "d34/f1234.txt:21")
	if st.State != protocol.IndexLive || st.Files != 2000 {
		t.Errorf("%+v", st)
	}
	select {
	case <-begun:
	default:
		return // it was over before the call
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the end was not told")
	}
}

// A long result goes out in pieces and is the same.
func TestLongResultInPieces(t *testing.T) {
	got, err := (&Server{}).answerOf(tools.Outcome{
		CallID: "c\"2", Pieces: [][]byte{[]byte(`{"a":`), []byte(`[1]}`)}, IsError: true,
		Content: []tools.Block{
			{Type: "text", Quoted: [][]byte{[]byte(`{\"a\":`), []byte(`[1]}`)}},
			{Type: "text", Text: "<&>"},
			{Type: "image", Data: []byte{1}, MimeType: "image/png"},
		},
	}, []diffpreview.Review{{Proposal: "p", Comment: "é"}}, []diffpreview.Moved{{Path: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	var result protocol.ToolsCallResult
	err = json.Unmarshal(bytes.Join(got.JSON, nil), &result)
	want := protocol.ToolsCallResult{
		CallID: "c\"2", StructuredContent: json.RawMessage(`{"a":[1]}`), IsError: true,
		Content: []protocol.Content{{Type: "text", Text: `{"a":[1]}`}, {Type: "text", Text: "<&>"}, {Type: "image", Data: "AQ==", MimeType: "image/png"}},
		Reviews: []protocol.Review{{Proposal: "p", Comment: "é"}}, Moved: []protocol.Moved{{Path: "p"}},
	}
	if err != nil || !reflect.DeepEqual(result, want) {
		t.Errorf("%s: %+v, %v", bytes.Join(got.JSON, nil), result, err)
	}
	h := newHouse(t, map[string]string{"f": strings.Repeat("a line that is found\n", 20_000)})
	rows, _ := h.connect(helloAgent, nil).tool("grep", `{"pattern":"found","limit":100000}`)
	if n := len(rows["matches"].([]any)); n != 20_000 {
		t.Errorf("%d lines", n)
	}
}
