package diffpreview

import (
	"fmt"
	"slices"
	"testing"
)

// What an agent read or wrote is known after a restart, also after one without
// warning; it costs no sync of its own.
func TestSeenOutlivesARestart(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	s := w.session("agent")
	v := w.store.View(s)
	a, b, raw := w.resolve("a"), w.resolve("dir/b"), Path{0, "raw\xff"}
	v.Saw(a, "hash a1")
	v.Saw(a, "hash a2")
	v.Saw(b, "")
	v.Saw(raw, "hash raw")
	want := func(when string) {
		t.Helper()
		v := w.store.View(s)
		for p, hash := range map[Path]string{a: "hash a2", b: "", raw: "hash raw"} {
			if got, ok := v.LastSeen(p); !ok || got != hash {
				t.Errorf("%s %q was seen as %q, %v", when, p.rel, got, ok)
			}
		}
		if _, ok := v.LastSeen(w.resolve("c")); ok {
			t.Error("a file that nobody read is known")
		}
	}
	w.restart()
	want("after a restart")
	w.restart()
	want("after another")

	// Without a Close: what went along with a record, and what was late.
	v = w.store.View(s)
	v.Saw(b, "along")
	w.propose(s, "p", "1\n")
	records := 0
	if got := w.sightsOnDisk(&records); !slices.Contains(got, "s1 dir/b along") {
		t.Errorf("the journal has %q", got)
	}
	w.store.journalSeen(false) // of the proposal
	w.sightsOnDisk(&records)
	was := records
	v.Saw(b, "along") // again
	w.store.journalSeen(false)
	if w.sightsOnDisk(&records); records != was {
		t.Error("what is in the journal was written again")
	}
}

func (w *world) sightsOnDisk(records *int) []string {
	w.t.Helper()
	var out []string
	*records = 0
	err := w.records().read(func(rec record) error {
		*records++
		for _, one := range rec.Seen {
			out = append(out, fmt.Sprintf("%s %s %s", one.Session, one.Rel, one.Hash))
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// What is seen while nothing else happens is journalled soon.
func TestSeenIsJournalledInTime(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	s := w.session("agent")
	appended := make(chan struct{}, 1)
	w.store.journal.mu.Lock()
	w.store.journal.step = func(stage string) {
		if stage == "appended" {
			wake(appended)
		}
	}
	w.store.journal.mu.Unlock()
	w.store.View(s).Saw(Path{0, "a"}, "late")
	<-appended
	records := 0
	if got := w.sightsOnDisk(&records); !slices.Contains(got, "s1 a late") {
		t.Errorf("the journal has %q", got)
	}
}

// A session remembers so many files, and forgets those that it saw longest ago.
func TestSeenIsBounded(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	s := w.session("agent")
	for range 3 {
		v := w.store.View(s)
		for i := range maxSeen + 10 {
			v.Saw(Path{0, "first"}, "again")
			v.Saw(Path{0, fmt.Sprint("f", i)}, "hash")
		}
		w.restart()
		v = w.store.View(s)
		for name, want := range map[string]bool{"first": true, fmt.Sprint("f", maxSeen+9): true, "f1": false} {
			if _, ok := v.LastSeen(Path{0, name}); ok != want {
				t.Errorf("%s is known: %v", name, ok)
			}
		}
		records := 0
		if n := len(w.sightsOnDisk(&records)); n > maxSeen || n < maxSeen/2 {
			t.Errorf("the journal has %d sights", n)
		}
	}
	if err := w.store.CloseSession(s); err != nil {
		t.Fatal(err)
	}
	w.propose(s, "a", "1\n") // the session has an open proposal, and so is remembered
	w.restart()
	records := 0
	if n := len(w.sightsOnDisk(&records)); n > 0 {
		t.Errorf("the journal has %d sights of a closed session", n)
	}
}

// Records may stand in another order than the sights they took along.
func TestTheNewestSightCounts(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	s := w.session("agent")
	one := func(hash string, at int) savedSight { return w.store.saveSight(s, Path{0, "a"}, sight{hash, at}) }
	w.store.adoptSeen([]savedSight{one("first", 1), one("last", 7), one("between", 5)})
	if hash, _ := w.store.View(s).LastSeen(Path{0, "a"}); hash != "last" {
		t.Errorf("seen is %s", hash)
	}
	w.store.View(s).Saw(Path{0, "a"}, "now")
	w.restart()
	if hash, _ := w.store.View(s).LastSeen(Path{0, "a"}); hash != "now" {
		t.Errorf("seen is %s", hash)
	}
}
