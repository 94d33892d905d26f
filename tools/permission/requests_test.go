package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a store and what it told and kept.
type desk struct {
	*Requests
	told []Request
	kept []Kept
	fail error
}

func newDesk(kept ...Kept) *desk {
	d := &desk{kept: kept}
	d.Requests = NewRequests(kept, func(list []Kept) error {
		if d.fail == nil {
			d.kept = slices.Clone(list)
		}
		return d.fail
	}, func(r Request) { d.told = append(d.told, r) })
	return d
}

func (d *desk) admit(t *testing.T, session, command string) (Request, bool) {
	t.Helper()
	r, ok, err := d.Admit(Request{Session: session, Tool: "bash", Command: command})
	if err != nil {
		t.Fatal(err)
	}
	return r, ok
}

func (d *desk) decide(t *testing.T, id string, v Verdict) {
	t.Helper()
	if _, err := d.Decide(id, v); err != nil {
		t.Fatal(err)
	}
}

func TestScopes(t *testing.T) {
	for _, c := range []struct {
		scope                Scope
		first, second, other bool // the same command again, twice; and in another session
	}{{Once, true, false, false}, {Session, true, true, false}, {Always, true, true, true}} {
		d := newDesk()
		r, ok := d.admit(t, "s1", "make")
		if ok || r.State != Asked {
			t.Fatalf("%+v", r)
		}
		if again, _ := d.admit(t, "s1", "make"); again.ID != r.ID {
			t.Errorf("asked twice: %s and %s", r.ID, again.ID)
		}
		d.decide(t, r.ID, Verdict{Allow: true, Scope: c.scope, By: "ada"})
		for i, want := range []bool{c.first, c.second} {
			if _, ok := d.admit(t, "s1", "make"); ok != want {
				t.Errorf("%s: time %d: %v", c.scope, i+1, ok)
			}
		}
		if _, ok := d.admit(t, "s2", "make"); ok != c.other {
			t.Errorf("%s in another session: %v", c.scope, ok)
		}
		if _, ok := d.admit(t, "s1", "make "); ok {
			t.Errorf("%s: another command is allowed", c.scope)
		}
	}
}

func TestDenyHoldsForTheSession(t *testing.T) {
	d := newDesk()
	r, _ := d.admit(t, "s1", "make")
	d.decide(t, r.ID, Verdict{Reason: "not now", By: "ada"})
	again, ok := d.admit(t, "s1", "make")
	if ok || again.State != Denied || again.Reason != "not now" || again.By != "ada" {
		t.Errorf("%v %+v", ok, again)
	}
	if other, _ := d.admit(t, "s2", "make"); other.State != Asked {
		t.Errorf("another session: %+v", other)
	}
	if _, err := d.Revoke(r.ID, "ada"); err != nil {
		t.Fatal(err)
	}
	if again, _ := d.admit(t, "s1", "make"); again.State != Asked || again.ID == r.ID {
		t.Errorf("after it was revoked: %+v", again)
	}
}

func TestFirstDecisionWins(t *testing.T) {
	d := newDesk()
	r, _ := d.admit(t, "s1", "make")
	d.decide(t, r.ID, Verdict{By: "ada"})
	_, err := d.Decide(r.ID, Verdict{Allow: true, Scope: Always, By: "bob"})
	var decided *DecidedError
	if !errors.As(err, &decided) || decided.Request.By != "ada" || len(d.kept) > 0 {
		t.Errorf("%v, kept %v", err, d.kept)
	}
	if _, err := d.Decide("q99", Verdict{}); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

func TestAlwaysIsKeptAndRevoked(t *testing.T) {
	d := newDesk(Kept{ID: "q7", Tool: "bash", Command: "old", By: "ada"})
	if _, ok := d.admit(t, "s1", "old"); !ok {
		t.Error("what was kept is forgotten")
	}
	r, _ := d.admit(t, "s1", "make")
	if r.ID != "q8" {
		t.Errorf("id %s", r.ID)
	}
	d.fail = errors.New("disk full")
	if _, err := d.Decide(r.ID, Verdict{Allow: true, Scope: Always}); err == nil {
		t.Error("decided without being kept")
	}
	if _, ok := d.admit(t, "s1", "make"); ok {
		t.Error("allowed without being kept")
	}
	if _, err := d.Revoke("q7", "ada"); err == nil {
		t.Error("revoked without being kept")
	}
	if _, ok := d.admit(t, "s1", "old"); !ok {
		t.Error("half revoked")
	}
	d.fail = nil
	d.decide(t, r.ID, Verdict{Allow: true, Scope: Always, By: "bob"})
	if _, err := d.Revoke("q7", "ada"); err != nil {
		t.Fatal(err)
	}
	if len(d.kept) != 1 || d.kept[0].Command != "make" || d.kept[0].By != "bob" {
		t.Errorf("kept %+v", d.kept)
	}
	if _, ok := newDesk(d.kept...).admit(t, "s9", "make"); !ok {
		t.Error("not allowed by the next daemon")
	}
}

func TestAwait(t *testing.T) {
	d := newDesk()
	r, _ := d.admit(t, "s1", "make")
	short, cancel := context.WithCancel(t.Context())
	cancel()
	d.Await(short, r.ID)
	ended := make(chan struct{})
	go func() {
		d.Await(context.Background(), r.ID)
		close(ended)
	}()
	d.decide(t, r.ID, Verdict{Allow: true, Scope: Once})
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody was told")
	}
	d.Await(context.Background(), r.ID)
	d.Await(context.Background(), "q99")
}

func TestSessionsEnd(t *testing.T) {
	d := newDesk()
	r, _ := d.admit(t, "s1", "make")
	kept, _ := d.admit(t, "s1", "always")
	d.decide(t, kept.ID, Verdict{Allow: true, Scope: Always})
	d.EndSession("s1")
	d.Await(context.Background(), r.ID)
	if last := d.told[len(d.told)-1]; last.ID != r.ID || last.State != Withdrawn {
		t.Errorf("told %+v", last)
	}
	if list := d.List(""); len(list) != 1 || list[0].ID != kept.ID {
		t.Errorf("%+v", list)
	}
	if _, err := d.Decide(r.ID, Verdict{Allow: true}); err == nil {
		t.Error("decided after its session")
	}
}

func TestRequestsAreBounded(t *testing.T) {
	d := newDesk()
	for i := range maxAsked {
		d.admit(t, "s1", fmt.Sprint(i))
	}
	if _, _, err := d.Admit(Request{Session: "s1", Tool: "bash", Command: "more"}); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	d.admit(t, "s2", "more")
	for i := range 2 * maxDecided {
		r, _ := d.admit(t, "s3", fmt.Sprint(i))
		d.decide(t, r.ID, Verdict{})
	}
	if n := len(d.list); n > maxDecided+maxAsked+2 {
		t.Errorf("%d requests are kept", n)
	}
	if d.Waiting() != maxAsked+1 {
		t.Errorf("%d wait", d.Waiting())
	}
}

// Whatever is asked and decided in whatever order: a command runs only if somebody
// allowed it, an allow for once lets it run once, and each change is told.
func TestPropertyRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk()
		once, free := map[string]int{}, map[string]bool{} // by session and command
		state := map[string]State{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			session, command := rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "session"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "command")
			key := session + command
			r, ok, err := d.Admit(Request{Session: session, Tool: "bash", Command: command})
			if err != nil {
				t.Fatal(err)
			}
			if ok && once[key] == 0 && !free[key] && !free[command] {
				t.Fatalf("%s ran, which nobody allowed", key)
			}
			if ok && !free[key] && !free[command] {
				once[key]--
			}
			state[r.ID] = r.State
			if r.State != Asked {
				continue
			}
			v := Verdict{Allow: rapid.Bool().Draw(t, "allow"), Scope: rapid.SampledFrom([]Scope{Once, Session, Always}).Draw(t, "scope"), By: "ada"}
			if !rapid.Bool().Draw(t, "decided") {
				continue
			}
			if _, err := d.Decide(r.ID, v); err != nil {
				t.Fatal(err)
			}
			switch {
			case v.Allow && v.Scope == Once:
				once[key]++
			case v.Allow && v.Scope == Session:
				free[key] = true
			case v.Allow:
				free[command] = true
			}
		}
		last := map[string]State{}
		for _, r := range d.told {
			last[r.ID] = r.State
		}
		for _, r := range d.List("") {
			if last[r.ID] != r.State {
				t.Errorf("%s is %s, told was %s", r.ID, r.State, last[r.ID])
			}
		}
	})
}
