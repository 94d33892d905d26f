package diffpreview

import "slices"

// moved is what becomes of a proposal when its file, in the view now, goes to
// another place and becomes want.
func (v *View) moved(p *Proposal, to Path, now, want Content) ([]*Proposal, error) {
	if err := v.allowed(to, Content{}, want); err != nil {
		return nil, err
	}
	next := p.next()
	next.moveTo(to, v.Name(to), now)
	if !sameFile(now, want) {
		next.fit(want)
	}
	return []*Proposal{next}, nil
}

// unmove is what becomes of a proposed move when its agent makes a new file
// where the old one was: that one is modified, and the moved one is a new file.
func (v *View) unmove(moved *Proposal, want Content) ([]*Proposal, error) {
	to, content := moved.Shown(), moved.Proposed()
	at, err := v.store.tree(to)
	if err != nil {
		return nil, err
	}
	if at.Exists {
		return nil, failf(CodeConflict, v.Name(to), "there is a file now")
	}
	changed := moved.next()
	changed.dropRename()
	changed.fit(want)
	made := v.fresh(to, Call{}, at).step(content)
	return []*Proposal{changed, made}, nil
}

func (p *Proposal) dropRename() {
	p.Hunks = slices.DeleteFunc(p.Hunks, func(h Hunk) bool { return h.Kind == KindRename && !h.decided() })
}

// free refuses a new name of p that the view or the tree has a file at.
func (v *View) free(p *Proposal, to Path) error {
	if to == p.Path && p.rename() != nil {
		return nil // back to where it was
	}
	at, err := v.store.tree(to)
	shown, gone := v.overlay(to)
	if err == nil && !at.Exists && shown == nil && gone == nil {
		return nil
	}
	if CodeOf(err) == CodeIsDirectory {
		return err
	}
	return &Error{
		Code: CodeConflict, Path: v.Name(to), Message: "there is a file already",
		Hint: "choose another name, or write the new text into that file and delete the old one",
	}
}

// moveTo gives the file, whose content in the view is now, another name. What the
// tree does not have yet is simply made elsewhere.
func (p *Proposal) moveTo(to Path, name string, now Content) {
	if !p.Base.Exists {
		p.Path, p.Name = to, name
		p.fit(now)
		return
	}
	old := p.rename()
	switch {
	case to == p.Path:
		p.dropRename()
	case old != nil:
		old.To, old.State, old.Since = to, HunkOpen, p.Version
	default:
		p.hunks++
		p.Hunks = append(p.Hunks, Hunk{
			ID: hunkID(p.hunks), Kind: KindRename, State: HunkOpen, Since: p.Version, From: p.Path, To: to,
		})
		p.sort()
	}
	p.Kind = p.kind(now)
}

// NewName is the undecided name that p has for the file, free or not.
func (p *Proposal) NewName() (to Path, ok bool) {
	if r := p.rename(); r != nil {
		return r.To, true
	}
	return Path{}, false
}
