package diffpreview

import (
	"slices"
	"time"
)

// Stale says that the tree at a path may have moved. It returns at once; the
// proposals there are rebased soon after.
func (s *Store) Stale(path Path) {
	if len(s.at(path, "")) == 0 {
		return
	}
	s.mu.Lock()
	s.stale[path] = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
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
	if now, err := s.tree(path); err == nil {
		if wait := now.unsettled(s.now()); wait > 0 {
			time.AfterFunc(wait, func() { s.Stale(path) })
			return
		}
	}
	unlock := s.paths.lock(path)
	defer unlock()
	if err := s.refresh(path); err != nil {
		s.logger.Warn("Tree could not be read", "path", s.ws.Name(path), "error", err)
	}
}

// refresh rebases the undecided proposals at a path onto the tree. The
// caller holds the path's lock.
func (s *Store) refresh(path Path) error {
	undecided := s.at(path, "")
	if len(undecided) == 0 {
		return nil
	}
	now, err := s.tree(path)
	if err != nil {
		return err
	}
	wait := now.unsettled(s.now())
	var changed []*Proposal
	var reviews []savedReview
	for _, p := range undecided {
		q, told := p.rebase(now, wait == 0)
		if q == p {
			continue
		}
		if q.Version == p.Version {
			s.put(q) // the same text, in an editor now or no longer
			continue
		}
		changed = append(changed, q)
		reviews = append(reviews, s.reviewsOf(q, told)...)
	}
	if wait > 0 && slices.ContainsFunc(changed, func(p *Proposal) bool { return p.restless }) {
		time.AfterFunc(wait, func() { s.Stale(path) })
	}
	if len(changed) == 0 {
		return nil
	}
	return s.keep(changed, reviews)
}
