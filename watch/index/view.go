package index

import (
	"slices"
	"sort"
	"strings"

	"github.com/loomd/loomd/watch"
)

// view is a part with what has changed since it was made. It has all paths from
// first up to where the next view begins. It does not change.
type view struct {
	first string
	part  *part
	dead  bitmap  // entries of the part that are gone or were replaced
	extra []*file // what came, in path order
}

// file is an entry with its text, outside of a part. It does not change.
type file struct {
	entry
	content
	failed string
}

// viewOf returns the index of the view that a path belongs to.
func viewOf(views []*view, path string) int {
	return max(sort.Search(len(views), func(i int) bool { return views[i].first > path })-1, 0)
}

// findFile returns the index of the first extra file whose path is not below
// the one given.
func findFile(files []*file, path string) int {
	return sort.Search(len(files), func(i int) bool { return files[i].path >= path })
}

// lookup returns the entry at a path.
func (v *view) lookup(path string) (entry, bool) {
	if i := findFile(v.extra, path); i < len(v.extra) && v.extra[i].path == path {
		return v.extra[i].entry, true
	}
	if i, ok := v.part.find(path); ok && !v.dead.has(i) {
		return v.part.entry(i), true
	}
	return entry{}, false
}

// each calls base or extra for every entry in path order.
func (v *view) each(base func(i int), extra func(f *file)) {
	next := 0
	for i := range v.part.len() {
		for next < len(v.extra) && v.extra[next].path < v.part.path(i) {
			extra(v.extra[next])
			next++
		}
		if !v.dead.has(i) {
			base(i)
		}
	}
	for _, f := range v.extra[next:] {
		extra(f)
	}
}

// change is what happens to one view at once.
type change struct {
	gone  []string // paths
	below []string // directories with "/" at the end, whose content is gone
	came  []*file  // in path order, each path once
}

// with returns the view after a change.
func (v *view) with(c change) *view {
	n := &view{first: v.first, part: v.part, dead: slices.Clone(v.dead)}
	if n.dead == nil {
		n.dead = newBitmap(v.part.len())
	}
	dropped := make(map[string]bool, len(c.gone)+len(c.below)+len(c.came))
	kill := func(path string) {
		dropped[path] = true
		if i, ok := v.part.find(path); ok {
			n.dead.set(i)
		}
	}
	for _, path := range c.gone {
		kill(path)
	}
	for _, f := range c.came {
		kill(f.path)
	}
	for _, dir := range c.below {
		dropped[dir] = true
		from, _ := v.part.find(dir)
		for i := from; i < v.part.len() && strings.HasPrefix(v.part.path(i), dir); i++ {
			n.dead.set(i)
		}
	}
	n.extra = mergeFiles(v.extra, c.came, func(f *file) bool {
		return dropped[f.path] || len(c.below) > 0 && liesBelow(f.path, dropped)
	})
	return n
}

// liesBelow reports whether a directory above the path is in the set, where it
// has "/" at the end.
func liesBelow(path string, dirs map[string]bool) bool {
	for i := range len(path) {
		if path[i] == '/' && dirs[path[:i+1]] {
			return true
		}
	}
	return false
}

// mergeFiles merges two lists in path order, without those of the first that drop names.
func mergeFiles(old, came []*file, drop func(*file) bool) []*file {
	merged := make([]*file, 0, len(old)+len(came))
	for _, f := range old {
		if drop(f) {
			continue
		}
		for len(came) > 0 && came[0].path < f.path {
			merged = append(merged, came[0])
			came = came[1:]
		}
		merged = append(merged, f)
	}
	return append(merged, came...)
}

// split lays changes out over the views that they concern.
func split(views []*view, gone []string, came []*file) map[int]*change {
	changes := map[int]*change{}
	at := func(i int) *change {
		if changes[i] == nil {
			changes[i] = &change{}
		}
		return changes[i]
	}
	below := func(dir string) {
		last := viewOf(views, dir[:len(dir)-1]+"0") // "0" follows "/"
		for i := viewOf(views, dir); i <= last; i++ {
			at(i).below = append(at(i).below, dir)
		}
	}
	for _, path := range gone {
		if dir := strings.TrimSuffix(path, "/"); dir != path {
			below(path)
			path = dir
		}
		c := at(viewOf(views, path))
		c.gone = append(c.gone, path)
	}
	for _, f := range came {
		i := viewOf(views, f.path)
		old, known := views[i].lookup(f.path)
		if known && old.kind == watch.Dir && f.kind == watch.Dir && changes[i] == nil {
			continue // a directory's size and times are nothing that is answered
		}
		if known && old.kind == watch.Dir && f.kind != watch.Dir {
			below(f.path + "/")
		}
		at(i).came = append(at(i).came, f)
	}
	return changes
}

// partition lays entries in path order out over parts whose texts are still on
// the disk. There is always one.
func partition(entries []watch.Entry, owner *memory, most limits) []*part {
	var (
		parts []*part
		names strings.Builder
		p     = &part{owner: owner}
		text  int64
	)
	end := func() {
		p.names = names.String()
		names.Reset()
		parts = append(parts, p)
		p, text = &part{owner: owner}, 0
	}
	for i := range entries {
		e := entryOf(entries[i])
		if p.len() == most.entries || p.len() > 0 && text+min(e.size, maxKept) > int64(most.text) && e.kind == watch.File {
			end()
		}
		names.WriteString(e.path)
		p.ends = append(p.ends, uint32(names.Len()))
		p.size = append(p.size, e.size)
		p.stamp = append(p.stamp, e.stamp)
		p.kind = append(p.kind, e.kind)
		p.flags = append(p.flags, e.flags)
		if e.kind == watch.File {
			text += e.size
		}
	}
	if p.len() > 0 || len(parts) == 0 {
		end()
	}
	return parts
}

// viewsOf makes views of parts whose first one begins at first.
func viewsOf(parts []*part, first string) []*view {
	views := make([]*view, len(parts))
	for i, p := range parts {
		views[i] = &view{first: first, part: p}
		if i+1 < len(parts) {
			first = parts[i+1].path(0)
		}
	}
	return views
}
