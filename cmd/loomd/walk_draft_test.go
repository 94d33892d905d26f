package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// drafting is an editor that answers with the texts one after the other, and
// notes what it was given.
type drafting struct {
	answers []string
	given   []string
	fails   bool // after it has saved
}

func (d *drafting) edit(_, text string) (string, error) {
	d.given = append(d.given, text)
	answer := d.answers[0]
	d.answers = d.answers[1:]
	if d.fails {
		return answer, errors.New("the editor vi: exit status 1")
	}
	return answer, nil
}

func (d *drafting) want(t *testing.T, given ...string) {
	t.Helper()
	if !slices.Equal(d.given, given) {
		t.Errorf("the editor is given %q, want %q", d.given, given)
	}
}

// changes has the agent change the first hunk before the first decision.
func changes(d *fakeDaemon) {
	d.onDecide = func(protocol.DecideParams) {
		if p := d.proposals[0]; p.version == 3 {
			p.version = 4
			p.hunks[0].new, p.hunks[0].changed = "dos", 4
		}
	}
}

func TestWalkKeepsWhatWasTyped(t *testing.T) {
	d, ed := twoFiles(t), &drafting{answers: []string{"deux\n", "deux!\n"}}
	changes(d)
	s := editing(t, ed.edit, "e", "y", "q")
	playOn(t, d, s)
	ed.want(t, "zwei\n", "deux\n")
	expectDecisions(t, d, `p1@3 accept:h2="deux\n"`, `p1@4 accept:h2="deux!\n"`)
	s.says(`what you save is accepted, also unchanged`, `not decided: h2 is not what it was`, `\+dos\n`,
		`edit again what you wrote\? n throws it away \[y/n\] y`, `wrote f`, `\(2/4\)`, `1 accepted, 0 rejected, 3 hunks left\n$`)
	if strings.Contains(s.out.String(), "what you wrote for") {
		t.Error("an accepted text is told as lost")
	}
}

func TestWalkThrowsAwayWhatWasTyped(t *testing.T) {
	d, ed := twoFiles(t), &drafting{answers: []string{"deux\n", "dos\n"}}
	changes(d)
	s := editing(t, ed.edit, "e", "n", "e", "q")
	playOn(t, d, s)
	ed.want(t, "zwei\n", "dos\n")
	expectDecisions(t, d, `p1@3 accept:h2="deux\n"`, `p1@4 accept:h2`)
}

// A draft outlives an editor that fails, and what was never accepted is printed
// at the end.
func TestWalkDraftOfAnEditorThatFails(t *testing.T) {
	d, ed := twoFiles(t), &drafting{answers: []string{"deux\n", "deux!\n"}, fails: true}
	s := editing(t, ed.edit, "e", "", "e", "", "q")
	playOn(t, d, s)
	ed.want(t, "zwei\n", "deux\n")
	expectDecisions(t, d)
	s.says(`nothing was decided: the editor vi: exit status 1`, `edit again`, `what you wrote is kept: e opens it again`,
		`what you wrote for h2 of f, which is not decided:\n deux!\n`, `4 hunks left`)
}

func TestWalkDraftOfAHunkThatIsGone(t *testing.T) {
	d, ed := twoFiles(t), &drafting{answers: []string{"deux\n"}}
	d.onDecide = func(protocol.DecideParams) {
		if p := d.proposals[0]; p.version == 3 {
			p.version, p.hunks = 4, p.hunks[1:]
		}
	}
	s := editing(t, ed.edit, "e", "q")
	playOn(t, d, s)
	s.says(`the hunk is no longer proposed`, `what you wrote for h2 of f, which is no longer proposed:\n deux\n`, `\(2/4\)`)
}

func TestWalkDraftOutlivesTheConnection(t *testing.T) {
	lost := fmt.Errorf("calling: %w", client.ErrClosed)
	d, ed := twoFiles(t), &drafting{answers: []string{"deux\n", "deux\n"}}
	s := editing(t, ed.edit, "e", "e", "q")
	w := newWalk(&brokenDaemon{d, lost}, s, false, "")
	w.reconnect = func(context.Context) (reviewer, error) { return d, nil }
	if err := w.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	ed.want(t, "zwei\n", "deux\n")
	expectDecisions(t, d, `p1@3 accept:h2="deux\n"`)
	s.says(`what you wrote is kept`, `wrote f`)

	d, ed = twoFiles(t), &drafting{answers: []string{"deux\n"}}
	s = editing(t, ed.edit, "e")
	if err := newWalk(&brokenDaemon{d, lost}, s, false, "").run(context.Background()); !errors.Is(err, client.ErrClosed) {
		t.Errorf("run = %v", err)
	}
	s.says(`what you wrote for h2 of f, which is not decided:\n deux\n`)
}

// A draft with the marks of a conflict is not written when there is none any more.
func TestSettleRefusesTheMarksOfADraft(t *testing.T) {
	it := &walkItem{file: &walkFile{}, hunk: protocol.Hunk{Kind: "text", State: protocol.HunkOpen}, text: region{lines: []diffLine{{'+', "a", false}}}, hasText: true}
	if _, err := it.settle("a\n" + markAgent + "\n"); err == nil {
		t.Error("the mark is taken for text")
	}
	if _, err := it.settle("title\n" + markMid + "\n"); err != nil {
		t.Error(err)
	}
}
