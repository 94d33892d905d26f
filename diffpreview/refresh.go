package diffpreview

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Stale says that the tree at a path may have moved. It returns at once; the
// proposals there are rebased soon after.
func (s *Store) Stale(path Path) {
	moving := s.thoseAt(path, func(p *Proposal) bool {
		r := p.rename()
		return (p.Path == path || r != nil && r.To == path) && p.moving()
	})
	if len(moving) == 0 {
		return
	}
	s.mu.Lock()
	for _, p := range moving {
		s.stale[p.Path] = true
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) staleAfter(path Path, wait time.Duration) {
	time.AfterFunc(wait, func() { s.Stale(path) })
}

func (s *Store) refreshLoop() {
	for {
		select {
		case <-s.wake:
		case <-s.closed:
			return
		}
		s.mu.Lock()
		stale := s.stale
		s.stale = map[Path]bool{}
		s.mu.Unlock()
		for path := range stale {
			s.settle(path)
		}
	}
}

// settle refreshes a path whose file has come to rest, or comes back when it
// may have.
func (s *Store) settle(path Path) {
	unlock := s.paths.lock(path)
	defer unlock()
	if err := s.refresh(path, true); err != nil {
		s.logger.Warn("Tree could not be read", "path", s.ws.Name(path), "error", err)
	}
}

// moving reports whether p goes along with its tree: it is undecided, or accepted
// into a buffer that is not saved.
func (p *Proposal) moving() bool { return p.Undecided() || p.unsaved() }

// moving returns the proposals of a path that do.
func (s *Store) moving(path Path) []*Proposal {
	return s.thoseAt(path, func(p *Proposal) bool { return p.Path == path && p.moving() })
}

// refresh rebases the undecided proposals at a path onto the tree. With atRest
// a file that was just written is left for later. The caller holds the path's
// lock.
func (s *Store) refresh(path Path, atRest bool) error {
	moving := s.moving(path)
	if len(moving) == 0 {
		return nil
	}
	now, err := s.tree(path)
	if code := CodeOf(err); code == CodeIsDirectory || code == CodeNotRegularFile {
		now, err = Content{}, nil // there is no file to stand on any more
	}
	if err != nil {
		return err
	}
	wait := now.unsettled(s.now())
	if atRest && wait > 0 {
		s.staleAfter(path, wait)
		return nil
	}
	var changed []*Proposal
	var reviews []savedReview
	for _, p := range moving {
		landing := !now.Document && p.unsaved()
		if landing && wait > 0 && !sameContent(now, p.Base) {
			s.staleAfter(path, wait)
			continue
		}
		q, told := p.rebase(now, wait == 0)
		if landing {
			q, told = p.land(q, told)
		}
		if q, told, err = s.refreshName(q, p.Base, told); err != nil {
			return err
		}
		if q == p {
			continue
		}
		if q.Version == p.Version {
			s.put(q) // the same text, in an editor now or no longer
			continue
		}
		changed = append(changed, q)
		q.stamp(told, s.now().UTC())
		reviews = append(reviews, s.reviewsOf(p, q, told)...)
	}
	changed, told := s.gatherOpen(path, changed)
	for _, r := range told { // instead of that it is open again
		reviews = slices.DeleteFunc(reviews, func(o savedReview) bool {
			return o.Review.Proposal == r.Review.Proposal && o.Review.Hunk == r.Review.Hunk
		})
	}
	reviews = append(reviews, told...)
	if wait > 0 && slices.ContainsFunc(changed, func(p *Proposal) bool { return p.restless }) {
		s.staleAfter(path, wait)
	}
	if len(changed) == 0 {
		return nil
	}
	return s.keep(changed, reviews)
}

// refreshName looks at what the tree has at the new name that q proposes. was is
// what it had at the old one.
func (s *Store) refreshName(q *Proposal, was Content, told []Hunk) (*Proposal, []Hunk, error) {
	r := q.rename()
	if r == nil {
		return q, told, nil
	}
	at, err := s.tree(r.To)
	if code := CodeOf(err); code == CodeIsDirectory || code == CodeNotRegularFile {
		at, err = Content{Exists: true}, nil // something is there
	}
	if err != nil {
		return q, told, err
	}
	named, settled := q.rebaseName(at, was, s.ws.Name)
	return named, append(told, settled...), nil
}

// gatherOpen sees to it that what a session has open on a file is in one
// proposal, the newest, since that is what its view shows: hunks that were
// reopened after it went on to another one become part of that. changed are the
// new states of proposals at path; with what it adds it returns them, and what
// the agents are told.
func (s *Store) gatherOpen(path Path, changed []*Proposal) ([]*Proposal, []savedReview) {
	var reviews []savedReview
	now := map[string]*Proposal{}
	sessions := map[string]bool{}
	for _, p := range changed {
		now[p.ID], sessions[p.Session] = p, true
	}
	for session := range sessions {
		var mine []*Proposal // undecided, the oldest first
		for _, p := range s.thoseAt(path, func(p *Proposal) bool { return p.Path == path && p.Session == session }) {
			if now[p.ID] != nil {
				p = now[p.ID]
			}
			if p.Path == path && p.Undecided() {
				mine = append(mine, p)
			}
		}
		for len(mine) > 1 {
			older, newest := mine[0], mine[len(mine)-1]
			mine = mine[1:]
			if !sameContent(older.Base, newest.Base) || !older.proposesText() {
				continue
			}
			adopted, left, told := newest.adopt(older)
			left.stamp(told, s.now().UTC())
			reviews = append(reviews, s.reviewsOf(older, left, told)...)
			mine[len(mine)-1] = adopted
			now[left.ID], now[adopted.ID] = left, adopted
		}
	}
	changed = slices.SortedFunc(maps.Values(now), func(a, b *Proposal) int { return cmp.Compare(a.ID, b.ID) })
	return changed, reviews
}

// proposesText reports whether p has open hunks of the file's content.
func (p *Proposal) proposesText() bool {
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return h.State == HunkOpen && !h.property() })
}
