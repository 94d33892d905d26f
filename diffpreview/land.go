package diffpreview

import "slices"

// unsaved reports whether p has accepted hunks that are in a buffer only.
func (p *Proposal) unsaved() bool {
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return h.Unsaved })
}

// land says what became of p's unsaved hunks now that the tree is the disk
// again: the buffer was saved or closed. moved is p rebased onto it. A hunk
// whose text is there has landed; one that went with its buffer is open again,
// and returned for its agent to be told.
func (p *Proposal) land(moved *Proposal) (*Proposal, []Hunk) {
	var gone []int
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if now, ok := moved.Hunk(h.ID); h.Unsaved && !h.Lost && ok && now.Lost {
			gone = append(gone, i)
		}
	}
	var reopened []Hunk
	if len(gone) > 0 {
		// The buffer's text without them is what the disk is compared with.
		if q, open, err := p.reopen(gone); err == nil {
			moved, _ = q.rebase(moved.Base, true)
			for _, h := range open {
				h.Decision = &Decision{By: treeName, Comment: "the editor's buffer was closed without saving"}
				reopened = append(reopened, h)
			}
		}
	}
	q := moved.next()
	q.restless = moved.restless
	if moved.origin != nil {
		origin := *moved.origin
		origin.Hunks = landed(origin.Hunks)
		q.origin = &origin
	}
	q.Hunks = landed(q.Hunks)
	return q, reopened
}

func landed(hunks []Hunk) []Hunk {
	out := slices.Clone(hunks)
	for i := range out {
		out[i].Unsaved = false
	}
	return out
}
