package diffpreview

import (
	"bytes"
	"slices"
)

// misfit returns the first of these edits, in order, that would make a line without
// its end run into another one; -1 when all can be made. Only a text's last line may
// lack its end: of two edits that meet, the first is at fault where lines of the text
// follow it, the second where that was its end.
func (f lineForm) misfit(edits []edit, data []byte) int {
	ended := func(text []byte) bool { return len(text) == 0 || f.ended(text) }
	if f == formBinary || ended(data) && !slices.ContainsFunc(edits, func(e edit) bool { return !ended(e.text) }) {
		return -1 // no line lacks its end, wherever it stands: the text need not be gone through
	}
	lines, kept := f.lines(data), 0 // what is made so far goes to line kept of data
	unended, by := false, -1        // and lacks its end, which edit by left out; -1: so did data
	for i, e := range edits {
		if from, to := lines.offset(kept), lines.offset(e.start); from < to {
			if unended {
				return by
			}
			unended, by = to == len(data) && !f.ended(data), -1
		}
		if len(e.text) > 0 {
			if unended && by >= 0 && lines.offset(edits[by].start+edits[by].count) < len(data) {
				return by
			}
			if unended {
				return i
			}
			unended, by = !f.ended(e.text), i
		}
		kept = e.start + e.count
	}
	if unended && lines.offset(kept) < len(data) {
		return by
	}
	return -1
}

// unended reports whether a line is the end of a text that does not end its last one.
func (f lineForm) unended(lines *lineCursor, line int) bool {
	return f != formBinary && line > 0 && lines.offset(line) == len(lines.data) && !f.ended(lines.data)
}

// parkUnfit makes conflicts of open hunks that would run into a line without its end,
// or whose last line would. A last line of the base is part of such a conflict.
func (p *Proposal) parkUnfit() {
	for {
		edits := p.openEdits()
		at := p.form.misfit(edits, p.Base.Data)
		if at < 0 {
			return
		}
		p.park(at)
		p.sort()
	}
}

// unparked is p with the conflicts that only lines without an end made as the hunks
// that they are of. One of which nobody knows whether it came before or behind what
// was decided at the same place stays.
func (p *Proposal) unparked() *Proposal {
	parked := func(h *Hunk) bool {
		if h.State != HunkConflict || h.Whole || len(h.Parts) == 0 || !bytes.Equal(h.stands(p.form.lines(p.Base.Data)), h.Old) {
			return false
		}
		return !slices.ContainsFunc(p.Hunks, func(o Hunk) bool {
			return o.decided() && o.Count == 0 && slices.ContainsFunc(h.Parts, func(part Hunk) bool { return part.Count == 0 && h.Start+part.Start == o.Start })
		})
	}
	if !slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return parked(&h) }) {
		return p
	}
	q := *p
	q.Hunks = nil
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if !parked(h) {
			q.Hunks = append(q.Hunks, *h)
			continue
		}
		for _, part := range h.Parts {
			part.Start += h.Start
			q.Hunks = append(q.Hunks, part)
		}
	}
	q.sort()
	return &q
}

// park makes a conflict of the open text hunk of this number.
func (p *Proposal) park(number int) {
	lines, end := p.form.lines(p.Base.Data), 0
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.decided() || h.property() || h.wholeFile() {
			continue
		}
		if h.State == HunkOpen {
			number--
		}
		from, to := h.Start, h.Start+h.Count
		if number >= 0 {
			end = to
			continue
		}
		if from > end && p.form.unended(lines, from) {
			from--
		}
		r := p.form.gather(lines, from, to, []Hunk{*h})
		h.State, h.Since, h.Old, h.New, h.Parts = HunkConflict, p.Version, r.old, r.new, r.parts
		h.Start, h.Count = from, to-from
		return
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
