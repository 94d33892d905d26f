//go:build unix

package watch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// measure is what something took: on the clock, and of the processors.
type measure struct{ wall, cpu []time.Duration }

// peer runs a program in dir.
func (m *measure) peer(b *testing.B, dir string, args ...string) {
	b.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	began := time.Now()
	if _, err := cmd.Output(); err != nil {
		b.Fatalf("%q: %v", args, err)
	}
	m.wall = append(m.wall, time.Since(began))
	m.cpu = append(m.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

// report gives the medians of own, and how often they are those of the peer.
func (m *measure) report(b *testing.B, own *measure, name string) {
	if len(m.wall) == 0 {
		return
	}
	b.ReportMetric(float64(median(m.wall).Milliseconds()), name+"-ms-p50")
	b.ReportMetric(float64(median(m.cpu).Milliseconds()), name+"-cpu-ms-p50")
	if m != own {
		b.ReportMetric(float64(median(own.wall))/float64(median(m.wall)), "ratio-"+name)
		b.ReportMetric(float64(median(own.cpu))/float64(median(m.cpu)), "cpu-ratio-"+name)
	}
}

// BenchmarkTreeFirstScan compares the first scan, watches and stats included,
// with `rg --files` (LOOMD_BENCH_RG names the program) and git ls-files.
func BenchmarkTreeFirstScan(b *testing.B) {
	root := benchTree(b)
	var own, rg, git measure
	files := 0
	for b.Loop() {
		began, used := time.Now(), processorTime()
		tree := open(b, root)
		<-tree.Ready()
		own.wall = append(own.wall, time.Since(began))
		own.cpu = append(own.cpu, processorTime()-used)
		files = tree.Status().Files
		if err := tree.Close(); err != nil {
			b.Fatal(err)
		}
		if program := os.Getenv("LOOMD_BENCH_RG"); program != "" {
			rg.peer(b, root, program, "--files", "--hidden", "-g", "!.git")
		}
		git.peer(b, root, "git", "ls-files", "-co", "--exclude-standard")
	}
	b.ReportMetric(float64(files), "files")
	own.report(b, &own, "own")
	rg.report(b, &own, "rg")
	git.report(b, &own, "git")
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func median(list []time.Duration) time.Duration { return quantile(list, 0.5) }

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
