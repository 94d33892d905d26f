package diffpreview

import (
	"slices"
	"time"
)

// Stale says that the tree at a path may have moved. It returns at once; the
// proposals there are rebased soon after.
func (s *Store) Stale(path Path) {
	moving := s.those(func(p *Proposal) bool {
		r := p.rename()
		return (p.Path == path || r != nil && r.To == path) && (p.Undecided() || p.unsaved())
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

// moving returns the proposals of a path that go along with its tree: the
// undecided ones, and those accepted into a buffer that is not saved.
func (s *Store) moving(path Path) []*Proposal {
	return s.those(func(p *Proposal) bool { return p.Path == path && (p.Undecided() || p.unsaved()) })
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
			var gone []Hunk
			q, gone = p.land(q)
			told = append(told, gone...)
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
	changed, told := s.gatherOpen(changed)
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
// reopened after it went on to another one become part of that. It returns what
// the agent is told.
func (s *Store) gatherOpen(changed []*Proposal) ([]*Proposal, []savedReview) {
	var reviews []savedReview
	for i, older := range changed {
		if !slices.ContainsFunc(older.Hunks, func(h Hunk) bool { return h.State == HunkOpen && !h.property() }) {
			continue
		}
		all := s.those(func(p *Proposal) bool { return p.Path == older.Path && p.Session == older.Session })
		for _, p := range slices.Backward(all) {
			at := slices.IndexFunc(changed, func(c *Proposal) bool { return c.ID == p.ID })
			if at >= 0 {
				p = changed[at]
			}
			if !p.newer(older) || !p.Undecided() || !sameContent(p.Base, older.Base) {
				continue
			}
			if at < 0 {
				at, changed = len(changed), append(changed, p)
			}
			var told []Hunk
			changed[at], changed[i], told = p.adopt(older)
			changed[i].stamp(told, s.now().UTC())
			reviews = append(reviews, s.reviewsOf(older, changed[i], told)...)
			break
		}
	}
	return changed, reviews
}
