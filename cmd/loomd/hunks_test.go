package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomd/loomd/daemon/protocol"
)

// gitDiff returns what git says about two texts.
func gitDiff(t interface {
	Fatalf(string, ...any)
}, dir, before, after string, context int,
) string {
	for name, text := range map[string]string{"a": before, "b": after} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatalf("%v", err)
		}
	}
	cmd := exec.Command("git", "diff", "--no-index", "--no-color", "-U"+strconv.Itoa(context), "a", "b")
	cmd.Dir = dir
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("git diff: %v: %s", err, &stderr)
	}
	return out.String()
}

// hunksOf returns the hunks of a diff without context, as the daemon numbers
// them.
func hunksOf(diff string) []protocol.Hunk {
	var out []protocol.Hunk
	for line := range strings.SplitSeq(diff, "\n") {
		if h, ok := parseHeader(line); ok {
			out = append(out, protocol.Hunk{
				ID: "h" + strconv.Itoa(len(out)+1), Kind: "text", State: protocol.HunkOpen,
				OldStart: h.oldStart, OldLines: h.oldLines, NewStart: h.newStart, NewLines: h.newLines,
			})
		}
	}
	return out
}

// TestEveryHunkIsFoundInTheDiff takes git's word: the runs of a diff with
// context are the hunks of the one without.
func TestEveryHunkIsFoundInTheDiff(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	line := rapid.SampledFrom([]string{"a", "b", "-- a", "++ b", "@@ -1 +1 @@", "\\ x", "", " "})
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line, 0, 30).Draw(t, "lines")
		edited := slices.Clone(lines)
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, len(edited)).Draw(t, "at")
			upTo := rapid.IntRange(at, min(len(edited), at+3)).Draw(t, "upTo")
			edited = slices.Replace(edited, at, upTo, rapid.SliceOfN(line, 0, 3).Draw(t, "new")...)
		}
		before := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		after := strings.Join(edited, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "new end")
		want := hunksOf(gitDiff(t, dir, before, after, 0))
		diff := gitDiff(t, dir, before, after, contextLines)
		got := parseDiff(diff)
		// With context git may slide a run along equal lines; only diffs in
		// which it does not can be compared.
		if len(got.regions) != len(want) {
			t.Fatalf("%d regions, want %d, of\n%s", len(got.regions), len(want), diff)
		}
		for i, h := range want {
			r, ok := got.find(h)
			if !ok {
				t.Fatalf("no region for %+v; region %d is %+v of\n%s", h, i, got.regions[i], diff)
			}
			if len(r.before) > contextLines || len(r.after) > contextLines {
				t.Fatalf("%d and %d lines of context", len(r.before), len(r.after))
			}
		}
	})
}

func TestRegionText(t *testing.T) {
	const diff = `--- a/f
+++ b/f
@@ -1,9 +1,9 @@
 1
-2
+two
+zwei
 3
 4
 5
 6
-7
 8
-9
\ No newline at end of file
+nine
\ No newline at end of file
`
	p := parseDiff(diff)
	if len(p.regions) != 3 || len(p.header) != 2 {
		t.Fatalf("parsed %+v", p)
	}
	for i, want := range []struct{ text, header string }{
		{"two\nzwei\n", "@@ -1,5 +1,6 @@"},
		{"", "@@ -4,5 +5,4 @@"},
		{"nine", "@@ -8,2 +8,2 @@"},
	} {
		r := p.regions[i]
		if got := r.newText(); got != want.text {
			t.Errorf("region %d puts in %q, want %q", i, got, want.text)
		}
		if got := r.header(); got != want.header {
			t.Errorf("region %d is headed %q, want %q", i, got, want.header)
		}
	}
}

func TestParseDiffOfNonsense(t *testing.T) {
	for _, diff := range []string{
		"", "\n", "@@", "@@ -1 +1 @@", "@@ -1,9 +1,9 @@\n a", "@@ -1 +1 @@\n\\ No newline", "@@ -x +1 @@\n+a", "Binary files a/f and b/f differ\n",
	} {
		p := parseDiff(diff)
		for _, r := range p.regions {
			r.header()
			r.newText()
		}
	}
}
