// Package patch reads the three forms in which models write changes of files: unified
// diffs as git makes them, the form between "*** Begin Patch" and "*** End Patch",
// and SEARCH/REPLACE blocks. It knows nothing of the files: what a patch says is told
// in one form, whichever it came in.
package patch

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// Kind is what a patch does to a file.
type Kind int

// The kinds. An update may also move the file, or change its mode alone.
const (
	Update Kind = iota
	Create
	Delete
)

// File is what a patch does to one file.
type File struct {
	Kind  Kind
	Path  string      // as the patch has it, without git's a/ and b/
	To    string      // where an update moves the file, "" when it stays
	Mode  fs.FileMode // permission bits that the patch names, 0 for none
	Hunks []Hunk      // in the order of the patch
	Line  int         // of the patch where it begins, from 1
	// Anywhere is set when each hunk is looked for in all of what the one before it
	// left, not behind that one alone.
	Anywhere bool
}

// Hunk replaces lines by others. Its lines are without line ends, but a CR stays
// where the patch itself has none at the ends of its lines.
type Hunk struct {
	Line     int      // of the patch where it begins, from 1
	At       int      // the file's line that it says it begins at, from 1; 0 for before the first, or when it does not say
	Numbered bool     // it says so
	Anchors  []string // lines that come before it in the file, in order
	Old      []string
	New      []string
	OldOpen  bool // the last old line is said to have no line end
	NewOpen  bool // the last new line shall have none
	AtEnd    bool // the old lines are the file's last
}

// Error says where a patch cannot be read.
type Error struct {
	Line    int // of the patch, from 1; 0 for all of it
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

func errorAt(line int, format string, args ...any) *Error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

var (
	searchMark  = regexp.MustCompile(`^<{5,9} SEARCH>?\s*$`)
	dividerMark = regexp.MustCompile(`^={5,9}\s*$`)
	replaceMark = regexp.MustCompile(`^>{5,9} REPLACE\s*$`)
)

const beginMark, endMark = "*** Begin Patch", "*** End Patch"

// Parse reads a patch in the form that it is in. What stands before and after it is
// left aside, as a fence or an explanation. The error is an *Error.
func Parse(text string) ([]File, error) {
	r := &reader{lines: strings.Split(text, "\n")}
	if n := len(r.lines); r.lines[n-1] == "" {
		r.lines = r.lines[:n-1]
	}
	var parse func() error
	for i, line := range r.lines {
		switch line := strings.TrimSuffix(line, "\r"); {
		case strings.TrimSpace(line) == beginMark:
			r.at, parse = i+1, r.marked
		case searchMark.MatchString(line):
			parse = r.blocks
		case strings.HasPrefix(line, "diff --git "),
			strings.HasPrefix(line, "--- ") && i+1 < len(r.lines) && strings.HasPrefix(r.lines[i+1], "+++ "):
			r.at, parse = i, r.unified
		default:
			continue
		}
		r.dropCR(line)
		break
	}
	r.cut = !strings.HasSuffix(text, "\n")
	if parse == nil {
		return nil, errorAt(0, "this is no patch: neither a unified diff, nor *** Begin Patch, nor a SEARCH/REPLACE block")
	}
	if err := parse(); err != nil {
		return nil, err
	}
	if len(r.files) == 0 {
		return nil, errorAt(0, "the patch changes no file")
	}
	return r.files, nil
}

// reader goes through a patch line by line.
type reader struct {
	lines []string
	at    int  // the next line
	cut   bool // the last line has no end
	files []File
}

// dropCR takes the CRs off a patch whose own lines end in CR LF, as its first mark
// tells.
func (r *reader) dropCR(mark string) {
	if !strings.HasSuffix(mark, "\r") {
		return
	}
	for i, line := range r.lines {
		r.lines[i] = strings.TrimSuffix(line, "\r")
	}
}

func (r *reader) more() bool { return r.at < len(r.lines) }

// line is the next one; "" behind the last.
func (r *reader) line() string { return r.ahead(0) }

// ahead is the nth line after the next one; "" behind the last.
func (r *reader) ahead(n int) string {
	if r.at+n >= len(r.lines) {
		return ""
	}
	return r.lines[r.at+n]
}

// number is that of the next line.
func (r *reader) number() int { return r.at + 1 }

func (r *reader) failf(format string, args ...any) error {
	return errorAt(r.number(), format, args...)
}

// another reports whether the next line begins a patch of another form, which would
// be passed over.
func (r *reader) another() bool {
	line := r.line()
	return strings.TrimSpace(line) == beginMark || searchMark.MatchString(line) || strings.HasPrefix(line, "diff --git ") || r.atNames()
}

const oneForm = "another patch begins here: a call takes one, in one form"

// file is the one that was begun last.
func (r *reader) file() *File { return &r.files[len(r.files)-1] }

// add takes a line of a hunk's body in. It reports false for what is none.
func (h *Hunk) add(line string) bool {
	switch {
	case line == "": // a context line whose blank was lost on the way
		h.Old, h.New = append(h.Old, ""), append(h.New, "")
	case line[0] == ' ':
		h.Old, h.New = append(h.Old, line[1:]), append(h.New, line[1:])
	case line[0] == '-':
		h.Old = append(h.Old, line[1:])
	case line[0] == '+':
		h.New = append(h.New, line[1:])
	default:
		return false
	}
	return true
}
