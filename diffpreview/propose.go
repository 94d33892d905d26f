package diffpreview

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
)

// largeText is the size in bytes from which a text that is not needed any more is
// collected at once: an edit takes its base, the view's text and the new one, and
// a fourth would be a copy that nobody reads. A collection takes a millisecond.
const largeText = 16 << 20

// lockPlaces locks paths in the view of a session: what is proposed there may
// stand on other places of the tree.
func (v *View) lockPlaces(paths ...Path) (unlock func()) {
	for {
		all := slices.Clone(paths)
		for _, p := range paths {
			all = append(all, v.places(p)...)
		}
		unlock = v.store.paths.lock(all...)
		locked := make(map[Path]bool, len(all))
		for _, p := range all {
			locked[p] = true
		}
		missed := func(p Path) bool {
			return slices.ContainsFunc(v.places(p), func(at Path) bool { return !locked[at] })
		}
		if !slices.ContainsFunc(paths, missed) {
			return unlock
		}
		unlock() // a call of the same session was quicker
	}
}

// places are those of the proposals that the view has at p or took from there.
func (v *View) places(p Path) []Path {
	var out []Path
	shown, gone := v.overlay(p)
	for _, o := range []*Proposal{shown, gone} {
		if o != nil {
			out = append(out, o.paths()...)
		}
	}
	return out
}

// Change is what a call does to one file of the view.
type Change struct {
	Path Path
	To   Path   // where the file goes, which must be free; the zero Path: it stays
	Via  string // the link that the agent named
	// Make returns what the file shall be; nil leaves it as it is, which a file that
	// goes elsewhere may be. It must not keep or modify what it is given; its errors
	// pass through. A Content that does not exist deletes the file, one whose Mode
	// says so makes it a link, other permissions change its mode, a Mode of 0 leaves
	// it.
	Make func(now Content) (Content, error)
}

// Propose makes the file at p in the view what change returns of it: see
// [View.ProposeAll].
func (v *View) Propose(ctx context.Context, p Path, call Call, change func(now Content) (Content, error)) (Step, error) {
	return v.proposeOne(ctx, call, Change{Path: p, Via: call.Via, Make: change})
}

// Rename moves the file at from to another place of its root, which must be free, in
// the view: see [View.ProposeAll].
func (v *View) Rename(ctx context.Context, from, to Path, call Call) (Step, error) {
	return v.proposeOne(ctx, call, Change{Path: from, To: to})
}

func (v *View) proposeOne(ctx context.Context, call Call, c Change) (Step, error) {
	steps, err := v.ProposeAll(ctx, call, []Change{c})
	if err != nil {
		return Step{}, err
	}
	return steps[0], nil
}

// ProposeAll makes changes in the view: all of them, or none. Each is of another
// file. Nobody else changes the files' proposals in between; the steps, one for
// each change, are in the journal when ProposeAll returns, and so is what a rule
// decided of them ([Step.Rule]). Failures: no_change, protected_path,
// permission_denied (the tree's file could not be written), too_large,
// not_regular_file, of a file that goes elsewhere also file_not_found,
// invalid_arguments (another root, the same place, a file that is changed twice) and
// conflict (there is a file already), those of [Options.Check], and those of Read.
func (v *View) ProposeAll(ctx context.Context, call Call, changes []Change) ([]Step, error) {
	steps, _, err := v.propose(ctx, call, &batch{view: v, changes: changes})
	return steps, err
}

// moves reports whether c takes the file elsewhere.
func (c *Change) moves() bool { return c.To != Path{} }

// Shown is where the view has the file afterwards.
func (c *Change) Shown() Path {
	if c.moves() {
		return c.To
	}
	return c.Path
}

// change returns the proposals that a change leads to, and says in step what it did.
// The caller holds the locks of its places.
func (v *View) change(c *Change, call Call, step *Step) ([]*Proposal, error) {
	proposal, gone, now, err := v.current(c.Path, call)
	if err != nil {
		return nil, err
	}
	if c.moves() {
		if gone != nil || !now.Exists {
			return nil, failf(CodeFileNotFound, v.Name(c.Path), "no such file")
		}
		if err := v.free(proposal, c.To); err != nil {
			return nil, err
		}
	}
	if len(now.Data) > largeText {
		runtime.GC() // what the call before left would stay until as much again is taken
	}
	want := now
	if c.Make != nil {
		if want, err = c.Make(now); err != nil {
			return nil, err
		}
	}
	if err := v.check(c, now, want); err != nil {
		return nil, err
	}
	if now.Exists && want.Exists && want.Mode == 0 {
		want.Mode = now.Mode
	}
	var next []*Proposal
	switch {
	case c.moves():
		next, err = v.moved(proposal, c.To, now, want)
	case sameFile(now, want):
		err = &Error{Code: CodeNoChange, Path: v.Name(c.Path), Message: "the edit changes nothing"}
	default:
		if err = v.allowed(proposal.Path, proposal.Base, want); err != nil {
			break
		}
		if gone != nil {
			next, err = v.unmove(gone, want)
		} else {
			next = []*Proposal{proposal.step(want)}
		}
	}
	if err != nil {
		return nil, err
	}
	*step = Step{Proposal: next[0], Before: now, After: want}
	step.Diff, step.Lossy = renderChange(v.Name(c.Path), v.Name(c.Shown()), now, want)
	return next, nil
}

// refresh brings what the session proposes at p onto the tree of now.
func (v *View) refresh(p Path) error {
	if err := v.store.refresh(p, false); err != nil {
		return err
	}
	shown, gone := v.overlay(p)
	for _, o := range []*Proposal{shown, gone} {
		if o != nil && o.Path != p {
			if err := v.store.refresh(o.Path, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// extend notes the call that made q of a proposal.
func (v *View) extend(q *Proposal, call Call) *Proposal {
	if q.ID == "" {
		q.ID = v.store.nextProposalID()
	}
	q.addStep(StepRecord{Call: call, Time: v.store.now().UTC()})
	return q
}

// current returns the session's proposal at p, a new one without an id when
// there is none, and what the view holds there. gone is a proposal that took the
// tree's file away from p.
func (v *View) current(p Path, call Call) (mine, gone *Proposal, now Content, err error) {
	mine, gone = v.overlay(p)
	switch {
	case mine != nil:
		return mine, nil, mine.Proposed(), nil
	case gone != nil:
		return gone, gone, Content{}, nil
	}
	if now, err = v.store.tree(p); err != nil {
		return nil, nil, Content{}, err
	}
	return v.fresh(p, call, now), nil, now, nil
}

func (v *View) fresh(p Path, call Call, base Content) *Proposal {
	return &Proposal{
		Session: v.session, Path: p, Name: v.Name(p), Via: call.Via,
		Base: base, Created: v.store.now().UTC(), form: formOf(base),
	}
}

// allowed refuses a change that could not be written if it were accepted.
func (v *View) allowed(p Path, base, want Content) error {
	name := v.Name(p)
	if len(want.Data) > MaxEdit {
		return tooLarge(name, int64(len(want.Data)))
	}
	if base.Exists && !base.Document && !base.IsLink() {
		return v.store.ws.writable(p)
	}
	if want.Exists && v.hasBelow(p) {
		return failf(CodeIsDirectory, name, "is a directory")
	}
	for dir := range p.above() {
		if shown, _ := v.overlay(dir); shown != nil && shown.Proposed().Exists {
			return v.fileAbove(p, dir)
		}
		info, err := v.store.ws.root(p).Lstat(dir.rel)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return ioError(name, err)
		case !info.IsDir():
			return v.fileAbove(p, dir)
		}
		return nil
	}
	return nil
}

// fileAbove says that there is a file where p needs a directory.
func (v *View) fileAbove(p, at Path) error {
	return failf(CodeNotRegularFile, v.Name(p), "%s is a file, not a directory", v.Name(at))
}
