package diffpreview

import (
	"bytes"
	"slices"
	"strings"
)

// ruleText accepts a proposal with another text of the whole file, which the
// reviewer made of the proposed one. A hunk that is in it as it was proposed is
// accepted, one whose lines are as the tree has them is rejected, and any other
// is modified. What else the reviewer changed is written too: it is their own.
func (s *Store) ruleText(p *Proposal, version int, verdicts []Verdict, text string, by Decision) (ruling, error) {
	switch {
	case version > 0 && version != p.Version:
		return ruling{}, p.refuse(CodeChangedSince, "the proposal is at version %d, and the text was made of version %d", p.Version, version)
	case slices.ContainsFunc(verdicts, func(v Verdict) bool { return !v.Accept }):
		return ruling{}, p.refuse(CodeInvalidArguments, "a reject has no text")
	case p.form == formBinary || p.Base.IsLink() || p.Proposed().IsLink():
		return ruling{}, p.refuse(CodeInvalidArguments, "the file is not text: it is taken or refused whole")
	case strings.ContainsRune(text, 0):
		return ruling{}, p.refuse(CodeInvalidArguments, "a text with a NUL character would make the file binary, which nobody could review")
	}
	like := p.Base.Data
	if !p.Base.Exists {
		like = p.Proposed().Data
	}
	data, err := Encode(strings.TrimPrefix(text, "\ufeff"), like)
	if err != nil {
		return ruling{}, p.refuse(CodeUnsupportedEncoding, "the text cannot be written in the file's encoding")
	}
	q := p.next()
	decided := q.takeText(data, by)
	q.Name = s.ws.Name(q.Path)
	return ruling{p, q, decided, EditAccept}, nil
}

// takeText makes data the base and says of every undecided hunk what that means.
func (p *Proposal) takeText(data []byte, by Decision) (decided []Hunk) {
	for i := range p.Hunks {
		if h := &p.Hunks[i]; h.State == HunkConflict {
			p.face(h)
		}
	}
	before := p.Base
	spans := p.form.compare(before.Data, data).spans
	old, new, m := p.form.lines(before.Data), p.form.lines(data), newMoves(spans)
	p.Base = Content{Exists: true, Data: data, Mode: p.Proposed().Mode, Document: before.Document}
	var mine []int
	for i := range p.Hunks {
		h := &p.Hunks[i]
		switch {
		case h.property() && !h.decided():
			h.Since, h.Decision = p.Version, &by
			p.takeProperty(h)
			mine = append(mine, i)
		case h.property():
		case h.decided():
			*h = m.moved(*h)
		default:
			h.Since = p.Version
			said := by
			h.Decision = &said
			h.settleText(old, new, m, before.Document)
			mine = append(mine, i)
		}
	}
	p.apart(mine)
	for _, i := range mine {
		decided = append(decided, p.Hunks[i])
	}
	p.sort()
	return decided
}

// settleText finds h in the reviewer's text.
func (h *Hunk) settleText(old, new *lineCursor, m moves, document bool) {
	h.Unsaved = document
	if h.Kind == KindCreate {
		h.State, h.Decision.Modified = HunkAccepted, !bytes.Equal(new.data, h.New)
		h.New, h.Count = new.data, countLines(new.data, new.enc)
		return
	}
	from, to := h.Start, h.Start+h.Count
	for _, s := range m.near(from, to) {
		if s.touches(h.Start, h.Start+h.Count) {
			from, to = min(from, s.OldStart), max(to, s.OldStart+s.OldLines)
		}
	}
	start, count, touched := m.mapRange(from, to-from)
	text := bytes.Clone(new.text(start, start+count))
	h.State = HunkAccepted
	switch {
	case !touched || h.Kind == KindDelete:
		h.State, h.Unsaved = HunkRejected, false
	case from == h.Start && to == h.Start+h.Count && bytes.Equal(text, h.New):
	default:
		h.Decision.Modified = true
		h.Old, h.New = bytes.Clone(old.text(from, to)), text
	}
	h.Start, h.Count = start, count
}

// apart marks hunks that the reviewer joined: none of them can be undone without
// the others.
func (p *Proposal) apart(mine []int) {
	for k, i := range mine {
		a := &p.Hunks[i]
		for _, j := range mine[k+1:] {
			b := &p.Hunks[j]
			if b.Start > a.Start+a.Count {
				break
			}
			if !a.property() && !b.property() && touches(a.Start, a.Start+a.Count, b.Start, b.Start+b.Count) {
				a.Lost, b.Lost = true, true
			}
		}
	}
}
