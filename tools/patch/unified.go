package patch

import (
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const nowhere = "/dev/null"

// unified reads a unified diff, with git's headers or without.
func (r *reader) unified() error {
	read := -1 // behind the last line of a header or a hunk
	for r.more() {
		line := r.line()
		var err error
		switch {
		case strings.HasPrefix(line, "diff --git "):
			err = r.gitHeader()
		case r.atNames():
			err = r.names(nil)
		case strings.HasPrefix(line, "@@@"):
			return r.failf("a combined diff is of several versions of a file: make one of one")
		case strings.HasPrefix(line, "@@") && len(r.files) > 0:
			err = r.unifiedHunk()
		case strings.HasPrefix(line, "@@"):
			return r.failf("no file is named before this hunk: --- and +++ lines come first")
		case r.another():
			return r.failf(oneForm)
		case strings.HasPrefix(line, "@"):
			return r.failf("this is no hunk's header, which is @@ -LINE,COUNT +LINE,COUNT @@")
		case r.at == read && r.looksLikeBody():
			return r.failf("this line belongs to no hunk: @@ comes first")
		default:
			r.at++ // as patch does
			continue
		}
		if err != nil {
			return err
		}
		read = r.at
	}
	for i := range r.files {
		f := &r.files[i]
		if len(f.Hunks) == 0 && f.Kind == Update && f.To == "" && f.Mode == 0 {
			return errorAt(f.Line, "nothing is said of what changes in %s", f.Path)
		}
	}
	return nil
}

// atNames reports whether the next two lines name a file.
func (r *reader) atNames() bool {
	return strings.HasPrefix(r.line(), "--- ") && strings.HasPrefix(r.ahead(1), "+++ ")
}

// header is what git says of a file before its hunks.
type header struct {
	created, deleted bool
	from, to         string // of a rename
	mode             fs.FileMode
}

// gitHeader reads what follows diff --git up to the first hunk.
func (r *reader) gitHeader() error {
	var h header
	first, both := r.number(), strings.TrimPrefix(r.line(), "diff --git ")
	for r.at++; r.more(); r.at++ {
		word, rest, _ := strings.Cut(r.line(), " ")
		mode, isMode := strings.CutPrefix(rest, "mode ")
		made, isFileMode := strings.CutPrefix(rest, "file mode ")
		var err error
		switch {
		case word == "new" && isMode:
			h.mode, err = r.mode(mode)
		case word == "new" && isFileMode:
			h.created = true
			h.mode, err = r.mode(made)
		case word == "deleted" && isFileMode:
			h.deleted = true
		case word == "rename" && strings.HasPrefix(rest, "from "):
			h.from, err = r.unquoted(strings.TrimPrefix(rest, "from "))
		case word == "rename" && strings.HasPrefix(rest, "to "):
			h.to, err = r.unquoted(strings.TrimPrefix(rest, "to "))
		case word == "copy":
			return r.failf("a copy is made as a new file, with all of its lines")
		case word == "Binary" || word == "GIT":
			return r.failf("a patch of binary data is not made: no reviewer could read it")
		case word == "old" || word == "similarity" || word == "dissimilarity" || word == "index":
		case r.atNames():
			return r.names(&h)
		default:
			return r.nameless(first, both, &h)
		}
		if err != nil {
			return err
		}
	}
	return r.nameless(first, both, &h)
}

func (r *reader) mode(text string) (fs.FileMode, error) {
	switch text = strings.TrimSpace(text); text {
	case "100644":
		return 0o644, nil
	case "100755":
		return 0o755, nil
	case "120000":
		return 0, r.failf("no links are made by a patch")
	case "160000":
		return 0, r.failf("no submodules are changed by a patch")
	}
	return 0, r.failf("mode %s is none that git has: 100644 or 100755", text)
}

// nameless begins a file that has no --- and +++ lines, since none of its text
// changes. both are its two names behind diff --git.
func (r *reader) nameless(first int, both string, h *header) error {
	f := File{Path: h.from, To: h.to, Mode: h.mode, Line: first}
	if (h.from == "") != (h.to == "") {
		return errorAt(first, "rename from and rename to come together")
	}
	if h.from == "" {
		name, err := sameNames(both)
		if err != nil {
			return errorAt(first, "the file's name cannot be told: %s", err.Message)
		}
		f.Path = name
	}
	switch {
	case h.created:
		f.Kind = Create
	case h.deleted:
		f.Kind = Delete
	}
	r.files = append(r.files, f)
	return nil
}

// names reads --- and +++ and begins their file. h is what git's header said, nil
// without one.
func (r *reader) names(h *header) error {
	old, err := r.unquoted(strings.TrimPrefix(r.line(), "--- "))
	if err != nil {
		return err
	}
	f := File{Line: r.number()}
	r.at++
	now, err := r.unquoted(strings.TrimPrefix(r.line(), "+++ "))
	if err != nil {
		return err
	}
	if h != nil {
		f.Mode = h.mode
	}
	switch before, after := withoutPrefix(old, now); {
	case old == nowhere && now == nowhere:
		return r.failf("no file is named")
	case old == nowhere:
		f.Kind, f.Path = Create, after
	case now == nowhere:
		f.Kind, f.Path = Delete, before
	case h != nil && h.from != "" && h.to != "":
		f.Path, f.To = h.from, h.to
	case before != after:
		return r.failf("two files are named, %s and %s: a file is moved by git's rename from and rename to lines", before, after)
	default:
		f.Path = after
	}
	if f.Path == "" {
		return r.failf("no file is named")
	}
	r.at++
	r.files = append(r.files, f)
	return nil
}

// prefixes are those that git puts before the old and the new name: for two
// versions, and with diff.mnemonicPrefix for index, working tree, commit and object.
var prefixes = [][2]string{{"a/", "b/"}, {"i/", "w/"}, {"c/", "i/"}, {"c/", "w/"}, {"o/", "w/"}}

// withoutPrefix takes git's prefixes off two names, if both have theirs. One that is
// /dev/null has none.
func withoutPrefix(old, now string) (before, after string) {
	for _, p := range prefixes {
		before, ok := strings.CutPrefix(old, p[0])
		after, too := strings.CutPrefix(now, p[1])
		if (ok || old == nowhere) && (too || now == nowhere) {
			return before, after
		}
	}
	return old, now
}

// unquoted is a name as it stands in a header: before a tab, behind which comes a
// time, or between quotation marks, with C's escapes.
func (r *reader) unquoted(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		name, _, _ := strings.Cut(text, "\t")
		return strings.TrimRight(name, " "), nil
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err == nil {
		quoted, err = strconv.Unquote(quoted)
	}
	if err != nil {
		return "", r.failf("the name %s is not quoted as git does", text)
	}
	return quoted, nil
}

// sameNames is the one name that stands twice behind diff --git.
func sameNames(both string) (string, *Error) {
	if quoted, err := strconv.QuotedPrefix(both); err == nil {
		name, err := strconv.Unquote(quoted)
		if other, failed := strconv.Unquote(strings.TrimSpace(both[len(quoted):])); err == nil && failed == nil {
			if before, after := withoutPrefix(name, other); before == after && before != "" {
				return before, nil
			}
		}
	} else if half := len(both) / 2; len(both)%2 == 1 && both[half] == ' ' {
		if before, after := withoutPrefix(both[:half], both[half+1:]); before == after && before != "" {
			return before, nil
		}
	}
	return "", &Error{Message: both + " are not twice the same one"}
}

var hunkHeader = regexp.MustCompile(`^@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// counts are the numbers of a hunk's header.
type counts struct{ at, old, new int }

func countsOf(line string) (c counts, ok bool) {
	m := hunkHeader.FindStringSubmatch(line)
	if m == nil {
		return c, false
	}
	count := func(s string, without int) int {
		if s == "" {
			return without
		}
		n, err := strconv.Atoi(s)
		ok = ok && err == nil
		return n
	}
	ok = true
	c = counts{count(m[1], 0), count(m[2], 1), count(m[4], 1)}
	return c, ok
}

// unifiedHunk reads a hunk. Models often count its lines wrongly: where the header's
// numbers do not lead to what may follow a hunk, its lines are all that look like
// some. Its old lines must be in the file in any case.
func (r *reader) unifiedHunk() error {
	h := Hunk{Line: r.number()}
	c, counted := countsOf(r.line())
	r.at++
	h.At, h.Numbered = c.at, counted
	end, ok := r.countedEnd(c)
	if !counted || !ok {
		end = r.looseEnd()
	}
	if err := r.body(&h, end); err != nil {
		return err
	}
	if counted && r.cut && !r.more() && len(h.Old) < c.old && len(h.New) < c.new {
		return errorAt(h.Line, "the hunk has fewer lines than it says, and the last one no end: has the patch been cut off?")
	}
	if len(h.Old)+len(h.New) == 0 {
		return errorAt(h.Line, "the hunk has no lines")
	}
	r.file().Hunks = append(r.file().Hunks, h)
	return nil
}

const noLineEnd = `\`

// countedEnd is the line behind as many as the header counts, if a hunk may end
// there.
func (r *reader) countedEnd(c counts) (end int, ok bool) {
	for end = r.at; end < len(r.lines) && (c.old > 0 || c.new > 0); end++ {
		line := r.lines[end]
		switch {
		case strings.HasPrefix(line, "-"):
			c.old--
		case strings.HasPrefix(line, "+"):
			c.new--
		case line == "" || line[0] == ' ':
			c.old, c.new = c.old-1, c.new-1
		case strings.HasPrefix(line, noLineEnd):
		default:
			return 0, false
		}
	}
	if c.old != 0 || c.new != 0 {
		return 0, false
	}
	if end < len(r.lines) && strings.HasPrefix(r.lines[end], noLineEnd) {
		end++
	}
	next := reader{lines: r.lines, at: end}
	for next.more() && next.line() == "" {
		next.at++
	}
	return end, !next.looksLikeBody()
}

// looksLikeBody reports whether the next line is one of a hunk. Git's signature and
// the names of the next file are none.
func (r *reader) looksLikeBody() bool {
	line := r.line()
	return line != "" && slices.Contains([]byte(" +-"), line[0]) && strings.TrimRight(line, " ") != "--" && !r.atNames()
}

// looseEnd is the line behind all that look like lines of a hunk.
func (r *reader) looseEnd() int {
	next := reader{lines: r.lines, at: r.at}
	for ; next.more(); next.at++ {
		line := next.line()
		if line != "" && !slices.Contains([]byte(` +-\`), line[0]) || next.atNames() && strings.HasPrefix(next.ahead(2), "@@") {
			break
		}
	}
	for next.at > r.at && next.lines[next.at-1] == "" {
		next.at--
	}
	return next.at
}

// body reads the lines of a hunk up to line end.
func (r *reader) body(h *Hunk, end int) error {
	for ; r.at < end; r.at++ {
		line := r.line()
		if !strings.HasPrefix(line, noLineEnd) {
			if h.OldOpen && (line == "" || line[0] != '+') || h.NewOpen && (line == "" || line[0] != '-') {
				return r.failf("a line follows the one that is said to end the file")
			}
			h.add(line)
			continue
		}
		switch above := r.lines[r.at-1]; {
		case strings.HasPrefix(above, "-"):
			h.OldOpen = true
		case strings.HasPrefix(above, "+"):
			h.NewOpen = true
		default:
			h.OldOpen, h.NewOpen = true, true
		}
	}
	return nil
}
