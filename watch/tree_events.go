package watch

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// hints are what events and other causes say may have changed.
type hints struct {
	names        map[*treeDir]map[string]fsnotify.Op // entries of directories
	relisted     map[*treeDir]bool                   // directories to be listed
	root         bool                                // another directory may be the root
	surroundings bool                                // the rules from outside may be others
}

// sortEvents finds the entries that events name.
func (t *Tree) sortEvents(events []fsnotify.Event) *hints {
	h := &hints{names: map[*treeDir]map[string]fsnotify.Op{}, relisted: map[*treeDir]bool{}}
	for _, e := range events {
		rel, ok := strings.CutPrefix(e.Name, t.watches.prefix)
		switch {
		case ok:
			// fsnotify joins "/" and a name with one separator more.
			h.add(t, strings.TrimPrefix(filepath.ToSlash(rel), "/"), e.Op)
		case e.Has(fsnotify.Remove | fsnotify.Rename): // of the root itself
			h.root = true
		}
	}
	return h
}

// add notes that something happened to the entry at rel. Below what is no part
// of the tree nothing is of interest: if it was, it is gone or suspect by now,
// or will be found by the look at what it is in.
func (h *hints) add(t *Tree, rel string, op fsnotify.Op) {
	if rel == "." {
		h.root = true
		return
	}
	dir, name := splitRel(rel)
	d := t.dirs[dir]
	if d == nil {
		return
	}
	if strings.EqualFold(name, ".git") {
		switch {
		case name != ".git":
		case d.parent == nil:
			h.surroundings = true
		default:
			h.relist(d)
		}
		return
	}
	if name == ".gitignore" || name == ".ignore" {
		h.relist(d)
	}
	names := h.names[d]
	if names == nil {
		names = map[string]fsnotify.Op{}
		h.names[d] = names
	}
	names[name] |= op
}

func (h *hints) relist(d *treeDir) {
	if d != nil {
		h.relisted[d] = true
	}
}

// addPolled notes everything of which events do not tell all.
func (h *hints) addPolled(t *Tree) {
	for d := range t.polled {
		h.relist(d)
	}
	for d := range t.linked {
		for name, s := range d.files {
			if s.linked {
				h.add(t, join(d.path, name), 0)
			}
		}
	}
}

// sorted returns the directories of names, those above before those below.
func (h *hints) sorted() []*treeDir {
	list := make([]*treeDir, 0, len(h.names))
	for d := range h.names {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *treeDir) int { return strings.Compare(a.path, b.path) })
	return list
}

// dropSuspects ends all watches at and below each directory that may be another
// one now. Its watch may be elsewhere or at its end, also when the directory is
// back: fsnotify gives a watch up when its directory moves.
func (t *Tree) dropSuspects(h *hints) {
	for d, names := range h.names {
		for name, op := range names {
			if sub := d.subs[name]; sub != nil && op.Has(fsnotify.Remove|fsnotify.Rename) {
				t.suspect(sub)
			}
		}
	}
}

func (t *Tree) suspect(d *treeDir) {
	t.watches.unwatch(d)
	d.suspect = true
}

// restat looks at entries of one directory. It returns the directories among
// them that have to be scanned.
func (t *Tree) restat(d *treeDir, h *hints) (starts []*visit, doubts []string) {
	dir, err := t.disk.openDir(d.path)
	if err != nil || d.rules == nil {
		if err == nil {
			dir.close()
		}
		if vanished(err) {
			return nil, []string{d.path}
		}
		h.relist(d)
		return nil, nil
	}
	defer dir.close()
	if dir.key != d.key {
		return nil, []string{d.path}
	}
	names := h.names[d]
	found := make([]sighting, 0, len(names))
	at := time.Now().UnixNano()
	for name, op := range names {
		s := sighting{name: name, rights: op.Has(fsnotify.Chmod)}
		if s.stamp, s.key, s.err = dir.stat(name); s.err == nil {
			s.mark(at)
		}
		found = append(found, s)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range found {
		if v := t.place(d, &found[i], h); v != nil {
			starts = append(starts, v)
		}
	}
	t.commit()
	return starts, nil
}

// sighting is what a look at one entry told.
type sighting struct {
	name   string
	rights bool // perhaps it may be read no longer, or again
	stamp
	key fileKey
	err error
}

// place records what an entry is now. A directory that is new, or another one,
// has to be scanned: its visit is returned. The caller holds mu.
func (t *Tree) place(d *treeDir, s *sighting, h *hints) *visit {
	switch {
	case vanished(s.err):
		t.setAbsent(d, s.name)
	case s.err != nil:
		h.relist(d)
	case d.rules.Ignored(s.name, s.kind == Dir):
		t.noteLink(stamp{}, s.stamp)
		t.setIgnored(d, s.name)
	case s.kind != Dir:
		t.setFile(d, s.name, s.stamp)
	default:
		sub := d.subs[s.name]
		if sub != nil && !sub.suspect && sub.key == s.key && sub.reason == nil && !s.rights {
			return nil
		}
		if sub != nil && sub.key != s.key {
			t.suspect(sub)
		}
		return t.start(join(d.path, s.name), d, sub, s.key)
	}
	return nil
}
