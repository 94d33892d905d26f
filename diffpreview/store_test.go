package diffpreview

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestOneHunkIsWrittenAndTheAgentHearsOfIt(t *testing.T) {
	base := numbered(20, nil)
	w := newWorld(t, map[string]string{"f": base})
	one, two := w.session("one"), w.session("two")
	p := w.propose(one, "f", numbered(20, map[int]string{2: "two\n", 15: "fifteen\n"}))
	w.wantDisk("f", base)
	if w.view(two, "f") != base {
		t.Error("another session sees the proposal")
	}
	q := w.mustDecide(p, true, "h2")
	w.wantDisk("f", numbered(20, map[int]string{15: "fifteen\n"}))
	if q.State() != StateOpen {
		t.Errorf("state is %s", q.State())
	}
	if got := w.view(one, "f"); got != numbered(20, map[int]string{2: "two\n", 15: "fifteen\n"}) {
		t.Errorf("view is %q", got)
	}
	reviews := w.store.Reviews(one)
	if len(reviews) != 1 || reviews[0].Hunk != "h2" || reviews[0].Decision != "accepted" || reviews[0].Hash != hashBytes([]byte(w.disk("f"))) {
		t.Errorf("reviews are %+v", reviews)
	}
	w.wantClean()
}

func TestRestartBringsEverythingBack(t *testing.T) {
	long := strings.Repeat("a line that makes this more than a block\n", 500)
	w := newWorld(t, map[string]string{"f": long, "g": "a\nb\n"})
	s := w.session("agent")
	p := w.propose(s, "f", "first\n"+long+"last\n")
	w.mustDecide(p, true, "h1")
	w.propose(s, "new/file", long)
	g := w.propose(s, "g", "a\nB\n")
	w.mustDecide(g, false)
	w.restart()
	w.restart()
	list, err := w.store.List(Filter{})
	if err != nil || len(list) != 2 || list[0].Name != "f" || list[1].Name != "new/file" {
		t.Fatalf("after the restart: %v, %v", list, err)
	}
	if got := w.view(s, "f"); got != "first\n"+long+"last\n" {
		t.Errorf("view has %d bytes", len(got))
	}
	if n := len(w.store.Reviews(s)); n != 2 {
		t.Errorf("%d reviews are left to tell, want 2", n)
	}
	if again, err := w.store.JoinSession(Session{Label: "agent"}); err != nil || again.ID != s {
		t.Errorf("the label leads to %v, %v", again.ID, err)
	}
	w.mustDecide(list[0], true)
	w.mustDecide(list[1], true)
	w.wantDisk("f", "first\n"+long+"last\n")
	w.wantDisk("new/file", long)
	w.wantClean()
}

func TestChangeOnDiskIsRebasedOrConflicts(t *testing.T) {
	w := newWorld(t, map[string]string{"f": numbered(10, nil)})
	s := w.session("agent")
	p := w.propose(s, "f", numbered(10, map[int]string{2: "two\n", 8: "eight\n"}))
	w.save("f", "zero\n"+numbered(10, map[int]string{8: "acht\n"}))
	q, err := w.store.Get(p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if q.State() != StateConflict {
		t.Fatalf("state is %s", q.State())
	}
	if _, err := w.decide(q, true); CodeOf(err) != CodeConflict {
		t.Errorf("accepting all gave %v", err)
	}
	w.mustDecide(q, true, "h1")
	w.wantDisk("f", "zero\n"+numbered(10, map[int]string{2: "two\n", 8: "acht\n"}))
	q, _, err = w.store.Decide(context.Background(), DecideFile{
		ID: p.ID, By: "tester", Verdicts: []Verdict{{Hunk: "h2", Accept: true, Side: SideAgent}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.wantDisk("f", "zero\n"+numbered(10, map[int]string{2: "two\n", 8: "eight\n"}))
	if q.State() != StateApplied {
		t.Errorf("state is %s", q.State())
	}
}

func TestAChangeSetIsAllOrNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n", "b": "1\n", "c": "1\n"})
	s := w.session("agent")
	for _, name := range []string{"a", "b", "c", "d/e/new"} {
		w.propose(s, name, "2\n")
	}
	w.save("b", "mine\n")
	_, err := w.store.DecideSession(context.Background(), DecideSet{Session: s, Accept: true, By: "tester"})
	if CodeOf(err) != CodeConflict {
		t.Fatalf("a conflict in the set gave %v", err)
	}
	for name, text := range map[string]string{"a": "1\n", "b": "mine\n", "c": "1\n", "d/e/new": "(absent)"} {
		w.wantDisk(name, text)
	}
	if _, err := os.Stat(filepath.Join(w.root, "d")); err == nil {
		t.Error("a directory of a file that was not accepted is there")
	}
	w.save("b", "1\n")
	set, err := w.store.DecideSession(context.Background(), DecideSet{Session: s, Accept: true, By: "tester"})
	done, written := set.Proposals, set.Written
	if err != nil || len(done) != 4 || len(written) != 4 {
		t.Fatalf("%d decided, %d written, %v", len(done), len(written), err)
	}
	for _, name := range []string{"a", "b", "c", "d/e/new"} {
		w.wantDisk(name, "2\n")
	}
	w.wantClean()
}

func TestUndoTakesTextOutAgain(t *testing.T) {
	w := newWorld(t, map[string]string{"f": numbered(9, nil)})
	s := w.session("agent")
	p := w.propose(s, "f", numbered(9, map[int]string{2: "two\n", 7: "seven\n"}))
	n := w.propose(s, "n", "new\n")
	w.mustDecide(p, true)
	w.mustDecide(n, true)
	w.save("f", numbered(9, map[int]string{2: "two\n", 7: "seven\n"})+"mine\n")
	if _, _, err := w.store.Undo(context.Background(), p.ID, "h1", "tester"); err != nil {
		t.Fatal(err)
	}
	w.wantDisk("f", numbered(9, map[int]string{7: "seven\n"})+"mine\n")
	if r := w.store.Reviews(s); len(r) != 4 || r[3].Decision != "reopened" || r[3].Hunk != "h1" || r[3].By != "tester" {
		t.Errorf("the agent is told %+v", r)
	}
	if _, _, err := w.store.Undo(context.Background(), n.ID, "", "tester"); err != nil {
		t.Fatal(err)
	}
	w.wantDisk("n", "(absent)")
	w.save("n", "new\n")
	q, err := w.store.Get(n.ID)
	if err != nil || q.State() != StateApplied {
		t.Errorf("the same file made by hand leaves the proposal %v, %v", q.State(), err)
	}
	w.save("f", numbered(9, map[int]string{7: "changed by hand\n"}))
	if _, _, err := w.store.Undo(context.Background(), p.ID, "h2", "tester"); CodeOf(err) != CodeConflict {
		t.Errorf("undoing what was changed by hand gave %v", err)
	}
}

func TestDecidedOnceByTwo(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	s := w.session("agent")
	p := w.propose(s, "f", "a\nz\n")
	var errs [2]error
	var both sync.WaitGroup
	for i := range errs {
		both.Go(func() { _, errs[i] = w.decide(p, true) })
	}
	both.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("errors are %v and %v", errs[0], errs[1])
	}
	for _, err := range errs {
		if err != nil && (CodeOf(err) != CodeAlreadyDecided || !strings.Contains(err.Error(), "applied by tester")) {
			t.Errorf("the second got %v", err)
		}
	}
	w.wantDisk("f", "a\nz\n")
}

func TestADecisionOnAnOlderVersion(t *testing.T) {
	w := newWorld(t, map[string]string{"f": numbered(20, nil)})
	s := w.session("agent")
	p := w.propose(s, "f", numbered(20, map[int]string{2: "two\n", 15: "fifteen\n"}))
	w.propose(s, "f", numbered(20, map[int]string{2: "zwei\n", 15: "fifteen\n"}))
	d := DecideFile{ID: p.ID, Version: p.Version, By: "tester", Verdicts: []Verdict{{Hunk: "h1", Accept: true}}}
	if _, _, err := w.store.Decide(context.Background(), d); CodeOf(err) != CodeChangedSince {
		t.Errorf("a hunk that changed since: %v", err)
	}
	d.Verdicts[0].Hunk = "h2"
	if _, _, err := w.store.Decide(context.Background(), d); err != nil {
		t.Errorf("a hunk that did not: %v", err)
	}
	d.Verdicts[0].Hunk = "h9"
	if _, _, err := w.store.Decide(context.Background(), d); CodeOf(err) != CodeChangedSince {
		t.Errorf("a hunk that is not there any more: %v", err)
	}
	d.Version = 0
	if _, _, err := w.store.Decide(context.Background(), d); CodeOf(err) != CodeUnknownHunk {
		t.Errorf("an unknown hunk: %v", err)
	}
	w.wantDisk("f", numbered(20, map[int]string{15: "fifteen\n"}))
}

// Many programs save by emptying the file and writing it anew. Caught in
// between, such a file must not settle anything.
func TestAHalfWrittenFileSettlesNothing(t *testing.T) {
	base := numbered(9, nil)
	w := newWorld(t, map[string]string{"f": base})
	w.close()
	w.now = time.Now
	w.open()
	s := w.session("agent")
	p := w.propose(s, "f", "1\n2\n3\n") // deletes what a half written file lacks, too
	w.save("f", "1\n2\n3\n")
	q, err := w.store.Get(p.ID)
	if err != nil || q.State() != StateConflict {
		t.Fatalf("half written: %v, %v", q.State(), err)
	}
	if n := len(w.store.Reviews(s)); n != 0 {
		t.Errorf("the agent is told %d things", n)
	}
	w.save("f", "zero\n"+base)
	q, err = w.store.Get(p.ID)
	if err != nil || q.State() != StateOpen {
		t.Fatalf("written whole: %v, %v", q.State(), err)
	}
	if got := w.view(s, "f"); got != "zero\n1\n2\n3\n" {
		t.Errorf("the view is %q", got)
	}
	events := make(chan Event, 100)
	w.store.Subscribe(func(e Event) { events <- e })
	w.save("f", "1\n2\n3\n")
	if _, err := w.store.Get(p.ID); err != nil {
		t.Fatal(err)
	}
	for e := range events { // until it has come to rest and is what the agent wanted
		if e.Proposal.State() == StateApplied {
			break
		}
	}
	if r := w.store.Reviews(s); len(r) != 1 || r[0].By != treeName {
		t.Errorf("reviews: %+v", r)
	}
}

// Two calls of a session that end at once may both tell of a review, but a
// review that neither told of stays.
func TestReviewsAreToldAtLeastOnce(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n", "g": "1\n"})
	s := w.session("agent")
	w.mustDecide(w.propose(s, "f", "2\n"), true)
	one, two := w.store.Reviews(s), w.store.Reviews(s)
	w.mustDecide(w.propose(s, "g", "2\n"), false)
	for _, told := range [][]Review{one, two} {
		if err := w.store.Told(s, told); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if left := w.store.Reviews(s); len(left) != 1 || left[0].Path != "g" {
			t.Fatalf("left to tell: %+v", left)
		}
		w.restart()
	}
}

// Where a directory has taken the file's place nothing can be accepted, and
// everything can be refused.
func TestADirectoryInTheFilesPlace(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n"})
	s := w.session("agent")
	p, n := w.propose(s, "f", "2\n"), w.propose(s, "n", "new\n")
	for _, name := range []string{"f", "n"} {
		os.Remove(filepath.Join(w.root, name))
		if err := os.Mkdir(filepath.Join(w.root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	list, err := w.store.List(Filter{})
	if err != nil || len(list) != 2 || list[0].State() != StateConflict {
		t.Fatalf("%v, %v", list, err)
	}
	for _, p := range []*Proposal{p, n} {
		if _, err := w.decide(p, true); CodeOf(err) != CodeConflict && CodeOf(err) != CodeIsDirectory && CodeOf(err) != CodeStale {
			t.Errorf("accepting %s gave %v", p.Name, err)
		}
		w.mustDecide(p, false)
	}
	w.wantClean()
}
