package diffpreview

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// maxSeen bounds the files of which a session remembers what its agent saw.
	// The ones that were seen longest ago are forgotten, as if never read.
	maxSeen = 1024
	// seenDelay is how long what an agent saw may wait for a record to go with
	// before it gets one of its own, which nobody waits for.
	seenDelay = time.Second
)

// sight is what a session's agent read or wrote last at a path.
type sight struct {
	hash string
	at   int // its number among all sights
}

type sightKey struct {
	session string
	path    Path
}

// sights are what agents saw. They are guarded by Store.mu.
type sights struct {
	last    int               // number of the newest
	pending map[sightKey]bool // not in the journal
}

// savedSight is a sight in the journal. Of two about one file the one with the
// higher number counts, wherever they stand.
type savedSight struct {
	Session string `json:"session"`
	Root    osName `json:"root"`
	Rel     osName `json:"rel"`
	Hash    string `json:"hash"`
	At      int    `json:"at"`
}

// Saw notes which bytes the session read or wrote last at p. It is remembered
// over a restart, unless the daemon is killed within seenDelay.
func (v *View) Saw(p Path, hash string) {
	s := v.store
	s.mu.Lock()
	sess := s.sessions[v.session]
	if sess == nil {
		s.mu.Unlock()
		return
	}
	news := sess.seen[p].hash != hash || sess.seen[p].at == 0
	s.sights.last++
	sess.sees(p, sight{hash, s.sights.last})
	if news {
		s.sights.pending[sightKey{v.session, p}] = true
	}
	s.mu.Unlock()
	if news {
		wake(s.saw)
	}
}

// LastSeen returns what Saw noted last.
func (v *View) LastSeen(p Path) (hash string, ok bool) {
	v.store.mu.Lock()
	defer v.store.mu.Unlock()
	if sess := v.store.sessions[v.session]; sess != nil {
		one, ok := sess.seen[p]
		return one.hash, ok
	}
	return "", false
}

// sees notes a sight, and forgets the oldest quarter when there are too many.
func (sess *session) sees(p Path, one sight) {
	if sess.seen == nil {
		sess.seen = map[Path]sight{}
	}
	sess.seen[p] = one
	if len(sess.seen) <= maxSeen {
		return
	}
	paths := slices.SortedFunc(maps.Keys(sess.seen), func(a, b Path) int {
		return cmp.Compare(sess.seen[a].at, sess.seen[b].at)
	})
	for _, old := range paths[:maxSeen/4] {
		delete(sess.seen, old)
	}
}

// takeSeen returns the sights that are not in the journal, of the sessions that
// can be joined again. The caller journals them or gives them back.
func (s *Store) takeSeen() []savedSight {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []savedSight
	for key := range s.sights.pending {
		if sess := s.sessions[key.session]; sess != nil && sess.Open {
			if one, ok := sess.seen[key.path]; ok {
				out = append(out, s.saveSight(key.session, key.path, one))
			}
		}
	}
	clear(s.sights.pending)
	slices.SortFunc(out, func(a, b savedSight) int { return cmp.Compare(a.At, b.At) })
	return out
}

func (s *Store) giveSeenBack(seen []savedSight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range seen {
		if p, ok := s.savedPath(seen[i].Root, seen[i].Rel); ok {
			s.sights.pending[sightKey{seen[i].Session, p}] = true
		}
	}
}

func (s *Store) saveSight(session string, p Path, one sight) savedSight {
	return savedSight{session, osName(s.ws.roots[p.index].path), osName(p.rel), one.hash, one.at}
}

// savedPath is the place that a record means, if its root is still served.
func (s *Store) savedPath(at, rel osName) (Path, bool) {
	i := slices.IndexFunc(s.ws.roots, func(r *root) bool { return r.path == string(at) })
	return Path{i, string(rel)}, i >= 0
}

// journalSeen gives what was seen, and no other record took along, one of its
// own.
func (s *Store) journalSeen(sync bool) {
	s.mu.Lock()
	none := len(s.sights.pending) == 0
	s.mu.Unlock()
	if none {
		return
	}
	if err := s.log(record{}, sync, func() {}); err != nil {
		s.logger.Warn("What agents saw could not be journalled", "error", err)
	}
}
