package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/watch/match"
)

// TestBudgetIsKept searches Go's own source tree with a budget that leaves room
// for a part of it, and with one for all: the answers are the same.
func TestBudgetIsKept(t *testing.T) {
	root := goSource(t) + "/go"
	budget := int64(1 << 20)
	if soak {
		root = goSource(t)
		budget = 64 << 20
	}
	f := &forest{dir: root, ready: make(chan struct{}), generation: 1}
	close(f.ready)
	small := f.open(t, Options{Memory: budget, limits: partsOf(budget / 8)})
	large := f.open(t, Options{Memory: 1 << 30})
	built(t, small)
	built(t, large)
	a, b := snapshot(t, small), snapshot(t, large)
	defer a.Release()
	defer b.Release()
	st := small.Status()
	if st.Kept > budget || st.Kept < budget/2 || st.OnDemand == 0 {
		t.Errorf("%d bytes of texts are kept, the budget is %d; %d texts are read on demand", st.Kept, budget, st.OnDemand)
	}
	for _, o := range []match.Options{
		{Pattern: "WriteString"},
		{Pattern: "errors", IgnoreCase: true},
		{Pattern: `[A-Z]{3}_[0-9]+`},
		{Pattern: `func \(.*\) String\(\)`},
		{Pattern: `\{\n\treturn nil`, Multiline: true},
		{Pattern: "no_such_text_at_all"},
	} {
		for _, q := range []Query{{}, {Mode: Count}, {Limit: 10, Offset: 3, Before: 1}} {
			q.Pattern = compile(t, o)
			got, sum := ask(t, a, q)
			want, wantSum := ask(t, b, q)
			if !slices.Equal(got, want) || sum.Lines != wantSum.Lines || sum.Exact != wantSum.Exact {
				t.Errorf("%+v: %d lines, %+v; with all in memory %d, %+v", o, len(got), sum, len(want), wantSum)
			}
		}
	}
	t.Logf("budget %d MiB, texts %d MB: %d MB kept, %d MB of signatures, resident %s", budget>>20, st.Bytes/1e6, st.Kept/1e6, st.Rows/1e6, resident())
}

// partsOf are limits that make parts of about so many bytes.
func partsOf(text int64) limits {
	l := usualLimits
	l.text = min(l.text, int(text))
	return l
}

// resident is what the system says of this process's memory.
func resident() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(status)) {
		if rss, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rss)
		}
	}
	return "unknown"
}

// TestManyFilesInOneDirectory has 100,000 files in one directory.
func TestManyFilesInOneDirectory(t *testing.T) {
	n := 2_000
	if soak {
		n = 100_000
	}
	f := newForest(t)
	for i := range n {
		f.quietly(t, fmt.Sprintf("d/file%06d.txt", i), fmt.Sprintf("number %d\n", i))
	}
	x := f.open(t, Options{})
	for range 2 { // from the disk, and from memory
		s := snapshot(t, x)
		got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: "number [0-9]*777$"})})
		if len(got) != n/1000 {
			t.Errorf("%d lines, want %d", len(got), n/1000)
		}
		if got := paths(t, s, List{Patterns: []string{"**/*99.txt"}}); len(got) != n/100 {
			t.Errorf("%d files, want %d", len(got), n/100)
		}
		s.Release()
		settle(t, x)
	}
}

// TestMillionEmptyFiles is about what an entry costs that has no text.
func TestMillionEmptyFiles(t *testing.T) {
	n := 5_000
	if soak {
		n = 1_000_000
	}
	f := newForest(t)
	for i := range n {
		f.quietly(t, fmt.Sprintf("d%d/f%d", i/5000, i), "")
	}
	var before, after runtime.MemStats
	x := f.open(t, Options{})
	runtime.GC()
	runtime.ReadMemStats(&before)
	built(t, x)
	s := snapshot(t, x)
	defer s.Release()
	if got := paths(t, s, List{Hidden: true}); len(got) != n {
		t.Errorf("%d files, want %d", len(got), n)
	}
	if got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: ""})}); len(got) != 0 {
		t.Errorf("%d lines in empty files", len(got))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	st := x.Status()
	t.Logf("%d files: %d parts, %d bytes of signatures, resident %s", n, st.Parts, st.Rows, resident())
	const each = 120 // a path and what is known of it, in bytes
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); st.Rows != 0 || grown > int64(n)*each+8<<20 {
		t.Errorf("%d bytes for %d empty files, and %d of signatures", grown, n, st.Rows)
	}
}

// TestOneLongLine has one line of 50 MB.
func TestOneLongLine(t *testing.T) {
	size := 1 << 20
	if soak {
		size = 50 << 20
	}
	r := rand.New(rand.NewPCG(1, 1))
	line := make([]byte, size)
	for i := range line {
		line[i] = "abcdefghijklmnopqrstuvwxyz0123456789+/"[r.IntN(38)]
	}
	const at = 700_001 // somewhere within a block
	copy(line[at:], "NEEDLE_IN_A_LINE")
	copy(line[at+100_000:], "another_one")
	f := newForest(t)
	f.write(t, "long.js", "first\n"+string(line)+"\nlast\n")
	f.write(t, "z.txt", "NEEDLE_IN_A_LINE\n")
	x := f.open(t, Options{})
	for _, state := range []string{"from the disk", "from memory"} {
		s := snapshot(t, x)
		for pattern, want := range map[string]int{
			"NEEDLE_IN_A_LINE": 2, "needle_in_a_line.*another_one": 0, "NEEDLE_IN_A_LINE.*another_one": 1, "NEEDLE_IN_A_LIME": 0,
		} {
			got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: pattern}), MaxLine: 200})
			if len(got) != want {
				t.Fatalf("%s, %s: %d lines, want %d", state, pattern, len(got), want)
			}
			if want == 2 && (!strings.HasPrefix(got[0], "long.js:2:") || !strings.Contains(got[0], "NEEDLE_IN_A_LINE") || len(got[0]) != 200+len("long.js:2:")) {
				t.Errorf("%s: %q", state, got[0][:min(len(got[0]), 300)])
			}
		}
		s.Release()
		settle(t, x)
	}
}

// TestLiteralAcrossTheBordersOfALongLine puts literals everywhere around the
// borders of the blocks that a long line is cut into.
func TestLiteralAcrossTheBordersOfALongLine(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyz"[r.IntN(26)]
		}
		return string(b)
	}
	f := newForest(t)
	line := []byte(strings.Repeat(".", 64<<10))
	var words []string
	for i := 0; i+40 < len(line); i += 23 {
		words = append(words, letters(20))
		copy(line[i:], words[len(words)-1])
	}
	f.write(t, "a", "b\nc\n"+string(line)+"\nd\n")
	x := f.open(t, Options{limits: tiny})
	built(t, x)
	s := snapshot(t, x)
	defer s.Release()
	for i, w := range words {
		patterns := []string{w}
		if i > 10 && i%200 == 0 {
			patterns = append(patterns, words[i/2]+".*"+w, "absent_text|"+w)
		}
		for _, pattern := range patterns {
			if got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: pattern})}); len(got) != 1 {
				t.Fatalf("word %d: %s: %d lines", i, pattern, len(got))
			}
		}
	}
}

// TestMatchAcrossBlocks has what a pattern needs in different blocks of a file,
// and across their borders.
func TestMatchAcrossBlocks(t *testing.T) {
	f := newForest(t)
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "begin%04d filler\nbetween_lines end%04d\n", i, i)
	}
	f.write(t, "a/many", text.String())
	f.write(t, "b/other", "begin0007 filler\n")
	x := f.open(t, Options{limits: tiny})
	built(t, x)
	s := snapshot(t, x)
	defer s.Release()
	for i := range 400 {
		for pattern, want := range map[string]int{
			fmt.Sprintf(`begin%04d filler\nbetween_lines end%04d`, i, i): 2,
			fmt.Sprintf(`begin%04d(?s:.*)end%04d`, i, min(i+40, 399)):    2 * (min(i+40, 399) - i + 1),
			fmt.Sprintf(`end%04d(?s:.*)begin%04d`, i+41, i):              0,
		} {
			if got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: pattern, Multiline: true})}); len(got) != want {
				t.Fatalf("%s: %d lines, want %d", pattern, len(got), want)
			}
		}
	}
}
