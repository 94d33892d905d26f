//go:build unix

package diffpreview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// oldJournal is a workspace and a state directory as an older version left them.
func oldJournal(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), state: filepath.Join(t.TempDir(), "state")}
	if err := os.CopyFS(w.root, os.DirFS(filepath.Join(dir, "tree"))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(w.state, "bodies"), os.DirFS(filepath.Join(dir, "bodies"))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.ReplaceAll(string(text), "ROOT", w.root))
	if err := os.WriteFile(filepath.Join(w.state, "journal.jsonl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.close() })
	return w
}

// The journal of the version before compactions and the history, which was
// killed while it overwrote a file with two names, comes to the same as it did.
func TestJournalsOfOlderVersions(t *testing.T) {
	w := oldJournal(t, filepath.Join("testdata", "journal-1"))
	if err := os.Remove(filepath.Join(w.root, "twin")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(w.root, "linked"), filepath.Join(w.root, "twin")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.open()
		states := map[string]State{}
		for _, p := range w.store.those(func(*Proposal) bool { return true }) {
			states[p.ID+" "+p.Session+" "+p.Name] = p.State()
		}
		for name, want := range map[string]State{
			"p1 s1 gone": StateOpen, "p2 s1 open": StateOpen, "p3 s2 decided": StateApplied, "p4 s2 conflict": StateConflict, "p5 s2 moved": StateOpen, "p6 s1 linked": StateOpen,
		} {
			if states[name] != want {
				t.Errorf("%s is %q, want %s", name, states[name], want)
			}
		}
		if len(states) != 6 {
			t.Errorf("there are %v", states)
		}
		for _, name := range []string{"linked", "twin"} { // the write was undone
			if got := w.disk(name); strings.Contains(got, "one more") || !strings.HasPrefix(got, "1 x\n") || len(got) != 7293 {
				t.Errorf("%s has %d bytes", name, len(got))
			}
		}
		if _, err := w.store.List(Filter{}); err != nil {
			t.Fatal(err)
		}
		if told := w.toldOf("s2"); !slices.Equal(told, []string{"h2 modified", "h3 rejected", "h1 conflict"}) {
			t.Errorf("the agent is told %q", told)
		}
		if sess := w.store.Sessions(); len(sess) != 2 {
			t.Errorf("sessions: %v", sess)
		}
		p, err := w.store.Get("p2")
		if err != nil || len(p.Steps) != 2 || p.StepCount != 2 {
			t.Errorf("%v, %+v of %d steps", err, p.Steps, p.StepCount)
		}
		w.wantTidy()
		w.close()
	}
	w.open()
	fresh := w.propose(w.session("agent"), "fresh", "x\n")
	if fresh.ID != "p7" || fresh.Session != "s4" {
		t.Errorf("a new proposal is %s of %s", fresh.ID, fresh.Session)
	}
	if _, err := w.store.DecideSession(context.Background(), DecideSet{Session: "s1", Accept: true, By: "tester"}); err != nil {
		t.Error(err)
	}
	if _, _, err := w.store.Undo(context.Background(), "p3", "", "tester"); err != nil {
		t.Error(err)
	}
	w.wantDisk("decided", "a\nb\nc\nd\ne\n")
	w.wantHistory("old")
}

// toldOf is what a session's agent is to be told.
func (w *world) toldOf(session string) []string {
	var told []string
	for _, r := range w.store.Reviews(session) {
		told = append(told, r.Hunk+" "+r.Decision)
	}
	return told
}

// stopAtStage ends a write at a stage as SIGKILL would.
func (w *world) stopAtStage(stage string, do func()) {
	w.t.Helper()
	stop := errors.New("stopped")
	stopped := false
	w.ws.step = func(at string) {
		if at == stage && !stopped {
			stopped = true
			panic(stop)
		}
	}
	defer func() {
		w.ws.step = func(string) {}
		if r := recover(); r != nil && r != stop {
			panic(r)
		}
		if !stopped {
			w.t.Errorf("there is no stage %q", stage)
		}
	}()
	do()
}

// The record of a write names the texts that undoing it takes, also where no
// proposal's base in the journal has them: an undo stands on a tree that has
// moved on since the decision.
func TestAnUndoInPlaceIsRecovered(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	w.save("f", numbered(3000, nil))
	if err := os.Link(filepath.Join(w.root, "f"), filepath.Join(w.root, "twin")); err != nil {
		t.Fatal(err)
	}
	p := w.propose(w.session("agent"), "f", numbered(3000, map[int]string{7: "seven"}))
	w.mustDecide(p, true)
	later := numbered(3000, map[int]string{7: "seven", 2500: "changed later, by somebody else"})
	w.save("f", later)
	w.stopAtStage("changed", func() { w.store.Undo(context.Background(), p.ID, "", "tester") })
	w.restart()
	want := numbered(3000, map[int]string{2500: "changed later, by somebody else"})
	if got := w.disk("f"); got != later && got != want {
		t.Errorf("the file is neither as before nor as after the undo: %d bytes", len(got))
	}
	w.wantDisk("twin", w.disk("f"))
	if _, _, err := w.store.Undo(context.Background(), p.ID, "", "tester"); err != nil {
		t.Error(err)
	}
	w.wantDisk("f", want)
}

// A write that was left half done stays in the journal over compactions, until a
// restart can mend it; what was answered meanwhile is not taken back by that.
func TestAHalfDoneWriteOutlivesCompactions(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	old := numbered(3000, nil)
	w.save("f", old)
	if err := os.Link(filepath.Join(w.root, "f"), filepath.Join(w.root, "twin")); err != nil {
		t.Fatal(err)
	}
	s := w.session("agent")
	text := numbered(3000, map[int]string{7: "seven"})
	p := w.propose(s, "f", text)
	w.stopAtStage("changed", func() { w.decide(p, true) }) // and the daemon goes on
	for range 3 {
		if _, err := w.store.compact(); err != nil {
			t.Fatal(err)
		}
	}
	other := w.propose(s, "g", "x\n")
	w.mustDecide(other, true)
	w.restart()
	if got := w.disk("f"); got != old && got != text {
		t.Errorf("the file is neither old nor new: %d bytes", len(got))
	}
	w.wantDisk("twin", w.disk("f"))
	w.wantDisk("g", "x\n")
	w.wantHistory("half done")
	w.wantTidy()
}

// An older state that a write would have led to does not replace a newer one
// that was answered for since.
func TestARecoveredWriteDoesNotUndoAnswers(t *testing.T) {
	r := &replayed{proposals: map[string]savedProposal{}, queues: map[string][]Review{}, pending: map[int]*beginWrite{}}
	w := newQuietWorld(t, Limits{})
	r.proposals["p1"] = savedProposal{ID: "p1", Version: 5}
	r.proposals["p2"] = savedProposal{ID: "p2", Version: 2}
	w.save("there", "x\n")
	done := intentFile{Root: osName(w.ws.roots[0].path), Rel: "there", Method: methodCreate, Want: hashBytes([]byte("x\n"))}
	b := &beginWrite{ID: 1, Intent: intent{Phase: phaseCommit, Files: []intentFile{done}}, Texts: map[string]savedText{}, Then: &record{
		Proposals: []savedProposal{{ID: "p1", Version: 4}, {ID: "p2", Version: 3}},
	}}
	if err := w.store.endInterrupted(r, b); err != nil {
		t.Fatal(err)
	}
	if one, two := r.proposals["p1"].Version, r.proposals["p2"].Version; one != 5 || two != 3 {
		t.Errorf("recovered to versions %d and %d", one, two)
	}
}

// Memory changes in the order of the journal, however long a record takes to
// become visible: what is told and what is remembered to have been told, and the
// numbers of the history, are counted in one order.
func TestVisibleInTheJournalsOrder(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	s := w.session("agent")
	slow, quick := w.propose(s, "slow", "x\n"), w.propose(s, "quick", "x\n")
	var both sync.WaitGroup
	shown := make(chan struct{})
	w.store.journal.mu.Lock()
	w.store.journal.step = func(stage string) {
		if stage != "logged" {
			return
		}
		w.store.journal.step = func(string) {}
		both.Go(func() {
			w.mustDecide(quick, false)
			close(shown)
		})
		select {
		case <-shown:
		case <-time.After(100 * time.Millisecond): // it waits for this one
		}
	}
	w.store.journal.mu.Unlock()
	w.mustDecide(slow, false)
	both.Wait()
	before := w.dump(true)
	if err := w.store.Told(s, w.store.Reviews(s)[:1]); err != nil {
		t.Fatal(err)
	}
	told := w.dump(true)
	w.restart()
	wantSame(t, "a restart", told, w.dump(true))
	if told == before {
		t.Error("nothing was told")
	}
}

// A compaction does not look at what is told before the journal has it: the
// decisions behind it would be taken for told, too.
func TestToldWhileCompacting(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	s := w.session("agent")
	for _, name := range []string{"a", "b", "c"} {
		w.mustDecide(w.propose(s, name, "x\n"), false)
	}
	var both sync.WaitGroup
	done := make(chan struct{})
	w.store.journal.step = func(stage string) {
		if stage != "telling" {
			return
		}
		both.Go(func() {
			if _, err := w.store.compact(); err != nil {
				t.Error(err)
			}
			close(done)
		})
		select {
		case <-done:
		case <-time.After(100 * time.Millisecond): // it waits for this
		}
	}
	if err := w.store.Told(s, w.store.Reviews(s)[:1]); err != nil {
		t.Fatal(err)
	}
	both.Wait()
	w.restart()
	if n := len(w.store.Reviews(s)); n != 2 {
		t.Errorf("%d decisions are left to be told, of 2", n)
	}
}

// In an older journal the short texts of a write are found in its proposals.
func TestShortTextsOfAnOlderWrite(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	w.save("f", numbered(100, nil))
	if err := os.Link(filepath.Join(w.root, "f"), filepath.Join(w.root, "twin")); err != nil {
		t.Fatal(err)
	}
	p := w.propose(w.session("agent"), "f", numbered(100, map[int]string{1: "one", 100: "a hundred"}))
	w.stopAtStage("appended", func() { w.decide(p, true) })
	w.close()
	old := &bytes.Buffer{}
	err := w.records().read(func(rec record) error {
		if rec.Begin != nil {
			rec.Begin.Texts = nil
		}
		line, err := json.Marshal(rec)
		old.Write(append(line, '\n'))
		return err
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(w.state, "journal.jsonl"), old.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.open()
	w.wantDisk("f", numbered(100, nil))
	w.mustDecide(p, true)
	w.wantDisk("twin", numbered(100, map[int]string{1: "one", 100: "a hundred"}))
}
