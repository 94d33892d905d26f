package daemon

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

func edited(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(ten) }

func (g *guest) write(path, text string) protocol.Proposal {
	g.t.Helper()
	args, _ := json.Marshal(map[string]string{"path": path, "content": text})
	out, result := g.tool("write_file", string(args))
	if result.IsError {
		g.t.Fatalf("write_file: %v", out)
	}
	return g.get(out["proposal"].(string))
}

func TestSplitAndLinesOverTheWire(t *testing.T) {
	h := newHouse(t, map[string]string{"f": ten})
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	p := agent.write("f", edited("3\n4\n", "three\nfour\n"))
	var split protocol.SplitResult
	alice.must(protocol.MethodProposalsSplit, protocol.SplitParams{ID: p.ID, Version: p.Version, Hunk: "h1"}, &split)
	p = split.Proposal
	if len(p.Hunks) != 2 || p.Hunks[1].SplitOf != "h1" || p.Hunks[1].OldStart != 4 {
		t.Fatalf("the pieces are %+v", p.Hunks)
	}
	var done protocol.DecideResult
	alice.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: p.ID, Version: p.Version, Decisions: []protocol.HunkDecision{
		{Hunk: "h2", Decision: protocol.Accept, Lines: &protocol.Lines{New: []int{1}}},
	}}, &done)
	h.wantDisk("f", edited("4\n", "4\nfour\n"))
	if err := agent.call(protocol.MethodProposalsSplit, protocol.SplitParams{ID: p.ID, Hunk: "h1"}, nil); err == nil {
		t.Error("an agent splits")
	}
}

func TestAWholeTextOverTheWire(t *testing.T) {
	h := newHouse(t, map[string]string{"f": ten})
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	p := agent.write("f", edited("3", "three", "7", "seven"))
	text := edited("3", "three!")
	alice.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: p.ID, Version: p.Version, Decision: protocol.Accept, Text: &text, Comment: "so"}, nil)
	h.wantDisk("f", text)
	_, result := agent.tool("read_file", `{"path":"f"}`)
	var told []string
	for _, r := range result.Reviews {
		told = append(told, r.Hunk+" "+r.Decision+" by "+r.By+": "+r.Comment)
	}
	if got := strings.Join(told, "; "); got != "h1 modified by alice: so; h2 rejected by alice: so" {
		t.Errorf("told %s", got)
	}
	for _, bad := range []protocol.DecideParams{
		{ID: p.ID, Version: 1, Decision: protocol.Reject, Text: &text},
		{Session: "agent", Decision: protocol.Accept, Text: &text},
		{ID: p.ID, Version: 1, Decision: protocol.Accept, SkipConflicts: true},
	} {
		if err := alice.call(protocol.MethodProposalsDecide, bad, nil); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestAChangeSetWithoutItsConflicts(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "a\n", "g": "a\n"})
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	agent.write("f", "b\n")
	p := agent.write("g", "b\n")
	h.save("g", "c\n")
	alice.await("the conflict", func(got protocol.Proposal) bool { return got.ID == p.ID && got.State == protocol.ProposalConflict })
	set := protocol.DecideParams{Session: "agent", Decision: protocol.Accept}
	if err := alice.call(protocol.MethodProposalsDecide, set, nil); err == nil {
		t.Fatal("a set in conflict is accepted")
	}
	h.wantDisk("f", "a\n")
	set.SkipConflicts = true
	var done protocol.DecideResult
	alice.must(protocol.MethodProposalsDecide, set, &done)
	if len(done.Proposals) != 1 || len(done.Skipped) != 1 || done.Skipped[0].Path != "g" {
		t.Errorf("decided %+v, skipped %+v", done.Proposals, done.Skipped)
	}
	h.wantDisk("f", "b\n")
	h.wantDisk("g", "c\n")
	_, result := agent.tool("read_file", `{"path":"g"}`)
	r := result.Reviews[len(result.Reviews)-1]
	if r.Decision != "conflict" || r.Conflict == nil || *r.Conflict != (protocol.Conflict{Base: "a\n", Tree: "c\n", Agent: "b\n"}) {
		t.Errorf("told %+v", r)
	}
	if len(result.Moved) != 1 || !strings.Contains(result.Moved[0].Diff, "-a\n+c\n") {
		t.Errorf("moved %+v", result.Moved)
	}
	if _, again := agent.tool("read_file", `{"path":"g"}`); len(again.Moved)+len(again.Reviews) != 0 {
		t.Errorf("told twice: %+v", again)
	}
}

func TestHistoryOverTheWire(t *testing.T) {
	h := newHouse(t, map[string]string{"f": ten})
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	p := agent.write("f", edited("3", "three", "7", "seven"))
	alice.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: p.ID, Version: p.Version, Decisions: []protocol.HunkDecision{
		{Hunk: "h1", Decision: protocol.Accept}, {Hunk: "h2", Decision: protocol.Reject, Comment: "no"},
	}}, nil)
	alice.must(protocol.MethodProposalsUndo, protocol.UndoParams{ID: p.ID, Hunk: "h1"}, nil)
	var got protocol.HistoryResult
	alice.must(protocol.MethodProposalsHistory, protocol.HistoryParams{Path: "f"}, &got)
	var lines []string
	for _, e := range got.Entries {
		lines = append(lines, e.Hunk+" "+e.Decision+" "+e.By+" "+e.Comment)
	}
	if all := strings.Join(lines, "; "); all != "h1 accepted alice ; h2 rejected alice no; h1 reopened alice " {
		t.Errorf("history is %s", all)
	}
	if e := got.Entries; len(e) == 3 && (e[0].HashBefore != e[2].HashAfter || e[0].HashAfter != e[2].HashBefore || e[0].HashBefore == "") {
		t.Errorf("hashes are %+v", e)
	}
	alice.must(protocol.MethodProposalsHistory, protocol.HistoryParams{Limit: 1, Before: got.Entries[2].Seq}, &got)
	if len(got.Entries) != 1 || !got.Truncated || got.Entries[0].Hunk != "h2" {
		t.Errorf("a page is %+v", got)
	}
	if err := agent.call(protocol.MethodProposalsHistory, struct{}{}, nil); err == nil {
		t.Error("an agent reads the history")
	}
}

func TestRulesOverTheWire(t *testing.T) {
	h := newHouse(t, map[string]string{"a.md": "a\n", "a.go": "a\n"})
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	var added protocol.RulesAddResult
	alice.must(protocol.MethodRulesAdd, protocol.RulesAddParams{Rule: protocol.Rule{Name: "docs", Effect: "accept", Paths: []string{"*.md"}, Session: "agent"}}, &added)
	out, result := agent.tool("write_file", `{"path":"a.md","content":"b\n"}`)
	if out["state"] != "applied" || out["rule"] != "docs" || len(result.Reviews) != 1 || result.Reviews[0].Rule != "docs" || result.Reviews[0].By != "rule docs" {
		t.Errorf("the outcome is %v, %+v", out, result.Reviews)
	}
	h.wantDisk("a.md", "b\n")
	agent.write("a.go", "b\n")
	h.wantDisk("a.go", "a\n")
	var rules protocol.RulesListResult
	alice.must(protocol.MethodRulesList, struct{}{}, &rules)
	last := rules.Rules[len(rules.Rules)-1]
	if last.ID != added.Rule.ID || last.Source != "added by alice" {
		t.Errorf("the rules are %+v", rules.Rules)
	}
	if err := agent.call(protocol.MethodRulesAdd, protocol.RulesAddParams{Rule: protocol.Rule{Effect: "accept"}}, nil); err == nil {
		t.Error("an agent makes rules")
	}
	alice.must(protocol.MethodRulesRemove, protocol.RulesRemoveParams{ID: added.Rule.ID}, nil)
	agent.write("a.md", "c\n")
	h.wantDisk("a.md", "b\n")
}

func TestAListComesInPages(t *testing.T) {
	h := newHouse(t, nil)
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	for _, name := range []string{"b", "a", "c", "d/e"} {
		agent.write(name, "x\n")
	}
	var paths []string
	next := protocol.ProposalsListParams{Limit: 3}
	for {
		var got protocol.ProposalsListResult
		alice.must(protocol.MethodProposalsList, next, &got)
		for _, p := range got.Proposals {
			paths = append(paths, p.Path)
		}
		if got.Total != 4 || got.Truncated != (got.Next != "") {
			t.Errorf("a page says %d, %v, %q", got.Total, got.Truncated, got.Next)
		}
		if next.After = got.Next; !got.Truncated {
			break
		}
	}
	if got := strings.Join(paths, " "); got != "a b c d/e" {
		t.Errorf("the pages have %s", got)
	}
	if err := alice.call(protocol.MethodProposalsList, protocol.ProposalsListParams{Limit: maxList + 1}, nil); err == nil {
		t.Error("a list without a bound")
	}
}

func TestWordsOverTheWire(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\nthe 😀 old word\n"})
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	p := agent.write("f", "one\nthe 😀 new word\n")
	var got protocol.ProposalsGetResult
	alice.must(protocol.MethodProposalsGet, protocol.ProposalsGetParams{ID: p.ID, Words: true}, &got)
	want := protocol.WordSpan{Line: 0, Start: 7, End: 10} // the smiley is two units of UTF-16
	w := got.Proposal.Hunks[0].Words
	if w == nil || len(w.Old) != 1 || len(w.New) != 1 || w.Old[0] != want || w.New[0] != want {
		t.Errorf("the words are %+v", w)
	}
}

func TestABlockingSessionWaits(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "a\n"})
	told := make(chan string, 10)
	agent := h.connect(strings.Replace(helloAgent, `"label":"agent"`, `"label":"agent","reviewMode":"blocking"`, 1),
		map[string]func(json.RawMessage) (any, error){"$/progress": func(params json.RawMessage) (any, error) {
			told <- string(params)
			return nil, nil
		}})
	alice := h.connect(helloReviewer, nil)
	done := make(chan protocol.ToolsCallResult, 1)
	go func() {
		var result protocol.ToolsCallResult
		agent.must(protocol.MethodToolsCall, protocol.ToolsCallParams{
			Name: "write_file", Arguments: json.RawMessage(`{"path":"f","content":"b\n"}`), WorkDoneToken: json.RawMessage(`"t"`),
		}, &result)
		done <- result
	}()
	p := alice.await("the proposal", func(protocol.Proposal) bool { return true })
	if got := <-told; got != `{"token":"t","value":{"kind":"begin","title":"write_file","message":"1 proposal waits for a person's decision"}}` {
		t.Errorf("progress is %s", got)
	}
	alice.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: p.ID, Version: p.Version, Decision: protocol.Reject, Comment: "no"}, nil)
	result := <-done
	var out map[string]any
	if err := json.Unmarshal(result.StructuredContent, &out); err != nil {
		t.Fatal(err)
	}
	if out["state"] != "rejected" || len(result.Reviews) != 1 || result.Reviews[0].Comment != "no" {
		t.Errorf("the outcome is %v, %+v", out, result.Reviews)
	}
	if got := <-told; got != `{"token":"t","value":{"kind":"end"}}` {
		t.Errorf("progress ends with %s", got)
	}
}

func TestAnEditorHearsThatItsFileWasWritten(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "a\n"})
	told := make(chan protocol.DidWriteParams, 10)
	agent := h.connect(helloAgent, nil)
	ed := h.connect(helloEditor, map[string]func(json.RawMessage) (any, error){protocol.MethodDocumentsDidWrite: func(params json.RawMessage) (any, error) {
		var p protocol.DidWriteParams
		err := json.Unmarshal(params, &p)
		told <- p
		return nil, err
	}})
	uri := "file://" + h.root + "/f"
	ed.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "x", "version": 1, "text": "a\n"}})
	p := agent.write("f", "b\n")
	ed.must(protocol.MethodProposalsDecide, protocol.DecideParams{ID: p.ID, Version: p.Version, Decision: protocol.Accept}, nil)
	h.wantDisk("f", "b\n")
	if got := <-told; got.URI != uri || got.Path != "f" || got.Hash == "" {
		t.Errorf("told %+v", got)
	}
}

func TestListRefusesStatesThatAreNone(t *testing.T) {
	h := newHouse(t, nil)
	reviewer := h.connect(helloReviewer, nil)
	for _, state := range append([]protocol.ProposalState{""}, proposalStates...) {
		reviewer.must(protocol.MethodProposalsList, protocol.ProposalsListParams{State: state}, nil)
	}
	err := reviewer.call(protocol.MethodProposalsList, protocol.ProposalsListParams{State: "accepted"}, nil)
	if err == nil || !strings.Contains(err.Error(), `state is "accepted": it is open, conflict, applied, rejected or withdrawn`) {
		t.Errorf("a state that is none: %v", err)
	}
}
