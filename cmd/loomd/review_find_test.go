package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

func TestFinderMatches(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, v := filepath.Join(base, "w"), filepath.Join(base, "v")
	if err := os.MkdirAll(filepath.Join(w, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w, "sub"), filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	one := []protocol.Root{{Name: "w", Path: w}}
	two := append(slices.Clone(one), protocol.Root{Name: "v", Path: v})
	if err := os.WriteFile(filepath.Join(w, "q"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list := []protocol.Proposal{
		{ID: "p1", Path: "f"},
		{ID: "p12", Path: "sub/f"},
		{ID: "p13", Path: "sub/p1"},
		{ID: "q1", Path: "g", Via: "link-to-g"},
		{ID: "q2", Path: "g"},
		{ID: "r1", Path: "w/h"},
	}
	for _, c := range []struct {
		name, cwd, arg string
		roots          []protocol.Root
		want           string
	}{
		{"an id is more than a beginning", w, "p1", one, "p1"},
		{"an id is more than a path", filepath.Join(w, "sub"), "p1", one, "p1"},
		{"a beginning", w, "p", one, "p1 p12 p13"},
		{"a unique beginning, in any case", w, "R", one, "r1"},
		{"a path", w, "f", one, "p1"},
		{"as seen from below", filepath.Join(w, "sub"), "f", one, "p12"},
		{"as seen from below, upwards", filepath.Join(w, "sub"), "../f", one, "p1"},
		{"as the list shows it, from below", filepath.Join(w, "sub"), "sub/f", one, "p12"},
		{"from outside", base, "f", one, "p1"},
		{"absolute", base, filepath.Join(w, "sub", "f"), one, "p12"},
		{"through a link", base, "link/f", one, "p12"},
		{"by the link that the agent named", w, "link-to-g", one, "q1"},
		{"two at one path", w, "./g", one, "q1 q2"},
		{"with several roots", w, "h", two, "r1"},
		{"with several roots, as the list shows it", v, "w/h", two, "r1"},
		{"a file that nobody changes", w, "q", one, ""},
		{"nothing", w, "zzz", one, ""},
		{"nothing at all", w, "", one, ""},
	} {
		f := &finder{roots: c.roots, cwd: c.cwd}
		var got []string
		for _, p := range f.match(list, c.arg) {
			got = append(got, p.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: match(%q) in %s = %v, want %s", c.name, c.arg, c.cwd, got, c.want)
		}
	}
}

func TestFinderSaysWhatIsAmbiguous(t *testing.T) {
	d := twoFiles(t)
	d.proposals[1].path = "f"
	f := &finder{rev: d, cwd: "/", waiting: []protocol.Proposal{d.proposals[0].wire(false), d.proposals[1].wire(false)}}
	_, err := f.one(t.Context(), "f")
	var usage *usageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "p1 (f, session alice, open), p2 (f, session bob, open)") {
		t.Errorf("one: %v", err)
	}
	if _, err := f.one(t.Context(), "g"); !errors.As(err, &usage) {
		t.Errorf("one: %v", err)
	}
}

// What was decided is told from what never was.
func TestFinderSaysThatNothingIsLeft(t *testing.T) {
	d := twoFiles(t)
	for i, state := range []protocol.HunkState{protocol.HunkAccepted, protocol.HunkRejected} {
		for _, h := range d.proposals[i].hunks {
			h.state = state
		}
	}
	f := &finder{rev: d, cwd: "/"}
	for name, want := range map[string]string{
		"p1": "p1 (f) is applied: nothing is left to decide; loomd review undo p1 takes it back",
		"f":  "p1 (f) is applied: nothing is left to decide; loomd review undo p1 takes it back",
		"p":  "p1 (f) is applied, p2 (g) is rejected: nothing is left to decide",
	} {
		_, err := f.one(t.Context(), name)
		if err == nil || err.Error() != want {
			t.Errorf("one(%s): %v, want %s", name, err, want)
		}
		var usage *usageError
		if errors.As(err, &usage) {
			t.Errorf("one(%s) is wrong usage", name)
		}
	}
}

func TestFinderShowsDecidedOnes(t *testing.T) {
	d := twoFiles(t)
	for _, h := range d.proposals[1].hunks {
		h.state = protocol.HunkAccepted
	}
	f := &finder{rev: d, cwd: "/", waiting: []protocol.Proposal{d.proposals[0].wire(false)}}
	got, err := f.show(context.Background(), []string{"p2", "f"})
	if err != nil || len(got) != 2 || got[0].ID != "p2" || got[1].ID != "p1" {
		t.Errorf("show = %+v, %v", got, err)
	}
	if _, err := f.show(context.Background(), []string{"zzz"}); err == nil {
		t.Error("show found what is not there")
	}
}
