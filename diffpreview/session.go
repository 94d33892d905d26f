package diffpreview

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Session is one agent's run, as the journal keeps it.
type Session struct {
	ID         string    `json:"id"`
	Label      string    `json:"label"`
	Toolset    string    `json:"toolset"`
	ReviewMode string    `json:"reviewMode"`
	Sandbox    string    `json:"sandbox"`
	Open       bool      `json:"open"`
	Created    time.Time `json:"created"`
}

// session is a Session with what its agent is to be told and has seen; guarded
// by Store.mu.
type session struct {
	Session
	reviews []Review
	queued  int                  // reviews numbered so far
	told    map[conflictKey]bool // conflicts that its agent knows of
	seen    map[Path]sight       // see [View.Saw]
	known   map[string]Content   // by proposal: the tree's file as its agent knows it
}

// Review is what became of one hunk, for the session's agent.
type Review struct {
	Proposal string `json:"proposal"`
	Path     string `json:"path"`
	Hunk     string `json:"hunk"`
	Decision string `json:"decision"` // accepted, modified, rejected, reopened (by an undo) or conflict
	Comment  string `json:"comment,omitempty"`
	By       string `json:"by"`
	Rule     string `json:"rule,omitempty"` // that decided in a person's place
	Hash     string `json:"hash"`           // of the tree's file afterwards, "" when there is none
	// Conflict is, of a conflict, what stands against what; nil when that is too
	// long to be told.
	Conflict *ConflictTexts `json:"-"`

	since int // of a conflict: the hunk's Since
	seq   int // of a decision: its number in the session
}

// ConflictTexts are what the agent's hunk was made of, what the tree has there
// now, and what the agent proposes.
type ConflictTexts struct{ Base, Tree, Agent string }

// maxTold bounds the texts of one conflict, and the diff of one change of the
// tree, that an agent is told, in bytes. It can read the file.
const maxTold = 8 << 10

type conflictKey struct {
	proposal, hunk string
	since          int
}

// JoinSession returns the session named by want.ID, or the open one with
// want.Label, or a new one with want's settings. It fails for an id that is
// unknown or closed.
func (s *Store) JoinSession(want Session) (Session, error) {
	s.mu.Lock()
	for _, sess := range s.sessions {
		if want.ID != "" && sess.ID == want.ID || want.ID == "" && want.Label != "" && sess.Open && sess.Label == want.Label {
			found := sess.Session
			s.mu.Unlock()
			if !found.Open {
				return Session{}, failf(CodeInvalidArguments, "", "session %s is closed", found.ID)
			}
			return found, nil
		}
	}
	if want.ID != "" {
		s.mu.Unlock()
		return Session{}, failf(CodeInvalidArguments, "", "no session %s", want.ID)
	}
	s.counters.Sessions++
	want.ID, want.Open, want.Created = fmt.Sprintf("s%d", s.counters.Sessions), true, s.now().UTC()
	if want.Label == "" {
		want.Label = want.ID
	}
	s.sessions[want.ID] = &session{Session: want} // so that no other one gets its label
	s.mu.Unlock()
	if err := s.saveSession(want); err != nil {
		s.mu.Lock()
		delete(s.sessions, want.ID) // a restart would not know it
		s.mu.Unlock()
		return Session{}, err
	}
	return want, nil
}

// saveSession journals a session's state, makes it the session's and tells of it.
func (s *Store) saveSession(now Session) error {
	err := s.log(record{Sessions: []Session{now}}, true, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if sess := s.sessions[now.ID]; sess != nil {
			sess.Session = now
		}
	})
	if err == nil {
		s.publish(Event{Session: &now})
	}
	return err
}

// CloseSession ends a session; its proposals stay decidable.
func (s *Store) CloseSession(id string) error {
	closed, ok := s.Session(id)
	if !ok {
		return failf(CodeInvalidArguments, "", "no session %s", id)
	}
	closed.Open = false
	if err := s.saveSession(closed); err != nil {
		return err
	}
	s.endRules(id)
	return nil
}

// Sessions lists all sessions, oldest first.
func (s *Store) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Session, 0, len(s.sessions))
	for _, sess := range s.sessions {
		out = append(out, sess.Session)
	}
	slices.SortFunc(out, func(a, b Session) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Session returns one session.
func (s *Store) Session(id string) (Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[id]
	if sess == nil {
		return Session{}, false
	}
	return sess.Session, true
}

func (s *Store) label(id string) string {
	sess, _ := s.Session(id)
	return sess.Label
}

// Reviews returns what the session's agent has not been told yet: decisions,
// oldest first, then the conflicts there are now. They are told once
// [Store.Told] says so.
func (s *Store) Reviews(id string) []Review {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[id]
	if sess == nil {
		return nil
	}
	out := slices.Clone(sess.reviews)
	var conflicts []Review
	for _, p := range s.proposals {
		if p.Session != id || p.restless {
			continue
		}
		for i := range p.Hunks {
			h := &p.Hunks[i]
			if h.State == HunkConflict && !sess.told[conflictKey{p.ID, h.ID, h.Since}] {
				r := reviewOf(p, h, p.Base.Hash())
				r.Conflict = p.conflictTexts(h)
				conflicts = append(conflicts, r)
			}
		}
	}
	slices.SortFunc(conflicts, func(a, b Review) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Hunk, b.Hunk))
	})
	return append(out, conflicts...)
}

// Told takes reviews, as [Store.Reviews] returned them, off what the session's
// agent is to be told. After a crash at this moment the agent hears of them
// twice, never not at all.
func (s *Store) Told(id string, reviews []Review) error {
	if len(reviews) == 0 {
		return nil
	}
	s.order.Lock()
	defer s.order.Unlock()
	decisions := 0
	s.mu.Lock()
	if sess := s.sessions[id]; sess != nil {
		if sess.told == nil {
			sess.told = map[conflictKey]bool{}
		}
		for _, r := range reviews {
			switch {
			case r.seq == 0:
				sess.told[conflictKey{r.Proposal, r.Hunk, r.since}] = true
			case len(sess.reviews) > 0 && sess.reviews[0].seq == r.seq: // else another call of the session was quicker
				sess.reviews = sess.reviews[1:]
				decisions++
			}
		}
	}
	s.mu.Unlock()
	if decisions == 0 {
		return nil
	}
	s.journal.step("telling")
	return s.journal.append(record{Delivered: map[string]int{id: decisions}}, false)
}

func (s *Store) addReviews(reviews []savedReview) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range reviews {
		if sess := s.sessions[r.Session]; sess != nil {
			sess.queue(r.Review)
		}
	}
}

func (sess *session) queue(r Review) {
	sess.queued++
	r.seq = sess.queued
	sess.reviews = append(sess.reviews, r)
}

// reviewsOf says what became of decided hunks of p, which was before.
func (s *Store) reviewsOf(before, p *Proposal, hunks []Hunk) []savedReview {
	if len(hunks) == 0 {
		return nil
	}
	var out []savedReview
	hashBefore, hash := before.Base.Hash(), p.Base.Hash()
	for i := range hunks {
		r := reviewOf(p, &hunks[i], hash)
		out = append(out, savedReview{p.Session, r, s.historyOf(before, p, hashBefore, &hunks[i], &r)})
	}
	return out
}

func reviewOf(p *Proposal, h *Hunk, hash string) Review {
	r := Review{Proposal: p.ID, Path: p.Name, Hunk: h.ID, Decision: string(h.State), By: treeName, Hash: hash, since: h.Since}
	if d := h.Decision; d != nil {
		r.By, r.Comment, r.Rule = d.By, d.Comment, d.Rule
		switch {
		case d.Modified:
			r.Decision = "modified"
		case !h.decided():
			r.Decision = "reopened"
		}
	}
	return r
}

// Pending is how many undecided proposals a session has.
func (s *Store) Pending(id string) int {
	n := 0
	for _, p := range s.snapshot() {
		if p.Session == id && p.Undecided() {
			n++
		}
	}
	return n
}
