package diffpreview

import "slices"

// unsaved reports whether p has accepted hunks that are in a buffer only.
func (p *Proposal) unsaved() bool {
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return h.Unsaved })
}

// land says what became of p's unsaved hunks now that the tree is the disk
// again: the buffer was saved or closed. moved is p rebased onto it. A hunk
// whose text is there has landed; one that went with its buffer is open again,
// or rejected when the agent has changed its lines since. Those are returned
// for the agent to be told.
func (p *Proposal) land(moved *Proposal) (*Proposal, []Hunk) {
	var gone []int
	var told []Hunk
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if now, ok := moved.Hunk(h.ID); h.Unsaved && !h.Lost && ok && now.Lost {
			gone = append(gone, i)
			told = append(told, *h)
		}
	}
	q := moved.next()
	q.restless = moved.restless
	const why = "the editor's buffer was closed without saving"
	// The buffer's text without them is what the disk is compared with.
	if open, _, err := p.reopen(gone); len(gone) > 0 && err == nil {
		q, _ = open.rebase(moved.Base, true)
	} else {
		if moved.origin != nil {
			origin := *moved.origin
			origin.Hunks = landed(origin.Hunks)
			q.origin = &origin
		}
		for _, h := range told {
			q.Hunks[q.index(h.ID)].State = HunkRejected
			q.Hunks[q.index(h.ID)].Decision = &Decision{By: treeName, Comment: why + ", and you have changed these lines since"}
		}
		if len(told) > 0 {
			q.origin = nil // it would bring the hunks back as accepted
		}
	}
	q.Hunks = landed(q.Hunks)
	for i := range told {
		h := &told[i]
		h.State, h.Decision = HunkOpen, &Decision{By: treeName, Comment: why}
		if now, _ := q.Hunk(h.ID); now.State == HunkRejected {
			h.State, h.Decision = HunkRejected, now.Decision
		}
	}
	return q, told
}

func landed(hunks []Hunk) []Hunk {
	out := slices.Clone(hunks)
	for i := range out {
		out[i].Unsaved = false
	}
	return out
}

// adopt returns p with the open hunks of an older proposal of its session on
// the same file, and older without them. Both stand on the same text; what
// would lie on p's own lines stays where it is.
func (p *Proposal) adopt(older *Proposal) (mine, theirs *Proposal) {
	var edits []edit
	for i := range p.Hunks {
		if h := &p.Hunks[i]; h.State == HunkOpen {
			edits = append(edits, edit{h.Start, h.Count, h.New})
		}
	}
	theirs = older.next()
	theirs.Hunks = nil
	for _, h := range older.Hunks {
		inTheWay := slices.ContainsFunc(p.Hunks, func(o Hunk) bool { return !o.decided() && meets(&h, &o) })
		if h.State != HunkOpen || h.wholeFile() || inTheWay {
			theirs.Hunks = append(theirs.Hunks, h)
			continue
		}
		edits = append(edits, edit{h.Start, h.Count, h.New})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	mine = p.next()
	want := p.Base
	want.Data = patch(p.Base.Data, p.form.split(p.Base.Data), edits)
	mine.fit(want)
	return mine, theirs
}
