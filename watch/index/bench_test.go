package index

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/match"
)

// The benchmarks search Go's source tree, or with LOOMD_SOAK eight copies of it,
// beside rg as a process in the same rounds. Which rg: $LOOMD_RG, or the one on
// the path; without one there is no ratio.
//
//	go test ./watch/index -run '^$' -bench Ripgrep -benchtime 1x

// copies is how many copies of Go's source tree are searched.
func copies() int {
	if soak {
		return 8
	}
	return 1
}

var corpusMade string // empty: nothing to remove

func removeCorpus() error {
	if corpusMade == "" {
		return nil
	}
	return os.RemoveAll(corpusMade)
}

var corpus = sync.OnceValues(func() (string, error) {
	source, err := goroot()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "loomd-corpus-")
	if err != nil {
		return "", err
	}
	corpusMade = dir
	for i := range copies() {
		err := os.CopyFS(filepath.Join(dir, fmt.Sprintf("copy%d", i)), os.DirFS(source))
		if err != nil {
			return "", err
		}
	}
	return filepath.EvalSymlinks(dir)
})

var goroot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(out)), "src"), err
})

// goSource is Go's own source tree.
func goSource(t testing.TB) string {
	t.Helper()
	source, err := goroot()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func ripgrep() string {
	if rg := os.Getenv("LOOMD_RG"); rg != "" {
		return rg
	}
	rg, err := exec.LookPath("rg")
	if err != nil {
		return ""
	}
	return rg
}

func openTree(b testing.TB, root string) *watch.Tree {
	b.Helper()
	tree, err := watch.OpenTree(b.Context(), watch.TreeOptions{Root: root, CookieDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := tree.Close(); err != nil {
			b.Error(err)
		}
	})
	return tree
}

func openCorpus(b *testing.B, memory int64) (*Index, string) {
	b.Helper()
	root, err := corpus()
	if err != nil {
		b.Fatal(err)
	}
	x, err := Open(Options{Tree: openTree(b, root), Root: root, Memory: memory})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := x.Close(); err != nil {
			b.Error(err)
		}
	})
	built(b, x)
	return x, root
}

// rounds measures ours and theirs in turn and reports the medians.
func rounds(b *testing.B, ours func() int, theirs *exec.Cmd) {
	b.Helper()
	var us, them []time.Duration
	var ourCPU, theirCPU time.Duration
	lines, peer := 0, 0
	for range 5 {
		for range 5 {
			start, cpu := time.Now(), usedCPU()
			lines = ours()
			us = append(us, time.Since(start))
			ourCPU += usedCPU() - cpu
		}
		if theirs == nil {
			continue
		}
		c := exec.Command(theirs.Path, theirs.Args[1:]...)
		c.Dir = theirs.Dir
		out, err := c.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		counted := lineCount{}
		if _, err := io.Copy(&counted, out); err != nil {
			b.Fatal(err)
		}
		_ = c.Wait() // rg exits with 1 when it finds nothing
		them = append(them, time.Since(start))
		theirCPU += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		peer = counted.n
	}
	slices.Sort(us)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(us[len(us)/2].Seconds()*1e3, "ms")
	b.ReportMetric(us[0].Seconds()*1e3, "min-ms")
	b.ReportMetric(float64(lines), "lines")
	if theirs != nil {
		slices.Sort(them)
		b.ReportMetric(them[len(them)/2].Seconds()*1e3, "rg-ms")
		b.ReportMetric(float64(peer), "rg-lines")
		b.ReportMetric(float64(them[len(them)/2])/float64(us[len(us)/2]), "rg/ours")
		b.ReportMetric(5*float64(theirCPU)/float64(ourCPU), "rg/ours-cpu")
	}
}

type lineCount struct{ n int }

func (c *lineCount) Write(p []byte) (int, error) {
	c.n += bytes.Count(p, newline)
	return len(p), nil
}

var benched = []struct {
	name  string
	match match.Options
	query Query
	rg    []string
}{
	{"rare", match.Options{Pattern: "errServerClosedIdle"}, Query{}, nil},
	{"medium", match.Options{Pattern: "WriteString"}, Query{}, nil},
	{"common", match.Options{Pattern: "return"}, Query{}, nil},
	{"none", match.Options{Pattern: "no_such_text_here"}, Query{}, nil},
	{"icase", match.Options{Pattern: "errserverclosedidle", IgnoreCase: true}, Query{}, []string{"-i"}},
	{"prefix", match.Options{Pattern: `func \(s \*Server\) [A-Z][a-z]+`}, Query{}, nil},
	{"suffix", match.Options{Pattern: `[A-Za-z]+Unmarshaler`}, Query{}, nil},
	{"noliteral", match.Options{Pattern: `[A-Z]{3}_[0-9]+`}, Query{}, nil},
	{"words", match.Options{Pattern: `\w{5}\s+\w{5}\s+\w{5}`}, Query{}, nil},
	{"alternation", match.Options{Pattern: `errServerClosedIdle|ErrBodyNotAllowed|readLoopPeek|TimeoutHandler`}, Query{}, nil},
	{"count", match.Options{Pattern: "WriteString"}, Query{Mode: Count}, []string{"-c"}},
	{"files", match.Options{Pattern: "WriteString"}, Query{Mode: Files}, []string{"-l"}},
	{"first100", match.Options{Pattern: "return"}, Query{Limit: 100}, nil},
	{"first100noliteral", match.Options{Pattern: `[A-Z]{3}_[0-9]+`}, Query{Limit: 100}, nil},
	{"context", match.Options{Pattern: "errServerClosedIdle"}, Query{Before: 2, After: 2}, []string{"-C2"}},
	{"onlygo", match.Options{Pattern: "WriteString"}, Query{Glob: []string{"*_test.go"}}, []string{"-g", "*_test.go"}},
}

func BenchmarkSearchAgainstRipgrep(b *testing.B) {
	x, root := openCorpus(b, 0)
	for _, bb := range benched {
		b.Run(bb.name, func(b *testing.B) {
			p, err := match.Compile(bb.match)
			if err != nil {
				b.Fatal(err)
			}
			q := bb.query
			q.Pattern, q.Hidden = p, true
			ours := func() int {
				s := snapshot(b, x)
				defer s.Release()
				n := 0
				if _, err := s.Search(b.Context(), q, func(Line) bool { n++; return true }); err != nil {
					b.Fatal(err)
				}
				return n
			}
			var theirs *exec.Cmd
			if rg := ripgrep(); rg != "" {
				args := append([]string{"--hidden", "-g", "!.git", "--no-unicode", "-n"}, bb.rg...)
				theirs = exec.Command(rg, append(args, "-e", bb.match.Pattern, ".")...)
				theirs.Dir = root
			}
			rounds(b, ours, theirs)
		})
	}
}

func BenchmarkListAgainstRipgrep(b *testing.B) {
	x, root := openCorpus(b, 0)
	for _, bb := range []struct {
		name     string
		patterns []string
		rg       []string
	}{
		{"glob", []string{"**/*_test.go"}, []string{"-g", "*_test.go"}},
		{"all", nil, nil},
		{"doublestar", []string{"**/*[st].go"}, []string{"-g", "*[st].go"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			ours := func() int {
				s := snapshot(b, x)
				defer s.Release()
				n := 0
				if _, err := s.Glob(b.Context(), List{Patterns: bb.patterns, Hidden: true}, func(Entry) bool { n++; return true }); err != nil {
					b.Fatal(err)
				}
				return n
			}
			var theirs *exec.Cmd
			if rg := ripgrep(); rg != "" {
				theirs = exec.Command(rg, append([]string{"--files", "--hidden", "-g", "!.git"}, bb.rg...)...)
				theirs.Dir = root
			}
			rounds(b, ours, theirs)
		})
	}
}

// BenchmarkSearch is the search alone, in a snapshot that is there.
func BenchmarkSearch(b *testing.B) {
	x, _ := openCorpus(b, 0)
	s := snapshot(b, x)
	defer s.Release()
	for _, bb := range benched {
		b.Run(bb.name, func(b *testing.B) {
			p, err := match.Compile(bb.match)
			if err != nil {
				b.Fatal(err)
			}
			q := bb.query
			q.Pattern, q.Hidden = p, true
			cpu := usedCPU()
			for b.Loop() {
				if _, err := s.Search(b.Context(), q, func(Line) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((usedCPU()-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
