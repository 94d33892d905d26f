package process

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestPropertyRing: a ring has what a buffer of everything has at its two ends.
func TestPropertyRing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limits := Limits{rapid.IntRange(0, 9).Draw(r, "head"), rapid.IntRange(0, 9).Draw(r, "tail")}
		kept, all := ring{limits: limits}, []byte(nil)
		for _, p := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 12)).Draw(r, "writes") {
			kept.Write(p)
			all = append(all, p...)
			got := kept.take()
			head := all[:min(len(all), limits.Head)]
			tail := all[max(len(head), len(all)-limits.Tail):]
			if !bytes.Equal(got.Head, head) || !bytes.Equal(got.Tail, tail) || got.Total != int64(len(all)) || got.Dropped != int64(len(all)-len(head)-len(tail)) {
				r.Fatalf("%v: %v of %v", limits, got, all)
			}
			if n := rapid.IntRange(0, 5).Draw(r, "last"); !bytes.HasSuffix(all, kept.last(n)) {
				r.Fatalf("%v: the last of %v are %v", limits, all, kept.last(n))
			}
		}
	})
}

// TestPropertyLines: where a text is cut, whole lines or at least whole characters
// remain, and the counts fit.
func TestPropertyLines(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "€", "😀", "\n", "longer"})).Draw(r, "text"), "")
		kept := ring{limits: Limits{rapid.IntRange(0, 20).Draw(r, "head"), rapid.IntRange(0, 20).Draw(r, "tail")}}
		kept.Write([]byte(text))
		c := kept.take().Lines()
		valid := utf8.Valid(append(bytes.Clone(c.Head), c.Tail...)) && (c.Dropped == 0 || utf8.Valid(c.Head))
		if !valid || int64(len(c.Head)+len(c.Tail))+c.Dropped != int64(len(text)) {
			r.Fatalf("%q: %q, %q, %d dropped", text, c.Head, c.Tail, c.Dropped)
		}
		if !strings.HasPrefix(text, string(c.Head)) || !strings.HasSuffix(text, string(c.Tail)) {
			r.Fatalf("%q: %q, %q", text, c.Head, c.Tail)
		}
		if c.Dropped == 0 {
			return
		}
		if end := len(c.Head); bytes.IndexByte(c.Head, '\n') >= 0 && c.Head[end-1] != '\n' {
			r.Fatalf("%q: the head %q ends within a line", text, c.Head)
		}
		start := len(text) - len(c.Tail)
		if i := bytes.IndexByte(c.Tail, '\n'); i >= 0 && i+1 < len(c.Tail) && text[start-1] != '\n' {
			r.Fatalf("%q: the tail %q begins within a line", text, c.Tail)
		}
	})
}

// How both streams came is kept, as far as they did not come at once.
func TestOrder(t *testing.T) {
	r := run(t, bash(t, "echo one; sleep 0.1; echo three >&2; sleep 0.1; printf tw; sleep 0.1; echo oh; sleep 0.1; printf x >&2"))
	want := []Chunk{{Stdout, 4}, {Stderr, 6}, {Stdout, 5}, {Stderr, 1}}
	if len(r.Order) != len(want) {
		t.Fatalf("%v, want %v", r.Order, want)
	}
	for i, c := range want {
		if r.Order[i] != c {
			t.Errorf("%v, want %v", r.Order, want)
		}
	}
	k := newCapture(DefaultLimits)
	for range 2 * maxChunks {
		kept{k, Stdout}.Write([]byte("x"))
		kept{k, Stderr}.Write([]byte("x"))
	}
	if len(k.order) != maxChunks {
		t.Errorf("%d chunks", len(k.order))
	}
}

// A background child that holds the pipes does not keep the answer.
func TestAnswerComesWithTheEndOfTheShell(t *testing.T) {
	start := time.Now()
	r := run(t, bash(t, "sleep 1000 & echo on"))
	if took := time.Since(start); took > time.Second || stdout(r) != "on\n" || r.ExitCode != 0 || r.Killed != 1 {
		t.Errorf("%v: %+v", took, r)
	}
}

// censor is a filter that takes a word out, also where it comes in pieces.
type censor struct {
	to   io.Writer
	held []byte
}

const word, mark = "secret", "[gone]"

func (c *censor) Write(p []byte) (int, error) {
	c.held = bytes.ReplaceAll(append(c.held, p...), []byte(word), []byte(mark))
	if safe := len(c.held) - len(word) + 1; safe > 0 {
		c.to.Write(c.held[:safe])
		c.held = c.held[safe:]
	}
	return len(p), nil
}

func (c *censor) Close() error {
	_, err := c.to.Write(c.held)
	return err
}

// The filter sees what comes before anybody, and once more what the cleaning has put
// together; an unfinished line passes it, too.
func TestFilter(t *testing.T) {
	shown := make(chan string, 100)
	c := bash(t, `printf 'a sec'; sleep 0.1; printf 'ret\nxxcret\rse\n\033[1msec\033[0mret\n'; printf 'my secret: '; sleep 1000`)
	c.Clean = true
	c.Filter = func(w io.Writer) io.WriteCloser { return &censor{to: w} }
	c.Output = func(s Stream, p []byte) { shown <- s.String() + " " + string(p) }
	p, err := Start(context.Background(), c)
	must(t, err)
	until(t, 5*time.Second, "the last line", func() bool {
		line, _ := p.Pending()
		return string(line) == "my [go" // the rest may be the beginning of the word
	})
	if line := p.LastLine(100); strings.Contains(line, word) || line != "my [go" {
		t.Errorf("the last line is %q", line)
	}
	p.Kill()
	r, err := p.Wait()
	must(t, err)
	if got, want := stdout(r), "a [gone]\n[gone]\n[gone]\nmy [gone]: "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	close(shown)
	var all strings.Builder
	for s := range shown {
		all.WriteString(strings.TrimPrefix(s, "stdout "))
	}
	if strings.Contains(all.String(), word) || !strings.Contains(all.String(), "\033[1m") {
		t.Errorf("shown: %q", all.String())
	}
}

// slow takes its time for every chunk.
type slow struct{ io.Writer }

func (s slow) Write(p []byte) (int, error) {
	<-time.After(200 * time.Millisecond)
	return s.Writer.Write(p)
}
func (s slow) Close() error { return nil }

// However long what is in the pipes takes after the end, it is all there.
func TestNoOutputIsLost(t *testing.T) {
	c := bash(t, "head -c 1000000 /dev/zero | tr '\\0' x; echo last")
	c.Filter = func(w io.Writer) io.WriteCloser { return slow{w} }
	if r := run(t, c); r.Stdout.Total != 1_000_005 || !strings.HasSuffix(stdout(r), "xlast\n") {
		t.Errorf("%d bytes", r.Stdout.Total)
	}
}

// What is taken is not there again, and its limits begin anew.
func TestTake(t *testing.T) {
	c := bash(t, `echo one; until [ -e go ]; do sleep 0.01; done; echo two; echo err >&2; printf 'thr'; exec sleep 1000`)
	c.Clean = true
	p, err := Start(context.Background(), c)
	must(t, err)
	first := ""
	until(t, 5*time.Second, "the first line", func() bool {
		first += string(p.Take().Stdout.Head)
		return first == "one\n"
	})
	changed := p.Changed()
	must(t, os.WriteFile(c.Dir+"/go", nil, 0o600))
	<-changed
	until(t, 5*time.Second, "the unfinished line", func() bool { line, _ := p.Pending(); return string(line) == "thr" })
	if got := p.LastLine(2); got != "th" {
		t.Errorf("the last line is %q", got)
	}
	out, errs := "", ""
	until(t, 5*time.Second, "the lines of both streams", func() bool { // the one can come before the other
		taken := p.Take()
		out, errs = out+string(taken.Stdout.Head), errs+string(taken.Stderr.Head)
		return out == "two\n" && errs == "err\n"
	})
	p.Kill()
	r, err := p.Wait()
	must(t, err)
	if stdout(r) != "thr" || !r.Cancelled {
		t.Errorf("%+v", r)
	}
}
