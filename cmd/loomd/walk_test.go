package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

func TestWalkDecidesEach(t *testing.T) {
	d := twoFiles(t)
	s := play(t, d, "y", "n", "y", "y")
	expectDecisions(t, d, "p1@3 accept:h2", "p1@4 reject:h4", "p1@5 accept:h6", "p2@1 accept:h1")
	s.says(`(?m)^f$`, `session alice .* 3 steps \(edit_file, write_file\)`, `@@ -2 \+2 @@ h2\n-two\n\+zwei\n`,
		`\(1/4\) accept this hunk \[y,n,c,e,a,d,j,J,k,K,g,/,p,q,\?\]\? y\n`, `wrote f 444444444444\n`,
		`\(2/4\)`, `\(3/4\)`, `(?m)^g$`, `session bob`, `\(4/4\)`,
		`wrote g 222222222222\n\n3 accepted, 1 rejected\n$`)
	if n := strings.Count(s.out.String(), "session alice"); n != 1 {
		t.Errorf("the title of f is printed %d times", n)
	}
}

func TestWalkNothing(t *testing.T) {
	play(t, &fakeDaemon{t: t}).says(`^nothing to review\n$`)
}

func TestWalkQuits(t *testing.T) {
	for _, end := range [][]string{{"q"}, nil} { // no more keys: the terminal has gone
		d := twoFiles(t)
		s := play(t, d, append([]string{"y"}, end...)...)
		expectDecisions(t, d, "p1@3 accept:h2")
		s.says(`1 accepted, 0 rejected, 3 hunks left\n$`)
	}
}

func TestWalkWholeFile(t *testing.T) {
	d := twoFiles(t)
	play(t, d, "y", "a", "n")
	expectDecisions(t, d, "p1@3 accept:h2", "p1@4 accept:h4 accept:h6", "p2@1 reject:h1")

	d = twoFiles(t)
	s := play(t, d, "j", "d", "k", "y", "a", "y")
	expectDecisions(t, d, "p1@3 reject:h4 reject:h6", "p1@4 accept:h2", "p2@1 accept:h1")
	s.says(`there are no later hunks in this proposal`)
}

func TestWalkMoves(t *testing.T) {
	d := twoFiles(t)
	s := play(t, d, "k", "j", "j", "j", "j", "K", "k", "J", "up", "down", "y", "q")
	expectDecisions(t, d, "p1@3 accept:h6")
	s.says(`no earlier hunk waits`, `\(2/4\)`, `\(3/4\)`, `\(4/4\)`, `no later hunk waits`,
		`\(3/4\)`, `\(2/4\)`, `\(3/4\)`, `\(2/4\)`, `\(3/4\)`)
}

// After the last hunk the walk returns to those that were left.
func TestWalkReturnsToWhatWasLeft(t *testing.T) {
	d := twoFiles(t)
	play(t, d, "j", "y", "y", "y", "n")
	expectDecisions(t, d, "p1@3 accept:h4", "p1@4 accept:h6", "p2@1 accept:h1", "p1@5 reject:h2")
}

func TestWalkLooksBack(t *testing.T) {
	d := twoFiles(t)
	s := play(t, d, "y", "K", "y", "u", "n", "q")
	expectDecisions(t, d, "p1@3 accept:h2", "p1@5 reject:h2")
	s.says(`\(1/4\) accepted \[u,j,J`, `this hunk was decided; u takes that back`, `wrote f 000000000000`,
		`\(1/4\) accept this hunk \[y`, `0 accepted, 1 rejected, 3 hunks left`)
}

func TestWalkUndoesTheLast(t *testing.T) {
	d := twoFiles(t)
	s := play(t, d, "u", "a", "u", "y", "n", "u", "u", "u", "q")
	expectDecisions(t, d, "p1@3 accept:h2 accept:h4 accept:h6", "p1@7 accept:h2", "p1@8 reject:h4")
	s.says(`nothing to undo`, `\(4/4\)`, `\(1/4\)`, `\(2/4\)`, `\(3/4\)`, `\(2/4\)`, `\(1/4\)`, `nothing to undo`,
		`0 accepted, 0 rejected, 4 hunks left`)
	if len(d.undone) != 5 {
		t.Errorf("undone %+v", d.undone)
	}
}

func TestWalkGoesTo(t *testing.T) {
	d := twoFiles(t)
	s := play(t, d, "y", "g", "4", "y", "g", "9", "g", "x", "g", "", "q")
	expectDecisions(t, d, "p1@3 accept:h2", "p2@1 accept:h1")
	s.says(`(?m)^\+ 1: f h2: -two$`, `(?m)^  2: f h4: -four$`, `go to which hunk\? 4`, `\(4/4\)`,
		`there is no hunk 9`, `there is no hunk x`)
}

func TestWalkSearches(t *testing.T) {
	d := twoFiles(t)
	s := play(t, d, "/", "^sech", "y", "/", "zw[", "/", "^g$", "/", "two", "/", "nirgends", "q")
	expectDecisions(t, d, "p1@3 accept:h6")
	s.says(`\(3/4\)`, `missing closing \]`, `search.*\n(?s:.*)\(4/4\)`, `\(1/4\)`, `no hunk matches nirgends`)
}

func TestWalkComments(t *testing.T) {
	d := twoFiles(t)
	s := play(t, d, "c", "", "c", "keep the old name", "q")
	expectDecisions(t, d, "p1@3 reject:h2(keep the old name)")
	s.says(`comment for the agent: \nno comment: nothing was decided`, `comment for the agent: keep`)
}

func TestWalkHelp(t *testing.T) {
	d := twoFiles(t)
	s := play(t, d, "?", "x", "enter", "A", "q")
	s.says(`y - accept this hunk`, `n - reject`, `q - quit`, `\? - print`, `no such key; \? lists them`, `this hunk is not in conflict`)
	if strings.Contains(s.out.String(), "A - ") {
		t.Error("the help offers a key of conflicts")
	}
	expectDecisions(t, d)
}

func TestWalkShowsWhatChangedMeanwhile(t *testing.T) {
	d := twoFiles(t)
	d.onDecide = func(protocol.DecideParams) {
		p := d.proposals[0]
		if p.version == 3 {
			p.version = 4
			p.hunks[0].new, p.hunks[0].changed = "deux", 4
		}
	}
	s := play(t, d, "y", "y", "q")
	expectDecisions(t, d, "p1@3 accept:h2", "p1@4 accept:h2")
	s.says(`\+zwei\n`, `not decided: h2 is not what it was`, `\+deux\n`, `\(1/4\)`, `wrote f`, `\(2/4\)`)
}

// A hunk that the agent took back meanwhile is left behind.
func TestWalkHunkIsGone(t *testing.T) {
	d := twoFiles(t)
	d.onDecide = func(protocol.DecideParams) {
		if p := d.proposals[0]; p.version == 3 {
			p.version, p.hunks = 4, p.hunks[1:]
		}
	}
	s := play(t, d, "y", "y", "K", "q")
	expectDecisions(t, d, "p1@3 accept:h2", "p1@4 accept:h4")
	s.says(`not decided`, `the hunk is no longer proposed`, `\(2/4\)`, `\(3/4\)`, `\(2/4\) accepted`)
}

func TestWalkTakesInWhatCameMeanwhile(t *testing.T) {
	d := twoFiles(t)
	lists := 0
	d.onList = func() {
		if lists++; lists == 2 {
			f := d.proposals[0]
			f.version++
			f.hunks = append(f.hunks, &fakeHunk{line: 8, old: "eight", new: "acht", state: protocol.HunkOpen, changed: f.version})
		}
	}
	s := play(t, d, "a", "y", "n")
	expectDecisions(t, d, "p1@3 accept:h2 accept:h4 accept:h6", "p2@1 accept:h1", "p1@5 reject:h8")
	s.says(`1 more hunk came meanwhile`, `(?m)^f$`, `\+acht`, `\(4/5\)`)
}

func TestWalkEndsWithTheConnection(t *testing.T) {
	d := twoFiles(t)
	broken := errors.New("connection closed")
	w := newWalk(&brokenDaemon{d, broken}, &script{t: t, input: []string{"y", "y"}, wide: 80}, false, "")
	if err := w.run(context.Background()); !errors.Is(err, broken) {
		t.Errorf("run = %v, want %v", err, broken)
	}
}

type brokenDaemon struct {
	*fakeDaemon
	err error
}

func (d *brokenDaemon) Decide(context.Context, protocol.DecideParams) (protocol.DecideResult, error) {
	return protocol.DecideResult{}, d.err
}

func TestWalkOtherRefusals(t *testing.T) {
	d := twoFiles(t)
	refusal := &client.Error{Code: -32803, Message: "disk full", Data: protocol.ErrorData{Kind: "no_space", Hint: "make room"}}
	s := &script{t: t, input: []string{"y", "q"}, wide: 80}
	if err := newWalk(&brokenDaemon{d, refusal}, s, false, "").run(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.says(`not decided: disk full\nmake room\n`, `\(1/4\)`, `0 accepted, 0 rejected, 4 hunks left`)
}

func conflicting(t *testing.T) *fakeDaemon {
	d := twoFiles(t)
	h := d.proposals[0].hunks[1]
	h.state = protocol.HunkConflict
	h.conflict = &protocol.Conflict{Base: "four\n", Tree: "quattro\n", Agent: "vier\n"}
	return d
}

func TestWalkConflict(t *testing.T) {
	d := conflicting(t)
	s := play(t, d, "a", "y", "a", "A", "q")
	expectDecisions(t, d, "p1@3 accept:h2 accept:h6", "p1@4 accept:h4/agent")
	s.says(`1 conflict left`, `conflict h4 at line 4 of f`, `base.*\n four\n`, `tree.*\n quattro\n`, `agent.*\n vier\n`,
		`settle this conflict \[n,A,t,c,e,u`, `A takes the agent's text, t keeps`, `A takes the agent's text, t keeps`)

	d = conflicting(t)
	s = play(t, d, "y", "t", "K", "q")
	expectDecisions(t, d, "p1@3 accept:h2", "p1@4 accept:h4/tree")
	s.says(`\? t\nkept the tree's text\n`, `\(2/4\) rejected`, `1 accepted, 0 rejected, 1 kept as the tree has it, 2 hunks left\n$`)

	d = conflicting(t)
	play(t, d, "d", "q")
	expectDecisions(t, d, "p1@3 reject:h2 reject:h4 reject:h6")
}

func TestWalkWrapsAndShowsControls(t *testing.T) {
	d := twoFiles(t)
	d.proposals[0].hunks[0].new = "0123456789\x1b[8mhidden "
	d.proposals[0].path = "f\x1b[2J"
	s := &script{t: t, input: []string{"q"}, wide: 12}
	playOn(t, d, s)
	s.says(`(?m)^f\^\[\[2J$`, `(?m)^\+0123456789\^$`, `(?m)^ \[\[8mhidden $`)
	if strings.Contains(s.out.String(), "\x1b") {
		t.Errorf("an escape character reached the terminal: %q", s.out.String())
	}
}

func TestWalkLongHunk(t *testing.T) {
	d := twoFiles(t)
	d.proposals = d.proposals[1:]
	long := strings.Repeat("x\n", shownLines+4) + "end"
	d.proposals[0].hunks[0].new = strings.ReplaceAll(long, "\n", "\n+")
	fixed := &longDaemon{d}
	s := &script{t: t, input: []string{"p", "q"}, wide: 80}
	if err := newWalk(fixed, s, false, "").run(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.says(`… 6 more changed lines not shown; p prints them`, `\[.*\]\? p\n`, `\+end\n`, `\]\? q`)
}

// longDaemon counts the lines of the only hunk right.
type longDaemon struct{ *fakeDaemon }

func (d *longDaemon) Proposal(ctx context.Context, params protocol.ProposalsGetParams) (protocol.ProposalsGetResult, error) {
	res, err := d.fakeDaemon.Proposal(ctx, params)
	h := &res.Proposal.Hunks[0]
	h.NewLines = strings.Count(d.proposals[0].hunks[0].new, "\n") + 1
	res.Proposal.Diff = strings.Replace(res.Proposal.Diff, "@@ -1 +1 @@", "@@ -1 +"+lineRange(1, h.NewLines)+" @@", 1)
	return res, err
}
