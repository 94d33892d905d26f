package main

import (
	"bytes"
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
)

// change is what the agent does to one file, and what became of it.
type change struct {
	path  string
	what  string // for the list of what the agent did
	fresh bool   // the file is new
	hunks []hunk // in the order of the file

	proposal string
}

// hunk is one place that the agent changes: count lines from line on become
// text.
type hunk struct {
	line, count int
	text        string
	from, to    string // what edit_file is asked: a line and its new form, without line ends

	id       string
	accepted bool
	modified bool // accepted with a text of the person's own
}

// source is a text file as read_file gives it.
type source struct {
	path string
	text string
}

func (s source) lines() []string { return strings.SplitAfter(s.text, "\n") }

// eol is the line end that all lines have, "" when they differ.
func (s source) eol() string {
	crlf, lf := strings.Count(s.text, "\r\n"), strings.Count(s.text, "\n")
	switch {
	case !strings.HasSuffix(s.text, "\n") || strings.Count(s.text, "\r") != crlf:
		return ""
	case crlf == 0:
		return "\n"
	case crlf == lf:
		return "\r\n"
	}
	return ""
}

// apart is how far two changed lines are from each other at least, so that a
// diff with three lines of context shows them apart.
const apart = 12

// reword is the change of one line, once per file, which a person recognises.
func reword(line string) string {
	return strings.TrimSuffix(line, ".") + ", says the agent."
}

// wordings returns the lines of a text that can be reworded: sentences in
// prose, comments in code, each found only once.
func wordings(s source) []int {
	var found []int
	prose := slices.Contains([]string{".md", ".txt", ".rst"}, path.Ext(s.path))
	fenced := false
	for i, line := range s.lines() {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		words := strings.Fields(line)
		switch {
		case len(words) < 4 || len(line) > 100 || !strings.HasSuffix(line, ".") || strings.HasSuffix(line, ".."):
		case fenced && prose, !prose && words[0] != "//" && words[0] != "#" && words[0] != "--" && words[0] != "*":
		case strings.Count(s.text, line) != 1:
		default:
			found = append(found, i)
		}
	}
	return found
}

func (s source) rewordAt(line int) hunk {
	whole := s.lines()[line]
	from := strings.TrimRight(whole, "\r\n")
	to := reword(from)
	return hunk{line: line, count: 1, text: to + whole[len(from):], from: from, to: to}
}

// reworded changes n lines of a text, far from each other.
func reworded(s source, n int) (change, error) {
	c := change{path: s.path}
	for _, line := range wordings(s) {
		if len(c.hunks) < n && (len(c.hunks) == 0 || line-c.hunks[len(c.hunks)-1].line >= apart) {
			c.hunks = append(c.hunks, s.rewordAt(line))
		}
	}
	if len(c.hunks) < n {
		return c, errUnfit
	}
	return c, nil
}

// errUnfit says that a file has no place for a kind of change.
var errUnfit = errors.New("no place for that change")

// appended adds a line at the end of a text.
func appended(s source) (change, error) {
	eol := s.eol()
	if eol == "" {
		return change{}, errUnfit
	}
	line := "A last line, from the agent."
	switch path.Ext(s.path) {
	case ".md", ".txt", ".rst":
	case ".go", ".js", ".ts", ".rs", ".c", ".h", ".java":
		line = "// " + line
	default:
		line = "# " + line
	}
	h := hunk{line: len(s.lines()) - 1, text: line + eol, to: line + "\n"}
	return change{path: s.path, hunks: []hunk{h}}, nil
}

// sourceExts are the files that the agent prefers for changes in code, in this
// order, and proseExts those for changes in prose.
var (
	sourceExts = []string{".go", ".ts", ".js", ".py", ".rs", ".rb", ".java", ".c", ".h", ".lua", ".sh", ".toml", ".yaml", ".yml"}
	proseExts  = []string{".md", ".txt", ".rst"}
)

// inOrder returns the names with one of exts: those near the root first, and of
// those the one that everybody knows.
func inOrder(names, exts []string) []string {
	var out []string
	for _, name := range names {
		if slices.Contains(exts, path.Ext(name)) && !strings.Contains(path.Base(name), ".gen.") && !strings.HasSuffix(name, "_test.go") {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")),
			cmp.Compare(slices.Index(exts, path.Ext(a)), slices.Index(exts, path.Ext(b))),
			-cmp.Compare(strings.Count(path.Base(a), "README"), strings.Count(path.Base(b), "README")),
			strings.Compare(a, b),
		)
	})
	return out
}

// result is the file's bytes when the accepted hunks, and no others, are in
// it; nil when there is no file. Where a hunk was accepted with a text of the
// person's own, that text is taken from now, and everything around it is not.
func (c *change) result(before, now []byte) ([]byte, error) {
	lines := bytes.SplitAfter(before, []byte("\n"))
	var out []byte
	at, any := 0, before != nil
	for i, h := range c.hunks {
		for ; at < h.line; at++ {
			out = append(out, lines[at]...)
		}
		switch {
		case !h.accepted:
			continue
		case h.modified:
			text, err := c.ownText(out, now, lines, i)
			if err != nil {
				return nil, err
			}
			out = append(out, text...)
		default:
			out = append(out, h.text...)
		}
		at, any = h.line+h.count, true
	}
	if !any {
		return nil, nil
	}
	for ; at < len(lines); at++ {
		out = append(out, lines[at]...)
	}
	return append([]byte{}, out...), nil
}

// ownText finds what stands in now in the place of hunk i: between what was
// put together so far and the original lines that follow.
func (c *change) ownText(sofar, now []byte, lines [][]byte, i int) ([]byte, error) {
	end := len(lines)
	if i+1 < len(c.hunks) {
		end = c.hunks[i+1].line
	}
	rest, found := bytes.CutPrefix(now, sofar)
	after := bytes.Join(lines[c.hunks[i].line+c.hunks[i].count:end], nil)
	at := bytes.Index(rest, after)
	if i+1 == len(c.hunks) {
		at = bytes.LastIndex(rest, after)
	}
	if !found || at < 0 {
		return nil, errors.New(c.path + ": more than the accepted text was changed")
	}
	return rest[:at], nil
}
