package diffpreview

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// Moved is a change of the tree under one of a session's undecided proposals,
// which stands on the new text now.
type Moved struct {
	Proposal  string
	Path      string
	Hash      string // of the tree's file now, "" when there is none
	Diff      string // unified, from what the agent knew to what there is
	Truncated bool   // Diff is cut at maxTold bytes

	now Content
}

// learn notes which text of the tree a proposal's agent knows: the one it was
// made on, and with it what was accepted since. The caller holds mu.
func (s *Store) learn(was, p *Proposal) {
	sess := s.sessions[p.Session]
	if sess == nil {
		return
	}
	if !p.Undecided() {
		delete(sess.known, p.ID)
		return
	}
	known, ok := sess.known[p.ID]
	switch {
	case !ok && p.origin != nil:
		known = p.origin.Base // after a restart
	case !ok, p.origin == nil && was != nil && sameContent(known, was.Base):
		known = p.Base
	}
	if sess.known == nil {
		sess.known = map[string]Content{}
	}
	sess.known[p.ID] = known
}

// Moved returns what moved in the tree under the session's undecided proposals
// since its agent was last told ([Store.ToldMoved]), sorted by path.
func (s *Store) Moved(session string) []Moved {
	type change struct {
		p    *Proposal
		from Content
	}
	var changes []change
	s.mu.Lock()
	if sess := s.sessions[session]; sess != nil {
		for id, known := range sess.known {
			if p := s.proposals[id]; p != nil && !p.restless && p.Undecided() {
				changes = append(changes, change{p, known})
			}
		}
	}
	s.mu.Unlock()
	var out []Moved
	for _, c := range changes {
		if sameContent(c.from, c.p.Base) {
			continue
		}
		m := Moved{Proposal: c.p.ID, Path: c.p.Name, Hash: c.p.Base.Hash(), now: c.p.Base}
		m.Diff, _ = RenderDiff(c.p.Name, c.from, c.p.Base)
		m.Diff, m.Truncated = cutLines(m.Diff, maxTold)
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Moved) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Proposal, b.Proposal)) })
	return out
}

// ToldMoved takes what [Store.Moved] returned off what the session's agent is to
// be told.
func (s *Store) ToldMoved(session string, moved []Moved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[session]
	if sess == nil {
		return
	}
	for _, m := range moved {
		if _, ok := sess.known[m.Proposal]; ok {
			sess.known[m.Proposal] = m.now
		}
	}
}

// cutLines cuts a text to at most limit bytes, behind a line where it can.
func cutLines(text string, limit int) (cut string, truncated bool) {
	if len(text) <= limit {
		return text, false
	}
	if end := strings.LastIndexByte(text[:limit], '\n'); end >= 0 {
		return text[:end+1], true
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit], true
}

// conflictTexts are the three texts of a conflict, nil when they are too long to
// be told.
func (p *Proposal) conflictTexts(h *Hunk) *ConflictTexts {
	if h.property() {
		return nil
	}
	tree := p.TreeText(h)
	if len(h.Old)+len(h.New)+len(tree) > maxTold {
		return nil
	}
	var out ConflictTexts
	out.Base, _ = p.Text(h.Old)
	out.Tree, _ = p.Text(tree)
	out.Agent, _ = p.Text(h.New)
	return &out
}

// AwaitDecided is [Store.AwaitDecided] for the view's session.
func (v *View) AwaitDecided(ctx context.Context, ids []string, progress func(left int)) error {
	return v.store.AwaitDecided(ctx, v.session, ids, progress)
}

// Proposal is [Store.Get] for the session's own proposals; others are unknown.
func (v *View) Proposal(id string) (*Proposal, error) {
	p, err := v.store.Get(id)
	if err == nil && p.Session != v.session {
		return nil, failf(CodeUnknownProposal, "", "no proposal %s in this session", id)
	}
	return p, err
}

// Undecided lists those of the session's proposals that wait for a person, by
// age: the ones that ids names, or all without ids.
func (v *View) Undecided(ids []string) []*Proposal {
	return v.store.undecided(v.session, ids)
}

func (s *Store) undecided(session string, ids []string) []*Proposal {
	return s.those(func(p *Proposal) bool {
		return p.Session == session && p.Undecided() && (len(ids) == 0 || slices.Contains(ids, p.ID))
	})
}

// AwaitDecided returns when nothing is undecided of the session's proposals that
// ids names, or of all without ids, or with ctx's error. It calls progress, unless
// that is nil, with how many proposals are undecided, at first and when that
// changes.
func (s *Store) AwaitDecided(ctx context.Context, session string, ids []string, progress func(left int)) error {
	last := -1
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		left := len(s.undecided(session, ids))
		if left != last && progress != nil {
			progress(left)
		}
		if left == 0 {
			return nil
		}
		last = left
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
