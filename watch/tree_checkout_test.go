//go:build unix

package watch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// twoBranches makes a repository whose branches one and two differ in n files of
// a thousand more, and returns a function that checks one out.
func twoBranches(tb testing.TB, dir string, n int) (checkout func(branch string) time.Duration) {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		tb.Skip("git is not installed")
	}
	git := func(args ...string) time.Duration {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		}
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("git %q: %v: %s", args, err, out)
		}
		return time.Since(began)
	}
	write := func(text string, files, of int) {
		for i := range files {
			name := filepath.Join(dir, fmt.Sprintf("d%d/e%d/%s%d", i%100, i%7, text[:of], i))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				tb.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(strings.Repeat(text, 1+i%400)), 0o644); err != nil {
				tb.Fatal(err)
			}
		}
	}
	git("init", "-q", "-b", "one")
	write("same ", 1000, 4)
	write("branch one ", n, 6)
	git("add", "-A")
	git("commit", "-qm", "one")
	git("checkout", "-qb", "two")
	write("branch two ", n-n/10, 6) // the others are of one alone
	for i := n - n/10; i < n; i++ {
		_ = os.Remove(filepath.Join(dir, fmt.Sprintf("d%d/e%d/branch%d", i%100, i%7, i)))
	}
	write("only in two", n/10, 4)
	git("add", "-A")
	git("commit", "-qm", "two")
	return func(branch string) time.Duration { return git("checkout", "-q", branch) }
}

// TestTreeCheckout changes branches under the tree and asks at once.
func TestTreeCheckout(t *testing.T) {
	n, rounds := 400, 4
	if long() {
		n, rounds = 15_000, 20
	}
	tt := newTreeTest(t)
	checkout := twoBranches(t, tt.dir, n)
	tt.start()
	tt.check()
	var took []time.Duration
	for i := range rounds {
		checkout([]string{"one", "two"}[i%2])
		before := tt.scanned.Load()
		began := time.Now()
		c := tt.sync()
		took = append(took, time.Since(began))
		if len(c.Changed)+len(c.Gone) < n {
			t.Errorf("%d changes and %d gone, of %d files", len(c.Changed), len(c.Gone), n)
		}
		if tt.scanned.Load()-before > int64(n) {
			t.Error("everything was looked at: events were lost")
		}
		tt.check()
	}
	slices.Sort(took)
	t.Logf("Sync after a checkout of %d files took %v", n, took)
}

// BenchmarkTreeCheckout compares the time of a checkout of 15,000 files with and
// without a tree that watches, in turns.
func BenchmarkTreeCheckout(b *testing.B) {
	root, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	checkout := twoBranches(b, root, 15_000)
	var with, without, after []time.Duration
	for b.Loop() {
		without = append(without, checkout("one"), checkout("two"))
		tree := open(b, root)
		<-tree.Ready()
		for _, branch := range []string{"one", "two"} {
			with = append(with, checkout(branch))
			began := time.Now()
			if _, err := tree.Sync(b.Context(), 1); err != nil {
				b.Fatal(err)
			}
			after = append(after, time.Since(began))
		}
		if err := tree.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(median(with))/float64(median(without)), "checkout-ratio")
	b.ReportMetric(float64(median(without).Milliseconds()), "checkout-ms-p50")
	b.ReportMetric(float64(median(after).Microseconds())/1e3, "sync-ms-p50")
	b.ReportMetric(float64(quantile(after, 1).Microseconds())/1e3, "sync-ms-max")
}
