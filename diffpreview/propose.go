package diffpreview

import (
	"context"
	"errors"
	"io/fs"
	"path"
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
		missed := func(p Path) bool {
			return slices.ContainsFunc(v.places(p), func(at Path) bool { return !slices.Contains(all, at) })
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

// Propose makes the file at p in the view what change returns of it. Nobody
// else changes the file's proposal in between; the step is in the journal when
// Propose returns, and so is what a rule decided of it ([Step.Rule]). change must
// not keep or modify what it is given; its errors pass through. A Content that
// does not exist deletes the file, one whose Mode says so makes it a link, other
// permissions change its mode, a Mode of 0 leaves it. Failures: no_change,
// protected_path, permission_denied (the tree's file could not be written),
// too_large, not_regular_file, and those of Read.
func (v *View) Propose(ctx context.Context, p Path, call Call, change func(now Content) (Content, error)) (Step, error) {
	step, err := v.propose(ctx, p, call, change)
	if err != nil {
		return Step{}, err
	}
	return v.store.applyRules(ctx, step), nil
}

func (v *View) propose(ctx context.Context, p Path, call Call, change func(now Content) (Content, error)) (Step, error) {
	s := v.store
	name := v.Name(p)
	if err := protect(name, p); err != nil {
		return Step{}, err
	}
	defer v.lockPlaces(p)()
	if err := v.refresh(p); err != nil {
		return Step{}, err
	}
	proposal, gone, now, err := v.current(p, call)
	if err != nil {
		return Step{}, err
	}
	if len(now.Data) > largeText {
		runtime.GC() // what the call before left would stay until as much again is taken
	}
	want, err := change(now)
	if err != nil {
		return Step{}, err
	}
	if now.Exists && want.Exists && want.Mode == 0 {
		want.Mode = now.Mode
	}
	if err := v.allowed(proposal.Path, proposal.Base, want); err != nil {
		return Step{}, err
	}
	if sameFile(now, want) {
		return Step{}, &Error{Code: CodeNoChange, Path: name, Message: "the edit changes nothing"}
	}
	if err := ctx.Err(); err != nil {
		return Step{}, err
	}
	var next []*Proposal
	if gone != nil {
		next, err = v.unmove(gone, want, call)
	} else {
		next = []*Proposal{v.extend(proposal.step(want), call)}
	}
	if err != nil {
		return Step{}, err
	}
	if err := s.keep(next, nil); err != nil {
		return Step{}, err
	}
	v.Saw(p, want.Hash())
	step := Step{Proposal: next[0], Before: now, After: want}
	step.Diff, step.Lossy = RenderDiff(name, now, want)
	return step, nil
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

// unmove is what becomes of a proposed move when its agent makes a new file
// where the old one was: that one is modified, and the moved one is a new file.
func (v *View) unmove(moved *Proposal, want Content, call Call) ([]*Proposal, error) {
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
	return []*Proposal{v.extend(changed, call), v.extend(made, call)}, nil
}

func (p *Proposal) dropRename() {
	p.Hunks = slices.DeleteFunc(p.Hunks, func(h Hunk) bool { return h.Kind == KindRename && !h.decided() })
}

// Rename moves the file at from to another place of its root, which must be
// free, in the view. Failures: file_not_found, invalid_arguments (another root,
// the same place), conflict (there is a file already), and those of Propose.
func (v *View) Rename(ctx context.Context, from, to Path, call Call) (Step, error) {
	step, err := v.renameFile(ctx, from, to, call)
	if err != nil {
		return Step{}, err
	}
	return v.store.applyRules(ctx, step), nil
}

func (v *View) renameFile(ctx context.Context, from, to Path, call Call) (Step, error) {
	for _, p := range []Path{from, to} {
		if err := protect(v.Name(p), p); err != nil {
			return Step{}, err
		}
	}
	defer v.lockPlaces(from, to)()
	if err := errors.Join(v.refresh(from), v.refresh(to)); err != nil {
		return Step{}, err
	}
	p, gone, now, err := v.current(from, call)
	switch {
	case err != nil:
		return Step{}, err
	case gone != nil || !now.Exists:
		return Step{}, failf(CodeFileNotFound, v.Name(from), "no such file")
	case from == to || from.index != to.index:
		return Step{}, failf(CodeInvalidArguments, v.Name(to), "a file is moved to another place of the same root")
	}
	if err := v.free(p, to); err != nil {
		return Step{}, err
	}
	if err := v.allowed(to, Content{}, now); err != nil {
		return Step{}, err
	}
	if err := ctx.Err(); err != nil {
		return Step{}, err
	}
	next := p.next()
	next.moveTo(to, v.Name(to), now)
	next = v.extend(next, call)
	if err := v.store.keep([]*Proposal{next}, nil); err != nil {
		return Step{}, err
	}
	v.Saw(to, now.Hash())
	diff, lossy := renderChange(v.Name(from), v.Name(to), now, now)
	return Step{Proposal: next, Before: now, After: now, Diff: diff, Lossy: lossy}, nil
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
	for at := path.Dir(p.rel); at != "."; at = path.Dir(at) {
		parent := Path{p.index, at}
		if shown, _ := v.overlay(parent); shown != nil && shown.Proposed().Exists {
			return failf(CodeNotRegularFile, name, "%s is a file, not a directory", v.Name(parent))
		}
		info, err := v.store.ws.root(p).Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return ioError(name, err)
		case !info.IsDir():
			return failf(CodeNotRegularFile, name, "%s is a file, not a directory", v.Name(parent))
		}
		return nil
	}
	return nil
}
