package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// model is what must be true, beside the engine that shall make it so.
type model struct {
	seed  uint64
	dir   string // of the run: root and state
	rng   *rand.Rand
	step  int
	made  int // lines written in this step
	f     *modelFile
	a     *agent
	e     *modelEditor
	about *modelFile // the step's file, if it is about one
	trace []string
	did   map[string]int

	clock  atomic.Int64 // the store's time, nanoseconds
	ws     *Workspace
	store  *Store
	inside bool // the paths' locks are held

	files    []*modelFile
	editors  []*modelEditor
	agents   []*agent
	branches []map[*modelFile]body
	order    int // of changes of buffers
	blurred  lineSet

	now    picture     // after the last step
	seen   []*Proposal // what reviewers have on their screens, old and new
	since  map[string]int
	epochs map[string]*epoch
	effect effect
	async  sync.WaitGroup // editors that report late

	published struct {
		sync.Mutex
		version map[string]int
	}
}

// modelFile is a file of the workspace.
type modelFile struct {
	name    string
	path    Path
	eol     string
	disk    body
	unsaved []*accepted // into a buffer that is not saved
	buffer  string      // the tree when it last was one
}

// accepted is a hunk that a reviewer accepted into a buffer.
type accepted struct {
	agent    *agent
	proposal string
	hunk     Hunk
	touched  bool // a person changed it in the buffer
	prev     string
	next     string // the lines beside it
}

// agent is a session, and what the model knows of its work.
type agent struct {
	letter  byte
	id      string
	queue   []Review          // decisions that it is still to be told, in order
	told    map[conflict]bool // conflicts that it was told of since the start
	intents map[*modelFile]*wants
}

type conflict struct {
	proposal, hunk string
	since          int
}

// wants is what an agent wants of a file and nobody has decided.
type wants struct {
	wrote lineSet // lines that it put in
	cut   lineSet // lines of the tree that it took out
	loose lineSet // lines that it moved: in one hunk old, in another new
}

// picture is a state that can be seen from outside.
type picture struct {
	trees map[*modelFile]body
	views map[*agent]map[*modelFile]body
	shown map[string]*Proposal
	by    map[place][]*Proposal
}

// effect is what a step did on purpose.
type effect struct {
	operated map[string]bool // proposals that agent or reviewer changed
	loosened map[*modelFile]bool
	tick     bool // the clock moved
	restart  bool
	raced    bool                // the tree moved during it
	expected map[*agent][]Review // decisions that the agents are to be told
	views    map[*agent]map[*modelFile]body
}

var modelNames = []string{"a.txt", "b.txt", "dir/c.txt", "new.txt", "deep/er/d.txt"}

func (m *model) begin() {
	m.rng = rand.New(rand.NewPCG(m.seed, 0))
	m.must(os.MkdirAll(m.root(), 0o755))
	m.clock.Store(time.Now().Add(time.Hour).UnixNano())
	m.blurred, m.since, m.epochs = lineSet{}, map[string]int{}, map[string]*epoch{}
	m.published.version = map[string]int{}
	m.open()
	for i, name := range modelNames {
		f := &modelFile{name: name, eol: "\n"}
		if m.chance(25) {
			f.eol = "\r\n"
		}
		var err error
		f.path, _, err = m.ws.Resolve(name)
		m.must(err)
		m.files = append(m.files, f)
		if i < 3 {
			m.write(f, body{true, m.lines(f, 'o', m.rng.IntN(16))}, false, false)
		}
	}
	for i := range 2 {
		m.editors = append(m.editors, &modelEditor{m: m, name: fmt.Sprintf("editor %d", i+1), online: true, bufs: map[*modelFile]*buffer{}})
	}
	for i := range 3 {
		a := &agent{letter: byte('a' + i), told: map[conflict]bool{}, intents: map[*modelFile]*wants{}}
		sess, err := m.store.JoinSession(Session{Label: string(a.letter)})
		m.must(err)
		a.id = sess.ID
		for _, f := range m.files {
			a.intents[f] = &wants{lineSet{}, lineSet{}, lineSet{}}
		}
		m.agents = append(m.agents, a)
	}
	m.branch() // to come back to
	m.now = m.look()
}

func (m *model) root() string  { return filepath.Join(m.dir, "root") }
func (m *model) state() string { return filepath.Join(m.dir, "state") }

func (m *model) open() {
	var err error
	m.ws, err = OpenWorkspace([]string{m.root()})
	m.must(err)
	m.store, err = Open(m.ws, Options{Dir: m.state(), Now: func() time.Time { return time.Unix(0, m.clock.Load()) }})
	m.must(err)
	m.store.Subscribe(func(e Event) {
		if e.Proposal == nil {
			return
		}
		m.published.Lock()
		defer m.published.Unlock()
		m.published.version[e.Proposal.ID] = e.Proposal.Version
	})
}

// stop closes what is open, after a failure too.
func (m *model) stop() {
	m.async.Wait()
	if m.store != nil {
		m.store.Close()
		m.ws.Close()
	}
	m.store, m.ws = nil, nil
}

func (m *model) chance(percent int) bool { return m.rng.IntN(100) < percent }

func pickOf[T any](m *model, of []T) T { return of[m.rng.IntN(len(of))] }

// lines are n lines of an author that nobody wrote before.
func (m *model) lines(f *modelFile, author byte, n int) string {
	var b strings.Builder
	for range n {
		if m.chance(4) {
			b.WriteString("}" + f.eol)
			continue
		}
		m.made++
		fmt.Fprintf(&b, "%c%d.%d%s", author, m.step, m.made, f.eol)
	}
	return b.String()
}

func (m *model) logf(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf("#%d ", m.step)+fmt.Sprintf(format, args...))
}

// tree is what there is of a file: the buffer that changed last of those with
// unsaved changes, else the disk.
func (m *model) tree(f *modelFile) body {
	if b := m.dirty(f); b != nil {
		return body{true, b.text}
	}
	return f.disk
}

func (m *model) dirty(f *modelFile) *buffer {
	var last *buffer
	for _, e := range m.editors {
		if b := e.bufs[f]; b != nil && e.online && b.dirty && (last == nil || b.order > last.order) {
			last = b
		}
	}
	return last
}

// texts is how many different unsaved texts there are of a file.
func (m *model) texts(f *modelFile) int {
	different := map[string]bool{}
	for _, e := range m.editors {
		if b := e.bufs[f]; b != nil && e.online && b.dirty {
			different[b.text] = true
		}
	}
	return len(different)
}

// write is a person's program changing a file on disk. With fresh the file has
// not come to rest yet. Nothing of the store runs meanwhile, unless it is in a
// call of the store.
func (m *model) write(f *modelFile, b body, rename, fresh bool) {
	if m.store != nil && !m.inside {
		defer m.store.paths.lock(f.path)()
	}
	at := time.Unix(0, m.clock.Load())
	if !fresh {
		at = at.Add(-time.Minute)
	}
	abs := filepath.Join(m.root(), f.name)
	f.disk = b
	if !b.exists {
		f.disk.text = ""
		if err := os.Remove(abs); err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.must(err)
		}
		if _, err := os.Stat(filepath.Dir(abs)); err == nil {
			m.must(os.Chtimes(filepath.Dir(abs), at, at))
		}
		return
	}
	m.must(os.MkdirAll(filepath.Dir(abs), 0o755))
	to := abs
	if rename {
		to = abs + ".saving"
	}
	m.must(os.WriteFile(to, []byte(b.text), 0o644))
	m.must(os.Chtimes(to, at, at))
	if rename {
		m.must(os.Rename(to, abs))
	}
}

// unsettled reports whether a file was written too recently to be trusted.
func (m *model) unsettled(f *modelFile) bool {
	abs := filepath.Join(m.root(), f.name)
	info, err := os.Stat(abs)
	if err != nil {
		info, err = os.Stat(filepath.Dir(abs))
	}
	if err != nil {
		return false
	}
	age := time.Duration(m.clock.Load() - info.ModTime().UnixNano())
	return age >= 0 && age < 200*time.Millisecond
}

// landing reports whether it is still open what became of hunks that a session
// had in a buffer of f: the buffer is gone and the file was just written. Until
// it has come to rest their proposal stands on what the buffer held.
func (m *model) landing(a *agent, f *modelFile, now *picture) bool {
	if m.dirty(f) != nil || !m.unsettled(f) {
		return false
	}
	return slices.ContainsFunc(now.of(a, f), func(p *Proposal) bool { return unsavedIDs(p) != "" })
}

// look brings the proposals onto the tree of now and takes the picture.
func (m *model) look() picture {
	for _, f := range m.files {
		func() {
			defer m.store.paths.lock(f.path)() // after a panic too
			m.must(m.store.refresh(f.path, false))
		}()
	}
	if m.step%8 == 0 {
		_, err := m.store.List(Filter{})
		m.must(err)
	}
	p := picture{map[*modelFile]body{}, map[*agent]map[*modelFile]body{}, map[string]*Proposal{}, map[place][]*Proposal{}}
	for _, q := range m.store.those(func(*Proposal) bool { return true }) {
		p.shown[q.ID] = q
		at := place{q.Session, q.Path}
		p.by[at] = append(p.by[at], q)
	}
	for _, f := range m.files {
		p.trees[f] = m.tree(f)
	}
	for _, a := range m.agents {
		p.views[a] = map[*modelFile]body{}
		v := m.store.View(a.id)
		for _, f := range m.files {
			c, err := v.Read(f.path)
			m.must(err)
			p.views[a][f] = bodyOf(c)
		}
	}
	return p
}

// of returns a session's proposals on a file, the oldest first.
func (p *picture) of(a *agent, f *modelFile) []*Proposal { return p.by[place{a.id, f.path}] }

type place struct {
	session string
	path    Path
}

func (m *model) file(p Path) *modelFile {
	for _, f := range m.files {
		if f.path == p {
			return f
		}
	}
	m.fail("known file", "%v", p)
	return nil
}

func (m *model) agent(session string) *agent {
	for _, a := range m.agents {
		if a.id == session {
			return a
		}
	}
	m.fail("known session", "%s", session)
	return nil
}
