package diffpreview

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitDiff runs `git diff --no-index` on two files or directories and returns what it prints.
func gitDiff(tb testing.TB, old, new string, args ...string) []byte {
	tb.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		tb.Skip("git is not installed")
	}
	args = append([]string{"diff", "--no-index", "--no-indent-heuristic", "--no-color"}, append(args, old, new)...)
	cmd := exec.CommandContext(tb.Context(), git, args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		tb.Fatalf("git diff: %v", err)
	}
	return out
}

// writeText writes lines to a file of dir.
func writeText(tb testing.TB, dir, name string, lines [][]byte) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Over many random edits, of texts with few and with many repeats, we show about as few lines as git does.
func TestDiffAsShortAsGit(t *testing.T) {
	for _, distinct := range []int{10, 100, 1000, 1 << 30} {
		rnd := rand.New(rand.NewPCG(7, uint64(distinct)))
		dir, ours := t.TempDir(), 0
		for i := range 40 {
			old := randomLines(rnd, 100+rnd.IntN(1000), distinct)
			new := randomEdits(rnd, old, 1+rnd.IntN(len(old)/3), distinct)
			writeText(t, filepath.Join(dir, "old"), fmt.Sprint(i), old)
			writeText(t, filepath.Join(dir, "new"), fmt.Sprint(i), new)
			spans := DiffLines(old, new)
			checkDiff(t, old, new, spans)
			for _, s := range spans {
				ours += s.NewLines
			}
		}
		theirs := 0
		for line := range strings.Lines(string(gitDiff(t, filepath.Join(dir, "old"), filepath.Join(dir, "new"), "--numstat"))) {
			var added int
			if _, err := fmt.Sscan(line, &added); err != nil {
				t.Fatalf("reading %q: %v", line, err)
			}
			theirs += added
		}
		t.Logf("%d distinct lines: we add %d, git %d", distinct, ours, theirs)
		if theirs == 0 || 100*ours > 110*theirs {
			t.Errorf("%d distinct lines: we add %d, git %d", distinct, ours, theirs)
		}
	}
}
