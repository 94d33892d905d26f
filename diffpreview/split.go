package diffpreview

import (
	"bytes"
	"slices"
)

// Lines are lines of one hunk, counted from 1 in the hunk itself, so that they
// mean the same wherever the hunk has moved to: Old of those it takes away, New
// of those it puts in.
type Lines struct {
	Old, New []int
}

// maxPieces bounds into how many hunks one is split. Nobody decides more one by
// one.
const maxPieces = 500

// piece is a part of a hunk: that many of its old lines become those new ones.
type piece struct {
	old, new [][]byte
	chosen   bool
}

// choose cuts a hunk into pieces, in order, so that each has only chosen lines or
// only others. The n-th old line and the n-th new one belong together, as long as
// both are chosen or both are not.
func choose(old, new [][]byte, chosenOld, chosenNew []bool) []piece {
	var out []piece
	add := func(old, new [][]byte, chosen bool) {
		if n := len(out); n > 0 && out[n-1].chosen == chosen {
			out[n-1].old = append(slices.Clip(out[n-1].old), old...)
			out[n-1].new = append(slices.Clip(out[n-1].new), new...)
			return
		}
		out = append(out, piece{old, new, chosen})
	}
	for i := range max(len(old), len(new)) {
		switch {
		case i >= len(new):
			add(old[i:i+1], nil, chosenOld[i])
		case i >= len(old):
			add(nil, new[i:i+1], chosenNew[i])
		case chosenOld[i] == chosenNew[i]:
			add(old[i:i+1], new[i:i+1], chosenOld[i])
		default:
			add(old[i:i+1], nil, chosenOld[i])
			add(nil, new[i:i+1], chosenNew[i])
		}
	}
	return out
}

// paragraphs cuts a hunk behind blank lines of its new text, or of its old text
// when it has no new one; without any into single lines.
func paragraphs(old, new [][]byte) []piece {
	text := new
	if len(new) == 0 {
		text = old
	}
	blank := func(i int) bool { return i < len(text) && len(bytes.TrimSpace(text[i])) == 0 }
	lines := max(len(old), len(new))
	single := true
	for i := range max(0, len(text)-1) {
		single = single && !blank(i)
	}
	var out []piece
	from := 0
	for i := range lines {
		if i < lines-1 && !single && !(blank(i) && !blank(i+1)) {
			continue
		}
		cut := func(all [][]byte) [][]byte { return all[min(from, len(all)):min(i+1, len(all))] }
		out = append(out, piece{old: cut(old), new: cut(new)})
		from = i + 1
	}
	return out
}

// mask marks the chosen lines of n.
func (p *Proposal) mask(h *Hunk, what string, n int, lines []int) ([]bool, error) {
	out := make([]bool, n)
	for _, line := range lines {
		if line < 1 || line > n {
			return nil, p.refuse(CodeInvalidArguments, "hunk %s has %d %s lines, not line %d", h.ID, n, what, line)
		}
		out[line-1] = true
	}
	return out, nil
}

// marked reports whether h has a file's byte order mark.
func (h *Hunk) marked() bool {
	_, old := BOMOf(h.Old)
	_, new := BOMOf(h.New)
	return h.Start == 0 && old+new > 0
}

// chosen cuts h into pieces of chosen and of other lines.
func (p *Proposal) chosen(h *Hunk, lines *Lines) ([]piece, error) {
	if h.property() || h.Whole || h.Kind == KindBinary || h.Kind == KindLink {
		return nil, p.refuse(CodeInvalidArguments, "hunk %s has no lines to choose from", h.ID)
	}
	old, new := p.form.split(h.Old), p.form.split(h.New)
	chosenOld, err := p.mask(h, "old", len(old), lines.Old)
	if err != nil {
		return nil, err
	}
	chosenNew, err := p.mask(h, "new", len(new), lines.New)
	if err != nil {
		return nil, err
	}
	if len(lines.Old)+len(lines.New) == 0 {
		return nil, p.refuse(CodeInvalidArguments, "hunk %s: no line is chosen", h.ID)
	}
	if h.marked() && (len(old) == 0 || len(new) == 0 || chosenOld[0] != chosenNew[0]) {
		return nil, p.refuse(CodeInvalidArguments, "hunk %s begins with the file's byte order mark, which stays in front: take its first old and its first new line together, or the whole hunk", h.ID)
	}
	return choose(old, new, chosenOld, chosenNew), nil
}

// split returns p with a text hunk in pieces. keep is the piece that goes on
// under the hunk's id; the others get new ones.
func (p *Proposal) split(at int, pieces []piece, keep int) (q *Proposal, ids []string) {
	q = p.next()
	h := p.Hunks[at]
	start := h.Start
	var parts []Hunk
	for i, piece := range pieces {
		part := h
		part.Start, part.Count, part.Since = start, len(piece.old), q.Version
		part.Old, part.New = joinLines(piece.old), joinLines(piece.new)
		if part.Of == "" {
			part.Of = h.ID
		}
		if i != keep {
			q.hunks++
			part.ID = hunkID(q.hunks)
		}
		start += part.Count
		ids = append(ids, part.ID)
		parts = append(parts, part)
	}
	q.Hunks = slices.Replace(q.Hunks, at, at+1, parts...)
	return q, ids
}

// Split cuts a text hunk into several: chosen lines from the others, or without
// lines into paragraphs, or single lines where there are none. The hunk's id
// stays with the first piece. version is what the reviewer saw, 0 for the present
// one. It fails with unknown_proposal, unknown_hunk, already_decided,
// changed_since, or invalid_arguments for a hunk that cannot be cut.
func (s *Store) Split(id string, version int, hunk string, lines *Lines) (*Proposal, error) {
	p, unlock, err := s.lockProposal(id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.refresh(p.Path, false); err != nil {
		return nil, err
	}
	if p, err = s.find(id); err != nil {
		return nil, err
	}
	if err := p.check(version, []Verdict{{Hunk: hunk, Accept: true, Side: splitSide(p, hunk)}}); err != nil {
		return nil, err
	}
	at := p.index(hunk)
	h := &p.Hunks[at]
	if h.Kind != KindText || h.State != HunkOpen {
		return nil, p.refuse(CodeInvalidArguments, "hunk %s is one piece", hunk)
	}
	var pieces []piece
	if lines != nil {
		pieces, err = p.chosen(h, lines)
		if err != nil {
			return nil, err
		}
	} else if len(h.Old) > 0 && len(h.New) > 0 || !h.marked() {
		pieces = paragraphs(p.form.split(h.Old), p.form.split(h.New))
	}
	switch {
	case len(pieces) < 2:
		return nil, p.refuse(CodeInvalidArguments, "hunk %s is one piece", hunk)
	case len(pieces) > maxPieces:
		return nil, p.refuse(CodeTooLarge, "hunk %s would become %d hunks: choose lines instead", hunk, len(pieces))
	}
	q, _ := p.split(at, pieces, 0)
	return q, s.keep([]*Proposal{q}, nil)
}

// splitSide lets a conflict pass check, so that Split can say that it is one piece.
func splitSide(p *Proposal, hunk string) Side {
	if h, ok := p.Hunk(hunk); ok && h.State == HunkConflict {
		return SideAgent
	}
	return ""
}

// resplit gives hunks that were made anew the pieces that they had, where those
// still are all of it.
func resplit(fresh, previous []Hunk) []Hunk {
	if !slices.ContainsFunc(previous, func(h Hunk) bool { return h.Of != "" && !h.decided() }) {
		return fresh
	}
	var out []Hunk
	for _, f := range fresh {
		parts := tiles(f, previous)
		if parts == nil {
			out = append(out, f)
		}
		out = append(out, parts...)
	}
	return out
}

// tiles returns the open pieces of previous that together are f.
func tiles(f Hunk, previous []Hunk) []Hunk {
	if f.Kind != KindText {
		return nil
	}
	var parts []Hunk
	at, text := f.Start, f.New
	for _, h := range previous {
		if h.Kind != KindText || h.State != HunkOpen || h.Start < f.Start || h.Start+h.Count > f.Start+f.Count {
			continue
		}
		if h.Start != at || !bytes.HasPrefix(text, h.New) {
			return nil
		}
		at, text = at+h.Count, text[len(h.New):]
		parts = append(parts, h)
	}
	if len(parts) < 2 || at != f.Start+f.Count || len(text) > 0 {
		return nil
	}
	return parts
}
