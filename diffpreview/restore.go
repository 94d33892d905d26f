package diffpreview

import (
	"fmt"
	"maps"
	"slices"
)

// restore replays the journal, ends interrupted writes and starts the journal
// anew with what is left.
func (s *Store) restore() error {
	saved := map[string]savedProposal{}
	pending := map[int]*beginWrite{}
	queues := map[string][]Review{}
	take := func(rec record) {
		for _, p := range rec.Proposals {
			saved[p.ID] = p
		}
		for _, r := range rec.Reviews {
			queues[r.Session] = append(queues[r.Session], r.Review)
		}
	}
	err := s.journal.replay(func(rec record) error {
		take(rec)
		for _, sess := range rec.Sessions {
			s.sessions[sess.ID] = &session{Session: sess}
		}
		for id, n := range rec.Delivered {
			queues[id] = queues[id][min(n, len(queues[id])):]
		}
		if rec.Counters != nil {
			s.counters = *rec.Counters
		}
		if rec.Rules != nil {
			s.added = *rec.Rules
			for _, r := range s.added {
				var n int
				fmt.Sscanf(r.ID, "r%d", &n)
				s.counters.Rules = max(s.counters.Rules, n)
			}
		}
		if b := rec.Begin; b != nil {
			pending[b.ID] = b
			s.counters.Writes = max(s.counters.Writes, b.ID)
		}
		if e := rec.End; e != nil {
			if b := pending[e.ID]; b != nil && e.Applied && b.Then != nil {
				take(*b.Then)
			}
			delete(pending, e.ID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(pending)) {
		applied, err := s.endWrite(pending[id], saved)
		if err != nil {
			return err
		}
		if applied && pending[id].Then != nil {
			take(*pending[id].Then)
		}
	}
	return s.adopt(saved, queues)
}

// endWrite finishes or undoes a write that a crash interrupted.
func (s *Store) endWrite(b *beginWrite, saved map[string]savedProposal) (applied bool, err error) {
	bodies := map[string][]byte{}
	know := func(p savedProposal) {
		if data, err := s.journal.load(p.Base); err == nil {
			bodies[hashBytes(data)] = data
		}
	}
	if b.Then != nil {
		for _, p := range b.Then.Proposals {
			know(p)
			know(saved[p.ID])
		}
	}
	applied, err = s.ws.recover(b.Intent, func(hash string) ([]byte, error) {
		if data, ok := bodies[hash]; ok {
			return data, nil
		}
		return s.journal.body(hash)
	})
	if err != nil {
		return false, fmt.Errorf("ending an interrupted write: %w", err)
	}
	s.logger.Warn("An interrupted write was ended", "write", b.ID, "applied", applied)
	return applied, nil
}

// adopt makes the replayed state the store's and rewrites the journal to it.
func (s *Store) adopt(saved map[string]savedProposal, queues map[string][]Review) error {
	for id, sp := range saved {
		p, err := s.loadProposal(&sp)
		if err != nil {
			return err
		}
		if p == nil {
			delete(saved, id)
			continue
		}
		s.proposals[id] = p
		var n int
		fmt.Sscanf(id, "p%d", &n)
		s.counters.Proposals = max(s.counters.Proposals, n)
	}
	s.forget(saved, queues)
	for _, p := range s.proposals {
		s.learn(nil, p)
	}
	rec := record{Counters: &s.counters, Rules: &s.added}
	keep := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(saved)) {
		sp := saved[id]
		rec.Proposals = append(rec.Proposals, sp)
		sp.texts(func(body string) { keep[body] = true })
	}
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		sess := s.sessions[id]
		rec.Sessions = append(rec.Sessions, sess.Session)
		for _, r := range queues[id] {
			sess.queue(r)
			rec.Reviews = append(rec.Reviews, savedReview{id, r})
		}
		var n int
		fmt.Sscanf(id, "s%d", &n)
		s.counters.Sessions = max(s.counters.Sessions, n)
	}
	return s.journal.restart(rec, keep)
}

// forget drops the oldest decided proposals over keepDecided, and withdrawn
// ones, which cannot be undone; then the sessions that nothing names and whose
// agent has nothing to hear, when they are closed or old.
func (s *Store) forget(saved map[string]savedProposal, queues map[string][]Review) {
	var decided []*Proposal
	for id, p := range s.proposals {
		switch {
		case p.Undecided():
		case len(p.Hunks) == 0:
			delete(s.proposals, id)
			delete(saved, id)
		default:
			decided = append(decided, p)
		}
	}
	slices.SortFunc(decided, func(a, b *Proposal) int { return b.Created.Compare(a.Created) })
	for i, p := range decided {
		if i >= keepDecided {
			delete(s.proposals, p.ID)
			delete(saved, p.ID)
		}
	}
	named := map[string]bool{}
	for _, p := range s.proposals {
		named[p.Session] = true
	}
	for id, sess := range s.sessions {
		if !named[id] && len(queues[id]) == 0 && (!sess.Open || s.now().Sub(sess.Created) > keepSession) {
			delete(s.sessions, id)
		}
	}
}
