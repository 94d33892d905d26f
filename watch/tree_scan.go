package watch

import (
	"runtime"
	"strings"
	"sync"
	"time"
)

// visit is what one look at a directory found. Visits of different directories
// run at the same time; what they find becomes the tree's afterwards.
type visit struct {
	path   string
	parent *visit   // the visit that found it; nil for one that a scan starts from
	old    *treeDir // what the tree has at the path
	above  *DirRules
	outer  fileKey // the directory it lies in
	deep   bool    // look at all below, else only at what is new there
	anew   bool    // trust no watch

	key     fileKey
	files   map[string]stamp
	subs    map[string]*visit // nil: known, and not looked at
	linked  int               // of files, those that have other names
	ignored map[string]struct{}
	rules   *DirRules
	sources string
	inputs  []input

	watched, remote bool
	reason          error
	gone            bool // nothing of that name is there any more
	unread          bool // reason says why
}

// scan looks at directories, and at those found below them, in parallel.
type scan struct {
	tree *Tree

	mu     sync.Mutex // guards all below
	more   *sync.Cond
	stack  []*visit
	active int
	doubts []string // paths that no longer are what the tree has there
}

// soloVisits is how many directories one goroutine looks at before others come
// to help: starting them costs more than a few directories take.
const soloVisits = 16

// scan looks at starts and all that has to be looked at below. The worker waits
// for it, so the tree does not change meanwhile.
func (t *Tree) scan(starts []*visit) (doubts []string) {
	s := &scan{tree: t}
	s.more = sync.NewCond(&s.mu)
	for i := len(starts) - 1; i >= 0; i-- {
		s.stack = append(s.stack, starts[i])
	}
	buf := make([]byte, dirBuffer)
	for range soloVisits {
		if !s.step(buf) {
			return s.doubts
		}
	}
	var working sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		working.Go(func() {
			buf := make([]byte, dirBuffer)
			for s.step(buf) {
			}
		})
	}
	working.Wait()
	return s.doubts
}

// step looks at one directory. It waits for one, and reports false when no more
// can come.
func (s *scan) step(buf []byte) bool {
	s.mu.Lock()
	for len(s.stack) == 0 && s.active > 0 {
		s.more.Wait()
	}
	if len(s.stack) == 0 || s.tree.isClosing() {
		s.stack = nil
		s.mu.Unlock()
		s.more.Broadcast()
		return false
	}
	v := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	s.active++
	s.mu.Unlock()

	found := s.visit(v, buf)
	s.tree.scanned.Add(int64(1 + len(v.files)))

	s.mu.Lock()
	s.active--
	s.stack = append(s.stack, found...)
	wake := len(s.stack) > 1 || s.active == 0
	s.mu.Unlock()
	if wake {
		s.more.Broadcast()
	}
	return true
}

func (s *scan) doubt(rel string) {
	s.mu.Lock()
	s.doubts = append(s.doubts, rel)
	s.mu.Unlock()
}

// maxSwaps bounds how often a directory is tried that is another each time.
const maxSwaps = 3

// visit watches a directory first and lists it after, so that nothing is missed
// that comes into it. It returns the directories to look at next.
func (s *scan) visit(v *visit, buf []byte) []*visit {
	for range maxSwaps {
		s.watch(v)
		h, err := s.tree.disk.openDir(v.path)
		if err != nil {
			s.tree.watches.remove(v.path)
			v.watched = false
			v.gone = vanished(err)
			v.unread, v.reason = !v.gone, err
			if v.gone && v.parent == nil {
				s.doubt(v.path)
			}
			return nil
		}
		if h.key != v.key {
			// Another one than was listed, or a mount point, whose own inode the
			// listing does not tell: nobody knows what the watch is on.
			s.tree.watches.remove(v.path)
			h.close()
			v.key, v.watched = h.key, false
			continue
		}
		found := s.list(v, h, buf)
		h.close()
		if s.tree.listed != nil {
			s.tree.listed(v.path)
		}
		return found
	}
	v.gone = true
	s.doubt(v.path)
	return nil
}

// watch gives the directory its watch, or the reason why it has none.
func (s *scan) watch(v *visit) {
	if v.key.dev != v.outer.dev {
		v.remote = s.tree.eventless(s.tree.watches.abs(v.path))
	}
	if v.remote {
		s.tree.watches.remove(v.path)
		v.reason = errRemote
		return
	}
	evicted, err := s.tree.watches.ensure(v.path, v.key, v.anew)
	if evicted != "" {
		s.doubt(evicted)
	}
	v.watched, v.reason = err == nil, err
}

// list reads the directory and sorts out what is in it.
func (s *scan) list(v *visit, h dirHandle, buf []byte) []*visit {
	at := time.Now().UnixNano()
	var entries []listed
	var own ownRules
	err := h.list(buf, func(e listed) {
		if strings.EqualFold(e.name, ".git") {
			own.git = own.git || e.name == ".git"
			return
		}
		own.gitignore = own.gitignore || e.name == ".gitignore"
		own.dotignore = own.dotignore || e.name == ".ignore"
		entries = append(entries, e)
	})
	if err != nil {
		v.unread, v.reason = true, err
		return nil
	}
	s.tree.readRules(v, own)
	v.deep = v.deep || v.old == nil || v.old.suspect || v.old.rules == nil || v.sources != v.old.sources
	v.files = make(map[string]stamp, len(entries))
	var found []*visit
	for _, e := range entries {
		if sub := s.sort(v, h, e, at); sub != nil {
			found = append(found, sub)
		}
	}
	if v.unread {
		return nil
	}
	return found
}

// sort puts one entry where it belongs. It returns the visit of a directory that
// has to be looked at.
func (s *scan) sort(v *visit, h dirHandle, e listed, at int64) *visit {
	if e.kind != 0 && v.rules.Ignored(e.name, e.kind == Dir) {
		setEntry(&v.ignored, e.name, struct{}{})
		return nil
	}
	key := fileKey{h.key.dev, e.ino}
	if e.kind != Dir {
		st, found, err := h.stat(e.name)
		if err != nil {
			if !vanished(err) { // of a directory that may be listed alone, nothing can be read
				v.unread, v.reason = true, err
			}
			return nil // or it went, and its event is on the way
		}
		st.mark(at)
		if (e.kind == 0 || st.kind == Dir) && v.rules.Ignored(e.name, st.kind == Dir) {
			setEntry(&v.ignored, e.name, struct{}{})
			return nil
		}
		if st.kind != Dir {
			v.files[e.name] = st
			if st.linked {
				v.linked++
			}
			return nil
		}
		key = found
	}
	var old *treeDir
	if v.old != nil {
		old = v.old.subs[e.name]
	}
	if old != nil && !v.deep && !old.suspect {
		if old.key != key { // as for a mount point
			if _, key, _ = h.stat(e.name); old.key == key {
				key = old.key
			}
		}
		if old.key == key {
			setEntry(&v.subs, e.name, nil)
			return nil
		}
	}
	if e.ino == 0 && e.kind == Dir {
		_, key, _ = h.stat(e.name)
	}
	sub := &visit{
		path: join(v.path, e.name), parent: v, old: old, above: v.rules, outer: h.key,
		deep: true, anew: v.anew, key: key, remote: v.remote,
	}
	setEntry(&v.subs, e.name, sub)
	return sub
}

// start makes the visit that begins a scan at a directory that the tree has, or
// that was seen to be key in directory parent.
func (t *Tree) start(rel string, parent, old *treeDir, key fileKey) *visit {
	v := &visit{path: rel, old: old, key: key}
	if parent != nil {
		v.above, v.outer, v.remote = parent.rules, parent.key, parent.remote
	}
	return v
}

// run scans from starts, those above before those below, and makes what was
// found the tree's. It returns the paths that have to be looked at again.
func (t *Tree) run(starts []*visit) (doubts []string) {
	if len(starts) == 0 || t.disk == nil {
		return nil
	}
	t.runs++
	doubts = t.scan(starts)
	if t.isClosing() {
		return nil
	}
	for _, v := range starts {
		if v.gone {
			continue
		}
		t.mu.Lock()
		t.settleStart(v)
		t.commit()
		t.mu.Unlock()
	}
	return doubts
}

// settleStart adopts what a scan found at one of its starts, unless the scan of
// one above has dealt with it.
func (t *Tree) settleStart(v *visit) {
	if v.path == "." {
		t.top = t.adopt(nil, "", t.top, v)
		return
	}
	parentPath, name := splitRel(v.path)
	parent := t.dirs[parentPath]
	if parent == nil {
		t.watches.remove(v.path)
		return
	}
	now := parent.subs[name]
	switch {
	case now != nil && now.visited == t.runs:
	case now != v.old || now == nil && parent.visited == t.runs:
		if now == nil {
			t.watches.remove(v.path)
		}
	default:
		t.adopt(parent, name, now, v)
	}
}

// eventless asks about the file system of an absolute path, or a test's rule.
func (t *Tree) eventless(abs string) bool {
	if t.remote != nil {
		return t.remote(abs)
	}
	return eventless(abs)
}
