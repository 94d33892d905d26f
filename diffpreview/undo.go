package diffpreview

import (
	"slices"
	"strings"
)

// undo returns p with decided hunks open again: all of them, or one. Accepted
// text is taken out of the base, which is what the tree shall hold. p stands
// on the tree as it is now.
func (p *Proposal) undo(id string) (*Proposal, []Hunk, error) {
	p = p.unparked()
	chosen, err := p.undoable(id)
	if err != nil {
		return nil, nil, err
	}
	return p.reopen(chosen, true)
}

// reopen returns p with the hunks of these indexes open again, with settled those
// that were conflicts in conflict again.
func (p *Proposal) reopen(chosen []int, settled bool) (*Proposal, []Hunk, error) {
	if at, ok := p.overlap(chosen); ok && !p.begins(chosen) {
		return nil, nil, p.refuse(CodeConflict, "hunk %s: these lines have been changed again since", at)
	}
	q := p.next()
	want := q.Proposed()
	whole := false
	var edits []edit
	var back []int
	for _, i := range chosen {
		h := &q.Hunks[i]
		switch {
		case h.State == HunkRejected:
			continue
		case h.Kind == KindMode:
			q.Base.Mode = h.OldMode
			continue
		case h.Kind == KindRename:
			q.Path = h.From
			continue
		case h.Kind == KindCreate || h.Kind == KindDelete || h.Kind == KindLink:
			whole = true
			document := q.Base.Document
			q.Base = h.original()
			q.Base.Document = document
			h.Start, h.Count = 0, q.form.count(h.Old)
			continue
		}
		edits = append(edits, edit{h.Start, h.Count, h.Old})
		back = append(back, i)
	}
	if len(edits) > 0 {
		if err := q.replace(edits, back); err != nil {
			return nil, nil, err
		}
	}
	var reopened []Hunk
	for _, i := range chosen {
		h := &q.Hunks[i]
		h.State, h.Decision, h.Since, h.Unsaved, h.Held = HunkOpen, nil, q.Version, false, true
		if settled && len(h.Was) > 0 {
			q.unface(h)
		}
		h.Was = nil
		reopened = append(reopened, *h)
	}
	q.sort()
	if !whole && q.form.misfit(q.openEdits(), q.Base.Data) >= 0 {
		return nil, nil, p.refuse(CodeConflict, "cannot undo: a line lacks its end since, and would run into another one")
	}
	if slices.ContainsFunc(reopened, func(h Hunk) bool { return h.State == HunkConflict && h.Whole }) {
		whole = false // the view shows the tree
	}
	if !whole { // else the view stays as it is: of a new file only a part may have been taken
		want = q.Proposed()
	}
	q.refit(want)
	return q, reopened, nil
}

// unface makes a reopened hunk the conflict again that it was before it was decided:
// what the tree had in its place nobody has agreed to change.
func (p *Proposal) unface(h *Hunk) {
	was := h.Was[0]
	was.Start, was.Count, was.Since, was.Held = h.Start, h.Count, h.Since, h.Held
	if was.Whole {
		was.Start, was.Count = 0, p.form.count(p.Base.Data)
	}
	*h = was
}

// begins reports whether chosen is a new file that was taken, whose other hunks
// then are part of it again.
func (p *Proposal) begins(chosen []int) bool {
	return len(chosen) == 1 && p.Hunks[chosen[0]].Kind == KindCreate && p.Hunks[chosen[0]].State == HunkAccepted
}

// overlap names a hunk of chosen whose lines another one of chosen, or an
// undecided hunk, stands on.
func (p *Proposal) overlap(chosen []int) (string, bool) {
	mine := map[int]bool{}
	for _, i := range chosen {
		mine[i] = true
	}
	var counted []int // sorted by Start, as all hunks are
	whole := false
	for i := range p.Hunks {
		if h := &p.Hunks[i]; !h.property() && (mine[i] || !h.decided()) {
			counted = append(counted, i)
			whole = whole || h.wholeFile()
		}
	}
	for at, i := range counted {
		h := &p.Hunks[i]
		for _, j := range counted[at+1:] {
			o := &p.Hunks[j]
			if !whole && o.Start > h.Start+h.Count {
				break
			}
			if !mine[i] && !mine[j] || !whole && (h.Count+o.Count == 0 || !touches(h.Start, h.Start+h.Count, o.Start, o.Start+o.Count)) {
				continue // two empty places are one behind the other, in their order
			}
			if mine[i] {
				return h.ID, true
			}
			return o.ID, true
		}
	}
	return "", false
}

// undoable returns the indexes of the hunks that undo(id) reopens.
func (p *Proposal) undoable(id string) ([]int, error) {
	var chosen []int
	var why []string
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if id != "" && h.ID != id {
			continue
		}
		switch {
		case !h.decided():
			why = append(why, h.ID+" is not decided")
			continue
		case h.Decision.By == treeName:
			why = append(why, h.ID+" was in the tree already")
			continue
		case h.Lost,
			h.State == HunkRejected && h.wholeFile() && !sameContent(p.Base, h.original()),
			h.State == HunkAccepted && h.wholeFile() && h.Kind != KindBinary && h.Kind != KindText && !sameContent(p.Base, h.agent()),
			h.State == HunkAccepted && h.Kind == KindMode && p.Base.Mode.Perm() != h.NewMode.Perm(),
			h.State == HunkAccepted && h.Kind == KindRename && (p.Path != h.To || !p.Base.Exists):
			why = append(why, h.ID+" was changed since, or what it stood in")
			continue
		}
		chosen = append(chosen, i)
	}
	switch {
	case id != "" && p.index(id) < 0:
		return nil, p.refuse(CodeUnknownHunk, "no hunk %s in proposal %s", id, p.ID)
	case len(chosen) == 0 && len(why) == 0:
		return nil, p.refuse(CodeConflict, "nothing was decided")
	case len(chosen) == 0:
		return nil, p.refuse(CodeConflict, "cannot undo: %s", strings.Join(why, ", "))
	}
	return chosen, nil
}
