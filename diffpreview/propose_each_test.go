package diffpreview

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Of changes that stand for themselves, those that can be made are, and each other one
// says why it was not.
func TestProposeEach(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n", "g": "2\n", "dir/x": "x\n"})
	s := w.session("agent")
	broken := errors.New("no")
	changes := []Change{
		w.text("f", "one\n"),
		w.text(".git/config", "x"),
		w.text("g", "2\n"),
		w.text("new/file", "n\n"),
		w.text("new", "a file\n"),
		w.text("dir", "a file\n"),
		{Path: w.path("h"), Make: func(Content) (Content, error) { return Content{}, broken }},
		w.text("f", "again\n"),
		{Path: w.path("dir/x"), To: w.path("moved"), Make: nil},
	}
	steps, errs, err := w.store.View(s).ProposeEach(context.Background(), Call{ID: "c", Tool: "test"}, changes)
	if err != nil {
		t.Fatal(err)
	}
	codes := []Code{"", CodeProtectedPath, CodeNoChange, CodeNotRegularFile, "", CodeIsDirectory, CodeInternal, CodeInvalidArguments, ""}
	for i, code := range codes {
		if CodeOf(errs[i]) != code {
			t.Errorf("change %d: %v, want %q", i, errs[i], code)
		}
	}
	if len(steps) != 3 || steps[0].Proposal.Name != "f" || steps[1].Proposal.Name != "new" || steps[2].Proposal.Kind != KindRename {
		t.Errorf("steps: %+v", steps)
	}
	for range 2 {
		for name, text := range map[string]string{"f": "one\n", "g": "2\n", "new": "a file\n", "moved": "x\n", "dir/x": "(absent)", "h": "(absent)"} {
			if got := w.view(s, name); got != text {
				t.Errorf("%s in the view: %q", name, got)
			}
		}
		w.close()
		w.open()
	}
}

// A proposal is found at the places that it speaks of, and only there, whatever it
// goes through.
func TestProposalsAreFoundByTheirPlaces(t *testing.T) {
	w := newWorld(t, map[string]string{"a/f": "1\n"})
	s := w.session("agent")
	v := viewed{w, w.store.View(s)}
	want := func(places ...string) {
		t.Helper()
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		found := 0
		for _, name := range places {
			if len(w.store.places.at[v.at(name)]) == 1 {
				found++
			}
		}
		if found != len(places) || len(w.store.places.at) != found {
			t.Errorf("places %v, want %v", w.store.places.at, places)
		}
	}
	v.rename("a/f", "b/c/g")
	want("a/f", "b/c/g")
	if v.hasBelow(v.at("a")) || !v.hasBelow(v.at("b")) || !v.hasBelow(v.at("b/c")) {
		t.Error("directories of the view are not those of its proposals")
	}
	v.rename("b/c/g", "h")
	want("a/f", "h")
	v.rename("h", "a/f")
	want("a/f")
}

// Thousands of files in one call are proposed in a time that grows with their number.
func TestProposeThousands(t *testing.T) {
	w := newWorld(t, nil)
	s := w.session("agent")
	var changes []Change
	for i := range 3000 {
		changes = append(changes, w.text(fmt.Sprintf("dir%d/file%d", i%50, i), fmt.Sprintf("text %d\n", i)))
	}
	started := time.Now()
	for round := range 2 {
		if _, err := w.proposeAll(s, changes...); err != nil {
			t.Fatal(err)
		}
		for i := range changes {
			changes[i] = w.text(fmt.Sprintf("dir%d/file%d", i%50, i), fmt.Sprintf("round %d, text %d\n", round, i))
		}
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("took %v", took)
	} else {
		t.Logf("twice 3,000 files: %v", took)
	}
}
