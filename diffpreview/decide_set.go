package diffpreview

import (
	"context"
	"fmt"
	"slices"
)

// DecideSet decides a session's change set.
type DecideSet struct {
	Session string
	Accept  bool
	Comment string
	By      string
	// SkipConflicts leaves proposals in conflict as they are and decides the rest.
	SkipConflicts bool
}

// SetResult is what became of a change set.
type SetResult struct {
	Proposals []*Proposal // that were decided
	Written   []Written
	Skipped   []*Proposal // in conflict
}

// DecideSession decides a session's change set, all of it or nothing: when a
// proposal of it is in conflict or cannot be written, none is. An accept with
// conflicts fails with code conflict and the proposals in the way, unless they
// are to be skipped.
func (s *Store) DecideSession(ctx context.Context, d DecideSet) (SetResult, error) {
	paths, locked, unlock := s.lockSession(d.Session)
	defer unlock()
	var out SetResult
	var versions map[string]int // of the set's proposals, as it was asked about; 0: in conflict
	changes, err := s.retry(ctx, paths, !d.Accept, func() ([]ruling, error) {
		out = SetResult{}
		var changes []ruling
		set := s.those(func(p *Proposal) bool { return p.Session == d.Session && p.Undecided() && locked[p.Path] }) // the others were begun since
		slices.SortStableFunc(set, func(a, b *Proposal) int { return comparePaths(a.Path, b.Path) })
		if versions == nil { // a tree that moves now must not change what was meant
			versions = map[string]int{}
			for _, p := range set {
				if versions[p.ID] = p.Version; d.Accept && p.State() == StateConflict {
					versions[p.ID] = 0
				}
			}
		}
		for _, p := range set {
			version, asked := versions[p.ID]
			switch {
			case !asked: // a closed buffer opened it again
				continue
			case version == 0 || d.Accept && p.State() == StateConflict:
				out.Skipped = append(out.Skipped, p)
				continue
			}
			c, err := s.rule(p, DecideFile{Version: version, Accept: d.Accept, Comment: d.Comment, By: d.By})
			if err != nil {
				return nil, err
			}
			changes = append(changes, c)
		}
		if n := len(out.Skipped); n > 0 && !d.SkipConflicts {
			return nil, &Error{
				Code: CodeConflict, Path: out.Skipped[0].Name, Blocking: out.Skipped,
				Message: fmt.Sprintf("%d of the change set in conflict, so nothing of it was written", n),
			}
		}
		return changes, nil
	})
	if err != nil {
		return SetResult{}, err
	}
	for i := range changes {
		out.Proposals = append(out.Proposals, changes[i].after)
	}
	out.Written = writtenBy(changes)
	return out, nil
}

// lockSession locks the places of a session's undecided proposals.
func (s *Store) lockSession(session string) (paths []Path, locked map[Path]bool, unlock func()) {
	mine := func(p *Proposal) bool { return p.Session == session && p.Undecided() }
	for {
		paths, locked = nil, map[Path]bool{}
		for _, p := range s.those(mine) {
			for _, at := range p.paths() {
				if !locked[at] {
					locked[at] = true
					paths = append(paths, at)
				}
			}
		}
		slices.SortFunc(paths, comparePaths)
		unlock = s.paths.lock(paths...)
		moved := s.those(func(p *Proposal) bool {
			return mine(p) && locked[p.Path] && slices.ContainsFunc(p.paths(), func(at Path) bool { return !locked[at] })
		})
		if len(moved) == 0 {
			return paths, locked, unlock
		}
		unlock() // the agent gave one of them another name meanwhile
	}
}
