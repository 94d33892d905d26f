package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	lsp "go.lsp.dev/protocol"

	"github.com/loomd/loomd/daemon/protocol"
)

// buffer is an editor's open document: it takes edits as an editor does.
type buffer struct {
	mu      sync.Mutex // guards the fields below
	editor  *guest
	uri     string
	version int32
	text    string
	refuse  string // why edits are refused; "" takes them
	edited  int
	labels  []string // of the edits that came
}

func (b *buffer) open() {
	b.editor.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": b.uri, "languageId": "plaintext", "version": b.version, "text": b.text,
	}})
}

// change types a new text.
func (b *buffer) change(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	b.text = text
	b.editor.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": b.uri, "version": b.version},
		"contentChanges": []any{map[string]any{"text": text}},
	})
}

// apply answers workspace/applyEdit.
func (b *buffer) apply(params json.RawMessage) (any, error) {
	var p lsp.ApplyWorkspaceEditParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	edit := p.Edit.DocumentChanges[0]
	b.labels = append(b.labels, p.Label)
	switch {
	case b.refuse != "":
		return lsp.ApplyWorkspaceEditResponse{FailureReason: b.refuse}, nil
	case string(edit.TextDocument.URI) != b.uri || *edit.TextDocument.Version != b.version:
		return lsp.ApplyWorkspaceEditResponse{FailureReason: "another version"}, nil
	}
	text := b.text
	for i := len(edit.Edits) - 1; i >= 0; i-- {
		e := edit.Edits[i]
		from, to := offsetOf(text, e.Range.Start, protocol.UTF16), offsetOf(text, e.Range.End, protocol.UTF16)
		text = text[:from] + e.NewText + text[to:]
	}
	b.text = text
	b.version++
	b.edited++
	b.editor.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": b.uri, "version": b.version},
		"contentChanges": []any{map[string]any{"text": text}},
	})
	return lsp.ApplyWorkspaceEditResponse{Applied: true}, nil
}

func (h *house) openBuffer(name, text string) *buffer {
	b := &buffer{uri: "file://" + filepath.ToSlash(filepath.Join(h.root, name)), version: 1, text: text}
	b.editor = h.connect(helloEditor, map[string]func(json.RawMessage) (any, error){"workspace/applyEdit": b.apply})
	b.open()
	return b
}

func TestAnUnsavedBufferIsTheBaseAndTakesTheHunk(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\ntwo\nthree\n"})
	agent := h.connect(helloAgent, nil)
	b := h.openBuffer("f", "one\ntwo\nthree\n")
	b.change("zero 😀\none\ntwo\nthree\n")
	b.editor.must(protocol.MethodProposalsList, nil, nil) // what was sent before is handled
	if got, _ := agent.tool("read_file", `{"path":"f"}`); got["contents"] != "zero 😀\none\ntwo\nthree\n" {
		t.Fatalf("the agent reads %q", got["contents"])
	}
	got, _ := agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"two","new_str":"zwei"},{"old_str":"zero 😀","new_str":"null 😀"}]}`)
	p := b.editor.get(got["proposal"].(string))
	if len(p.Hunks) != 2 {
		t.Fatalf("hunks: %+v", p.Hunks)
	}
	var result protocol.DecideResult
	b.editor.must(protocol.MethodProposalsDecide, protocol.DecideParams{
		ID: p.ID, Version: p.Version,
		Decisions: []protocol.HunkDecision{{Hunk: "h1", Decision: protocol.Accept}},
	}, &result)
	if b.text != "null 😀\none\ntwo\nthree\n" {
		t.Errorf("the buffer is %q", b.text)
	}
	if result.Written == nil || !result.Written.Document {
		t.Errorf("nothing says that the change is in a buffer: %+v", result.Written)
	}
	h.wantDisk("f", "one\ntwo\nthree\n")
	if got, _ := agent.tool("read_file", `{"path":"f"}`); got["contents"] != "null 😀\none\nzwei\nthree\n" {
		t.Errorf("the agent reads %q", got["contents"])
	}
	if p := b.editor.get(p.ID); p.State != protocol.ProposalOpen || p.HunkCount != 1 {
		t.Errorf("the rest is %s with %d hunks", p.State, p.HunkCount)
	}
}

// The editor came to the root by a link, and so did the file.
func TestAnUnsavedBufferByALink(t *testing.T) {
	h := newHouse(t, map[string]string{"d/f": "one\n"})
	agent := h.connect(helloAgent, nil)
	link := filepath.Join(t.TempDir(), "link")
	for name, target := range map[string]string{link: h.root, link + ".file": filepath.Join(h.root, "d/f")} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for i, path := range []string{link + "/d/f", link + ".file", link + "/d/new"} {
		b := &buffer{uri: "file://" + filepath.ToSlash(path), version: 1, text: fmt.Sprintf("typed %d\n", i)}
		b.editor = h.connect(helloEditor, map[string]func(json.RawMessage) (any, error){"workspace/applyEdit": b.apply})
		b.open()
		b.editor.must(protocol.MethodProposalsList, nil, nil) // what was sent before is handled
		name := "d/f"
		if i == 2 {
			name = "d/new"
		}
		if got, _ := agent.tool("read_file", fmt.Sprintf(`{"path":%q}`, name)); got["contents"] != b.text {
			t.Errorf("%s: the agent reads %q", path, got["contents"])
		}
		b.editor.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": b.uri}})
		b.editor.must(protocol.MethodProposalsList, nil, nil)
	}
}

func TestARefusedEditLeavesTheProposalOpen(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\ntwo\n"})
	agent := h.connect(helloAgent, nil)
	b := h.openBuffer("f", "one\ntwo\n")
	b.change("one!\ntwo\n")
	b.editor.must(protocol.MethodProposalsList, nil, nil)
	got, _ := agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"two","new_str":"zwei"}]}`)
	id := got["proposal"].(string)
	b.refuse = "no edits today"
	err := b.editor.call(protocol.MethodProposalsDecide, protocol.DecideParams{ID: id, Version: b.editor.get(id).Version, Decision: protocol.Accept}, nil)
	if err == nil || !strings.Contains(err.Error(), "no edits today") {
		t.Fatalf("the decision gave %v", err)
	}
	if p := b.editor.get(id); p.State != protocol.ProposalOpen {
		t.Errorf("the proposal is %s", p.State)
	}
	if b.text != "one!\ntwo\n" {
		t.Errorf("the buffer is %q", b.text)
	}
	h.wantDisk("f", "one\ntwo\n")
}

func TestTypingUnderAProposalRebasesIt(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\ntwo\nthree\nfour\n"})
	agent := h.connect(helloAgent, nil)
	b := h.openBuffer("f", "one\ntwo\nthree\nfour\n")
	got, _ := agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"three","new_str":"drei"}]}`)
	id := got["proposal"].(string)
	b.change("zero\none\ntwo\nthree\nfour\n")
	p := b.editor.await("the moved hunk", func(p protocol.Proposal) bool { return p.ID == id && p.Hunks[0].OldStart == 4 })
	if p.State != protocol.ProposalOpen {
		t.Errorf("state %s", p.State)
	}
	b.change("zero\none\ntwo\ndreier\nfour\n")
	p = b.editor.await("the conflict", func(p protocol.Proposal) bool { return p.State == protocol.ProposalConflict })
	c := p.Hunks[0].Conflict
	if c == nil || c.Base != "three\n" || c.Agent != "drei\n" || c.Tree != "dreier\n" {
		t.Errorf("conflict %+v", c)
	}
	if got, _ := agent.tool("read_file", `{"path":"f"}`); got["contents"] != "zero\none\ntwo\ndreier\nfour\n" {
		t.Errorf("in a conflict the view shows the tree, not %q", got["contents"])
	}
	b.change("zero\none\ntwo\nthree\nfour\n")
	b.editor.await("the way back", func(p protocol.Proposal) bool { return p.State == protocol.ProposalOpen })
	h.wantDisk("f", "one\ntwo\nthree\nfour\n")
}

func TestAChangeOnDiskIsHeardOf(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\ntwo\nthree\n"})
	agent, reviewer := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	got, _ := agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"three","new_str":"drei"}]}`)
	id := got["proposal"].(string)
	reviewer.await("the proposal", func(p protocol.Proposal) bool { return p.ID == id })
	h.save("f", "zero\none\ntwo\nthree\n")
	reviewer.await("the moved hunk", func(p protocol.Proposal) bool { return p.ID == id && p.Hunks[0].OldStart == 4 })
	h.save("f", "zero\none\ntwo\nTHREE\n")
	reviewer.await("the conflict", func(p protocol.Proposal) bool { return p.State == protocol.ProposalConflict })
	_, outcome := agent.tool("list_files", `{}`)
	for len(outcome.Reviews) == 0 { // not before the file has come to rest
		reviewer.await("the conflict once more", func(p protocol.Proposal) bool { return p.State == protocol.ProposalConflict })
		_, outcome = agent.tool("list_files", `{}`)
	}
	if len(outcome.Reviews) != 1 || outcome.Reviews[0].Decision != "conflict" {
		t.Errorf("the agent was told %+v", outcome.Reviews)
	}
	h.wantDisk("f", "zero\none\ntwo\nTHREE\n")
}

func TestACleanBufferDoesNotShadowTheDisk(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "\ufeffone\r\ntwo\nthree\r\n"})
	agent := h.connect(helloAgent, nil)
	b := h.openBuffer("f", "one\r\ntwo\r\nthree\r\n") // as editors show it
	b.editor.must(protocol.MethodProposalsList, nil, nil)
	got, _ := agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"two","new_str":"zwei"}]}`)
	b.editor.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: got["proposal"].(string), Version: 1, Decision: protocol.Accept}, nil)
	h.wantDisk("f", "\ufeffone\r\nzwei\nthree\r\n")
	if b.edited != 0 {
		t.Error("a clean buffer was edited")
	}
}

func TestOffsetsAndPositions(t *testing.T) {
	const text = "a😀é\r\nb\rc\n\nlast"
	for _, enc := range []protocol.PositionEncoding{protocol.UTF8, protocol.UTF16} {
		for at := 0; at <= len(text); at++ {
			if at < len(text) && text[at]&0xC0 == 0x80 {
				continue // inside a character
			}
			pos := positionOf(text, at, enc)
			want := at
			if at > 0 && text[at-1] == '\r' && at < len(text) && text[at] == '\n' {
				want-- // between \r and \n is the line's end
			}
			if got := offsetOf(text, pos, enc); got != want {
				t.Errorf("%s: byte %d is %v is byte %d", enc, at, pos, got)
			}
		}
	}
	for _, c := range []struct {
		pos  lsp.Position
		want int
	}{
		{lsp.Position{Line: 0, Character: 3}, 5},          // behind the emoji's two units
		{lsp.Position{Line: 0, Character: 2}, 1},          // inside them: before
		{lsp.Position{Line: 0, Character: 99}, 7},         // behind the line: its end
		{lsp.Position{Line: 99, Character: 0}, len(text)}, // behind the text
		{lsp.Position{Line: 2, Character: 0}, 11},         // a lone \r ends a line
	} {
		if got := offsetOf(text, c.pos, protocol.UTF16); got != c.want {
			t.Errorf("%v is byte %d, want %d", c.pos, got, c.want)
		}
	}
}

// Editors say in two ways that they take versioned edits; Neovim 0.12 says it
// by the operations on files alone.
func TestWhoTakesVersionedEdits(t *testing.T) {
	h := newHouse(t, nil)
	for name, c := range map[string]struct {
		workspace string
		takes     bool
	}{
		"vscode": {`{"applyEdit":true,"workspaceEdit":{"documentChanges":true}}`, true},
		"neovim": {`{"applyEdit":true,"workspaceEdit":{"resourceOperations":["rename","create","delete"]}}`, true},
		"old":    {`{"applyEdit":true,"workspaceEdit":{}}`, false},
		"none":   {`{}`, false},
	} {
		h.connect(`{"clientInfo":{"name":"`+name+`"},"capabilities":{"workspace":`+c.workspace+`}}`, nil)
		h.server.mu.Lock()
		for client := range h.server.clients {
			client.mu.Lock()
			if client.name == name && client.edits != c.takes {
				t.Errorf("%s: takes edits is %v", name, client.edits)
			}
			client.mu.Unlock()
		}
		h.server.mu.Unlock()
	}
}

// What was accepted into a buffer is final when the buffer is saved. Closed
// unsaved it is open again, and the agent is told.
func TestABufferClosedUnsavedReopens(t *testing.T) {
	for _, saved := range []bool{true, false} {
		h := newHouse(t, map[string]string{"f": "one\ntwo\nthree\n"})
		agent := h.connect(helloAgent, nil)
		b := h.openBuffer("f", "one\ntwo\nthree\n")
		b.change("one!\ntwo\nthree\n")
		b.editor.must(protocol.MethodProposalsList, nil, nil)
		got, _ := agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"three","new_str":"drei"}]}`)
		id := got["proposal"].(string)
		b.editor.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: id, Version: b.editor.get(id).Version, Decision: protocol.Accept}, nil)
		if b.text != "one!\ntwo\ndrei\n" {
			t.Fatalf("the buffer is %q", b.text)
		}
		agent.tool("read_file", `{"path":"f"}`)   // the agent is told
		reviewer := h.connect(helloReviewer, nil) // before it can be reopened, to hear of that
		doc := map[string]any{"textDocument": map[string]any{"uri": b.uri}}
		if saved {
			h.save("f", b.text)
			b.editor.notify("textDocument/didSave", doc)
		}
		b.editor.notify("textDocument/didClose", doc)
		b.editor.must(protocol.MethodProposalsList, nil, nil)
		if saved {
			// Landed: a later change of the same lines is the person's own.
			h.save("f", "one!\ntwo\nthree\n")
			reviewer.must(protocol.MethodProposalsList, nil, nil)
			if p := reviewer.get(id); p.State != protocol.ProposalApplied {
				t.Errorf("saved, then changed: %s", p.State)
			}
			continue
		}
		p := reviewer.await("the reopened proposal", func(p protocol.Proposal) bool { return p.ID == id && p.State == protocol.ProposalOpen })
		if p.HunkCount != 1 {
			t.Errorf("%d hunks are open", p.HunkCount)
		}
		if _, outcome := agent.tool("list_files", `{}`); len(outcome.Reviews) != 1 || outcome.Reviews[0].Decision != "reopened" {
			t.Errorf("the agent is told %+v", outcome.Reviews)
		}
		reviewer.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: id, Version: b.editor.get(id).Version, Decision: protocol.Accept}, nil)
		h.wantDisk("f", "one\ntwo\ndrei\n")
	}
}

// The agent has gone on to a new proposal on the file when the buffer is closed
// unsaved: what was lost becomes part of that.
func TestReopenedHunksJoinTheNewerProposal(t *testing.T) {
	for _, c := range []struct{ old, new, view, told string }{
		{"seven", "sieben", "1\n2\ndrei\n4\n5\n6\nsieben\n8\n", "reopened"},
		{"drei", "troys", "1\n2\nthree\n4\n5\n6\nseven\n8\n", "rejected"}, // a conflict: the accepted lines are gone, and the agent has changed them since
	} {
		h := newHouse(t, map[string]string{"f": "1\n2\nthree\n4\n5\n6\nseven\n8\n"})
		agent, reviewer := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
		b := h.openBuffer("f", "1\n2\nthree\n4\n5\n6\nseven\n8\n")
		b.change("typed\n" + b.text)
		b.editor.must(protocol.MethodProposalsList, nil, nil)
		got, _ := agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"three","new_str":"drei"}]}`)
		first := got["proposal"].(string)
		b.editor.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: first, Version: 1, Decision: protocol.Accept}, nil)
		got, _ = agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"`+c.old+`","new_str":"`+c.new+`"}]}`)
		second := got["proposal"].(string)
		agent.tool("read_file", `{"path":"f"}`) // told of the accept
		b.editor.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": b.uri}})
		p := reviewer.await("the moved proposal", func(p protocol.Proposal) bool { return p.ID == second && p.Version > 1 })
		read, outcome := agent.tool("read_file", `{"path":"f"}`)
		for len(outcome.Reviews) == 0 {
			p = reviewer.await("the file at rest", func(p protocol.Proposal) bool { return p.ID == second })
			read, outcome = agent.tool("read_file", `{"path":"f"}`)
		}
		if read["contents"] != c.view {
			t.Errorf("the agent reads %q, want %q", read["contents"], c.view)
		}
		if outcome.Reviews[0].Decision != c.told || outcome.Reviews[0].Proposal != first {
			t.Errorf("the agent is told %+v", outcome.Reviews)
		}
		if c.old == "seven" {
			reviewer.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: second, Version: p.Version, Decision: protocol.Accept}, nil)
			h.wantDisk("f", c.view)
		}
	}
}

// A keystroke on its way when the edit comes makes the editor refuse it. The
// decision is carried over to the new text; nobody need ask again.
func TestAKeystrokeInBetween(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\ntwo\n"})
	agent := h.connect(helloAgent, nil)
	b := h.openBuffer("f", "one\ntwo\n")
	b.change("one!\ntwo\n")
	b.editor.must(protocol.MethodProposalsList, nil, nil)
	got, _ := agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"two","new_str":"zwei"}]}`)
	id, once := got["proposal"].(string), false
	b.editor.answers["workspace/applyEdit"] = func(params json.RawMessage) (any, error) {
		if !once {
			once = true
			b.change("one!!\ntwo\n")
		}
		return b.apply(params)
	}
	b.editor.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: id, Version: 1, Decision: protocol.Accept}, nil)
	if b.text != "one!!\nzwei\n" {
		t.Errorf("the buffer is %q", b.text)
	}
}
