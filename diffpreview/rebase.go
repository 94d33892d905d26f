package diffpreview

import (
	"bytes"
	"slices"
)

// treeName is who decided a hunk whose text was found in the tree already.
const treeName = "tree"

// rebase returns p standing on the tree's content now, and the hunks that this
// settled. Hunks away from the change move along; one whose text is there
// already is accepted, by the tree; one whose lines were changed otherwise
// becomes a conflict. p itself is returned when the bytes are the same.
//
// The result follows from the tree alone and from what agent and reviewer did
// last, not from what the tree was in between: a file caught half written, or a
// branch that was visited, leaves nothing behind. While the tree is still
// moving (settled is false) nothing is taken as accepted: that would be final.
func (p *Proposal) rebase(now Content, settled bool) (*Proposal, []Hunk) {
	if sameContent(now, p.Base) && (!settled || !p.restless) && !p.modeMoved(now) {
		if now.Document == p.Base.Document && now.Mode == p.Base.Mode {
			return p, nil
		}
		q := *p // the same text in another place: nothing a reviewer would see
		q.Base = now
		return &q, nil
	}
	o := p.origin
	if o == nil {
		o = p
	}
	q := p.after()
	// These are o's own: each of the cases makes a list anew.
	q.Base, q.Hunks, q.form, q.origin = now, o.Hunks, o.form, o
	q.restless = !settled
	switch {
	case sameContent(o.Base, now):
		q.Hunks = slices.Clone(o.Hunks)
	case q.rebasesWhole(o.Base):
		q.rebaseWhole(o)
	default:
		q.rebaseLines(o)
	}
	q.rebaseMode()
	q.restless = q.restless && slices.ContainsFunc(q.Hunks, func(h Hunk) bool { return h.State == HunkConflict })
	told := q.compareWith(p)
	if q.shows(p) { // looked at again, when the file has come to rest or after a restart
		q.Version = p.Version
	}
	return q, told
}

// shows reports whether a reviewer sees no difference between p and what it was,
// with which it has been compared.
func (p *Proposal) shows(before *Proposal) bool {
	return sameContent(p.Base, before.Base) && slices.EqualFunc(p.Hunks, before.Hunks, func(a, b Hunk) bool {
		return a.ID == b.ID && a.Since == b.Since && a.Start == b.Start && a.Count == b.Count && a.Lost == b.Lost
	})
}

// compareWith gives the hunks that are as they were before their Since back,
// and returns those that the tree has settled since.
func (p *Proposal) compareWith(before *Proposal) (told []Hunk) {
	was := make(map[string]*Hunk, len(before.Hunks))
	for i := range before.Hunks {
		was[before.Hunks[i].ID] = &before.Hunks[i]
	}
	wasLines, lines := before.form.lines(before.Base.Data), p.form.lines(p.Base.Data)
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if w := was[h.ID]; w != nil && w.State == h.State && w.Whole == h.Whole && w.OldMode == h.OldMode && bytes.Equal(w.Old, h.Old) && bytes.Equal(w.New, h.New) &&
			(h.State != HunkConflict || bytes.Equal(w.stands(wasLines), h.stands(lines))) {
			h.Since = w.Since
			if w.decided() && w.Decision.By == treeName {
				h.Decision = w.Decision // when it was found to be there
			}
			continue
		}
		h.Since = p.Version
		if h.State == HunkAccepted && h.Decision.By == treeName {
			told = append(told, *h)
		}
	}
	return told
}

// stands is the text of a base's lines where h stands.
func (h *Hunk) stands(lines *lineCursor) []byte { return lines.text(h.Start, h.Start+h.Count) }

// there reports whether text is what the tree has, and may be taken as final.
func (p *Proposal) there(same bool) bool { return same && !p.restless }

// rebasesWhole reports whether the lines of before and of the base cannot be
// matched: the file came, went, or is another kind of text.
func (p *Proposal) rebasesWhole(before Content) bool {
	if !p.Base.Exists || !before.Exists || p.Base.IsLink() != before.IsLink() || formBetween(before, p.Base) != p.form {
		return true
	}
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return !h.decided() && h.wholeFile() })
}

// rebaseWhole decides about the file as one piece.
func (p *Proposal) rebaseWhole(before *Proposal) {
	undecided := p.collect(before)
	if undecided == nil {
		return
	}
	h := *undecided
	h.Start, h.Count = 0, p.form.count(p.Base.Data)
	agent, original := h.agent(), h.original()
	switch {
	case sameContent(p.Base, original):
		p.Hunks = append(p.Hunks, h.Parts...)
		p.form = formBetween(original, agent)
	case p.there(sameContent(p.Base, agent)):
		h.State, h.Whole, h.Parts = HunkAccepted, false, nil
		h.Decision = &Decision{By: treeName}
		p.Hunks = append(p.Hunks, h)
	default:
		h.State, h.Whole = HunkConflict, true
		p.Hunks = append(p.Hunks, h)
	}
	p.sort()
}

// collect takes the undecided hunks out of p and returns them as one hunk of
// the whole file as it was, nil when there are none.
func (p *Proposal) collect(before *Proposal) *Hunk {
	var undecided []Hunk
	var kept []Hunk
	for _, h := range p.Hunks {
		if h.property() {
			kept = append(kept, h)
			continue
		}
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
	base := before.Base.Data
	region := before.form.gather(before.form.lines(base), 0, before.form.count(base), undecided)
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
func (f lineForm) gather(lines *lineCursor, from, to int, hunks []Hunk) region {
	var r region
	at, place := from, 0 // next line of the base; its number in old
	add := func(old, new []byte) {
		r.old, r.new = f.follow(r.old, old, lines), f.follow(r.new, new, lines)
	}
	copyTo := func(line int) {
		text := lines.text(at, line)
		add(text, text)
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
			count = f.count(h.Old)
		}
		for _, part := range parts {
			part.Start += place
			r.parts = append(r.parts, part)
		}
		add(h.Old, h.New)
		place += count
		at = h.Start + h.Count
	}
	copyTo(to)
	return r
}

// rebaseLines moves the hunks along the change from before's base to p's.
func (p *Proposal) rebaseLines(before *Proposal) {
	m := newMoves(p.form.compare(before.Base.Data, p.Base.Data).spans)
	old, now := p.form.lines(before.Base.Data), p.form.lines(p.Base.Data)
	hunks := p.Hunks
	p.Hunks = make([]Hunk, 0, len(hunks))
	free := 0 // no undecided hunk has lines of p's base from here on yet
	for i := 0; i < len(hunks); {
		h := hunks[i]
		if h.property() {
			p.Hunks = append(p.Hunks, h)
			i++
			continue
		}
		if h.decided() {
			p.Hunks = append(p.Hunks, m.decided(h, old, now))
			i++
			continue
		}
		if h.State == HunkOpen && !m.disturbed(h.Start, h.Start+h.Count) {
			h.Start += m.shift(h.Start, true)
			free = h.Start + h.Count
			p.Hunks = append(p.Hunks, h)
			i++
			continue
		}
		from, to, taken := m.grow(hunks, i)
		var group []Hunk
		for ; taken > 0; i++ {
			if hunks[i].decided() {
				p.Hunks = append(p.Hunks, m.decided(hunks[i], old, now))
				continue
			}
			group = append(group, hunks[i])
			taken--
		}
		r := p.form.gather(old, from, to, group)
		start, end := r.locate(now, from, to, m, free)
		p.settle(group[0], r, now, start, end)
		free = end
	}
	p.sort()
	p.parkUnfit()
}

// decided is moved for a hunk that took lines out. Nothing of it stands in the
// tree that could be found changed: it cannot be undone any more when one of its
// lines is back there.
func (m moves) decided(h Hunk, old, now *lineCursor) Hunk {
	out := m.moved(h)
	if h.State != HunkAccepted || h.Count > 0 || out.Lost {
		return out
	}
	// A diff can match lines that are back with lines elsewhere.
	out.Lost = m.bringsBack(&h, now) || h.beside(now, out.Start) && !h.beside(old, h.Start)
	return out
}

// beside reports whether the lines that h took out stand right before or behind
// a place.
func (h *Hunk) beside(lines *lineCursor, at int) bool {
	n := countLines(h.Old, lines.enc)
	return n > 0 && (bytes.Equal(lines.text(max(at-n, 0), at), h.Old) || bytes.Equal(lines.text(at, at+n), h.Old))
}

// bringsBack reports whether one of the lines that h took out is in the tree
// again, beside where they were.
func (m moves) bringsBack(h *Hunk, now *lineCursor) bool {
	var back map[string]bool
	for _, s := range m.near(h.Start, h.Start+h.Count) {
		for _, line := range SplitLines(now.text(s.NewStart, s.NewStart+s.NewLines), now.enc) {
			if back == nil {
				back = map[string]bool{}
			}
			back[string(line)] = true
		}
	}
	return back != nil && slices.ContainsFunc(SplitLines(h.Old, now.enc), func(line []byte) bool { return back[string(line)] })
}

// locate finds the lines of now that stand where [from, to) of the old text
// stood. Lines that were put in at its borders count when with them the old or
// the agent's text is whole again. Those before the line free have been counted for
// another region.
func (r *region) locate(now *lineCursor, from, to int, m moves, free int) (start, end int) {
	start = max(free, from+m.shift(from, from < to))
	end = max(start, to+m.shift(to, from == to))
	before, after := max(free, from+m.shift(from, false)), max(start, to+m.shift(to, true))
	for _, text := range [][]byte{r.old, r.new} {
		for _, at := range [][2]int{{start, end}, {before, end}, {start, after}, {before, after}} {
			if bytes.Equal(now.text(at[0], at[1]), text) {
				return at[0], at[1]
			}
		}
	}
	return start, end
}

// settle says what became of hunks whose lines were changed, h the first of
// them: now the tree holds lines [start, end) there.
func (p *Proposal) settle(h Hunk, r region, now *lineCursor, start, end int) {
	tree := now.text(start, end)
	h.Old, h.New, h.Parts = r.old, r.new, r.parts
	h.Start, h.Count = start, end-start
	switch {
	case bytes.Equal(tree, r.old):
		for _, part := range r.parts {
			part.Start += start
			p.Hunks = append(p.Hunks, part)
		}
		return
	case p.there(bytes.Equal(tree, r.new)):
		h.State, h.Parts = HunkAccepted, nil
		h.Decision = &Decision{By: treeName}
	default:
		h.State = HunkConflict
	}
	p.Hunks = append(p.Hunks, h)
}
