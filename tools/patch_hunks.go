package tools

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/patch"
)

// patch makes the hunks of a file, in their order, or none of them: each behind the
// one before, or with Anywhere in all of what that left.
func (t *editable) patch(ctx context.Context, file *patch.File) error {
	done := editable{enc: t.enc, bom: t.bom} // the text up to where the last hunk ended
	place := hunkPlace{text: t}
	for i := range file.Hunks {
		if err := ctx.Err(); err != nil {
			return err
		}
		h := t.withoutBOM(file.Hunks[i])
		at, err := place.find(i+1, h)
		if err != nil {
			return inHunk(i+1, h, err)
		}
		added := t.fitHunk(at, h)
		if len(t.text)+len(done.text)+len(added) > 2*diffpreview.MaxEdit {
			return failf(diffpreview.CodeTooLarge, "the patch makes the file larger than %d bytes", diffpreview.MaxEdit)
		}
		done.text = append(append(done.text, t.text[place.from:at.start]...), added...)
		place.after(at)
		if file.Anywhere {
			done.text = append(done.text, t.text[place.from:]...)
			t.text, done.text, place = done.text, nil, hunkPlace{text: t}
		}
	}
	if !file.Anywhere {
		t.text = append(done.text, t.text[place.from:]...)
	}
	if len(t.text) > diffpreview.MaxEdit {
		return failf(diffpreview.CodeTooLarge, "the patch makes the file larger than %d bytes", diffpreview.MaxEdit)
	}
	return nil
}

// withoutBOM takes the byte order mark off a hunk's first lines, which git takes for
// text: the file keeps its own.
func (t *editable) withoutBOM(h patch.Hunk) *patch.Hunk {
	for _, lines := range []*[]string{&h.Old, &h.New} {
		if len(t.bom) > 0 && len(*lines) > 0 && strings.HasPrefix((*lines)[0], "\ufeff") {
			*lines = slices.Clone(*lines)
			(*lines)[0] = strings.TrimPrefix((*lines)[0], "\ufeff")
		}
	}
	return &h
}

// fitHunk is the new lines of a hunk as they stand in the file at its place, with the
// file's line ends. A last line without an end stays without one, unless the hunk
// says what becomes of it.
func (t *editable) fitHunk(at span, h *patch.Hunk) []byte {
	open := t.endsOpen(at.end)
	if at.start == at.end {
		given := t.fitLineEnds(at, edit{NewStr: joined(h.New, h.NewOpen)})
		if !open {
			return given
		}
		end := t.lineEndNear(at) // that the line above lacks
		if !h.NewOpen {
			given = bytes.TrimSuffix(given, end)
		}
		return append(bytes.Clone(end), given...)
	}
	e := edit{OldStr: joined(h.Old, open), NewStr: joined(h.New, h.NewOpen || open && !h.OldOpen && !dropsTail(h))}
	if strings.Contains(e.OldStr, "\r") { // the hunk has the line ends as they are
		return []byte(e.NewStr)
	}
	return t.fitLineEnds(at, e)
}

// dropsTail reports whether the last old line goes and nothing comes in its place: the
// last new line is one that stays, with its own end.
func dropsTail(h *patch.Hunk) bool {
	spans := diffpreview.DiffLines(asBytes(h.Old), asBytes(h.New))
	if len(spans) == 0 {
		return false
	}
	last := spans[len(spans)-1]
	return last.NewLines == 0 && last.OldStart+last.OldLines == len(h.Old)
}

func asBytes(lines []string) [][]byte {
	out := make([][]byte, len(lines))
	for i, line := range lines {
		out[i] = []byte(line)
	}
	return out
}

// endsOpen reports whether the text has no line end before this place, which is its
// own end.
func (t *editable) endsOpen(at int) bool {
	return at == len(t.text) && at > 0 && t.text[at-1] != '\n'
}

// hunkPlace is where the next hunk of a file is looked for.
type hunkPlace struct {
	text *editable
	from int // the byte where the hunk before ended
	line int // the number of the line there, counted from 0
	off  int // by how many lines the last hunk was from where it said
}

// after goes on behind a place.
func (p *hunkPlace) after(at span) {
	p.line += bytes.Count(p.text.text[p.from:at.end], lf)
	p.from = at.end
}

// find returns where a hunk's old lines stand. Of several places the one counts that
// the hunk's number names, or the file's end where the hunk has no lines behind its
// change, or the first one behind an anchor that stands in one place. Where number and
// end do not agree, it is none.
func (p *hunkPlace) find(number int, h *patch.Hunk) (span, error) {
	t := p.text
	if t.enc == diffpreview.Bytes && !ascii(joined(h.Old, true)+joined(h.New, true)) {
		f := failf(diffpreview.CodeUnsupportedEncoding,
			"%s holds a character outside ASCII, but the file is neither UTF-8 nor UTF-16", hunkName(number, h))
		f.Hint = "change only lines of this file that are ASCII; its other bytes are kept as they are"
		return span{}, f
	}
	from, err := p.behind(number, h)
	switch {
	case err != nil:
		return span{}, err
	case len(h.Old) == 0:
		return p.insertion(number, h, from)
	}
	f := p.search(h, from)
	i, ok := f.choose(len(t.text))
	switch {
	case len(f.places) == 0:
		return span{}, p.notFound(number, h, from)
	case !ok:
		return span{}, f.ambiguous(number, h)
	}
	if h.Numbered && i != f.said {
		p.off = f.lines[i] - h.At
	}
	return f.places[i], nil
}

// foundHunk is where a hunk's old lines stand, in the file's order.
type foundHunk struct {
	places []span
	lines  []int // the number of each place's first line, from 1
	said   int   // the index of the place that the hunk's number names; -1: none
	first  bool  // the first place counts: an anchor that stands once leads to it
	toEnd  bool  // the hunk is one of the file's end
}

// search looks for a hunk from a byte on, no further than the place to choose.
func (p *hunkPlace) search(h *patch.Hunk, from int) foundHunk {
	f := foundHunk{said: -1, first: len(h.Anchors) > 0 && p.once(h.Anchors[0]), toEnd: h.Numbered && endsFile(h)}
	line, counted := p.line, p.from
	f.places = p.text.linesAt(h, from, func(at span) bool {
		line += bytes.Count(p.text.text[counted:at.start], lf)
		counted = at.start
		f.lines = append(f.lines, line+1)
		if h.Numbered && line+1 == h.At+p.off {
			f.said = len(f.lines) - 1
		}
		return f.said >= 0 && !f.toEnd || f.first || len(f.lines) == maxCounted
	})
	return f
}

// choose returns the index of the place that counts in a text of this size, if
// there is one.
func (f *foundHunk) choose(size int) (index int, ok bool) {
	last := len(f.places) - 1
	atEnd := f.toEnd && last >= 0 && f.places[last].end == size
	switch {
	case f.said >= 0:
		if !atEnd || f.said == last {
			return f.said, true
		}
		return 0, last == 0 || f.first
	case atEnd:
		return last, true
	}
	return 0, last == 0 || f.first
}

func (f *foundHunk) ambiguous(number int, h *patch.Hunk) error {
	shown := f.lines[:min(len(f.lines), maxListedLines)]
	more := len(f.lines) - len(shown)
	why := &Failure{
		Code:    CodeAmbiguousMatch,
		Message: fmt.Sprintf("%s: its old lines are in %d places, at lines %s", hunkName(number, h), len(f.lines), listed(shown)),
		Hint:    "give more of the lines around the change until it is one place",
	}
	if len(h.Anchors) > 0 {
		why.Hint += ", or an @@ line in front that is in one place, such as that of the type or the class"
	}
	if more > 0 {
		why.Message += fmt.Sprintf(" and %d more", more)
	}
	return why.with("count", len(f.lines)).with("lines", shown).with("more_lines", more)
}

// endsFile reports whether a hunk has lines before its change and none behind it, as
// those that git makes at the end of a file.
func endsFile(h *patch.Hunk) bool {
	n, m := len(h.Old), len(h.New)
	return n > 0 && m > 0 && h.Old[0] == h.New[0] && h.Old[n-1] != h.New[m-1]
}

// once reports whether a line stands in one place alone behind the hunk before.
func (p *hunkPlace) once(line string) bool {
	at, ok := p.text.lineLike(line, p.from)
	if ok {
		_, ok = p.text.lineLike(line, at.end)
		return !ok
	}
	return false
}

// behind is where the search for a hunk begins: behind the one before, and from the
// last of its anchors on.
func (p *hunkPlace) behind(number int, h *patch.Hunk) (int, error) {
	from := p.from
	for i, anchor := range h.Anchors {
		at, ok := p.text.lineLike(anchor, from)
		if !ok {
			f := &Failure{Code: CodeNoMatch, Message: fmt.Sprintf("%s: no line is `%s`", hunkName(number, h), clip(anchor))}
			if from > 0 {
				f.Message += " below the hunk before"
			}
			f.Hint = "an @@ line is a whole line of the file, as it stands there"
			return 0, f
		}
		from = at.start
		if i < len(h.Anchors)-1 || len(h.Old) == 0 {
			from = at.end
		}
	}
	return from, nil
}

// lineLike is the first line from a place on that is the same but for white space at
// its ends.
func (t *editable) lineLike(line string, from int) (span, bool) {
	want := []byte(strings.TrimSpace(line))
	for at := from; at < len(t.text); {
		i := bytes.Index(t.text[at:], want)
		if i < 0 {
			return span{}, false
		}
		start := bytes.LastIndexByte(t.text[:at+i], '\n') + 1
		end := len(t.text)
		if n := bytes.IndexByte(t.text[at+i:], '\n'); n >= 0 {
			end = at + i + n + 1
		}
		if start >= from && bytes.Equal(bytes.TrimSpace(t.text[start:end]), want) {
			return span{start, end}, true
		}
		at = end
	}
	return span{}, false
}

// insertion is where a hunk without old lines puts its new ones: behind its anchor,
// or at the end of the file.
func (p *hunkPlace) insertion(number int, h *patch.Hunk, from int) (span, error) {
	switch {
	case len(h.Anchors) > 0 && p.once(h.Anchors[0]):
		return span{from, from}, nil
	case len(h.Anchors) > 0:
		f := &Failure{Code: CodeAmbiguousMatch, Message: fmt.Sprintf("%s: `%s` is in several places", hunkName(number, h), clip(h.Anchors[0]))}
		f.Hint = "put an @@ line in front that is in one place, such as that of the type or the class"
		return span{}, f
	}
	end := len(p.text.text)
	if h.Numbered && end > 0 {
		f := failf(diffpreview.CodeInvalidArguments, "%s: it has no line of the file, only a number, to tell where its lines go", hunkName(number, h))
		f.Hint = "give some lines around the change, as git diff does"
		return span{}, f
	}
	return span{end, end}, nil
}

// linesAt returns the places, from one on, where the old lines of a hunk stand as
// whole lines: as they are, else with CR LF for LF. Only the file's last line can
// match without its end. enough is asked after each whether it is the last one needed.
func (t *editable) linesAt(h *patch.Hunk, from int, enough func(at span) bool) (list []span) {
	old := []byte(joined(h.Old, true))
	whole := append(bytes.Clone(old), '\n')
	fits := func(at span) bool {
		switch {
		case at.start < from || at.start > 0 && t.text[at.start-1] != '\n':
			return false
		case h.OldOpen:
			return t.endsOpen(at.end)
		case h.AtEnd || h.NewOpen:
			return at.end == len(t.text)
		}
		return true
	}
	for _, search := range []func(text, old []byte) places{exactly, acrossLineEnds} {
		more := true
		take := func(at span) bool {
			if fits(at) {
				list = append(list, at)
				more = !enough(at)
			}
			return more
		}
		if !h.OldOpen {
			search(t.text[from:], whole)(true, func(at span) bool { return take(span{from + at.start, from + at.end}) })
		}
		if tail := t.tailLike(old, search); more && tail.end > tail.start {
			take(tail)
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// tailLike is the end of a text whose last line has no end, if it is old.
func (t *editable) tailLike(old []byte, search func(text, old []byte) places) (tail span) {
	if !t.endsOpen(len(t.text)) || len(old) == 0 {
		return span{}
	}
	begin := max(0, len(t.text)-2*len(old)-1) // each of its line ends may be CR LF
	search(t.text[begin:], old)(true, func(at span) bool {
		if at.end == len(t.text)-begin {
			tail = span{begin + at.start, begin + at.end}
		}
		return true
	})
	return tail
}

func (p *hunkPlace) notFound(number int, h *patch.Hunk, from int) error {
	t, name := p.text, hunkName(number, h)
	has := func(h *patch.Hunk, from int) bool {
		return len(t.linesAt(h, from, func(span) bool { return true })) > 0
	}
	f := t.noMatch(name+": its old lines were not found", "the hunk", joined(h.Old, true))
	if len(t.text) == 0 {
		f.Hint = "the file is empty"
	}
	switch {
	case len(h.Old) > 0 && !h.OldOpen && bytes.Contains(t.text[from:], []byte(joined(h.Old, true))):
		f.Hint = "its old lines are in the file as parts of lines: a hunk's lines are whole ones"
	case from > 0 && has(h, 0):
		f.Hint = "they are in the file, but above the hunk before or the @@ line: put the hunks in the file's order"
	case h.OldOpen && has(&patch.Hunk{Old: h.Old}, from):
		f.Hint = `the patch says that the last line has no end ("\ No newline at end of file"), but it has one: leave that line out`
	case (h.AtEnd || h.NewOpen) && has(&patch.Hunk{Old: h.Old}, from):
		f.Hint = "the patch says that they are the file's last lines, but they are not"
	case len(h.New) > 0 && has(&patch.Hunk{Old: h.New, OldOpen: h.NewOpen}, 0):
		f.Hint = "its new lines are there already: leave the hunk out"
	}
	return f
}
