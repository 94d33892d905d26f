package diffpreview

import (
	"bytes"
	"slices"
)

// fits reports whether text can stand in the place of lines [start, end): a
// line without its end is the last one.
func (f lineForm) fits(text []byte, lines *lineCursor, start, end int) bool {
	if f == formBinary || len(text) == 0 {
		return true
	}
	size := len(lines.data)
	return (start == 0 || f.ended(lines.data) || lines.offset(start) < size) && (f.ended(text) || lines.offset(end) == size)
}

// composes reports whether all of the edits, in order, can be made in a text: only
// its last line may lack its end.
func (f lineForm) composes(edits []edit, data []byte) bool {
	lines, last := f.lines(data), false
	for _, e := range edits {
		if last && len(e.text) > 0 || !f.fits(e.text, lines, e.start, e.start+e.count) {
			return false
		}
		last = last || f != formBinary && len(e.text) > 0 && !f.ended(e.text)
	}
	return true
}

// unended reports whether a line is the end of a text that does not end its last one.
func (f lineForm) unended(lines *lineCursor, line int) bool {
	return f != formBinary && line > 0 && lines.offset(line) == len(lines.data) && !f.ended(lines.data)
}

// parkUnfit makes conflicts of open hunks that would run into a last line without
// an end, which a decision has put before them. The line is part of the conflict.
func (p *Proposal) parkUnfit() {
	if p.form.composes(p.openEdits(), p.Base.Data) {
		return
	}
	lines, end := p.form.lines(p.Base.Data), 0
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.decided() || h.property() || h.wholeFile() {
			continue
		}
		from, to := h.Start, h.Start+h.Count
		if h.State == HunkOpen && !p.form.fits(h.New, lines, from, to) {
			if from > end && p.form.unended(lines, from) {
				from--
			}
			r := p.form.gather(lines, from, to, []Hunk{*h})
			h.State, h.Since, h.Old, h.New, h.Parts = HunkConflict, p.Version, r.old, r.new, r.parts
			h.Start, h.Count = from, to-from
		}
		end = to
	}
}

// ended reports whether a line, or the last line of a text, has its end.
func (f lineForm) ended(text []byte) bool {
	switch f {
	case formUTF16LE:
		return bytes.HasSuffix(text, []byte{'\n', 0})
	case formUTF16BE:
		return bytes.HasSuffix(text, []byte{0, '\n'})
	}
	return bytes.HasSuffix(text, []byte{'\n'})
}

// follow appends text to lines of which the last may lack its end, because it
// was a file's last one: it gets the end that the lines of like have, so that
// it does not run into the next one.
func (f lineForm) follow(lines, text []byte, like *lineCursor) []byte {
	if f != formBinary && len(lines) > 0 && len(text) > 0 && !f.ended(lines) {
		lines = append(lines, f.lineEnd(like.data)...)
	}
	return append(lines, text...)
}

// lineEnd is how the first line of a text ends, if it has an end.
func (f lineForm) lineEnd(text []byte) []byte {
	lf, crlf := "\n", "\r\n"
	switch f {
	case formUTF16LE:
		lf, crlf = "\n\x00", "\r\x00\n\x00"
	case formUTF16BE:
		lf, crlf = "\x00\n", "\x00\r\x00\n"
	}
	if bytes.HasSuffix(f.lines(text).text(0, 1), []byte(crlf)) {
		return []byte(crlf)
	}
	return []byte(lf)
}

func (p *Proposal) fitParts(parts []Hunk, now *lineCursor, start int) bool {
	return !slices.ContainsFunc(parts, func(h Hunk) bool {
		return !p.form.fits(h.New, now, start+h.Start, start+h.Start+h.Count)
	})
}
