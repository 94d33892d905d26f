package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// moved is a file that gets another name, another mode and another line.
func moved() protocol.Proposal {
	return protocol.Proposal{
		ID: "p1", Label: "agent", Path: "a", To: "b", Kind: "rename", State: protocol.ProposalOpen, Version: 3, HunkCount: 3,
		Steps: []protocol.Step{{Tool: "move_file"}, {Tool: "edit_file"}}, StepCount: 90,
		Hunks: []protocol.Hunk{
			{ID: "h1", Kind: "rename", State: protocol.HunkOpen, From: "a", To: "b"},
			{ID: "h3", Kind: "mode", State: protocol.HunkOpen, OldMode: "100644", NewMode: "100755"},
			{ID: "h2", Kind: "text", State: protocol.HunkOpen, OldStart: 2, OldLines: 1, NewStart: 2, NewLines: 1},
		},
		Diff: "diff --git a/a b/b\nold mode 100644\nnew mode 100755\nrename from a\nrename to b\n--- a/a\n+++ b/b\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n",
	}
}

func shown(p protocol.Proposal) string {
	var out strings.Builder
	diffView{w: &out}.proposal(p)
	return out.String()
}

// Hunks that have no lines stand before the diff, where git apply does not look.
func TestShowNamesAndModes(t *testing.T) {
	p := moved()
	want := "proposal p1 a → b: rename · session agent · open · version 3 · 90 steps (move_file, edit_file)\n" +
		"h1:  the file is renamed from a to b\n" +
		"h3:  the mode changes from 100644 to 100755: it can be run\n" +
		strings.Replace(p.Diff, "@@ -1,3 +1,3 @@", "@@ -1,3 +1,3 @@ h2", 1)
	if got := shown(p); got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	p.Hunks[2].State = protocol.HunkAccepted
	p.Diff = "diff --git a/a b/b\nrename from a\nrename to b\n"
	if got := shown(p); strings.Count(got, "h1") != 1 || strings.Contains(got, "h2") {
		t.Errorf("shown:\n%s", got)
	}
}

func TestShowModes(t *testing.T) {
	for modes, want := range map[[2]string]string{
		{"100755", "100644"}: "the mode changes from 100755 to 100644: it can no longer be run",
		{"100644", "100644"}: "who may read and write the file changes",
	} {
		if got := modeWords(protocol.Hunk{OldMode: modes[0], NewMode: modes[1]}); got != want {
			t.Errorf("%v: %s", modes, got)
		}
	}
}

// A file that becomes a link is one hunk of two runs.
func TestShowLinks(t *testing.T) {
	p := protocol.Proposal{
		ID: "p1", Path: "l", Kind: "link", State: protocol.ProposalOpen, HunkCount: 1,
		Hunks: []protocol.Hunk{{ID: "h1", Kind: "link", State: protocol.HunkOpen, OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 1, OldMode: "100644", NewMode: "120000"}},
		Diff: "diff --git a/l b/l\ndeleted file mode 100644\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n" +
			"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+m\n\\ No newline at end of file\n",
	}
	if got := shown(p); strings.Count(got, "@@ h1\n") != 2 {
		t.Errorf("shown:\n%s", got)
	}
	r, ok := parseDiff(p.Diff).find(p.Hunks[0])
	if !ok || len(r.lines) != 2 || r.lines[0].op != '-' || r.lines[1].text != "m" || !r.lines[1].noEOL {
		t.Errorf("region %+v", r)
	}
	it := &walkItem{file: &walkFile{p: p, diff: parseDiff(p.Diff)}}
	it.update(p.Hunks[0])
	if it.editable() == nil || it.hasLines() {
		t.Error("a link's target can be edited")
	}
	if got := question(it); got != "accept this link" {
		t.Error(got)
	}
}

func TestShowConflictsOfProperties(t *testing.T) {
	p := moved()
	p.State, p.BaseHash = protocol.ProposalConflict, "0123"
	for i, c := range []*protocol.Conflict{{Base: "a", Agent: "b"}, {Base: "100644", Tree: "100600", Agent: "100755"}, {Omitted: true}} {
		p.Hunks[i].State, p.Hunks[i].Conflict = protocol.HunkConflict, c
	}
	p.Diff = ""
	got := shown(p)
	for _, want := range []string{
		"conflict h1 about the rename of a\n--- base: what the agent saw\n a\n--- tree: what stands there now\n  (nothing)\n--- agent: what it proposes\n b\n",
		"conflict h3 about the mode of a\n--- base: what the agent saw\n 100644\n--- tree: what stands there now\n 100600\n",
		"conflict h2 at line 2 of a\n  the three texts are too long to show here, they were NOT shown",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	p.Hunks[2].OldStart = 0
	if got := shown(p); !strings.Contains(got, "conflict h2 before the first line of a\n") {
		t.Errorf("a place before the first line:\n%s", got)
	}
	for _, h := range p.Hunks {
		it := &walkItem{file: &walkFile{p: p}}
		it.update(h)
		if err := it.editable(); err == nil {
			t.Errorf("%s can be edited", h.Kind)
		}
	}
}

func TestWrittenLines(t *testing.T) {
	hash := strings.Repeat("0123456789", 7)
	for want, w := range map[string]protocol.Written{
		"wrote f 012345678901":        {Path: "f", Hash: hash},
		"deleted f":                   {Path: "f"},
		"moved a to b 012345678901":   {Path: "b", From: "a", Hash: hash},
		"edited f in the editor, wh…": {Path: "f", Hash: hash, Document: true},
	} {
		if got := writtenLine(w); got != want && !strings.HasPrefix(got, strings.TrimSuffix(want, "wh…")) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// paged is a daemon whose lists come in pages of two.
type paged struct {
	*fakeDaemon
	asked []protocol.ProposalsListParams
	stuck bool
}

func (d *paged) Proposals(_ context.Context, p protocol.ProposalsListParams) (protocol.ProposalsListResult, error) {
	d.asked = append(d.asked, p)
	from := 0
	fmt.Sscan(p.After, &from)
	res := protocol.ProposalsListResult{Total: 5}
	for n := from; n < min(from+2, 5); n++ {
		res.Proposals = append(res.Proposals, protocol.Proposal{ID: fmt.Sprint("p", n)})
	}
	if from+2 < 5 {
		res.Truncated, res.Next = true, fmt.Sprint(from+2)
	}
	if d.stuck {
		res.Next = "2"
	}
	return res, nil
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	d := &paged{}
	all, err := allProposals(context.Background(), d, protocol.ProposalsListParams{Session: "s"})
	if err != nil || len(all) != 5 || all[4].ID != "p4" {
		t.Errorf("%+v %v", all, err)
	}
	for _, p := range d.asked {
		if p.Session != "s" || p.Limit != listPage {
			t.Errorf("asked %+v", p)
		}
	}
	if _, err := allProposals(context.Background(), &paged{stuck: true}, protocol.ProposalsListParams{}); err != nil {
		t.Error(err)
	}
}
