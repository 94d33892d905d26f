package diffpreview

import "slices"

// decideLines is decide where some verdicts are about lines of a hunk only. What
// is not chosen stays undecided; it keeps the hunk's id.
func (p *Proposal) decideLines(verdicts []Verdict, by Decision) (*Proposal, []Hunk, error) {
	if len(verdicts) == 1 {
		if h, _ := p.Hunk(verdicts[0].Hunk); h.Kind == KindCreate || h.Kind == KindDelete {
			return p.decidePart(&h, verdicts[0], by)
		}
	}
	q := p
	var whole []Verdict
	for _, v := range verdicts {
		if v.Lines == nil {
			whole = append(whole, v)
			continue
		}
		at := q.index(v.Hunk)
		h := &q.Hunks[at]
		if h.Kind != KindText {
			return nil, nil, p.refuse(CodeInvalidArguments, "hunk %s: lines of a %s are decided by themselves", h.ID, h.Kind)
		}
		pieces, err := p.chosen(h, v.Lines)
		if err != nil {
			return nil, nil, err
		}
		keep := slices.IndexFunc(pieces, func(c piece) bool { return !c.chosen })
		var ids []string
		q, ids = q.split(at, pieces, max(keep, 0))
		for i, id := range ids {
			if pieces[i].chosen {
				whole = append(whole, Verdict{Hunk: id, Accept: v.Accept, Comment: v.Comment})
			}
		}
	}
	out, decided, err := q.decide(whole, by)
	if err != nil {
		return nil, nil, err
	}
	out.Version = p.Version + 1 // one decision, one version
	for i := range out.Hunks {
		out.Hunks[i].Since = min(out.Hunks[i].Since, out.Version)
	}
	for i := range decided {
		decided[i].Since = min(decided[i].Since, out.Version)
	}
	return out, decided, nil
}

// decidePart decides chosen lines of a new or a deleted file. Of a new file the
// accepted ones are the file, and the rest is proposed as a change of it; of a
// deleted one the accepted ones go, and the rest is still to be deleted. Rejected
// lines are no part of what is proposed any more: the file is created without
// them, or keeps them.
func (p *Proposal) decidePart(h *Hunk, v Verdict, by Decision) (*Proposal, []Hunk, error) {
	pieces, err := p.chosen(h, v.Lines)
	if err != nil {
		return nil, nil, err
	}
	by.Comment = v.Comment
	var chosen, others [][]byte
	for _, c := range pieces {
		if c.chosen {
			chosen = append(append(chosen, c.old...), c.new...)
		} else {
			others = append(append(others, c.old...), c.new...)
		}
	}
	if len(others) == 0 {
		return p.decide([]Verdict{{Hunk: v.Hunk, Accept: v.Accept, Comment: v.Comment}}, by)
	}
	q := p.next()
	part := *h
	part.Since, part.Of, part.Decision, part.State = q.Version, h.ID, &by, HunkRejected
	if v.Accept {
		part.State, part.Unsaved = HunkAccepted, p.Base.Document
	}
	want := p.Proposed()
	var parts []Hunk
	switch {
	case h.Kind == KindCreate && v.Accept:
		part.New, part.Count = joinLines(chosen), len(chosen)
		q.Base = Content{Exists: true, Data: part.New, Mode: h.NewMode, Document: p.Base.Document}
		parts = []Hunk{part}
	case h.Kind == KindCreate:
		part.New, part.Lost = joinLines(chosen), true // there is no place to put them back to
		want.Data = joinLines(others)
		parts = []Hunk{part}
	case v.Accept:
		q.Base.Data = joinLines(others)
		parts = removed(part, pieces)
	default:
		part.Kind, part.Old, part.Lost = KindText, joinLines(chosen), true
		want = p.Base
		want.Data = joinLines(chosen)
		parts = []Hunk{part}
	}
	for i := range parts {
		q.hunks++
		parts[i].ID = hunkID(q.hunks)
	}
	q.fit(want)
	q.Hunks = append(q.Hunks, parts...)
	q.sort()
	return q, parts, nil
}

// removed is a hunk like part for each run of chosen lines, placed in the text
// without them.
func removed(part Hunk, pieces []piece) []Hunk {
	var out []Hunk
	at := 0
	for _, c := range pieces {
		if !c.chosen {
			at += len(c.old)
			continue
		}
		run := part
		run.Kind, run.Old, run.New, run.Start, run.Count = KindText, joinLines(c.old), nil, at, 0
		out = append(out, run)
	}
	return out
}
