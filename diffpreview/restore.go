package diffpreview

import (
	"fmt"
	"maps"
	"slices"
)

// replayed is what the records of a journal come to.
type replayed struct {
	proposals map[string]savedProposal
	sessions  map[string]Session
	queues    map[string][]Review
	seen      []savedSight
	counters  counters
	pending   map[int]*beginWrite
	history   []HistoryEntry // after those that counters has
	rules     []Rule         // that persons added
}

// restore replays the journal, ends interrupted writes and starts the journal
// anew with what is left.
func (s *Store) restore() error {
	if err := s.history.open(); err != nil {
		return err
	}
	r := &replayed{
		proposals: map[string]savedProposal{}, sessions: map[string]Session{},
		queues: map[string][]Review{}, pending: map[int]*beginWrite{},
	}
	if err := s.journal.replay(r.add); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(r.pending)) {
		if err := s.endInterrupted(r, r.pending[id]); err != nil {
			return err
		}
	}
	if err := s.adopt(r); err != nil {
		return err
	}
	// Without room for it the old journal goes on.
	if _, err := s.compact(); err != nil {
		s.logger.Warn("The journal could not be compacted", "error", err)
	}
	return nil
}

func (r *replayed) add(rec record) error {
	if rec.Counters != nil {
		r.counters, r.history = *rec.Counters, nil
	}
	if rec.Rules != nil {
		r.rules = *rec.Rules
		for _, rule := range r.rules {
			r.counters.Rules = max(r.counters.Rules, numberOf(rule.ID))
		}
	}
	r.take(&rec)
	for _, sess := range rec.Sessions {
		r.sessions[sess.ID] = sess
	}
	for id, n := range rec.Delivered {
		r.queues[id] = r.queues[id][min(n, len(r.queues[id])):]
	}
	r.seen = append(r.seen, rec.Seen...)
	if b := rec.Begin; b != nil {
		r.pending[b.ID] = b
		r.counters.Writes = max(r.counters.Writes, b.ID)
	}
	if e := rec.End; e != nil {
		if b := r.pending[e.ID]; b != nil && e.Applied && b.Then != nil {
			r.take(b.Then)
		}
		delete(r.pending, e.ID)
	}
	return nil
}

// take adds what holds when a record's write has happened.
func (r *replayed) take(rec *record) {
	for _, p := range rec.Proposals {
		r.proposals[p.ID] = p
	}
	for _, review := range rec.Reviews {
		r.queues[review.Session] = append(r.queues[review.Session], review.Review)
	}
	r.history = append(r.history, rec.History...)
}

// endInterrupted finishes or undoes a write that a crash interrupted. Its end is
// owed to the journal, in case that goes on as it is.
func (s *Store) endInterrupted(r *replayed, b *beginWrite) error {
	s.knowTexts(r, b)
	applied, err := s.recoverWrite(b)
	if err != nil {
		return fmt.Errorf("ending an interrupted write: %w", err)
	}
	s.logger.Warn("An interrupted write was ended", "write", b.ID, "applied", applied)
	if applied && b.Then != nil {
		then := *b.Then
		// One that was half done while the daemon went on may have been answered by
		// newer states.
		then.Proposals = slices.DeleteFunc(slices.Clone(then.Proposals), func(p savedProposal) bool {
			return r.proposals[p.ID].Version >= p.Version
		})
		r.take(&then)
	}
	end := record{End: &endWrite{ID: b.ID, Applied: applied}}
	line, err := s.journal.sealed(&end)
	if err == nil {
		s.journal.owed = append(append(s.journal.owed, line.line("")...), '\n')
	}
	return err
}

// knowTexts finds the texts of a write whose record does not name them, as those
// of older versions do not: they are bases, before and after.
func (s *Store) knowTexts(r *replayed, b *beginWrite) {
	if b.Texts != nil || b.Then == nil {
		return
	}
	b.Texts = map[string]savedText{}
	for _, p := range b.Then.Proposals {
		for _, base := range []savedText{p.Base, r.proposals[p.ID].Base} {
			if data, err := s.journal.load(base); err == nil {
				b.Texts[hashBytes(data)] = base
			}
		}
	}
}

// adopt makes the replayed state the store's.
func (s *Store) adopt(r *replayed) error {
	s.counters, s.added = r.counters, r.rules
	for id := range r.proposals {
		saved := r.proposals[id]
		s.counters.Proposals = max(s.counters.Proposals, numberOf(id))
		if len(saved.Hunks) == 0 {
			continue // withdrawn: nothing can be undone
		}
		p, err := s.loadProposal(&saved)
		if err != nil {
			return err
		}
		if p != nil {
			s.put(p)
		}
	}
	s.drop(s.retention.trim())
	named := map[string]bool{}
	for _, p := range s.proposals {
		named[p.Session] = true
	}
	for id, saved := range r.sessions {
		s.counters.Sessions = max(s.counters.Sessions, numberOf(id))
		if !named[id] && len(r.queues[id]) == 0 && (!saved.Open || s.now().Sub(saved.Created) > keepSession) {
			continue // its agent has nothing to come back for
		}
		sess := &session{Session: saved}
		for _, review := range r.queues[id] {
			sess.queue(review)
		}
		s.sessions[id] = sess
	}
	s.adoptSeen(r.seen)
	s.history.restore(r.counters.History, r.history)
	return nil
}

func (s *Store) adoptSeen(seen []savedSight) {
	for _, one := range seen {
		s.sights.last = max(s.sights.last, one.At)
		sess := s.sessions[one.Session]
		p, ok := s.savedPath(one.Root, one.Rel)
		if ok && sess != nil && sess.Open && sess.seen[p].at < one.At {
			sess.sees(p, sight{one.Hash, one.At})
		}
	}
}

// numberOf is the number in an id.
func numberOf(id string) int {
	n := 0
	fmt.Sscanf(id[min(1, len(id)):], "%d", &n)
	return n
}
