package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

// finder turns what a person types into proposals.
type finder struct {
	rev     reviewer
	session string // only this one's; "": all
	roots   []protocol.Root
	cwd     string
	waiting []protocol.Proposal // open or in conflict, as listed
}

func newFinder(e *env, rev reviewer, roots []protocol.Root, session string) (*finder, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real
	}
	f := &finder{rev: rev, session: session, roots: roots, cwd: cwd}
	f.waiting, err = allProposals(e.ctx, rev, protocol.ProposalsListParams{Session: session})
	return f, err
}

// decided lists the proposals in which something may have been decided, those
// that still wait first, the others newest first.
func (f *finder) decided(ctx context.Context) ([]protocol.Proposal, error) {
	out := slices.Clone(f.waiting)
	for _, state := range []protocol.ProposalState{protocol.ProposalApplied, protocol.ProposalRejected} {
		found, err := allProposals(ctx, f.rev, protocol.ProposalsListParams{Session: f.session, State: state})
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// show finds proposals in any state; a path that several sessions change gives
// all of them.
func (f *finder) show(ctx context.Context, names []string) ([]protocol.Proposal, error) {
	var out []protocol.Proposal
	var all []protocol.Proposal // fetched when a name is not among those that wait
	for _, name := range names {
		found := f.match(f.waiting, name)
		if len(found) == 0 && all == nil {
			var err error
			if all, err = f.decided(ctx); err != nil {
				return nil, err
			}
		}
		if len(found) == 0 {
			found = f.match(all, name)
		}
		if len(found) == 0 {
			return nil, usagef("no proposal is called %s and none changes a file of that name", pathName(name))
		}
		out = append(out, found...)
	}
	return out, nil
}

// one finds the proposal that is to be decided.
func (f *finder) one(ctx context.Context, name string) (protocol.Proposal, error) {
	switch found := f.match(f.waiting, name); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return protocol.Proposal{}, f.notWaiting(ctx, name)
	default:
		return protocol.Proposal{}, ambiguous(name, found)
	}
}

// notWaiting says why nothing of that name waits: it was decided, or there is
// no such proposal.
func (f *finder) notWaiting(ctx context.Context, name string) error {
	all, err := f.decided(ctx)
	if err != nil {
		return err
	}
	found := f.match(all, name)
	if len(found) == 0 { // lists leave out what agents took back; ids stay known
		if res, err := f.rev.Proposal(ctx, protocol.ProposalsGetParams{ID: name}); err == nil {
			found = []protocol.Proposal{res.Proposal}
		}
	}
	if len(found) == 0 {
		return usagef("nothing to decide: no proposal is called %s and none changes a file of that name", pathName(name))
	}
	parts := make([]string, len(found))
	for i, p := range found {
		parts[i] = fmt.Sprintf("%s (%s) is %s", p.ID, pathName(p.Path), p.State)
	}
	text := strings.Join(parts, ", ") + ": nothing is left to decide"
	if len(found) == 1 && found[0].State != protocol.ProposalWithdrawn {
		text += "; loomd review undo " + found[0].ID + " takes it back"
	}
	return errors.New(text)
}

// ambiguous lists what a name could mean.
func ambiguous(name string, found []protocol.Proposal) error {
	ids := make([]string, len(found))
	for i, p := range found {
		ids[i] = p.ID + " (" + pathName(p.Path) + ", session " + p.Label + ", " + string(p.State) + ")"
	}
	return usagef("%s is more than one proposal: %s", pathName(name), oneLine(strings.Join(ids, ", ")))
}

// match returns the proposals that name means: the one of that id, else those
// that change a file of that name, else those whose id begins with it. The name
// of a file that nobody changes is not taken for the beginning of an id.
func (f *finder) match(list []protocol.Proposal, name string) []protocol.Proposal {
	if i := slices.IndexFunc(list, func(p protocol.Proposal) bool { return p.ID == name }); i >= 0 {
		return list[i : i+1]
	}
	for _, wire := range f.wirePaths(name) {
		var found []protocol.Proposal
		for _, p := range list {
			if p.Path == wire || p.Via == wire || p.To == wire {
				found = append(found, p)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	if _, err := os.Lstat(filepath.Join(f.cwd, name)); err == nil {
		return nil
	}
	var found []protocol.Proposal
	for _, p := range list {
		if name != "" && strings.HasPrefix(strings.ToLower(p.ID), strings.ToLower(name)) {
			found = append(found, p)
		}
	}
	return found
}

// wirePaths are the paths that name can mean on the wire: as seen from the
// working directory, and as it is.
func (f *finder) wirePaths(name string) []string {
	abs := name
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(f.cwd, name)
	}
	abs = filepath.Clean(abs)
	names := []string{abs}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		names = append(names, filepath.Join(dir, filepath.Base(abs)))
	}
	var out []string
	for _, n := range names {
		for _, r := range f.roots {
			rel, err := filepath.Rel(r.Path, n)
			if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				continue
			}
			rel = filepath.ToSlash(rel)
			if len(f.roots) > 1 {
				rel = path.Join(r.Name, rel)
			}
			out = append(out, rel)
		}
	}
	return append(out, path.Clean(filepath.ToSlash(name)))
}
