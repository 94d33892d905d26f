package diffpreview

import (
	"bytes"
	"cmp"
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
// or rejected when its lines were changed since. Those are returned for the
// agent to be told.
func (p *Proposal) land(moved *Proposal) (*Proposal, []Hunk) {
	gone, over := p.wentWith(moved)
	q, told := moved, []Hunk(nil)
	// The buffer's text without them is what the disk is compared with.
	if open, reopened, err := p.reopen(gone); len(gone) > 0 && err == nil {
		for _, h := range reopened {
			h.Decision = &Decision{By: treeName, Comment: lostBuffer}
			told = append(told, h)
		}
		q, _ = open.rebase(moved.Base, true)
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
	for i := range p.Hunks {
		h := &p.Hunks[i]
		now, ok := moved.Hunk(h.ID)
		if !h.Unsaved || !ok || h.property() {
			continue
		}
		switch {
		case h.Lost && (m.moved(Hunk{Start: h.Start, Count: h.Count}).Lost || !moved.Base.Exists):
			over[h.ID] = lostBuffer + ", with what was changed in these lines"
		case h.Lost && h.stood(p.Base.Data) && !h.stood(moved.Base.Data): // the agent went on to the whole file
			over[h.ID] = lostBuffer + changedSince
		case !h.Lost && (now.Lost || m.bringsBack(h, lines)):
			gone = append(gone, i)
		}
	}
	return gone, over
}

// stood reports whether a text has what h made of it, somewhere.
func (h *Hunk) stood(text []byte) bool {
	if len(h.New) == 0 {
		return !bytes.Contains(text, h.Old)
	}
	return bytes.Contains(text, h.New)
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
	var edits []edit
	for i := range p.Hunks {
		if h := &p.Hunks[i]; h.State == HunkOpen && !h.property() {
			edits = append(edits, edit{h.Start, h.Count, h.New})
		}
	}
	theirs = older.next()
	theirs.Hunks = nil
	for _, h := range older.Hunks {
		switch {
		case h.State != HunkOpen || h.property():
			theirs.Hunks = append(theirs.Hunks, h)
		case p.form != older.form || p.inTheWay(&h):
			h.State, h.Since = HunkRejected, theirs.Version
			h.Decision = &Decision{By: treeName, Comment: lostBuffer + changedSince}
			theirs.Hunks = append(theirs.Hunks, h)
			told = append(told, h)
		default:
			edits = append(edits, edit{h.Start, h.Count, h.New})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.start-b.start, min(a.count, 1)-min(b.count, 1)) })
	mine = p.next()
	want := p.Base
	want.Mode = p.Proposed().Mode
	want.Data = p.form.patch(p.Base.Data, edits)
	mine.refit(want)
	return mine, theirs, told
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
