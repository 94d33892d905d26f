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
	"time"
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

// benchDiff times DiffBytes and, beside it, `git diff --no-index` of the same files, process and all.
func benchDiff(b *testing.B, old, new [][]byte) {
	dir := b.TempDir()
	oldFile, newFile := writeText(b, dir, "old", old), writeText(b, dir, "new", new)
	const rounds = 5
	git := time.Duration(1 << 62)
	for range rounds {
		start := time.Now()
		gitDiff(b, oldFile, newFile)
		git = min(git, time.Since(start))
	}
	oldText, newText := bytes.Join(old, nil), bytes.Join(new, nil)
	b.SetBytes(int64(len(oldText)))
	for b.Loop() {
		DiffBytes(oldText, newText, UTF8)
	}
	each := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(git.Seconds()*1000, "git-ms")
	b.ReportMetric(git.Seconds()/each.Seconds(), "times-faster-than-git")
}

// BenchmarkDiffOneLine100k and its like diff a file of 100,000 lines.
func BenchmarkDiffOneLine100k(b *testing.B) {
	old := randomLines(rand.New(rand.NewPCG(1, 1)), 100_000, 1<<30)
	benchDiff(b, old, splice(old, 50_000, 1, [][]byte{[]byte("another\n")}))
}

func BenchmarkDiffOnePercent100k(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	old := randomLines(rnd, 100_000, 1<<30)
	benchDiff(b, old, randomEdits(rnd, old, 1000, 1<<30))
}

func BenchmarkDiffAllLines100k(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 3))
	benchDiff(b, randomLines(rnd, 100_000, 1<<30), randomLines(rnd, 100_000, 1<<30))
}

// Texts without any unique line are the hard ones.
func BenchmarkDiffRepeats100k(b *testing.B) {
	for _, edits := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(edits, " edits"), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 4))
			old := randomLines(rnd, 100_000, 50)
			benchDiff(b, old, randomEdits(rnd, old, edits, 50))
		})
	}
}

// BenchmarkDiffGap is the largest gap that the exact diff gets, at its worst: nothing stands where it stood.
func BenchmarkDiffGap(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 5))
	benchDiff(b, randomLines(rnd, 1024, 200), randomLines(rnd, 1024, 200))
}
