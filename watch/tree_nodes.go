package watch

import (
	"path"
	"strings"
	"time"
)

// treeDir is what is known of one directory that the rules leave in. Tree.mu
// guards it; the worker alone changes it and may read it without.
type treeDir struct {
	path   string // from the root, "." the root itself
	parent *treeDir
	key    fileKey

	files   map[string]stamp
	subs    map[string]*treeDir
	ignored map[string]struct{} // entries that the rules leave out; ".git" is not counted
	linked  int                 // how many files have other names

	rules   *DirRules
	sources string  // what the rules were made of here
	inputs  []input // what else decided, outside of what events tell

	watched bool
	remote  bool  // events do not tell of all changes there
	reason  error // why it is polled: it cannot be watched or read
	suspect bool  // another directory may have taken its place
	visited uint64
}

// join returns the path of an entry of directory dir.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// splitRel cuts a path into its directory and its last name.
func splitRel(rel string) (dir, name string) {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i], rel[i+1:]
	}
	return ".", rel
}

// adopt makes what was found of a directory the tree's, with all that was found
// below. dir is what stands there now, nil when it is new. The caller holds mu.
func (t *Tree) adopt(parent *treeDir, name string, dir *treeDir, v *visit) *treeDir {
	if dir == nil {
		dir = &treeDir{path: v.path, parent: parent, files: map[string]stamp{}}
		t.dirs[v.path] = dir
		if parent != nil {
			t.dropFile(parent, name)
			delete(parent.ignored, name)
			setEntry(&parent.subs, name, dir)
			t.dirCount++
			t.log(v.path)
		}
	} else if dir.key != v.key && parent != nil {
		t.log(v.path)
	}
	dir.key, dir.visited, dir.suspect = v.key, t.runs, false
	dir.remote, dir.reason, dir.watched = v.remote, v.reason, v.watched
	t.setPolled(dir)
	if v.unread {
		t.clear(dir)
		dir.rules = v.rules
		return dir
	}
	dir.rules, dir.sources, dir.ignored = v.rules, v.sources, v.ignored
	t.setInputs(dir, v.inputs)
	t.adoptFiles(dir, v)
	for name, sub := range dir.subs {
		if found, ok := v.subs[name]; !ok || found != nil && found.gone {
			t.dropDir(dir, name, sub)
		}
	}
	for name, found := range v.subs {
		if found != nil && !found.gone {
			t.adopt(dir, name, dir.subs[name], found)
		}
	}
	return dir
}

// adoptFiles replaces the files of a directory by those found.
func (t *Tree) adoptFiles(dir *treeDir, v *visit) {
	if len(dir.files) == 0 && !t.logging && v.linked == 0 {
		t.files += len(v.files)
		dir.files = v.files
		return
	}
	for name, now := range v.files {
		was, known := dir.files[name]
		if !known {
			t.files++
		}
		t.noteLink(was, now)
		if !known || was.racy || !was.same(now) {
			t.log(join(dir.path, name))
		}
	}
	for name := range dir.files {
		if _, ok := v.files[name]; !ok {
			t.files--
			t.log(join(dir.path, name))
		}
	}
	dir.files = v.files
	t.setLinked(dir, v.linked)
}

// setFile records one file that an event or a look told of.
func (t *Tree) setFile(dir *treeDir, name string, now stamp) {
	was, known := dir.files[name]
	if known && !was.racy && was.same(now) {
		return
	}
	if !known {
		t.files++
		if sub := dir.subs[name]; sub != nil {
			t.dropDir(dir, name, sub)
		}
		delete(dir.ignored, name)
	}
	t.noteLink(was, now)
	linked := dir.linked
	if was.linked {
		linked--
	}
	if now.linked {
		linked++
	}
	setEntry(&dir.files, name, now)
	t.setLinked(dir, linked)
	t.log(join(dir.path, name))
}

// setIgnored records that an entry is left out.
func (t *Tree) setIgnored(dir *treeDir, name string) {
	t.dropFile(dir, name)
	if sub := dir.subs[name]; sub != nil {
		t.dropDir(dir, name, sub)
	}
	setEntry(&dir.ignored, name, struct{}{})
}

// setAbsent records that there is no such entry.
func (t *Tree) setAbsent(dir *treeDir, name string) {
	t.dropFile(dir, name)
	if sub := dir.subs[name]; sub != nil {
		t.dropDir(dir, name, sub)
	}
	delete(dir.ignored, name)
}

func (t *Tree) dropFile(dir *treeDir, name string) {
	was, known := dir.files[name]
	if !known {
		return
	}
	delete(dir.files, name)
	t.files--
	if was.linked {
		t.setLinked(dir, dir.linked-1)
	}
	t.log(join(dir.path, name))
}

// dropDir takes a directory and all below it out of the tree.
func (t *Tree) dropDir(parent *treeDir, name string, dir *treeDir) {
	delete(parent.subs, name)
	t.log(dir.path + "/")
	t.forget(dir)
}

// clear empties a directory that cannot be read.
func (t *Tree) clear(dir *treeDir) {
	for name := range dir.files {
		t.dropFile(dir, name)
	}
	for name, sub := range dir.subs {
		t.dropDir(dir, name, sub)
	}
	dir.ignored, dir.sources = nil, ""
	t.setInputs(dir, nil)
}

// forget ends all that is kept for a directory and those below.
func (t *Tree) forget(dir *treeDir) {
	t.files -= len(dir.files)
	if dir.parent != nil {
		t.dirCount--
	}
	delete(t.dirs, dir.path)
	delete(t.polled, dir)
	delete(t.linked, dir)
	t.setInputs(dir, nil)
	t.watches.remove(dir.path)
	for _, sub := range dir.subs {
		t.forget(sub)
	}
}

// attached reports whether a directory is still the tree's.
func (t *Tree) attached(dir *treeDir) bool { return t.dirs[dir.path] == dir }

func (t *Tree) setPolled(dir *treeDir) {
	switch _, known := t.polled[dir]; {
	case dir.watched && dir.reason == nil:
		delete(t.polled, dir)
	case !known:
		t.polled[dir] = time.Now()
	}
}

func (t *Tree) setLinked(dir *treeDir, n int) {
	dir.linked = n
	if n > 0 {
		t.linked[dir] = struct{}{}
	} else {
		delete(t.linked, dir)
	}
}

// noteLink notes an entry that has other names now and had none. To make a name
// changes the inode, and gives no event under the old ones.
func (t *Tree) noteLink(was, now stamp) {
	if now.linked && !(was.linked && was.ino == now.ino) {
		setEntry(&t.newLinks, now.ino, struct{}{})
	}
}

// otherNames returns the paths of what got another name since the last call and
// is not known to have any.
func (t *Tree) otherNames() (paths []string) {
	if len(t.newLinks) == 0 {
		return nil
	}
	for rel, d := range t.dirs {
		for name, s := range d.files {
			if _, ok := t.newLinks[s.ino]; ok && !s.linked {
				paths = append(paths, join(rel, name))
			}
		}
	}
	t.newLinks = nil
	return paths
}

// setEntry makes the map when it is needed first: most directories have no
// subdirectory and nothing ignored.
func setEntry[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// entry returns what stands at a path now. The caller holds mu.
func (t *Tree) entry(rel string) (Entry, bool) {
	if dir := t.dirs[rel]; dir != nil {
		return dir.entry(), true
	}
	parent, name := splitRel(rel)
	dir := t.dirs[parent]
	if dir == nil {
		return Entry{}, false
	}
	s, ok := dir.files[name]
	return s.entry(rel), ok
}

func (d *treeDir) entry() Entry { return Entry{Path: d.path, Kind: Dir, Inode: d.key.ino} }

func (s stamp) entry(rel string) Entry {
	return Entry{Path: rel, Size: s.size, ModTime: s.mtime, ChangeTime: s.ctime, Inode: s.ino, Kind: s.kind}
}

// Ignored returns how many entries directly in directory dir, "." the root, the
// ignore rules leave out: an ignored directory counts once, ".git" does not.
func (t *Tree) Ignored(dir string) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if d := t.dirs[path.Clean(dir)]; d != nil {
		return len(d.ignored)
	}
	return 0
}
