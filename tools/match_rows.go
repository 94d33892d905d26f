package tools

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/loomd/loomd/tools/secret"
	"github.com/loomd/loomd/watch/index"
)

// grepMatch is a line. Its text is without the line's end.
type grepMatch struct {
	Path    string `json:"path"`
	Line    int    `json:"line" jsonschema:"counted from 1"`
	Text    string `json:"text" jsonschema:"bytes that are not UTF-8 are shown as U+FFFD"`
	Context bool   `json:"context,omitempty" jsonschema:"true: the line does not match, it is near one that does"`
	Cut     bool   `json:"cut,omitempty" jsonschema:"true: text is a part of the line"`
}

type grepCount struct {
	Path  string `json:"path"`
	Count int    `json:"count" jsonschema:"lines that match"`
}

type grepTail struct {
	Total         int       `json:"total" jsonschema:"how much there is, in units: lines in mode content, else files"`
	TotalAtLeast  bool      `json:"total_at_least,omitempty" jsonschema:"true: the search ended before it saw everything"`
	MatchedLines  int       `json:"matched_lines,omitempty" jsonschema:"in mode count: lines that match in all files counted"`
	MatchedFiles  int       `json:"matched_files,omitempty" jsonschema:"in mode content: files that match"`
	SkippedBinary int       `json:"skipped_binary,omitempty" jsonschema:"files passed over because they are no text; absent for none, and when the search ended early"`
	Generation    uint64    `json:"generation,omitempty" jsonschema:"of the index that answered; absent when the disk was read"`
	Warnings      []warning `json:"warnings" jsonschema:"what could not be searched"`
	Truncated     bool      `json:"truncated"`
	Shown         int       `json:"shown,omitempty" jsonschema:"when truncated: how much is shown, in units"`
	Unit          string    `json:"unit,omitempty" jsonschema:"when truncated: what shown and total count"`
	Next          string    `json:"next,omitempty" jsonschema:"when truncated: how to get the rest"`
}

type grepResult struct {
	Matches []grepMatch `json:"matches,omitempty" jsonschema:"in mode content"`
	Files   []string    `json:"files,omitempty" jsonschema:"in mode files"`
	Counts  []grepCount `json:"counts,omitempty" jsonschema:"in mode count"`
	grepTail

	// rows is the result up to the end of its list, instead of the lists above.
	rows *rowWriter
}

func (r *grepResult) render() *rowWriter {
	r.rows.room(1)
	r.rows.buf = append(r.rows.buf, ']')
	r.rows.members(r.grepTail, false)
	return r.rows
}

// matchRows are the rows of a search as JSON, in the order in which they come.
type matchRows struct {
	mode  index.Mode
	limit int
	out   *rowWriter
	first bool

	prefix  []byte // of the paths of the root at hand, escaped
	path    string // of the last row
	head    []byte // what the rows of that path begin with; nil: its name is not valid
	between bool   // head begins with the comma after the row before

	shown   int // rows that count for the limit
	skipped int // such rows whose path JSON cannot carry
	lines   int
	files   int
	more    bool // there are rows beyond the limit or what fits
	full    bool // what fits is reached
	tail    grepTail
	badName string

	// narrow is what paths must fit that the index was not told of; nil: nothing.
	// Then offset and sums are counted here.
	narrow  *index.Globs
	passing int // rows still to be passed over
	secrets *secret.Redactor
	last    string
}

func newMatchRows(mode index.Mode, limit int, secrets *secret.Redactor) *matchRows {
	r := &matchRows{mode: mode, limit: limit, secrets: secrets, out: newRowWriter(), first: true}
	r.out.buf = append(r.out.buf, map[index.Mode]string{index.Content: `{"matches":[`, index.Files: `{"files":[`, index.Count: `{"counts":[`}[mode]...)
	return r
}

// counted is how many rows were seen of the roots that are done with.
func (r *matchRows) counted() int {
	if r.mode == index.Content {
		return r.lines
	}
	return r.files
}

func (r *matchRows) begin(p *part) {
	r.prefix, r.path, r.last = appendEscaped(nil, []byte(p.prefix)), "", ""
}

// end takes over the sums of a root.
func (r *matchRows) end(sum index.Summary) {
	if r.narrow == nil {
		r.lines, r.files = r.lines+sum.Lines, r.files+sum.Files
	}
	r.more = r.more || !sum.Exact
	r.tail.TotalAtLeast = r.tail.TotalAtLeast || !sum.Exact
	r.tail.SkippedBinary += sum.SkippedBinary
	r.tail.Generation += sum.Generation
}

// passes counts a row where the index does not, and reports whether it is one to
// add.
func (r *matchRows) passes(l index.Line, counts bool) bool {
	if !r.narrow.Match(l.Path) {
		return false
	}
	if counts {
		if r.mode == index.Count {
			r.lines += l.Number
		} else {
			r.lines++
		}
		if l.Path != r.last {
			r.last, r.files = l.Path, r.files+1
		}
		if r.passing > 0 {
			r.passing--
			return false
		}
	}
	return r.passing == 0
}

// add appends a row and reports whether there is room for another.
func (r *matchRows) add(l index.Line) bool {
	counts := l.Match || r.mode != index.Content
	switch {
	case r.narrow != nil && !r.passes(l, counts):
		return true
	case r.shown == r.limit && counts:
		r.more = true
		return false
	case r.out.len() > maxRowBytes:
		r.full = true
		return false
	}
	if l.Path != r.path || r.between == r.first {
		r.begins(l.Path)
	}
	if r.head == nil {
		if counts {
			r.skipped++
		}
		return true
	}
	if counts {
		r.shown++
	}
	r.first = false
	r.row(&l)
	return true
}

// row writes a row.
func (r *matchRows) row(l *index.Line) {
	text := l.Text
	if l.Cut {
		text = r.secrets.Cut(wholeRunes(text))
	}
	r.out.room(len(r.head) + maxEscape*(len(text)+1) + len(`,"text":"","context":true,"cut":true}`) + 20)
	buf := append(r.out.buf, r.head...)
	switch r.mode {
	case index.Files:
		r.out.buf = buf
		return
	case index.Count:
		r.out.buf = append(strconv.AppendInt(buf, int64(l.Number), 10), '}')
		return
	}
	buf = strconv.AppendInt(buf, int64(l.Number), 10)
	buf = append(buf, `,"text":"`...)
	buf = appendEscaped(buf, text)
	switch {
	case l.Match && !l.Cut:
		buf = append(buf, `"}`...)
	case l.Match:
		buf = append(buf, `","cut":true}`...)
	case !l.Cut:
		buf = append(buf, `","context":true}`...)
	default:
		buf = append(buf, `","context":true,"cut":true}`...)
	}
	r.out.buf = buf
}

// begins makes what the rows of a path begin with.
func (r *matchRows) begins(name string) {
	r.path, r.between = name, !r.first
	if !validName(name) || maxEscape*len(name) > chunkSize/2 {
		r.head, r.badName = nil, name
		return
	}
	head := r.head[:0]
	if !r.first {
		head = append(head, ',')
	}
	open, end := `{"path":"`, `","line":`
	switch r.mode {
	case index.Files:
		open, end = `"`, `"`
	case index.Count:
		end = `","count":`
	}
	head = append(append(head, open...), r.prefix...)
	r.head = append(appendEscaped(head, []byte(name)), end...)
}

// wholeRunes takes the rests of cut characters off the ends of a cut text.
func wholeRunes(text []byte) []byte {
	for i := 0; i < utf8.UTFMax && len(text) > 0 && !utf8.RuneStart(text[0]); i++ {
		text = text[1:]
	}
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-i:]) {
				text = text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// result says what was left out.
func (r *matchRows) result(s *scope, args grepArgs) grepResult {
	if r.badName != "" {
		s.warned.add(".", fmt.Sprintf("%d matches are in files whose names are not valid UTF-8, so no call can name them", r.skipped))
	}
	out := grepResult{grepTail: r.tail, rows: r.out}
	if out.TotalAtLeast {
		out.SkippedBinary = 0 // it would tell how far the search went, which is nobody's business
	}
	out.Warnings = s.warned.done()
	out.Total = r.files
	unit := "files"
	switch r.mode {
	case index.Content:
		out.Total, out.MatchedFiles, unit = r.lines, r.files, "matching lines"
	case index.Count:
		out.MatchedLines = r.lines
	}
	if !r.more && !r.full && out.Total <= args.Offset+r.shown+r.skipped {
		return out
	}
	out.Truncated, out.Shown, out.Unit = true, r.shown, unit
	if seen := args.Offset + r.shown + r.skipped; out.TotalAtLeast && out.Total <= seen {
		out.Total = seen + 1
	}
	out.Next = fmt.Sprintf("repeat the call with offset %d", args.Offset+r.shown+r.skipped)
	if !r.full && args.Limit < maxMatches {
		out.Next += ", or raise limit, or narrow pattern, path or glob"
	}
	return out
}
