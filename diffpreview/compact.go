package diffpreview

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"
)

// A compaction replaces the journal by one that holds what lives. Proposals go
// on to be made and decided meanwhile. It goes through these stages, and a crash
// may come between any two of them:
//
//	look     what is visible is noted, and how long the journal is: it holds just that
//	history  the entries until then are written to the history's file, and synced
//	write    a new journal is written beside the old: what was noted, the writes
//	         that are begun and not ended, and the records that came meanwhile
//	swap     with appending stopped, the last records are copied, the new journal
//	         is synced and renamed over the old
//	sweep    bodies are removed that the new journal does not name
//
// Until the rename a restart finds the old journal whole; history entries that it
// shares with the file are known by their numbers. After it, the new one.
type compaction struct {
	Before, After int64         // bytes, bodies included
	Took          time.Duration // all of it
	Paused        time.Duration // for how long no record could be appended
}

// image is what a journal must hold.
type image struct {
	at        int64 // the length of the journal that comes to this
	counters  counters
	rules     []Rule
	proposals []*Proposal
	sessions  []imageSession
	flights   []*beginWrite
}

type imageSession struct {
	Session
	reviews []Review
	seen    map[Path]sight
}

// journalLoop compacts the journal when it is due, and gives what agents saw to
// it in time.
func (s *Store) journalLoop() {
	var late <-chan time.Time
	for {
		select {
		case <-s.grown:
			s.compactIfDue()
		case <-s.saw:
			if late == nil {
				late = time.After(seenDelay)
			}
		case <-late:
			late = nil
			s.journalSeen(false)
		case <-s.closed:
			return
		}
	}
}

func (s *Store) compactIfDue() {
	if !s.journal.due() {
		return // it was compacted meanwhile
	}
	c, err := s.compact()
	if err != nil {
		s.logger.Warn("The journal could not be compacted", "error", err)
		return
	}
	s.logger.Info("Journal compacted", "before", c.Before, "after", c.After, "took", c.Took, "paused", c.Paused)
}

// compact makes the journal as small as it can be. After a failure the old one
// is in use, and the next compaction is due when there is more to win.
func (s *Store) compact() (c compaction, err error) {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	started := time.Now()
	least := s.retention.limits.Journal
	c.Before = s.journal.bytes()
	s.journal.announce()
	now := s.look()
	looked := time.Since(started)
	s.journal.step("looked")
	if err = s.history.save(now.counters.History, s.journal.step); err == nil {
		c.Paused, err = s.journal.rewrite(now.at, func(w io.Writer) error { return s.writeImage(w, &now) })
		if err == nil {
			// A body that stays costs room, no more.
			if e := s.journal.sweep(now.texts(), s.journal.step); e != nil {
				s.logger.Warn("Texts that no record names could not be removed", "error", e)
			}
		}
	}
	c.After, c.Took, c.Paused = s.journal.bytes(), time.Since(started), max(c.Paused, looked)
	if err != nil {
		s.journal.cancel()
		s.journal.next(c.After + least/4)
		return c, err
	}
	s.journal.next(max(least, journalGrowth*c.After))
	return c, nil
}

// look notes what is visible, which is what the records of the journal come to.
func (s *Store) look() image {
	s.order.Lock()
	defer s.order.Unlock()
	now := image{at: s.journal.length()}
	for _, id := range slices.Sorted(maps.Keys(s.flights)) {
		now.flights = append(now.flights, s.flights[id])
	}
	s.history.mu.Lock()
	last := s.history.last
	s.history.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now.counters, now.rules = s.counters, s.added
	now.counters.History = last
	for _, p := range s.proposals {
		if len(p.Hunks) > 0 { // else withdrawn
			now.proposals = append(now.proposals, p)
		}
	}
	for _, sess := range s.sessions {
		one := imageSession{Session: sess.Session, reviews: slices.Clone(sess.reviews)}
		if sess.Open {
			one.seen = maps.Clone(sess.seen)
		}
		now.sessions = append(now.sessions, one)
	}
	return now
}

// writeImage writes the records of an image, a proposal at a time.
func (s *Store) writeImage(w io.Writer, now *image) error {
	in := s.journal.hold()
	defer in.release()
	write := func(rec record) error {
		line, err := s.journal.sealed(&rec)
		if err == nil {
			err = line.write(w, nil)
		}
		return err
	}
	if err := write(record{Counters: &now.counters, Rules: &now.rules}); err != nil {
		return err
	}
	slices.SortFunc(now.sessions, func(a, b imageSession) int { return byNumber(a.ID, b.ID) })
	for i := range now.sessions {
		if err := write(s.recordOfSession(&now.sessions[i])); err != nil {
			return err
		}
	}
	slices.SortFunc(now.proposals, func(a, b *Proposal) int { return byNumber(a.ID, b.ID) })
	for _, p := range now.proposals {
		rec, err := s.recordOf(in, []*Proposal{p}, nil)
		if err == nil {
			err = write(rec)
		}
		if err != nil {
			return err
		}
	}
	for _, b := range now.flights {
		if err := write(record{Begin: b}); err != nil {
			return err
		}
	}
	return nil
}

// texts are the bodies that the image names and that nobody saves for it: those
// of writes. A proposal's are saved when its record is made, if they are there or
// not, which is after the sweep was announced.
func (now *image) texts() map[string]bool {
	keep := map[string]bool{}
	for _, b := range now.flights {
		rec := record{Begin: b}
		rec.texts(func(body string) { keep[body] = true })
	}
	return keep
}

func (s *Store) recordOfSession(sess *imageSession) record {
	rec := record{Sessions: []Session{sess.Session}}
	for _, r := range sess.reviews {
		rec.Reviews = append(rec.Reviews, savedReview{Session: sess.ID, Review: r})
	}
	for p, one := range sess.seen {
		rec.Seen = append(rec.Seen, s.saveSight(sess.ID, p, one))
	}
	slices.SortFunc(rec.Seen, func(a, b savedSight) int { return cmp.Compare(a.At, b.At) })
	return rec
}

// texts names the bodies that a record needs.
func (rec *record) texts(add func(body string)) {
	for i := range rec.Proposals {
		rec.Proposals[i].texts(add)
	}
	if b := rec.Begin; b != nil {
		for _, text := range b.Texts {
			add(text.Body)
		}
		if b.Then != nil {
			b.Then.texts(add)
		}
	}
}

// byNumber orders ids by their numbers.
func byNumber(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
