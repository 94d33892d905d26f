package diffpreview

import (
	"context"
	"slices"
)

// ProposeEach is [View.ProposeAll] for changes of which each stands for itself: one
// that cannot be made is left out, and errs has at its index why; for all others that
// is nil. What is made is made at once, and the steps are those of the changes that
// were made, in their order. err says that nothing was.
func (v *View) ProposeEach(ctx context.Context, call Call, changes []Change) (steps []Step, errs []error, err error) {
	return v.propose(ctx, call, &batch{view: v, changes: changes, each: true})
}

// batch is the changes of one call on their way to proposals.
type batch struct {
	view    *View
	changes []Change
	each    bool          // one that cannot be made does not fail the others
	errs    []error       // why a change cannot be made
	steps   []Step        // of the changes that can
	made    [][]*Proposal // by change: what it leads to
}

func (v *View) propose(ctx context.Context, call Call, b *batch) ([]Step, []error, error) {
	b.errs = make([]error, len(b.changes))
	b.steps, b.made = make([]Step, len(b.changes)), make([][]*Proposal, len(b.changes))
	paths, err := b.paths()
	if err != nil {
		return nil, nil, err
	}
	steps, err := func() ([]Step, error) {
		defer v.lockPlaces(paths...)()
		if err := b.make(call); err != nil {
			return nil, err
		}
		if err := b.apart(); err != nil {
			return nil, err
		}
		return b.keep(ctx, call)
	}()
	if err != nil {
		return nil, nil, err
	}
	for i := range steps {
		steps[i] = v.store.applyRules(ctx, steps[i])
	}
	return steps, b.errs, nil
}

// fail notes that a change cannot be made. It returns err when that fails all.
func (b *batch) fail(i int, err error) error {
	b.errs[i] = err
	if b.each {
		return nil
	}
	return err
}

// paths are the places of the changes, which must all be different.
func (b *batch) paths() ([]Path, error) {
	var paths []Path
	seen := map[Path]bool{}
	for i := range b.changes {
		own, err := b.view.pathsOf(&b.changes[i], seen)
		if err != nil {
			if err := b.fail(i, err); err != nil {
				return nil, err
			}
			continue
		}
		for _, p := range own {
			seen[p] = true
		}
		paths = append(paths, own...)
	}
	return paths, nil
}

// pathsOf are the places of a change; those of others are seen.
func (v *View) pathsOf(c *Change, seen map[Path]bool) ([]Path, error) {
	own := []Path{c.Path}
	if c.moves() {
		if c.Path == c.To || c.Path.index != c.To.index {
			return nil, failf(CodeInvalidArguments, v.Name(c.To), "a file is moved to another place of the same root")
		}
		own = append(own, c.To)
	}
	for _, p := range own {
		if seen[p] {
			return nil, failf(CodeInvalidArguments, v.Name(p), "is changed twice in one call")
		}
		if err := protect(v.Name(p), p); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// make finds the proposals that the changes lead to. The caller holds the locks of
// their places.
func (b *batch) make(call Call) error {
	if err := b.refresh(); err != nil {
		return err
	}
	taken := map[string]bool{} // proposals that a change before leads to
	for i := range b.changes {
		c := &b.changes[i]
		if b.errs[i] != nil {
			continue
		}
		call.Via = c.Via
		made, err := b.view.change(c, call, &b.steps[i])
		if err == nil && slices.ContainsFunc(made, func(q *Proposal) bool { return q.ID != "" && taken[q.ID] }) {
			err = &Error{
				Code: CodeConflict, Path: b.view.Name(c.Path), Message: "stands on a move that this call changes, too",
				Hint: "make these changes in two calls",
			}
		}
		if err != nil {
			if err := b.fail(i, err); err != nil {
				return err
			}
			continue
		}
		for _, q := range made {
			if q.ID != "" {
				taken[q.ID] = true
			}
		}
		b.made[i] = made
	}
	return nil
}

// refresh brings what the session proposes at the changes' places onto the tree of
// now.
func (b *batch) refresh() error {
	for i := range b.changes {
		if b.errs[i] != nil {
			continue
		}
		c := &b.changes[i]
		err := b.view.refresh(c.Path)
		if err == nil && c.moves() {
			err = b.view.refresh(c.To)
		}
		if err != nil {
			if err := b.fail(i, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// apart refuses steps that make a file where another one of them needs a
// directory.
func (b *batch) apart() error {
	made := map[Path]bool{}
	for i := range b.steps {
		if b.errs[i] == nil && b.steps[i].After.Exists {
			made[b.steps[i].Proposal.Shown()] = true
		}
	}
	for i := range b.steps {
		if b.errs[i] != nil || !b.steps[i].After.Exists {
			continue
		}
		p := b.steps[i].Proposal.Shown()
		for dir := range p.above() {
			if !made[dir] {
				continue
			}
			if err := b.fail(i, b.view.fileAbove(p, dir)); err != nil {
				return err
			}
			delete(made, p)
			break
		}
	}
	return nil
}

// keep journals what is left of the batch, all of it at once, and returns the steps.
func (b *batch) keep(ctx context.Context, call Call) ([]Step, error) {
	var next []*Proposal
	var steps []Step
	var shown []Path
	for i := range b.changes {
		if b.errs[i] != nil {
			continue
		}
		call.Via = b.changes[i].Via
		for _, q := range b.made[i] {
			next = append(next, b.view.extend(q, call))
		}
		steps = append(steps, b.steps[i])
		shown = append(shown, b.changes[i].Shown())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(next) == 0 {
		return nil, nil
	}
	if err := b.view.store.keep(next, nil); err != nil {
		return nil, err
	}
	for i := range steps {
		b.view.Saw(shown[i], steps[i].After.Hash())
	}
	return steps, nil
}
