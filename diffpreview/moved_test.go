package diffpreview

import (
	"context"
	"strings"
	"testing"
)

func TestTheAgentHearsWhatMoved(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	s := w.session("agent")
	p := w.propose(s, "f", "1\n2\n3\n4\n5\n6\n7\n8\nNINE\n")
	moved := func() []Moved {
		if _, err := w.store.Get(p.ID); err != nil {
			t.Fatal(err)
		}
		return w.store.Moved(s)
	}
	if got := moved(); len(got) != 0 {
		t.Fatalf("nothing moved: %+v", got)
	}
	w.save("f", "1\n2 by a person\n3\n4\n5\n6\n7\n8\n9\n")
	got := moved()
	if len(got) != 1 || !strings.Contains(got[0].Diff, "-2\n+2 by a person\n") || got[0].Hash != hashBytes([]byte(w.disk("f"))) {
		t.Fatalf("told %+v", got)
	}
	// Another step of the agent is no sign that it knows.
	p = w.propose(s, "f", "1\n2 by a person\n3\n4\n5\n6\n7\nEIGHT\nNINE\n")
	if got := moved(); len(got) != 1 {
		t.Fatalf("after a step told %+v", got)
	}
	w.store.ToldMoved(s, moved())
	if got := moved(); len(got) != 0 {
		t.Fatalf("told twice: %+v", got)
	}
	// What is accepted is told as a review.
	p = w.mustDecide(p, true, p.Hunks[0].ID)
	if got := moved(); len(got) != 0 {
		t.Fatalf("an accept moved %+v", got)
	}
}

func TestTheAgentHearsWhatMovedBeforeARestart(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n2\n3\n"})
	s := w.session("agent")
	p := w.propose(s, "f", "1\n2\nTHREE\n")
	w.save("f", "one\n2\n3\n")
	if _, err := w.store.Get(p.ID); err != nil {
		t.Fatal(err)
	}
	w.restart()
	if _, err := w.store.Get(p.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.store.Moved(s); len(got) != 1 || !strings.Contains(got[0].Diff, "-1\n+one\n") {
		t.Errorf("told %+v", got)
	}
}

func TestAConflictIsToldWithItsTexts(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n2\n3\n"})
	s := w.session("agent")
	p := w.propose(s, "f", "1\nTWO\n3\n")
	w.save("f", "1\n2!\n3\n")
	if _, err := w.store.Get(p.ID); err != nil {
		t.Fatal(err)
	}
	r := w.store.Reviews(s)
	if len(r) != 1 || r[0].Decision != "conflict" || r[0].Conflict == nil || *r[0].Conflict != (ConflictTexts{"2\n", "2!\n", "TWO\n"}) {
		t.Errorf("told %+v", r)
	}
}

func TestAwaitDecided(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "g": "a\n"})
	s := w.session("agent")
	f, g := w.propose(s, "f", "b\n"), w.propose(s, "g", "b\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.store.AwaitDecided(ctx, s, nil, nil); err == nil {
		t.Error("it did not wait")
	}
	left := make(chan int, 10)
	done := make(chan error, 1)
	go func() { done <- w.store.AwaitDecided(context.Background(), s, nil, func(n int) { left <- n }) }()
	for i, step := range []func(){func() {}, func() { w.mustDecide(f, true) }, func() { w.mustDecide(g, false) }} {
		step()
		if n := <-left; n != 2-i {
			t.Errorf("%d are left, want %d", n, 2-i)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := w.store.AwaitDecided(context.Background(), s, []string{f.ID}, nil); err != nil {
		t.Error(err)
	}
}
