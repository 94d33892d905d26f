package watch

import (
	"slices"
	"strings"
)

// Changes is what happened in a tree since a generation. Who keeps a list of
// its own takes Gone out of it first and puts Changed in then.
type Changes struct {
	// Generation is what to ask from next time.
	Generation uint64
	// Full says that Changed is the whole list: drop what is not in it. Gone is
	// empty then.
	Full bool
	// Changed are the entries that are new or differ, as they are now, sorted by
	// path bytes. A directory is among them when it is new, not when something
	// in it changed.
	Changed []Entry
	// Gone are the paths of what is no more, sorted. One that ends with "/" is a
	// directory with all that was below it, of which something may be back in
	// Changed.
	Gone []string
}

// record says that something changed at a path; with "/" at the end, that a
// directory went with all below it.
type record struct {
	generation uint64
	path       string
}

// minRecords is how many changes are kept at least. Who asks for older ones gets
// everything.
const minRecords = 1 << 16

// log notes a change. The caller holds mu and ends with commit.
func (t *Tree) log(path string) {
	if t.logging {
		t.records = append(t.records, record{t.generation + 1, path})
	}
	t.touched = true
}

// commit makes the changes since the last one visible as one generation. The
// caller holds mu.
func (t *Tree) commit() {
	if !t.touched {
		return
	}
	t.touched = false
	t.generation++
	if most := max(minRecords, 2*(t.files+t.dirCount)); len(t.records) > 2*most {
		t.trim(most)
	}
}

// trim keeps the latest record of each path, and at most so many.
func (t *Tree) trim(most int) {
	seen := make(map[string]bool, len(t.records))
	kept := len(t.records)
	for i := len(t.records) - 1; i >= 0; i-- {
		if r := t.records[i]; !seen[r.path] {
			seen[r.path] = true
			kept--
			t.records[kept] = r
		}
	}
	t.records = slices.Clone(t.records[kept:])
	if over := len(t.records) - most; over > 0 {
		t.floor = t.records[over-1].generation
		t.records = slices.Clone(t.records[over:])
	}
}

// changes returns what changed since a generation.
func (t *Tree) changes(since uint64) Changes {
	t.mu.RLock()
	defer t.mu.RUnlock()
	c := Changes{Generation: t.generation}
	if since == t.generation {
		return c
	}
	if since < t.floor || since > t.generation {
		c.Full, c.Changed = true, t.entries()
		return c
	}
	from, _ := slices.BinarySearchFunc(t.records, since+1, func(r record, g uint64) int {
		return int(min(max(int64(r.generation)-int64(g), -1), 1))
	})
	paths := make([]string, 0, len(t.records)-from)
	for _, r := range t.records[from:] {
		paths = append(paths, r.path)
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if strings.HasSuffix(p, "/") {
			c.Gone = append(c.Gone, p)
		} else if e, ok := t.entry(p); ok {
			c.Changed = append(c.Changed, e)
		} else {
			c.Gone = append(c.Gone, p)
		}
	}
	return c
}

// entries lists the whole tree in the order of path bytes. The caller holds mu.
func (t *Tree) entries() []Entry {
	list := make([]Entry, 0, t.files+t.dirCount)
	if t.top == nil {
		return list
	}
	var walk func(d *treeDir)
	walk = func(d *treeDir) {
		// A directory's own place is by its name, that of what is below it by
		// its name and "/": "a-b" is between "a" and "a/b".
		names := make([]string, 0, len(d.files)+2*len(d.subs))
		for name := range d.files {
			names = append(names, name)
		}
		for name := range d.subs {
			names = append(names, name, name+"/")
		}
		slices.Sort(names)
		for _, name := range names {
			if below, ok := strings.CutSuffix(name, "/"); ok {
				walk(d.subs[below])
			} else if sub := d.subs[name]; sub != nil {
				list = append(list, sub.entry())
			} else {
				list = append(list, d.files[name].entry(join(d.path, name)))
			}
		}
	}
	walk(t.top)
	return list
}
