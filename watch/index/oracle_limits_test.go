package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/watch/index"
	"github.com/loomd/loomd/watch/match"
)

// bound is how long any one answer about something monstrous may take on a busy
// machine. What is meant is that it does not take for ever.
const bound = time.Minute

// TestLimitHugeLine: one line of 50 MB is searched, shown in part, and costs no
// copies of itself for each match.
func TestLimitHugeLine(t *testing.T) {
	root := realTemp(t)
	size := 4 << 20
	if os.Getenv("LOOMD_SOAK") != "" {
		size = 50 << 20
	}
	line := bytes.Repeat([]byte("abcdefgh "), size/9)
	copy(line[size/9*8/10*9:], "NEEDLE")
	write(t, filepath.Join(root, "huge.json"), line)
	write(t, filepath.Join(root, "small.txt"), []byte("NEEDLE\n"))
	x := openIndexed(t, root, cleanEnv(t.TempDir()), 0)
	x.built(t)
	for _, q := range []question{
		{Pattern: "NEEDLE"},
		{Pattern: "needle", Fold: true},
		{Pattern: `[A-Z]{6}`},
		{Pattern: `NEEDLE.*h $`},
		{Pattern: `^abc.*NEEDLE`},
		{Pattern: `\bNEEDLE`},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		before := allocated()
		start := time.Now()
		lines, err := x.lines(ctx, q, 500)
		t.Logf("%q took %v", q.Pattern, time.Since(start))
		cancel()
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if len(lines) == 0 || lines[0].Path != "huge.json" || lines[0].Number != 1 || !lines[0].Cut || len(lines[0].Text) > 500 {
			t.Errorf("%s: got %.200v", q, lines)
		}
		if len(lines) > 0 && strings.Contains(q.Pattern, "NEEDLE") && !strings.HasPrefix(q.Pattern, "^") && !bytes.Contains(lines[0].Text, []byte("NEEDLE")) {
			t.Errorf("%s: the part that is shown does not hold the match: %.600q", q, lines[0].Text)
		}
		if used := allocated() - before; used > 16<<20 {
			t.Errorf("%s: one search allocated %d bytes", q, used)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// lines are an answer's, with long ones cut.
func (x *indexed) lines(ctx context.Context, q question, maxLine int) ([]index.Line, error) {
	pattern, err := patternFor(q)
	if err != nil {
		return nil, err
	}
	s, err := x.index.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Release()
	var lines []index.Line
	_, err = s.Search(ctx, index.Query{Pattern: pattern, Hidden: true, MaxLine: maxLine}, func(l index.Line) bool {
		l.Path, l.Text = strings.Clone(l.Path), bytes.Clone(l.Text)
		lines = append(lines, l)
		return true
	})
	return lines, err
}

// bombs are patterns that make some engines take for ever, or all memory.
var bombs = []string{
	`(a+)+$`, `(a*)*b`, `(a|aa)+c`, `(.*)*x`, `(x+x+)+y`, `^(([a-z])+.)+[A-Z]([a-z])+$`, `.*.*.*.*.*=.*`, `(?s).*.*.*z`, `a{1,1000}b`, `(a{1,30}){1,30}b`, `([a-z]{1,50}){20}0`, `(\w{0,500}){2}!`,
	`((((((((a?){3}){3}){3}){3}){3}){3}){3})b`, `[a-z]*[b-y]*[c-x]*[d-w]*[e-v]*0`, `(a?){100}a{100}`, `(?i)(a|b|c|d|e|f|g)*h{50}`, `.{900}x`, `(.{30}){30}x`,
}

// TestLimitBombs: a pattern that blows up is either answered in time or refused,
// and a cancelled search ends.
func TestLimitBombs(t *testing.T) {
	root := realTemp(t)
	write(t, filepath.Join(root, "a.txt"), []byte(strings.Repeat(strings.Repeat("a", 3000)+"\n", 100)))
	write(t, filepath.Join(root, "text.txt"), []byte(strings.Repeat("the quick brown fox jumps over the lazy dog\n", 20_000)))
	x := openIndexed(t, root, cleanEnv(t.TempDir()), 0)
	x.built(t)
	oracle := rg{rgBinary(t), root, cleanEnv(t.TempDir())}
	for _, pattern := range bombs {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		before := allocated()
		start := time.Now()
		q := question{Pattern: pattern, Mode: countMode}
		got, err := x.Search(ctx, q)
		took := time.Since(start)
		cancel()
		var syntax *match.SyntaxError
		var unsupported *match.UnsupportedError
		switch {
		case errors.As(err, &syntax), errors.As(err, &unsupported):
			t.Logf("%q is refused: %v", pattern, err)
		case err != nil:
			t.Errorf("%q: %v after %v", pattern, err, took)
		default:
			if want := oracle.search(t, withRG(q)); difference(got, want) != "" {
				t.Errorf("%q: %s", pattern, difference(got, want))
			}
		}
		if used := allocated() - before; used > 256<<20 {
			t.Errorf("%q: one search allocated %d bytes", pattern, used)
		}
	}
}

// TestLimitCancelled: a search that nobody waits for any more ends soon.
func TestLimitCancelled(t *testing.T) {
	root := realTemp(t)
	for i := range 200 {
		write(t, filepath.Join(root, fmt.Sprintf("f%d.txt", i)), []byte(strings.Repeat(strings.Repeat("ab ", 300)+"\n", 300)))
	}
	x := openIndexed(t, root, cleanEnv(t.TempDir()), 0)
	x.built(t)
	ctx, cancel := context.WithCancel(context.Background())
	pattern, err := match.Compile(match.Options{Pattern: `b a`})
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.index.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	lines := 0
	_, err = s.Search(ctx, index.Query{Pattern: pattern, Hidden: true}, func(index.Line) bool {
		if lines++; lines == 10 {
			cancel()
		}
		return true
	})
	if !errors.Is(err, context.Canceled) || lines == 200*300 {
		t.Errorf("cancelled after 10 lines: %d lines, %v", lines, err)
	}
}

// TestLimitWideDirectory: a directory with very many entries, many of them empty.
func TestLimitWideDirectory(t *testing.T) {
	root := realTemp(t)
	n := size(10_000, 100_000)
	for i := range n {
		write(t, filepath.Join(root, "wide", fmt.Sprintf("f%06d", i)), nil)
	}
	write(t, filepath.Join(root, "wide", "g"), []byte("needle\n"))
	x := openIndexed(t, root, cleanEnv(t.TempDir()), 0)
	counts(t, x, n+1)
	write(t, filepath.Join(root, "wide", "h"), []byte("needle\n"))
	if err := os.Rename(filepath.Join(root, "wide"), filepath.Join(root, "wider")); err != nil {
		t.Fatal(err)
	}
	counts(t, x, n+2)
	if rows, err := x.Search(context.Background(), question{Pattern: "needle", Mode: filesMode}); err != nil || len(rows) != 2 || rows[0].Path != "wider/g" {
		t.Errorf("found %v, %v", rows, err)
	}
	if err := os.RemoveAll(filepath.Join(root, "wider")); err != nil {
		t.Fatal(err)
	}
	counts(t, x, 0)
}

func counts(t *testing.T, x *indexed, want int) {
	t.Helper()
	list, err := x.List(context.Background(), ".", true)
	if err != nil || len(list) != want {
		t.Fatalf("listed %d of %d files, %v", len(list), want, err)
	}
}

// TestLimitMillionFiles: a million empty files take little memory each, and a
// search of them finds the one that is not empty.
func TestLimitMillionFiles(t *testing.T) {
	n := size(20_000, 1_000_000)
	root := realTemp(t)
	for i := range n {
		if i%1000 == 0 {
			if err := os.MkdirAll(filepath.Join(root, fmt.Sprintf("d%04d", i/1000)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Create(filepath.Join(root, fmt.Sprintf("d%04d/empty%07d.txt", i/1000, i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	write(t, filepath.Join(root, "d0007", "full"), []byte("needle\n"))
	before := heap()
	x := openIndexed(t, root, cleanEnv(t.TempDir()), 0)
	x.built(t)
	counts(t, x, n+1)
	if each := int64(heap()-before) / int64(n); each > 1000 {
		t.Errorf("an empty file takes %d bytes of heap", each)
	} else {
		t.Logf("an empty file takes %d bytes of heap", each)
	}
	for _, pattern := range []string{"needle", `^n.*e$`} {
		if rows, err := x.Search(context.Background(), question{Pattern: pattern, Mode: filesMode}); err != nil || len(rows) != 1 {
			t.Errorf("%q found %v, %v", pattern, rows, err)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
