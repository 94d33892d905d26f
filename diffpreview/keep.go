package diffpreview

import (
	"context"
	"errors"
)

// keep journals new states, makes them visible and tells of them.
func (s *Store) keep(proposals []*Proposal, reviews []savedReview) error {
	in := s.journal.hold()
	defer in.release()
	rec, err := s.recordOf(in, proposals, reviews)
	if err != nil {
		return err
	}
	if err := s.log(rec, true, func() { s.show(proposals, reviews) }); err != nil {
		return err
	}
	s.tell(proposals)
	return nil
}

// recordOf is the record of new states, whose texts are put away through in.
func (s *Store) recordOf(in *hold, proposals []*Proposal, reviews []savedReview) (record, error) {
	rec := record{Reviews: reviews}
	for _, p := range proposals {
		saved, err := s.saveProposal(in, p)
		if err != nil {
			return record{}, err
		}
		rec.Proposals = append(rec.Proposals, saved)
	}
	for i := range reviews {
		rec.History = append(rec.History, reviews[i].entry)
	}
	return rec, nil
}

// log appends a record and does then, which makes what it tells of visible. It
// takes along what agents saw.
func (s *Store) log(rec record, sync bool, then func()) error {
	rec.Seen = s.takeSeen()
	line, err := s.journal.sealed(&rec)
	if err == nil {
		s.order.Lock()
		if err = s.journal.appendLine(line, false, sync); err == nil {
			s.journal.step("logged")
			s.history.add(rec.History)
			then()
		}
		s.order.Unlock()
	}
	if err != nil {
		s.giveSeenBack(rec.Seen)
		return err
	}
	if s.journal.due() {
		wake(s.grown)
	}
	return nil
}

// show makes journalled states visible. The caller holds order.
func (s *Store) show(proposals []*Proposal, reviews []savedReview) {
	s.put(proposals...)
	s.addReviews(reviews)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.retention.trim())
}

func (s *Store) tell(proposals []*Proposal) {
	for _, p := range proposals {
		s.publish(Event{Proposal: p})
	}
}

// wake fills a channel of capacity 1.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// write changes the disk between two records of the journal: what is about to
// happen, with the states that then hold, and how it ended.
func (s *Store) write(ctx context.Context, writes []write, after []*Proposal, reviews []savedReview) error {
	in := s.journal.hold()
	defer in.release()
	then, err := s.recordOf(in, after, reviews)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.counters.Writes++
	id := s.counters.Writes
	s.mu.Unlock()
	var begun *beginWrite
	_, err = s.ws.apply(ctx, writes, func(will intent) error {
		begin := &beginWrite{ID: id, Intent: will, Then: &then}
		var err error
		if begin.Texts, err = textsOf(in, will, writes); err != nil {
			return err
		}
		return s.log(record{Begin: begin}, true, func() { begun, s.flights[id] = begin, begin })
	})
	if err == nil && begun == nil {
		return s.keep(after, reviews) // the tree was there already
	}
	applied := err == nil
	if errors.Is(err, errHalfDone) && begun != nil {
		if applied, err = s.mend(begun, err); errors.Is(err, errHalfDone) {
			return err // without its end, so that a restart tries again
		}
	}
	if begun != nil {
		s.end(begun, applied, after, reviews)
	}
	if applied {
		s.tell(after)
	}
	return err
}

// end journals how a write ended and makes visible what then holds.
func (s *Store) end(b *beginWrite, applied bool, after []*Proposal, reviews []savedReview) {
	s.order.Lock()
	// Without this line a restart looks at the files and comes to the same
	// answer, so its failure changes nothing that was answered.
	if err := s.journal.append(record{End: &endWrite{ID: b.ID, Applied: applied}}, true); err != nil {
		s.logger.Error("The end of a write could not be journalled", "write", b.ID, "error", err)
	}
	delete(s.flights, b.ID)
	if applied {
		s.history.add(b.Then.History)
		s.show(after, reviews)
	}
	s.order.Unlock()
	if s.journal.due() {
		wake(s.grown)
	}
}

// textsOf puts away what recovery may ask for.
func textsOf(in *hold, will intent, writes []write) (map[string]savedText, error) {
	needed := map[string]bool{}
	for _, hash := range will.bodies() {
		needed[hash] = true
	}
	if len(needed) == 0 {
		return nil, nil
	}
	texts := map[string]savedText{}
	for _, w := range writes {
		for _, c := range []Content{w.base, w.want} {
			hash := c.Hash()
			if _, known := texts[hash]; known || !needed[hash] {
				continue
			}
			var err error
			if texts[hash], err = in.save(c.Data); err != nil {
				return nil, err
			}
		}
	}
	return texts, nil
}

// mend tries at once what a restart would do about a write that could be
// neither finished nor taken back. It returns whether the write is in place
// now, and cause when it is not.
func (s *Store) mend(b *beginWrite, cause error) (applied bool, err error) {
	applied, err = s.recoverWrite(b)
	switch {
	case err != nil:
		s.logger.Error("A write is half done; restart the daemon to mend it", "error", err)
		return false, cause
	case applied:
		return true, nil
	}
	return false, failf(CodeIO, "", "the write failed and was taken back")
}

// recoverWrite finishes or undoes a write that did not come to its end.
func (s *Store) recoverWrite(b *beginWrite) (applied bool, err error) {
	return s.ws.recover(b.Intent, func(hash string) ([]byte, error) {
		text, ok := b.Texts[hash]
		if !ok {
			text.Body = hash
		}
		return s.journal.load(text)
	})
}
