package main

// The rules of what this command prints:
//
//   - What was asked for goes to stdout and nothing else does: a tool's result,
//     a diff, a table, JSON. A daemon with --stdio prints frames there.
//   - What went wrong goes to stderr as one line that starts with "loomd: ",
//     in lower case and without a period; a second line may start with "hint: ".
//     What a person should know besides, such as decisions that were made since
//     the last call, goes to stderr, too.
//   - Nothing is asked except by "loomd review" on a terminal.
//   - Colour, wrapping and single keys are for terminals. Without one the output
//     is plain, complete and stable, so that a program can read it; only in
//     tables long paths are cut, which --json has whole.
//   - On a terminal no character of a file, a path or a comment acts on it:
//     control characters, and those that reorder or hide text, are shown.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// env is what a command gets from its process.
type env struct {
	ctx    context.Context
	stdin  *os.File
	stdout io.Writer
	stderr io.Writer

	outIsTerm bool
	errWidth  int // of the terminal that stderr is, in columns; 0 when it is none
	inIsTerm  bool
	paint     paint
}

func newEnv(ctx context.Context, stdin, stdout, stderr *os.File) *env {
	e := &env{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	e.inIsTerm = term.IsTerminal(int(stdin.Fd()))
	e.outIsTerm = term.IsTerminal(int(stdout.Fd()))
	if term.IsTerminal(int(stderr.Fd())) {
		e.errWidth = widthOf(stderr)
	}
	e.paint = paint(e.outIsTerm && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
	return e
}

// width is the terminal's width in columns, or 0 when stdout is none.
func (e *env) width() int {
	f, ok := e.stdout.(*os.File)
	if !ok || !e.outIsTerm {
		return 0
	}
	return widthOf(f)
}

// plainWidth is taken when a terminal does not tell its width.
const plainWidth = 80

func widthOf(f *os.File) int {
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return plainWidth
}

// printf writes to stdout.
func (e *env) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(e.stdout, format, args...)
	return err
}

// json writes v to stdout, indented.
func (e *env) json(v any) error {
	enc := json.NewEncoder(e.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// complain writes an error to stderr, unless that was done.
func (e *env) complain(err error) {
	switch {
	case errors.Is(err, errReported):
		return
	case e.ctx.Err() != nil && errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	case errors.Is(err, client.ErrClosed):
		err = errLost
	}
	h := hintOf(err)
	text := err.Error()
	if h != "" {
		text = strings.TrimSuffix(text, ": "+h) // some messages carry it, too
	}
	fmt.Fprintf(e.stderr, "loomd: %s\n", oneLine(text))
	if h != "" {
		fmt.Fprintf(e.stderr, "hint: %s\n", oneLine(h))
	}
}

// errLost is told when the daemon has ended before it answered: what was asked
// may have been done.
var errLost = errors.New("the connection to the daemon was lost before it answered")

const lostHint = "loomd review list shows what still waits, loomd review history what was decided"

// note writes a line for people to stderr.
func (e *env) note(format string, args ...any) {
	fmt.Fprintf(e.stderr, format+"\n", args...)
}

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// paint colours text, or leaves it when it is false.
type paint bool

func (p paint) with(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[m"
}

func (p paint) bold(s string) string    { return p.with("1", s) }
func (p paint) faint(s string) string   { return p.with("2", s) }
func (p paint) added(s string) string   { return p.with("32", s) }
func (p paint) removed(s string) string { return p.with("31", s) }
func (p paint) place(s string) string   { return p.with("36", s) }
func (p paint) warn(s string) string    { return p.with("33", s) }
func (p paint) blank(s string) string   { return p.with("41", s) } // white space that is easily overlooked

// plural gives "1 hunk", "2 hunks".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// pathName is a path as people are shown it: quoted as in Go when it would not
// fit into a line.
func pathName(path string) string {
	if strings.ContainsAny(path, "\n\r") {
		return strconv.Quote(path)
	}
	return visible(path)
}

// placeName is where a proposal's file is, and where it shall be.
func placeName(p protocol.Proposal) string {
	if p.To == "" {
		return pathName(p.Path)
	}
	return pathName(p.Path) + " → " + pathName(p.To)
}

// oneLine makes text that somebody else wrote fit into a line.
func oneLine(s string) string {
	return visible(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " "))
}
