package diffpreview

import (
	"slices"
)

// unsaved reports whether p has accepted hunks that are in a buffer only.
func (p *Proposal) unsaved() bool {
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return h.Unsaved })
}

// lostBuffer and changedSince are what the agent is told of a hunk that went
// with its buffer.
const (
	lostBuffer   = "the editor's buffer was closed without saving"
	changedSince = ", and you have changed these lines since"
)

// land says what became of p's unsaved hunks now that the tree is the disk
// again: the buffer was saved or closed. moved is p rebased onto it. A hunk
// whose text is there has landed; one that went with its buffer is open again,
// or rejected when its lines were changed since. told are the hunks that moved
// settled; with those that went they are returned for the agent to be told.
func (p *Proposal) land(moved *Proposal, told []Hunk) (*Proposal, []Hunk) {
	gone, over := p.wentWith(moved)
	q := moved
	// The buffer's text without them is what the disk is compared with.
	if open, reopened, err := p.reopen(gone, false); len(gone) > 0 && err == nil {
		q, told = open.rebase(moved.Base, true)
		for _, h := range reopened {
			is := func(o Hunk) bool { return o.ID == h.ID }
			if slices.ContainsFunc(told, is) { // it is there after all, and was accepted
				told = slices.DeleteFunc(told, is)
				continue
			}
			h.Decision = &Decision{By: treeName, Comment: lostBuffer}
			told = append(told, h)
		}
	} else {
		for _, i := range gone {
			over[p.Hunks[i].ID] = lostBuffer + changedSince
		}
	}
	q = q.landed()
	for i := range q.Hunks {
		h := &q.Hunks[i]
		if why := over[h.ID]; why != "" {
			q.origin = nil // it would bring the hunk back as accepted
			h.State, h.Since, h.Lost = HunkRejected, q.Version, true
			h.Decision = &Decision{By: treeName, Comment: why}
			told = append(told, *h)
		}
	}
	return q, told
}

// wentWith returns the indexes of p's unsaved hunks whose text is not in moved,
// which stands on the disk, and of those that cannot be opened again, because
// somebody had changed their lines in the buffer, what the agent is told.
func (p *Proposal) wentWith(moved *Proposal) (gone []int, over map[string]string) {
	over = map[string]string{}
	if sameContent(p.Base, moved.Base) {
		return nil, over
	}
	m, lines := newMoves(p.form.compare(p.Base.Data, moved.Base.Data).spans), p.form.lines(moved.Base.Data)
	had, has := lineSetOf(p.Base.Data, lines.enc), lineSetOf(moved.Base.Data, lines.enc)
	for i := range p.Hunks {
		h := &p.Hunks[i]
		now, ok := moved.Hunk(h.ID)
		if !h.Unsaved || !ok || h.property() {
			continue
		}
		switch {
		case h.Lost && (m.moved(Hunk{Start: h.Start, Count: h.Count}).Lost || !moved.Base.Exists):
			over[h.ID] = lostBuffer + ", with what was changed in these lines"
		case h.Lost && h.undone(had, has, lines.enc): // the agent went on to the whole file
			over[h.ID] = lostBuffer + changedSince
		case !h.Lost && (now.Lost || h.undone(had, has, lines.enc) || m.bringsBack(h, lines)):
			gone = append(gone, i)
		}
	}
	return gone, over
}

// undone reports whether one of the lines that h put in is there no more, or one
// that it took out is there again; had and has are the lines before and now.
// Where they stand does not matter: that is for the rebase to find out.
func (h *Hunk) undone(had, has map[string]bool, enc Encoding) bool {
	mine := lineSetOf(h.New, enc)
	for l := range lineSetOf(h.Old, enc) {
		if !mine[l] && has[l] && !had[l] {
			return true
		}
	}
	for l := range mine {
		if had[l] && !has[l] {
			return true
		}
	}
	return false
}

func lineSetOf(data []byte, enc Encoding) map[string]bool {
	lines := map[string]bool{}
	for _, l := range SplitLines(data, enc) {
		lines[string(l)] = true
	}
	return lines
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
// the same file, and older without them. Both stand on the same text. What
// would lie on p's own lines is rejected: the agent has changed them since. It
// is returned for the agent to be told.
func (p *Proposal) adopt(older *Proposal) (mine, theirs *Proposal, told []Hunk) {
	mine = p.next()
	theirs = older.next()
	theirs.Hunks = nil
	for _, h := range older.Hunks {
		switch {
		case h.State != HunkOpen || h.property():
			theirs.Hunks = append(theirs.Hunks, h)
		case p.form != older.form || p.inTheWay(&h) || !mine.takesIn(h):
			h.State, h.Since = HunkRejected, theirs.Version
			h.Decision = &Decision{By: treeName, Comment: lostBuffer + changedSince}
			theirs.Hunks = append(theirs.Hunks, h)
			told = append(told, h)
		}
	}
	mine.refit(mine.Proposed())
	return mine, theirs, told
}

// takesIn makes an open hunk of another proposal one of p, if it can be put in its
// place beside the others.
func (p *Proposal) takesIn(h Hunk) bool {
	before := p.Hunks
	h.ID, h.Since = hunkID(p.hunks+1), p.Version
	p.Hunks = append(slices.Clone(before), h)
	p.sort()
	if p.form.misfit(p.openEdits(), p.Base.Data) >= 0 {
		p.Hunks = before
		return false
	}
	p.hunks++
	return true
}

// inTheWay reports whether p has lines of its own where h would go.
func (p *Proposal) inTheWay(h *Hunk) bool {
	return slices.ContainsFunc(p.Hunks, func(o Hunk) bool {
		switch {
		case o.decided() || o.property():
			return false
		case o.State == HunkConflict || o.wholeFile() || h.wholeFile():
			return meets(h, &o)
		case h.Count == 0 && o.Count == 0:
			return false
		}
		return touches(h.Start, h.Start+h.Count, o.Start, o.Start+o.Count)
	})
}
