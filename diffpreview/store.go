package diffpreview

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// keepSession is how old a session without proposals must be to be forgotten at
// a restart: its agent may be between two calls, but not for a day.
const keepSession = 24 * time.Hour

// Store is the review engine of one daemon: sessions, their proposals, the
// decisions, and the journal. It is safe for concurrent use.
//
// Locks are taken in this order: the paths' (sorted), then order, then mu, then
// the journal's and the history's. A path's lock is held over file I/O on that
// path; mu never is.
type Store struct {
	ws      *Workspace
	check   func(before, after []byte) error
	journal *journal
	docs    *documents
	logger  *slog.Logger
	now     func() time.Time
	paths   pathLocks
	history *history

	// order is held from the appending of a record until what it tells of is
	// visible, so that memory changes in the order of the journal, and a
	// compaction finds every record of the journal in memory.
	order      sync.Mutex
	flights    map[int]*beginWrite // writes that are begun and not ended; guarded by order
	compacting sync.Mutex          // held by a compaction; comes before order

	ruling sync.Mutex // held over a change of added, before mu

	mu          sync.Mutex // guards the fields below
	sessions    map[string]*session
	proposals   map[string]*Proposal
	places      places // of proposals
	counters    counters
	subscribers []func(Event)
	changed     chan struct{} // closed and renewed when proposals change
	configured  []Rule        // from configuration
	noAuto      bool          // see [Store.ForbidAuto]
	added       []Rule        // by persons
	stale       map[Path]bool // whose tree may have moved
	retention   retention
	sights      sights

	wake   chan struct{} // capacity 1: stale is not empty
	grown  chan struct{} // capacity 1: the journal is due
	saw    chan struct{} // capacity 1: sights are pending
	closed chan struct{} // closed by Close
	done   sync.WaitGroup
}

// Event is something that editors and reviewers are told. One member is set.
type Event struct {
	Proposal *Proposal
	Session  *Session
}

// Options configure a [Store].
type Options struct {
	Dir    string // of the journal: private, outside the workspace
	Limits Limits
	Logger *slog.Logger
	Now    func() time.Time // nil: time.Now
	// Check is asked whether an agent may propose a text where there was another one
	// (nil for none), or a file of this name; its error is the proposal's. nil: all
	// is allowed.
	Check func(before, after []byte) error

	step func(stage string) // see journal
}

// Open brings back what the journal in opts.Dir holds for ws and finishes or
// undoes the writes that a crash interrupted. Only one store may be open on a
// directory; the caller sees to that.
func Open(ws *Workspace, opts Options) (*Store, error) {
	j, err := openJournal(opts.Dir)
	if err != nil {
		return nil, err
	}
	if opts.step != nil {
		j.step = opts.step
	}
	s := &Store{
		ws: ws, check: opts.Check, journal: j, docs: newDocuments(), logger: opts.Logger, now: opts.Now,
		sessions: map[string]*session{}, proposals: map[string]*Proposal{}, places: newPlaces(),
		changed: make(chan struct{}), stale: map[Path]bool{}, wake: make(chan struct{}, 1), closed: make(chan struct{}),
		grown: make(chan struct{}, 1), saw: make(chan struct{}, 1), flights: map[int]*beginWrite{},
		sights:    sights{pending: map[sightKey]bool{}},
		retention: retention{limits: opts.Limits.orDefaults(), decided: map[string]retained{}},
		history:   &history{dir: opts.Dir, limit: opts.Limits.orDefaults().History, seal: j.seal},
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if err := s.restore(); err != nil {
		j.close()
		return nil, err
	}
	s.done.Go(s.refreshLoop)
	s.done.Go(s.journalLoop)
	return s, nil
}

// Close stops the store. What was answered is on the disk already.
func (s *Store) Close() error {
	close(s.closed)
	s.done.Wait()
	s.journalSeen(true)
	return s.journal.close()
}

// Workspace is the tree that the store guards.
func (s *Store) Workspace() *Workspace { return s.ws }

// Subscribe calls f for every change, in order per proposal. f must not block
// and must not call the store.
func (s *Store) Subscribe(f func(Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, f)
}

func (s *Store) publish(events ...Event) {
	s.mu.Lock()
	subscribers := s.subscribers
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	for _, e := range events {
		for _, f := range subscribers {
			f(e)
		}
	}
}

// Filter narrows a list of proposals. Empty members match everything; without
// a State the undecided ones match.
type Filter struct {
	Session string // an id or a label
	Path    string // as [Workspace.Resolve] takes it
	State   State
}

// List returns the proposals that match, sorted by path, then by age. Each
// stands on the tree as it is now.
func (s *Store) List(f Filter) ([]*Proposal, error) {
	var at *Path
	if f.Path != "" {
		p, _, err := s.ws.Resolve(f.Path)
		if err != nil {
			return nil, err
		}
		at = &p
	}
	out := []*Proposal{}
	for _, p := range s.snapshot() {
		if f.Session != "" && p.Session != f.Session && s.label(p.Session) != f.Session || at != nil && p.Path != *at {
			continue
		}
		if p.Undecided() {
			fresh, err := s.refreshed(p.ID)
			if err != nil {
				s.logger.Warn("Tree could not be read", "proposal", p.ID, "path", p.Name, "error", err)
			} else {
				p = fresh
			}
		}
		if p.State() == f.State || f.State == "" && p.Undecided() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *Proposal) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), byNumber(a.ID, b.ID))
	})
	return out, nil
}

// Get returns a proposal, standing on the tree as it is now.
func (s *Store) Get(id string) (*Proposal, error) {
	p, err := s.find(id)
	if err != nil || !p.Undecided() {
		return p, err
	}
	return s.refreshed(id)
}

func (s *Store) find(id string) (*Proposal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.proposals[id]
	if p == nil {
		return nil, failf(CodeUnknownProposal, "", "no proposal %s", id)
	}
	return p, nil
}

// refreshed rebases the proposals at id's path if the tree has moved.
func (s *Store) refreshed(id string) (*Proposal, error) {
	p, err := s.find(id)
	if err != nil {
		return nil, err
	}
	unlock := s.paths.lock(p.Path)
	defer unlock()
	if err := s.refresh(p.Path, false); err != nil {
		return nil, err
	}
	return s.find(id)
}

func (s *Store) snapshot() []*Proposal {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Proposal, 0, len(s.proposals))
	for _, p := range s.proposals {
		out = append(out, p)
	}
	return out
}

// Undecided returns the paths that undecided proposals or open documents
// stand on: what is worth watching.
func (s *Store) Undecided() []Path {
	seen := map[Path]bool{}
	for _, p := range s.snapshot() {
		if p.Undecided() {
			seen[p.Path] = true
			seen[p.Shown()] = true
		}
	}
	for _, p := range s.docs.paths() {
		seen[p] = true
	}
	out := make([]Path, 0, len(seen))
	for p := range seen {
		out = append(out, p)
	}
	return out
}

// at returns the undecided proposals of a path, by session when one is named.
func (s *Store) at(path Path, session string) []*Proposal {
	return s.thoseAt(path, func(p *Proposal) bool {
		return p.Path == path && p.Undecided() && (session == "" || p.Session == session)
	})
}

// tree is what is at a path now: an open buffer with unsaved changes before
// the disk.
func (s *Store) tree(path Path) (Content, error) {
	for {
		shadowed := len(s.docs.unsaved(path)) > 0
		disk, err := s.ws.readLike(path, s.baseAt(path))
		if err != nil {
			return Content{}, err
		}
		now, err := s.docs.over(path, disk)
		if err == nil && shadowed && !now.Document {
			continue // disk may be what the file was before the buffer was saved to it
		}
		return now, err
	}
}

// baseAt is the text that a proposal of a path stands on, nil when none does.
func (s *Store) baseAt(path Path) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.places.at[path] {
		if p.Path == path && p.Base.Exists && !p.Base.IsLink() {
			return p.Base.Data
		}
	}
	return nil
}

func (s *Store) put(proposals ...*Proposal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range proposals {
		s.learn(s.proposals[p.ID], p)
		s.places.remove(s.proposals[p.ID])
		s.places.add(p)
		s.proposals[p.ID] = p
		s.retention.note(p)
	}
}

// drop forgets proposals. The caller holds mu.
func (s *Store) drop(ids []string) {
	for _, id := range ids {
		s.places.remove(s.proposals[id])
		delete(s.proposals, id)
	}
}

func (s *Store) nextProposalID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters.Proposals++
	return fmt.Sprintf("p%d", s.counters.Proposals)
}
