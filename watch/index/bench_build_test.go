package index

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/match"
)

// BenchmarkBuild is a first build, beside "rg --files" and reading every file
// once.
func BenchmarkBuild(b *testing.B) {
	root, err := corpus()
	if err != nil {
		b.Fatal(err)
	}
	var us, floor, walk []time.Duration
	var ourCPU, floorCPU time.Duration
	for range 3 {
		took, cpu := readEverything(b, root)
		floor = append(floor, took)
		floorCPU += cpu
		if rg := ripgrep(); rg != "" {
			c := exec.Command(rg, "--files", "--hidden")
			c.Dir = root
			start := time.Now()
			if err := c.Run(); err != nil {
				b.Fatal(err)
			}
			walk = append(walk, time.Since(start))
			floorCPU += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		}
		tree := openTree(b, root)
		<-tree.Ready()
		start := time.Now()
		cpu = usedCPU()
		x, err := Open(Options{Tree: tree, Root: root})
		if err != nil {
			b.Fatal(err)
		}
		built(b, x)
		us = append(us, time.Since(start))
		ourCPU += usedCPU() - cpu
		if i := len(us) - 1; i == 0 {
			st := x.Status()
			b.ReportMetric(float64(st.Bytes)/1e6, "MB")
			b.ReportMetric(float64(st.Rows+st.Kept)/float64(st.Bytes), "B/B")
		}
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	slices.Sort(us)
	slices.Sort(floor)
	b.ReportMetric(us[1].Seconds()*1e3, "ms")
	b.ReportMetric(floor[1].Seconds()*1e3, "read-ms")
	if len(walk) > 0 {
		slices.Sort(walk)
		b.ReportMetric(walk[1].Seconds()*1e3, "rg-files-ms")
		b.ReportMetric(float64(us[1])/float64(floor[1]+walk[1]), "ours/floor")
		b.ReportMetric(float64(ourCPU)/float64(floorCPU), "ours/floor-cpu")
	}
}

// readEverything reads every file once into memory that is used again, on all
// cores, and returns how long that took, and of all cores.
func readEverything(b *testing.B, root string) (took, used time.Duration) {
	b.Helper()
	f := &forest{dir: root}
	list := f.list()
	r, err := openRoot(root)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := r.close(); err != nil {
			b.Error(err)
		}
	}()
	start, cpu := time.Now(), usedCPU()
	var all sync.WaitGroup
	for w := range maxWorkers() {
		all.Go(func() {
			rd := newReader(r)
			defer rd.close()
			var buf []byte
			each := (len(list) + maxWorkers() - 1) / maxWorkers()
			for _, e := range list[min(w*each, len(list)):min((w+1)*each, len(list))] {
				if e.Kind == watch.File {
					if buf, _, err = rd.read(e.Path, e.Size, buf[:0]); err != nil {
						return
					}
				}
			}
		})
	}
	all.Wait()
	return time.Since(start), usedCPU() - cpu
}

// BenchmarkOneWrite is a write and the search that finds it.
func BenchmarkOneWrite(b *testing.B) {
	root := b.TempDir()
	f := &forest{dir: root}
	for i := range 2000 {
		f.quietly(b, fmt.Sprintf("d%d/f%d.go", i%40, i), "package p\n\nfunc f() {}\n")
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		b.Fatal(err)
	}
	x, err := Open(Options{Tree: openTree(b, root), Root: root})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			b.Error(err)
		}
	}()
	built(b, x)
	b.ResetTimer()
	for i := range b.N {
		token := fmt.Sprintf("token_%d_here", i)
		b.StopTimer()
		f.quietly(b, "d7/f7.go", "package p // "+token+"\n")
		p, err := match.Compile(match.Options{Pattern: token})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		s := snapshot(b, x)
		if sum, err := s.Search(b.Context(), Query{Pattern: p}, func(Line) bool { return true }); err != nil || sum.Lines != 1 {
			b.Fatalf("%+v, %v", sum, err)
		}
		s.Release()
	}
}
