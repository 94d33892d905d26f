package watch

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// benchTree opens the tree that LOOMD_BENCH_TREE names.
func benchTree(b *testing.B) (root string) {
	b.Helper()
	root = os.Getenv("LOOMD_BENCH_TREE")
	if root == "" {
		b.Skip("LOOMD_BENCH_TREE names no folder")
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		b.Fatal(err)
	}
	return root
}

func open(b *testing.B, root string) *Tree {
	b.Helper()
	tree, err := OpenTree(b.Context(), TreeOptions{Root: root, CookieDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	return tree
}

// run runs a program and returns how many lines it wrote and how long it took.
func runPeer(b *testing.B, dir string, args ...string) (lines int, took time.Duration) {
	b.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%q: %v", args, err)
	}
	return bytes.Count(out, []byte("\n")), time.Since(began)
}

// BenchmarkTreeFirstScan compares the first scan, watches and stats included,
// with `rg --files` (LOOMD_BENCH_RG names the program) and git ls-files.
func BenchmarkTreeFirstScan(b *testing.B) {
	root := benchTree(b)
	var own, rg, git []time.Duration
	files := 0
	for b.Loop() {
		began := time.Now()
		tree := open(b, root)
		<-tree.Ready()
		own = append(own, time.Since(began))
		files = tree.Status().Files
		if err := tree.Close(); err != nil {
			b.Fatal(err)
		}
		if program := os.Getenv("LOOMD_BENCH_RG"); program != "" {
			_, took := runPeer(b, root, program, "--files", "--hidden", "-g", "!.git")
			rg = append(rg, took)
		}
		_, took := runPeer(b, root, "git", "ls-files", "-co", "--exclude-standard")
		git = append(git, took)
	}
	b.ReportMetric(float64(files), "files")
	b.ReportMetric(float64(median(own).Milliseconds()), "ms-p50")
	if len(rg) > 0 {
		b.ReportMetric(float64(median(rg).Milliseconds()), "rg-ms-p50")
		b.ReportMetric(float64(median(own))/float64(median(rg)), "ratio-rg")
	}
	b.ReportMetric(float64(median(git).Milliseconds()), "git-ms-p50")
	b.ReportMetric(float64(median(own))/float64(median(git)), "ratio-git")
}

func median(list []time.Duration) time.Duration { return quantile(list, 0.5) }

func quantile(list []time.Duration, q float64) time.Duration {
	slices.Sort(list)
	return list[min(int(q*float64(len(list))), len(list)-1)]
}

// BenchmarkTreeSyncIdle measures the barrier when nothing happens.
func BenchmarkTreeSyncIdle(b *testing.B) {
	tree := open(b, benchTree(b))
	defer tree.Close()
	<-tree.Ready()
	c, err := tree.Sync(context.Background(), 0)
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := tree.Sync(context.Background(), c.Generation); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	b.ReportMetric(float64(quantile(took, 0.5).Nanoseconds())/1e3, "us-p50")
	b.ReportMetric(float64(quantile(took, 0.99).Nanoseconds())/1e3, "us-p99")
}

// BenchmarkTreeSyncAfterWrite measures the barrier after one write.
func BenchmarkTreeSyncAfterWrite(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	tree := open(b, dir)
	defer tree.Close()
	<-tree.Ready()
	name := filepath.Join(dir, "f")
	generation := uint64(1)
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(name, make([]byte, i%100), 0o644); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		c, err := tree.Sync(context.Background(), generation)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		if len(c.Changed) != 1 {
			b.Fatalf("%d changes, not 1", len(c.Changed))
		}
		generation = c.Generation
	}
	b.ReportMetric(float64(quantile(took, 0.5).Nanoseconds())/1e3, "us-p50")
	b.ReportMetric(float64(quantile(took, 0.99).Nanoseconds())/1e3, "us-p99")
}
