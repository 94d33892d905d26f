package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/loomd/loomd/daemon/place"
)

// terminal is the console of a person who sits at one. The terminal is raw only
// while a key is awaited, so that at other times ^C interrupts as ever.
type terminal struct {
	in      *os.File
	out     io.Writer
	width   func() int
	byLine  bool // single keys cannot be had: each ends with enter
	told    bool // the person knows that
	pending []byte
	reads   chan chunk // of the read that is under way
	reading bool
}

type chunk struct {
	data []byte
	err  error
}

func newTerminal(e *env) *terminal {
	return &terminal{
		in: e.stdin, out: e.stdout, width: e.width,
		byLine: os.Getenv("TERM") == "dumb",
		reads:  make(chan chunk, 1),
	}
}

func (t *terminal) Write(p []byte) (int, error) { return t.out.Write(p) }

func (t *terminal) Width() int { return t.width() }

// Characters that a raw terminal sends for ^C, ^D and escape.
const (
	ctrlC  = 3
	ctrlD  = 4
	escape = 27
)

func (t *terminal) Key(ctx context.Context, prompt string) (string, error) {
	t.prompt(prompt)
	if t.byLine {
		return t.lineKey(ctx)
	}
	old, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		t.byLine = true
		return t.lineKey(ctx)
	}
	defer term.Restore(int(t.in.Fd()), old)
	for {
		if key, ok := t.takeKey(); ok {
			if key == string(rune(ctrlC)) || key == string(rune(ctrlD)) {
				return "", io.EOF
			}
			return key, nil
		}
		if err := t.fill(ctx); err != nil {
			return "", err
		}
	}
}

// lineKey takes the first character of a line for the key.
func (t *terminal) lineKey(ctx context.Context) (string, error) {
	if !t.told {
		t.told = true
		fmt.Fprint(t.out, "(a key needs Enter here) ")
	}
	line, err := t.readLine(ctx)
	if err != nil {
		return "", err
	}
	if line == "" {
		return keyEnter, nil
	}
	_, n := utf8.DecodeRuneInString(line)
	return line[:n], nil
}

// takeKey takes one key out of what was read. A sequence that begins with
// escape is one key; those that mean nothing here are dropped.
func (t *terminal) takeKey() (key string, ok bool) {
	for len(t.pending) > 0 {
		b := t.pending
		switch {
		case b[0] == '\r' || b[0] == '\n':
			t.pending = b[1:]
			return keyEnter, true
		case b[0] == escape:
			var seq []byte
			seq, t.pending = cutEscape(b)
			switch string(seq) {
			case "\x1b[A", "\x1bOA":
				return keyUp, true
			case "\x1b[B", "\x1bOB":
				return keyDown, true
			}
		case !utf8.FullRune(b):
			return "", false
		default:
			_, n := utf8.DecodeRune(b)
			t.pending = b[n:]
			return string(b[:n]), true
		}
	}
	return "", false
}

// cutEscape splits off an escape sequence: ESC alone, ESC and a character, or
// ESC [ or ESC O up to the letter that ends it.
func cutEscape(b []byte) (seq, rest []byte) {
	if len(b) < 2 || b[1] != '[' && b[1] != 'O' {
		n := min(2, len(b))
		return b[:n], b[n:]
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return b[:i+1], b[i+1:]
		}
	}
	return b, nil
}

func (t *terminal) Line(ctx context.Context, prompt string) (string, error) {
	t.prompt(prompt)
	return t.readLine(ctx)
}

// prompt throws away what was typed on a terminal so far, which cannot be meant
// for what is only now seen to be asked, and then asks.
func (t *terminal) prompt(text string) {
	if flushInput(int(t.in.Fd())) == nil {
		t.pending = nil
	}
	fmt.Fprint(t.out, text)
}

func (t *terminal) readLine(ctx context.Context) (string, error) {
	for {
		if i := bytes.IndexAny(t.pending, "\r\n"); i >= 0 {
			line := string(t.pending[:i])
			t.pending = t.pending[i+1:]
			return line, nil
		}
		if err := t.fill(ctx); err != nil {
			return "", err
		}
	}
}

// fill waits for more input. A read that outlives its caller's ctx is taken up
// by the next call.
func (t *terminal) fill(ctx context.Context) error {
	if !t.reading {
		t.reading = true
		go func() {
			buf := make([]byte, 1024)
			n, err := t.in.Read(buf)
			t.reads <- chunk{buf[:n], err}
		}()
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case c := <-t.reads:
		t.reading = false
		t.pending = append(t.pending, c.data...)
		if len(c.data) > 0 {
			return nil
		}
		return c.err
	}
}

func (t *terminal) Edit(ctx context.Context, name, text string) (string, error) {
	scratch, err := place.NewScratch(name, text)
	if err != nil {
		return "", err
	}
	defer scratch.Remove()
	cmd := editorCommand(ctx, scratch.Path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, t.out, os.Stderr
	failed := cmd.Run()
	edited, err := scratch.Text()
	if failed != nil {
		return edited, fmt.Errorf("the editor %s: %w", editor(), failed)
	}
	return edited, err
}

// editor is what the person set, options included.
func editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	if runtime.GOOS == "windows" {
		return "notepad"
	}
	return "vi"
}

// editorCommand runs the editor on a file as git does: by the shell where there
// is one, because $EDITOR may hold options.
func editorCommand(ctx context.Context, file string) *exec.Cmd {
	if sh, err := exec.LookPath("sh"); err == nil {
		return exec.CommandContext(ctx, sh, "-c", editor()+` "$@"`, editor(), file)
	}
	return exec.CommandContext(ctx, editor(), file)
}
