package diffpreview

// modeMoved reports whether the tree's mode is no longer what an undecided mode
// hunk of p stands on.
func (p *Proposal) modeMoved(now Content) bool {
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.Kind == KindMode && !h.decided() && h.moved(now) != h.State {
			return true
		}
	}
	return false
}

// moved is the state of an undecided mode hunk on a tree.
func (h *Hunk) moved(now Content) HunkState {
	switch {
	case now.Exists && !now.IsLink() && now.Mode.Perm() == h.OldMode.Perm():
		return HunkOpen
	case now.Exists && !now.IsLink() && now.Mode.Perm() == h.NewMode.Perm():
		return HunkAccepted
	}
	return HunkConflict
}

// rebaseMode says what the tree makes of an undecided mode hunk.
func (p *Proposal) rebaseMode() {
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.Kind != KindMode || h.decided() {
			continue
		}
		if h.State = h.moved(p.Base); h.State == HunkAccepted {
			h.Decision = &Decision{By: treeName}
		}
	}
}

// rebaseName returns p after a look at what the tree has at its undecided new
// name, and the hunks that this settled: somebody has moved the file themselves.
// was is what the tree had under the old name when that was last looked at. p
// itself is returned when nothing changed.
func (p *Proposal) rebaseName(at, was Content, name func(Path) string) (*Proposal, []Hunk) {
	h := p.rename()
	if h == nil {
		return p, nil
	}
	state := HunkOpen
	o := p.origin
	switch {
	case !p.Base.Exists && at.Exists && o != nil && (sameContent(at, o.Base) || sameContent(at, was)):
		state = HunkAccepted
	case !p.Base.Exists || at.Exists:
		state = HunkConflict
	}
	if state == h.State {
		return p, nil
	}
	if state == HunkAccepted { // the file is where it was to go: go on from there
		q := *o
		q.ID, q.Session, q.Name, q.Via = p.ID, p.Session, name(h.To), p.Via
		q.Steps, q.Created, q.hunks, q.Kind = p.Steps, p.Created, p.hunks, p.Kind
		q.Path, q.Version = h.To, p.Version
		next := q.next()
		taken := next.rename()
		taken.State, taken.Since, taken.Decision = HunkAccepted, next.Version, &Decision{By: treeName}
		told := []Hunk{*taken}
		next, more := next.rebase(at, true)
		return next, append(told, more...)
	}
	q := p.next()
	q.origin, q.restless = p.origin, p.restless
	r := q.rename()
	r.State, r.Since = state, q.Version
	return q, nil
}
