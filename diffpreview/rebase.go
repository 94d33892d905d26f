package diffpreview

import (
	"bytes"
	"slices"
)

// treeName is who decided a hunk whose text was found in the tree already.
const treeName = "tree"

// rebase returns p standing on the tree's content now, and the hunks that this
// settled or brought into conflict. Hunks away from the change move along; one
// whose text is there already is accepted, by the tree; one whose lines were
// changed otherwise becomes a conflict, and is open again when its old lines,
// or the whole old text, come back. p itself is returned when the bytes are the same.
func (p *Proposal) rebase(now Content) (*Proposal, []Hunk) {
	if now.Exists == p.Base.Exists && bytes.Equal(now.Data, p.Base.Data) {
		if now.Document == p.Base.Document && now.Mode == p.Base.Mode {
			return p, nil
		}
		q := *p // the same text in another place: nothing a reviewer would see
		q.Base = now
		return &q, nil
	}
	q := p.next()
	if o := p.origin; o != nil && sameContent(o.Base, now) {
		q.Base, q.Hunks, q.form = now, slices.Clone(o.Hunks), o.form
		return q, nil
	}
	q.Base = now
	var told []Hunk
	if q.rebasesWhole(p.Base) {
		told = q.rebaseWhole(p)
	} else {
		told = q.rebaseLines(p)
	}
	if q.origin = p.origin; q.origin == nil {
		q.origin = p
	}
	return q, told
}

// rebasesWhole reports whether the lines of before and of the base cannot be
// matched: the file came, went, or is another kind of text.
func (p *Proposal) rebasesWhole(before Content) bool {
	if !p.Base.Exists || !before.Exists || formBetween(before, p.Base) != p.form {
		return true
	}
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return !h.decided() && h.wholeFile() })
}

// rebaseWhole decides about the file as one piece.
func (p *Proposal) rebaseWhole(before *Proposal) (told []Hunk) {
	undecided := p.collect(before)
	if undecided == nil {
		return nil
	}
	h := *undecided
	h.Since = p.Version
	lines := len(p.form.split(p.Base.Data))
	agent := Content{Exists: h.Kind != KindDelete, Data: h.New}
	original := Content{Exists: h.Kind != KindCreate, Data: h.Old}
	switch {
	case sameContent(p.Base, original):
		parts := slices.Clone(h.Parts)
		p.Hunks = append(p.Hunks, parts...)
		p.form = formBetween(original, agent)
		p.sort()
		return nil
	case sameContent(p.Base, agent):
		h.State, h.Start, h.Count, h.Whole = HunkAccepted, 0, lines, false
		h.Decision = &Decision{By: treeName}
	default:
		h.State, h.Start, h.Count, h.Whole = HunkConflict, 0, lines, true
	}
	if h.State == HunkConflict && undecided.State == HunkConflict {
		h.Since = undecided.Since
	} else {
		told = []Hunk{h}
	}
	p.Hunks = append(p.Hunks, h)
	p.sort()
	return told
}

func sameContent(a, b Content) bool {
	return a.Exists == b.Exists && bytes.Equal(a.Data, b.Data)
}

// collect takes the undecided hunks out of p and returns them as one hunk of
// the whole file as it was, nil when there are none.
func (p *Proposal) collect(before *Proposal) *Hunk {
	var undecided []Hunk
	var kept []Hunk
	for _, h := range p.Hunks {
		if h.decided() {
			h.Lost, h.Start, h.Count = true, 0, 0
			kept = append(kept, h)
			continue
		}
		undecided = append(undecided, h)
	}
	p.Hunks = kept
	if len(undecided) == 0 {
		return nil
	}
	if h := undecided[0]; len(undecided) == 1 && h.Whole {
		return &h
	}
	h := undecided[0]
	h.State = HunkOpen
	h.Parts = nil
	lines := before.form.split(before.Base.Data)
	region := before.form.gather(lines, 0, len(lines), undecided)
	h.Old, h.New, h.Parts = region.old, region.new, region.parts
	return &h
}

// region is a piece of a base with the hunks in it, in both versions.
type region struct {
	old, new []byte
	parts    []Hunk // placed in old
}

// gather composes the lines [from, to) of a base with the undecided hunks in
// it: an open hunk's place holds its old text, a conflict's place the text it
// was made of.
func (f lineForm) gather(lines [][]byte, from, to int, hunks []Hunk) region {
	var r region
	at, place := from, 0 // next line of the base; its number in old
	copyTo := func(line int) {
		text := joinLines(lines[at:line])
		r.old, r.new = append(r.old, text...), append(r.new, text...)
		place += line - at
		at = line
	}
	for _, h := range hunks {
		copyTo(h.Start)
		parts, count := h.Parts, 0
		if h.State == HunkOpen {
			one := h
			one.Start = 0
			parts, count = []Hunk{one}, h.Count
		} else {
			count = len(f.split(h.Old))
		}
		for _, part := range parts {
			part.Start += place
			r.parts = append(r.parts, part)
		}
		r.old, r.new = append(r.old, h.Old...), append(r.new, h.New...)
		place += count
		at = h.Start + h.Count
	}
	copyTo(to)
	return r
}

// rebaseLines moves the hunks along the change from before's base to p's.
func (p *Proposal) rebaseLines(before *Proposal) (told []Hunk) {
	old, now, spans := p.form.diff(before.Base.Data, p.Base.Data)
	hunks := p.Hunks
	p.Hunks = nil
	for i := 0; i < len(hunks); {
		h := hunks[i]
		if h.decided() {
			p.Hunks = append(p.Hunks, moved(h, spans))
			i++
			continue
		}
		from, to, taken := grow(hunks, i, spans)
		at := h.Start + shift(h.Start, spans, true)
		if h.State == HunkOpen && taken == 1 && !disturbed(from, to, spans) && p.form.fits(h.New, now, at, at+h.Count) {
			h.Start = at
			p.Hunks = append(p.Hunks, h)
			i++
			continue
		}
		var group []Hunk
		for ; taken > 0; i++ {
			if hunks[i].decided() {
				p.Hunks = append(p.Hunks, moved(hunks[i], spans))
				continue
			}
			group = append(group, hunks[i])
			taken--
		}
		r := p.form.gather(old, from, to, group)
		start, end := r.locate(now, from, to, spans)
		told = append(told, p.settle(group, r, now, start, end)...)
	}
	p.sort()
	return told
}

// grow widens the place of hunks[i] by the changes that touch it and by the
// undecided hunks that then overlap it; taken counts those hunks, itself
// included.
func grow(hunks []Hunk, i int, spans []Span) (from, to, taken int) {
	from, to, taken = hunks[i].Start, hunks[i].Start+hunks[i].Count, 1
	last := i
	for again := true; again; {
		again = false
		for _, s := range spans {
			c, d := s.OldStart, s.OldStart+s.OldLines
			if disturbedBy(from, to, s) && (c < from || d > to) {
				from, to, again = min(from, c), max(to, d), true
			}
		}
		for j := last + 1; j < len(hunks); j++ {
			h := &hunks[j]
			if h.decided() {
				continue
			}
			if h.Start > to || !joined(from, to, h.Start, h.Start+h.Count, spans) {
				break
			}
			to, last, again = max(to, h.Start+h.Count), j, true
			taken++
		}
	}
	return from, to, taken
}

// joined reports whether a range and a hunk's place overlap or one change
// touches both.
func joined(from, to, start, end int, spans []Span) bool {
	return touches(from, to, start, end) || slices.ContainsFunc(spans, func(s Span) bool {
		return disturbedBy(from, to, s) && disturbedBy(start, end, s)
	})
}

func disturbed(from, to int, spans []Span) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return disturbedBy(from, to, s) })
}

// shift is by how many lines the old line at moves. An insertion at the very
// line moves it only when after is set.
func shift(at int, spans []Span, after bool) int {
	by := 0
	for _, s := range spans {
		end := s.OldStart + s.OldLines
		if end > at || s.OldLines == 0 && end == at && !after {
			break
		}
		by += s.NewLines - s.OldLines
	}
	return by
}

// locate finds the lines of now that stand where [from, to) of the old text
// stood. Lines that were put in at its borders count when with them the old or
// the agent's text is whole again.
func (r *region) locate(now [][]byte, from, to int, spans []Span) (start, end int) {
	start = from + shift(from, spans, from < to)
	end = to + shift(to, spans, from == to)
	before, after := from+shift(from, spans, false), to+shift(to, spans, true)
	for _, text := range [][]byte{r.old, r.new} {
		for _, at := range [][2]int{{start, end}, {before, end}, {start, after}, {before, after}} {
			if bytes.Equal(joinLines(now[at[0]:at[1]]), text) {
				return at[0], at[1]
			}
		}
	}
	return start, end
}

// settle says what became of a group of hunks whose lines were changed: now
// the tree holds lines [start, end) there.
func (p *Proposal) settle(group []Hunk, r region, now [][]byte, start, end int) (told []Hunk) {
	tree := joinLines(now[start:end])
	h := group[0]
	h.Old, h.New, h.Parts = r.old, r.new, r.parts
	h.Start, h.Count = start, end-start
	switch {
	case bytes.Equal(tree, r.old) && p.fitParts(r.parts, now, start):
		for _, part := range r.parts {
			part.Start += start
			p.Hunks = append(p.Hunks, part)
		}
		return nil
	case bytes.Equal(tree, r.new):
		h.State, h.Parts, h.Since = HunkAccepted, nil, p.Version
		h.Decision = &Decision{By: treeName}
		told = []Hunk{h}
	default:
		if !(len(group) == 1 && group[0].State == HunkConflict) {
			h.State, h.Since = HunkConflict, p.Version
			told = []Hunk{h}
		} else if !bytes.Equal(h.Old, group[0].Old) || !bytes.Equal(h.New, group[0].New) {
			h.Since = p.Version
		}
	}
	p.Hunks = append(p.Hunks, h)
	return told
}

// fits reports whether text can stand in the place of lines [start, end): a
// line without its end is the last one.
func (f lineForm) fits(text []byte, lines [][]byte, start, end int) bool {
	if f == formBinary || len(text) == 0 {
		return true
	}
	return (start == 0 || f.ended(lines[start-1])) && (end == len(lines) || f.ended(text))
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

func (p *Proposal) fitParts(parts []Hunk, now [][]byte, start int) bool {
	return !slices.ContainsFunc(parts, func(h Hunk) bool {
		return !p.form.fits(h.New, now, start+h.Start, start+h.Start+h.Count)
	})
}

// moved is a decided hunk after a change of the base. Where its own lines were
// changed it cannot be undone any more.
func moved(h Hunk, spans []Span) Hunk {
	start, count, hit := MapRange(h.Start, h.Count, spans)
	h.Start, h.Count, h.Lost = start, count, h.Lost || hit
	return h
}
