package diffpreview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// dump is everything that a restart brings back, without times. versions leaves
// out what a restart may raise.
func (w *world) dump(versions bool) string {
	w.t.Helper()
	var b strings.Builder
	proposals := w.store.those(func(p *Proposal) bool { return len(p.Hunks) > 0 })
	for _, p := range proposals {
		fmt.Fprintf(&b, "%s %s %s %s %s %s %d steps %d hunks\n", p.ID, p.Session, p.Name, p.Kind, p.State(), p.Base.Hash(), p.StepCount, p.hunks)
		for _, s := range p.Steps {
			fmt.Fprintf(&b, "  %v\n", s.Call)
		}
		for i := range p.Hunks {
			h := &p.Hunks[i]
			fmt.Fprintf(&b, "  %s %s %s %d+%d %s %s lost %v\n", h.ID, h.Kind, h.State, h.Start, h.Count, brief(h.Old), brief(h.New), h.Lost)
			if d := h.Decision; d != nil {
				fmt.Fprintf(&b, "    %s %q %v %s\n", d.By, d.Comment, d.Modified, d.Rule)
			}
			if versions {
				fmt.Fprintf(&b, "    since %d of %d\n", h.Since, p.Version)
			}
		}
	}
	for _, sess := range w.store.Sessions() {
		if !sess.Open {
			continue // is forgotten when its agent was told everything
		}
		fmt.Fprintf(&b, "%s %s\n", sess.ID, sess.Label)
		for _, r := range w.store.Reviews(sess.ID) {
			if r.Decision != "conflict" { // is told again after a restart
				fmt.Fprintf(&b, "  tell %s %s %s by %s %q %s\n", r.Proposal, r.Hunk, r.Decision, r.By, r.Comment, r.Hash)
			}
		}
		for _, name := range propertyFiles {
			hash, ok := w.store.View(sess.ID).LastSeen(Path{0, name})
			fmt.Fprintf(&b, "  saw %s %s %v\n", name, hash, ok)
		}
	}
	entries, _, err := w.store.History(HistoryFilter{Limit: maxHistoryPage})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		e.Time = time.Time{}
		fmt.Fprintf(&b, "%+v\n", e)
	}
	for _, name := range propertyFiles {
		fmt.Fprintf(&b, "%s: %s\n", name, brief([]byte(w.disk(name))))
	}
	return b.String()
}

// brief shows a text so that two that differ look different.
func brief(text []byte) string { return fmt.Sprintf("%.30q %d %.8s", text, len(text), hashBytes(text)) }

// wantSame fails when two dumps differ, and shows where they do first.
func wantSame(t interface{ Errorf(string, ...any) }, what, a, b string) {
	if a == b {
		return
	}
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	at := 0
	for at < len(left) && at < len(right) && left[at] == right[at] {
		at++
	}
	t.Errorf("%s: the same up to\n%s\nthen\n%s\nis now\n%s", what,
		strings.Join(left[max(0, at-3):at], "\n"), strings.Join(left[at:min(at+5, len(left))], "\n"), strings.Join(right[at:min(at+5, len(right))], "\n"))
}

var propertyFiles = []string{"a", "b", "c"}

// newQuietWorld is a world on whose clock every file has come to rest.
func newQuietWorld(t *testing.T, limits Limits) *world {
	w := &world{t: t, root: t.TempDir(), state: filepath.Join(t.TempDir(), "state"), limits: limits}
	tick := time.Now().Add(time.Hour)
	var mu sync.Mutex
	w.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		tick = tick.Add(time.Second)
		return tick
	}
	w.open()
	t.Cleanup(func() { w.close() })
	return w
}

// act does one random thing, the same in all worlds.
func act(t *rapid.T, worlds []*world) {
	name := rapid.SampledFrom(propertyFiles).Draw(t, "file")
	session := rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "session")
	text := string(genBytes(t, "text"))
	if rapid.IntRange(0, 3).Draw(t, "long") == 0 {
		text = numbered(700, map[int]string{7: text})
	}
	accept := rapid.Bool().Draw(t, "accept")
	pick := rapid.IntRange(0, 9).Draw(t, "pick")
	what := rapid.SampledFrom([]string{"propose", "propose", "propose", "decide", "decide", "decide set", "undo", "save", "tell", "see", "join"}).Draw(t, "what")
	for _, w := range worlds {
		proposals := w.store.those(func(p *Proposal) bool { return len(p.Hunks) > 0 })
		var p *Proposal
		if len(proposals) > 0 {
			p = proposals[pick%len(proposals)]
		}
		ctx := context.Background()
		switch what {
		case "propose":
			if w.view(session, name) != text {
				w.propose(session, name, text)
			}
		case "decide":
			if p != nil {
				w.decide(p, accept, p.Hunks[pick%len(p.Hunks)].ID)
			}
		case "decide set":
			w.store.DecideSession(ctx, DecideSet{Session: session, Accept: accept, Comment: "set", By: "tester"})
		case "undo":
			if p != nil {
				w.store.Undo(ctx, p.ID, "", "tester")
			}
		case "save":
			w.save(name, text)
			if _, err := w.store.List(Filter{}); err != nil {
				w.t.Fatal(err)
			}
		case "tell":
			reviews := slices.DeleteFunc(w.store.Reviews(session), func(r Review) bool { return r.Decision == "conflict" })
			if len(reviews) > 0 {
				w.store.Told(session, reviews[:1+pick%len(reviews)])
			}
		case "see":
			w.store.View(session).Saw(Path{0, name}, hashBytes([]byte(text)))
		case "join":
			if pick < 2 {
				w.store.CloseSession(w.session("label"))
			}
		}
	}
}

// Whatever is done, a journal that is compacted at any moment and read again
// comes to the same as one that never was.
func TestPropertyCompactionsChangeNothing(t *testing.T) {
	n, restarts := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		limits := Limits{Journal: 1 << 40}
		plain, compacted, restarted := newQuietWorld(t, limits), newQuietWorld(t, limits), newQuietWorld(t, limits)
		worlds := []*world{plain, compacted, restarted}
		for _, w := range worlds {
			w.session("one")
			w.session("two")
			defer w.close()
		}
		for range rapid.IntRange(1, 25).Draw(rt, "actions") {
			act(rt, worlds)
			switch rapid.IntRange(0, 5).Draw(rt, "then") {
			case 0:
				for _, w := range worlds[1:] {
					if _, err := w.store.compact(); err != nil {
						rt.Fatal(err)
					}
				}
			case 1:
				restarts++
				restarted.restart()
			}
		}
		wantSame(rt, "compactions", plain.dump(true), compacted.dump(true))
		wantSame(rt, "compactions and restarts", plain.dump(false), restarted.dump(false))
		plain.restart()
		compacted.restart()
		wantSame(rt, "a restart with and without compactions", plain.dump(false), compacted.dump(false))
		for _, w := range worlds {
			w.wantTidy()
		}
	})
	t.Logf("%d runs, %d restarts", n, restarts)
}

// Eight agents and two reviewers work while the journal is compacted without
// pause. Nothing is lost.
func TestCompactionsUnderLoad(t *testing.T) {
	w := newQuietWorld(t, Limits{Journal: 1})
	ctx, stop := context.WithCancel(context.Background())
	var compacting sync.WaitGroup
	compactions := 0
	compacting.Go(func() {
		for ctx.Err() == nil {
			if _, err := w.store.compact(); err != nil {
				t.Error(err)
			}
			compactions++
		}
	})
	var agents sync.WaitGroup
	for agent := range 8 {
		agents.Go(func() {
			s := w.session(fmt.Sprint("agent ", agent))
			for i := range 20 {
				name := fmt.Sprintf("d%d/f%d", agent, i)
				p := w.propose(s, name, numbered(1200, map[int]string{3: name}))
				w.store.View(s).Saw(p.Path, "seen "+name)
				if _, err := w.decide(p, i%3 > 0); err != nil {
					t.Error(err)
				}
				if err := w.store.Told(s, w.store.Reviews(s)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	agents.Wait()
	stop()
	compacting.Wait()
	if compactions < 5 {
		t.Errorf("only %d compactions", compactions)
	}
	t.Logf("%d compactions", compactions)
	before := w.dump(true)
	w.wantHistory("before")
	w.restart()
	wantSame(t, "a restart", before, w.dump(true))
	w.wantTidy()
	if n := len(w.wantHistory("after")); n != 160 {
		t.Errorf("the history has %d files of 160", n)
	}
	for _, sess := range w.store.Sessions() {
		if r := w.store.Reviews(sess.ID); len(r) > 0 {
			t.Errorf("%s is told again of %v", sess.Label, r)
		}
	}
}

// A journal that grows is compacted without anybody asking for it: also one
// that grows by long texts, of which its lines have only the names.
func TestTheJournalCompactsItself(t *testing.T) {
	w := newQuietWorld(t, Limits{Journal: 256 << 10})
	done := make(chan struct{}, 1)
	w.step = func(stage string) {
		if stage == "rename synced" {
			wake(done)
		}
	}
	w.restart()
	<-done
	s := w.session("agent")
	for i := range 100 {
		w.save("a", numbered(5000, map[int]string{1: fmt.Sprint("base ", i)}))
		w.propose(s, "a", numbered(5000, map[int]string{1: fmt.Sprint("base ", i), 4000: fmt.Sprint("new ", i)}))
		select {
		case <-done:
			if size := w.store.journal.bytes(); i < 8 {
				t.Errorf("compacted after %d changes, at %d bytes", i, size)
			}
			return
		default:
		}
	}
	<-done // it may be at work
	if size := w.store.journal.bytes(); size > 2<<20 {
		t.Errorf("the journal has %d bytes", size)
	}
}

// A compaction that fails, wherever, leaves the old journal in use.
func TestAFailedCompaction(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	s := w.session("agent")
	p := w.propose(s, "a", numbered(1200, nil))
	w.mustDecide(p, true)
	before := w.dump(true)
	for _, name := range []string{"history.jsonl", "journal.jsonl.new"} {
		inTheWay := filepath.Join(w.state, name) // a directory cannot be written
		if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.compact(); err == nil {
			t.Errorf("a compaction with %s in its way says nothing", name)
		}
		if err := os.RemoveAll(inTheWay); err != nil {
			t.Fatal(err)
		}
	}
	wantSame(t, "a failed compaction", before, w.dump(true))
	w.propose(s, "b", "after\n")
	before = w.dump(true)
	w.restart()
	wantSame(t, "a restart after it", before, w.dump(true))
	w.wantTidy()
}

// A body that is about to be swept and one that is being saved are told apart,
// also when they are the same.
func TestSweepSparesWhatIsBeingSaved(t *testing.T) {
	j, err := openJournal(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) []byte { return []byte(numbered(1200, map[int]string{1: name})) }
	save := func(h *hold, name string) string {
		saved, err := h.save(text(name))
		if err != nil {
			t.Fatal(err)
		}
		return saved.Body
	}
	before, during := j.hold(), j.hold()
	held, old := save(before, "held"), j.hold()
	again, gone, kept := save(old, "again"), save(old, "gone"), save(old, "kept")
	old.release()
	j.announce()
	fresh := save(during, "fresh")
	save(during, "again")
	during.release() // a record names them now, which came after the sweeper looked
	if err := j.sweep(map[string]bool{kept: true}, j.step); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(j.bodies.dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{held, again, kept, fresh}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	if size := j.bodies.bytes(); size != sizeOf(t, j.bodies.dir) {
		t.Errorf("the bodies are said to have %d bytes", size)
	}
	if _, err := j.body(gone); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	j.announce()
	if err := j.sweep(nil, j.step); err != nil {
		t.Fatal(err)
	}
	if _, err := j.body(held); err != nil {
		t.Error(err)
	}
	before.release()
}
