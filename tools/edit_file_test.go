package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

func TestC043LinkIsWrittenThrough(t *testing.T) {
	b := newBench(t, map[string]string{"real": "w\n"})
	must(t, os.Symlink("real", filepath.Join(b.dir, "link")))
	a := b.ok("edit_file", args{"path": "link", "edits": edits("w", "W")})
	if a["path"] != "real" || a["via"] != "link" {
		t.Errorf("path %v, via %v", a["path"], a["via"])
	}
	b.accept()
	if target, err := os.Readlink(filepath.Join(b.dir, "link")); err != nil || target != "real" || b.onDisk("real") != "W\n" {
		t.Errorf("link to %q (%v), real %q", target, err, b.onDisk("real"))
	}
}

// accept accepts all that the bench's sessions proposed.
func (b *bench) accept() {
	b.t.Helper()
	for _, s := range b.store.Sessions() {
		_, err := b.store.DecideSession(b.t.Context(), diffpreview.DecideSet{Session: s.ID, Accept: true, By: "tester"})
		must(b.t, err)
	}
}

func TestC055ParallelEdits(t *testing.T) {
	var file strings.Builder
	for n := 1; n <= 60; n++ {
		fmt.Fprintf(&file, "k%02d\n", n)
	}
	for range 10 {
		b := newBench(t, map[string]string{"f": file.String()})
		var wg sync.WaitGroup
		for n := 5; n < 60; n += 10 {
			wg.Go(func() {
				raw, err := encode(args{"path": "f", "edits": edits(fmt.Sprintf("k%02d", n), fmt.Sprintf("X%02d", n))})
				if err != nil {
					t.Error(err)
					return
				}
				out, err := b.registry.Run(t.Context(), "edit_file", fmt.Sprint(n), raw, Context{View: b.view})
				if err != nil || out.IsError {
					t.Errorf("%v %s", err, out.Structured)
				}
			})
		}
		wg.Wait()
		b.accept()
		got := b.onDisk("f")
		if strings.Count(got, "X") != 6 || strings.Count(got, "\n") != 60 {
			t.Fatalf("%q", got)
		}
	}
}

func TestEditDiffIsBounded(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	b := newBench(t, map[string]string{"many": strings.Repeat(line, 2000), "long": strings.Repeat("€", 50_000)})
	for name, old := range map[string]string{"many": "x", "long": "€"} {
		a := b.ok("edit_file", args{"path": name, "edits": []args{{"old_str": old, "new_str": "é", "replace_all": true}}})
		diff := a["diff"].(string)
		if len(diff) > maxDiff || a["truncated"] != true || a["shown"] != float64(len(diff)) {
			t.Errorf("%s: %d bytes of diff, truncated %v, shown %v", name, len(diff), a["truncated"], a["shown"])
		}
		if name == "many" && !strings.HasSuffix(diff, "\n") {
			t.Error("cut inside a line")
		}
	}
}

func TestEditGrowthIsBounded(t *testing.T) {
	b := newBench(t, map[string]string{"f": strings.Repeat("a", 1<<20)})
	a := b.fails("too_large", "edit_file", args{
		"path": "f", "edits": []args{{"old_str": "a", "new_str": strings.Repeat("b", 1<<10), "replace_all": true}},
	})
	if a["field"] != "edits[0].new_str" || a["path"] != "f" {
		t.Errorf("%v", a)
	}
}

func TestEditAmbiguityIsBounded(t *testing.T) {
	b := newBench(t, map[string]string{"f": strings.Repeat("a\n", 200_000)})
	a := b.fails("ambiguous_match", "edit_file", args{"path": "f", "edits": edits("a", "b")})
	if a["count"] != float64(maxCounted) || a["count_capped"] != true || len(a["lines"].([]any)) != maxListedLines {
		t.Errorf("%v", a)
	}
}

func TestCancelledEditLeavesNoProposal(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	raw := json.RawMessage(`{"path":"f","edits":[{"old_str":"a","new_str":"b"}]}`)
	if _, err := b.registry.Run(ctx, "edit_file", "", raw, Context{View: b.view}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := applyEdits(ctx, nil, []byte("a\n"), []edit{{OldStr: "a", NewStr: "b"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	open, err := b.store.List(diffpreview.Filter{})
	must(t, err)
	if len(open) != 0 {
		t.Errorf("%d proposals", len(open))
	}
}

// TestFailedEditLeavesNoProposal covers every kind of failure of one call.
func TestFailedEditLeavesNoProposal(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a a\n", "d/": ""})
	for code, a := range map[string]args{
		"no_match":               {"path": "f", "edits": edits("a a", "b", "x", "y")},
		"ambiguous_match":        {"path": "f", "edits": edits("a", "b")},
		"no_change":              {"path": "f", "edits": edits("a a", "b", "b", "b")},
		"file_not_found":         {"path": "g", "edits": edits("a", "b")},
		"is_directory":           {"path": "d", "edits": edits("a", "b")},
		"not_regular_file":       {"path": "f/x", "edits": edits("", "b")},
		"path_outside_workspace": {"path": "../f", "edits": edits("", "b")},
		"stale":                  {"path": "f", "edits": edits("a a", "b"), "expected_hash": strings.Repeat("0", 64)},
	} {
		b.fails(code, "edit_file", a)
	}
	open, err := b.store.List(diffpreview.Filter{})
	must(t, err)
	if len(open) != 0 || b.onDisk("f") != "a a\n" {
		t.Errorf("%d proposals, f is %q", len(open), b.onDisk("f"))
	}
	b.ok("edit_file", args{"path": "f", "edits": edits("a a", "b")})
}
