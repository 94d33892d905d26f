package diffpreview

import (
	"cmp"
	"path"
	"slices"
)

// places finds proposals by where they are: thousands may be open in one session,
// and each call asks for those of its paths several times. It is guarded by Store.mu.
type places struct {
	at    map[Path]map[string]*Proposal // by every place that they speak of
	under map[Path]map[string]*Proposal // by the directories above these, up to the root
}

func newPlaces() places {
	return places{at: map[Path]map[string]*Proposal{}, under: map[Path]map[string]*Proposal{}}
}

// spots are the places by which p is found: where the tree has its file, and its
// undecided new name.
func (p *Proposal) spots() []Path {
	if r := p.rename(); r != nil {
		return []Path{p.Path, r.To}
	}
	return []Path{p.Path}
}

func (l *places) add(p *Proposal) {
	for _, spot := range p.spots() {
		enter(l.at, spot, p)
		for dir := spot; dir.rel != "."; {
			dir.rel = path.Dir(dir.rel)
			enter(l.under, dir, p)
		}
	}
}

func (l *places) remove(p *Proposal) {
	if p == nil {
		return
	}
	for _, spot := range p.spots() {
		leave(l.at, spot, p)
		for dir := spot; dir.rel != "."; {
			dir.rel = path.Dir(dir.rel)
			leave(l.under, dir, p)
		}
	}
}

func enter(m map[Path]map[string]*Proposal, at Path, p *Proposal) {
	if m[at] == nil {
		m[at] = map[string]*Proposal{}
	}
	m[at][p.ID] = p
}

func leave(m map[Path]map[string]*Proposal, at Path, p *Proposal) {
	delete(m[at], p.ID)
	if len(m[at]) == 0 {
		delete(m, at)
	}
}

// thoseAt returns the proposals that speak of a place and fit, the oldest first.
func (s *Store) thoseAt(at Path, fit func(p *Proposal) bool) []*Proposal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fitting(s.places.at[at], fit)
}

// thoseUnder returns the proposals that speak of a place below a directory and fit,
// the oldest first.
func (s *Store) thoseUnder(dir Path, fit func(p *Proposal) bool) []*Proposal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fitting(s.places.under[dir], fit)
}

// those returns the proposals that fit, the oldest first.
func (s *Store) those(fit func(p *Proposal) bool) []*Proposal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fitting(s.proposals, fit)
}

func fitting(among map[string]*Proposal, fit func(p *Proposal) bool) []*Proposal {
	var out []*Proposal
	for _, p := range among {
		if fit(p) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *Proposal) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return out
}
