package diffpreview

import "slices"

// unsaved reports whether p has accepted hunks that are in a buffer only.
func (p *Proposal) unsaved() bool {
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return h.Unsaved })
}

// lostBuffer is what the agent is told of a hunk that went with its buffer.
const lostBuffer = "the editor's buffer was closed without saving"

// land says what became of p's unsaved hunks now that the tree is the disk
// again: the buffer was saved or closed. moved is p rebased onto it. A hunk
// whose text is there has landed; one that went with its buffer is open again,
// or rejected when the agent has changed its lines since. Those are returned
// for the agent to be told.
func (p *Proposal) land(moved *Proposal) (*Proposal, []Hunk) {
	var gone []int
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if now, ok := moved.Hunk(h.ID); h.Unsaved && !h.Lost && ok && now.Lost {
			gone = append(gone, i)
		}
	}
	if len(gone) == 0 {
		return moved.landed(), nil
	}
	// The buffer's text without them is what the disk is compared with.
	if open, told, err := p.reopen(gone); err == nil {
		q, _ := open.rebase(moved.Base, true)
		for i := range told {
			told[i].Decision = &Decision{By: treeName, Comment: lostBuffer}
		}
		return q.landed(), told
	}
	q := moved.landed()
	q.origin = nil // it would bring the hunks back as accepted
	var told []Hunk
	for _, i := range gone {
		h := &q.Hunks[q.index(p.Hunks[i].ID)]
		h.State = HunkRejected
		h.Decision = &Decision{By: treeName, Comment: lostBuffer + ", and you have changed these lines since"}
		told = append(told, *h)
	}
	return q, told
}

// landed is p at its next version without unsaved hunks, the same on the tree
// that it may come back to.
func (p *Proposal) landed() *Proposal {
	q := p.next()
	q.restless = p.restless
	if p.origin != nil {
		origin := *p.origin
		origin.Hunks = slices.Clone(origin.Hunks)
		q.origin = &origin
		allSaved(origin.Hunks)
	}
	allSaved(q.Hunks)
	return q
}

func allSaved(hunks []Hunk) {
	for i := range hunks {
		hunks[i].Unsaved = false
	}
}

// adopt returns p with the open hunks of an older proposal of its session on
// the same file, and older without them. Both stand on the same text; what
// would lie on p's own lines stays where it is.
func (p *Proposal) adopt(older *Proposal) (mine, theirs *Proposal) {
	var edits []edit
	for i := range p.Hunks {
		if h := &p.Hunks[i]; h.State == HunkOpen && !h.property() {
			edits = append(edits, edit{h.Start, h.Count, h.New})
		}
	}
	theirs = older.next()
	theirs.Hunks = nil
	for _, h := range older.Hunks {
		inTheWay := slices.ContainsFunc(p.Hunks, func(o Hunk) bool { return !o.decided() && meets(&h, &o) })
		if h.State != HunkOpen || h.wholeFile() || h.property() || inTheWay {
			theirs.Hunks = append(theirs.Hunks, h)
			continue
		}
		edits = append(edits, edit{h.Start, h.Count, h.New})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	mine = p.next()
	want := p.Base
	want.Mode = p.Proposed().Mode
	want.Data = p.form.patch(p.Base.Data, edits)
	mine.fit(want)
	return mine, theirs
}
