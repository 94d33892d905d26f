package diffpreview

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func (w *world) ids() string {
	var ids []string
	for _, p := range w.store.those(func(*Proposal) bool { return true }) {
		ids = append(ids, p.ID)
	}
	return strings.Join(ids, " ")
}

// Of the decided proposals the ones that were decided first go, while the daemon
// runs and at a restart; undecided ones never.
func TestDecidedProposalsAreBounded(t *testing.T) {
	w := newQuietWorld(t, Limits{Decided: 3})
	s := w.session("agent")
	var made []*Proposal
	for i := range 8 {
		made = append(made, w.propose(s, fmt.Sprint("f", i), "x\n"))
	}
	for _, i := range []int{6, 1, 4} { // p7 p2 p5
		w.mustDecide(made[i], i%2 == 0)
	}
	if got := w.ids(); got != "p1 p2 p3 p4 p5 p6 p7 p8" {
		t.Errorf("at the limit there are %s", got)
	}
	w.mustDecide(made[0], true)
	if got := w.ids(); got != "p1 p2 p3 p4 p5 p6 p8" { // without p7
		t.Errorf("over it there are %s", got)
	}
	if _, _, err := w.store.Undo(context.Background(), "p7", "", "tester"); CodeOf(err) != CodeUnknownProposal {
		t.Errorf("undoing what is forgotten gives %v", err)
	}
	if _, _, err := w.store.Undo(context.Background(), "p2", "", "tester"); err != nil {
		t.Error(err)
	}
	w.mustDecide(made[2], true)
	w.mustDecide(made[1], false)                    // again, and so the last
	if got := w.ids(); got != "p1 p2 p3 p4 p6 p8" { // without p5
		t.Errorf("after an undo there are %s", got)
	}
	w.restart()
	if got := w.ids(); got != "p1 p2 p3 p4 p6 p8" {
		t.Errorf("after a restart there are %s", got)
	}
	if n := len(w.history(HistoryFilter{})); n != 7 {
		t.Errorf("the history forgot: it has %d entries", n)
	}
	if got := len(w.store.retention.decided); got != 3 {
		t.Errorf("%d decided proposals are counted", got)
	}
	w.limits.Decided = 1
	w.restart()
	if got := w.ids(); got != "p2 p4 p6 p8" {
		t.Errorf("with a smaller limit there are %s", got)
	}
	w.wantTidy()
}

// The bytes of decided proposals are bounded, too, and those of the journal with
// them. The last decision can be undone however large it is.
func TestBytesOfDecidedProposalsAreBounded(t *testing.T) {
	w := newQuietWorld(t, Limits{DecidedBytes: 100 << 10, Journal: 1 << 40})
	s := w.session("agent")
	text := numbered(8000, nil) // 38 kB
	var last *Proposal
	for i := range 6 {
		last = w.propose(s, fmt.Sprint("f", i), text)
		w.mustDecide(last, false)
	}
	if got := w.ids(); got != "p5 p6" {
		t.Errorf("there are %s", got)
	}
	big := w.propose(s, "big", numbered(40000, nil))
	w.mustDecide(big, true)
	if got := w.ids(); got != "p7" {
		t.Errorf("with a large one there are %s", got)
	}
	if _, err := w.store.compact(); err != nil {
		t.Fatal(err)
	}
	if got, most := w.store.journal.bytes(), int64(2*len(numbered(40000, nil))); got > most {
		t.Errorf("the journal has %d bytes", got)
	}
	w.restart()
	if _, _, err := w.store.Undo(context.Background(), "p7", "", "tester"); err != nil {
		t.Error(err)
	}
	if r := w.store.retention; r.bytes != 0 || len(r.decided) != 0 {
		t.Errorf("%d bytes of %d decided proposals are counted", r.bytes, len(r.decided))
	}
}

// What was accepted into a buffer that is not saved is not decided for good.
func TestUnsavedDecisionsAreKept(t *testing.T) {
	w := newQuietWorld(t, Limits{Decided: 1})
	w.save("doc", "1\n2\n")
	editor := &bufferOwner{store: w.store}
	path := w.resolve("doc")
	w.store.OpenDocument(editor, path, 1, "1\n2 typed\n")
	s := w.session("agent")
	unsaved := w.propose(s, "doc", "one\n2 typed\n")
	w.mustDecide(unsaved, true)
	for i := range 4 {
		w.mustDecide(w.propose(s, fmt.Sprint("f", i), "x\n"), true)
	}
	if got := w.ids(); got != "p1 p5" {
		t.Errorf("there are %s", got)
	}
	w.store.CloseDocument(editor, path)
	if p, err := w.store.refreshed(unsaved.ID); err != nil || p.State() == StateApplied {
		t.Errorf("when the buffer is gone it is %v, %v", p.State(), err)
	}
}

// bufferOwner is an editor that does as it is told.
type bufferOwner struct{ store *Store }

func (o *bufferOwner) ApplyEdits(_ context.Context, path Path, version int32, text string, edits []DocumentEdit, _ EditReason) error {
	for i := len(edits) - 1; i >= 0; i-- {
		text = text[:edits[i].Start] + edits[i].Text + text[edits[i].End:]
	}
	o.store.ChangeDocument(o, path, version+1, text)
	return nil
}

func (w *world) resolve(name string) Path {
	w.t.Helper()
	p, _, err := w.ws.Resolve(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// A file that is edited without end has a journal without end no more: of its
// steps the first and the newest are kept, and all are counted.
func TestStepsAreBounded(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	s := w.session("agent")
	v := w.store.View(s)
	path := w.resolve("a")
	var p *Proposal
	for i := range 200 {
		step, err := v.Propose(context.Background(), path, Call{ID: fmt.Sprint(i), Tool: fmt.Sprint("tool", i%3)}, func(now Content) (Content, error) {
			return Content{Exists: true, Data: fmt.Appendf(nil, "%d\n", i)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		p = step.Proposal
	}
	for range 2 {
		if p.StepCount != 200 || len(p.Steps) != firstSteps+newestSteps {
			t.Fatalf("%d steps, of which %d are kept", p.StepCount, len(p.Steps))
		}
		if first, cut, last := p.Steps[firstSteps-1].Call.ID, p.Steps[firstSteps].Call.ID, p.Steps[len(p.Steps)-1].Call.ID; first != "15" || cut != "152" || last != "199" {
			t.Errorf("kept are steps to %s, and from %s to %s", first, cut, last)
		}
		w.restart()
		var err error
		if p, err = w.store.Get(p.ID); err != nil {
			t.Fatal(err)
		}
	}
	if size := w.store.journal.length(); size > 16<<10 {
		t.Errorf("the journal has %d bytes", size)
	}
}

// A decision that the tree made has its time, and keeps it over further changes
// of the tree: it orders what is forgotten.
func TestTheTreesDecisionsHaveTheirTime(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	w.save("a", "1\n2\n3\n4\n5\n")
	s := w.session("agent")
	p := w.propose(s, "a", "one\n2\n3\n4\nfive\n")
	at := func() string {
		q, err := w.store.Get(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		h, _ := q.Hunk("h1")
		if h.State != HunkAccepted || h.Decision.By != treeName || h.Decision.Time.IsZero() {
			t.Fatalf("h1 is %s, %+v", h.State, h.Decision)
		}
		return h.Decision.Time.String()
	}
	w.save("a", "one\n2\n3\n4\n5\n")
	first := at()
	w.save("a", "one\n2\n3\nmore\n4\n5\n")
	if now := at(); now != first {
		t.Errorf("decided at %s, then at %s", first, now)
	}
	w.restart()
	if now := at(); now != first {
		t.Errorf("decided at %s, after a restart at %s", first, now)
	}
	if n := len(w.history(HistoryFilter{})); n != 1 {
		t.Errorf("the history tells of it %d times", n)
	}
}
