package index

import (
	"context"
	"math"
	"strings"

	"github.com/loomd/loomd/watch"
)

// Entry is what a listing has of one file or directory.
type Entry struct {
	Path  string
	Size  int64 // bytes; 0 for a directory
	Kind  watch.Kind
	Plain bool // Path is known to be printable ASCII without quotation marks and backslashes
}

// List says what is listed.
type List struct {
	Patterns []string  // see CompileGlobs; none: everything
	Under    string    // a directory or a file; "." or "" is the root
	Depth    int       // levels below Under; 0: all
	Hidden   bool      // take also what begins with a dot
	Dirs     bool      // directories, too
	Overlay  []Overlay // in path order
}

// Listed is what a listing came upon.
type Listed struct {
	Deeper     int // directories at Depth that were not entered
	Generation uint64
}

// Glob hands what a list asks for to emit in path order, until it returns false.
// A link is an entry, and is not followed.
func (s *Snapshot) Glob(ctx context.Context, l List, emit func(Entry) bool) (Listed, error) {
	out := Listed{Generation: s.generation}
	globs, err := CompileGlobs(l.Patterns)
	if err != nil {
		return out, err
	}
	views := lay(s.views, l.Overlay)
	sc := scopeOf(views, l.Under, l.Hidden, globs)
	if l.Depth == 0 {
		l.Depth = math.MaxInt
	}
	ls := lister{scope: &sc, list: l, emit: emit, out: &out, endings: globs.endings()}
	ls.narrow = sc
	if in := globs.within(); in > sc.from && (sc.to == "" || in < sc.to) {
		ls.narrow = scope{from: in, to: in + "0"}
	}
	for _, v := range ls.narrow.views(views) {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if !ls.view(v) {
			break
		}
	}
	return out, nil
}

// lister is one listing under way.
type lister struct {
	scope   *scope
	narrow  scope // the part of it where matches can be
	endings endings
	list    List
	emit    func(Entry) bool
	out     *Listed
}

func (ls *lister) view(v *view) bool {
	lo, hi, next, extraHi := ls.narrow.of(v)
	p := v.part
	from := uint32(0)
	if lo > 0 {
		from = p.ends[lo-1]
	}
	for i := lo; i < hi; i++ {
		lo, hi := from, p.ends[i]
		from = hi
		if next == extraHi && !ls.endings.near(p.names, hi) {
			continue
		}
		path := p.names[lo:hi]
		for next < extraHi && v.extra[next].path < path {
			if !ls.entry(v.extra[next].entry) {
				return false
			}
			next++
		}
		if v.dead.has(i) {
			continue
		}
		if !ls.one(path, p.kind[i], p.flags[i], p.size[i]) {
			return false
		}
	}
	for ; next < extraHi; next++ {
		if !ls.entry(v.extra[next].entry) {
			return false
		}
	}
	return true
}

// endings are what all paths that are asked for end with, one or another; none:
// anything.
type endings []ending

// ending is the last eight bytes at most, as a word, and which of them there are.
type ending struct{ last, mask uint64 }

func endingOf(text string) (e ending) {
	for i := range min(len(text), 8) {
		e.last |= uint64(text[len(text)-1-i]) << (56 - 8*i)
		e.mask |= 0xff << (56 - 8*i)
	}
	return e
}

// near reports whether the path that ends at hi in names may have one: it compares
// up to eight bytes at once, whether they are all the path's or not.
func (list endings) near(names string, hi uint32) bool {
	if hi < 8 || len(list) == 0 {
		return true
	}
	s := names[hi-8 : hi]
	word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	for i := range list {
		if word&list[i].mask == list[i].last {
			return true
		}
	}
	return false
}

func (ls *lister) entry(e entry) bool { return ls.one(e.path, e.kind, e.flags, e.size) }

func (ls *lister) one(path string, kind watch.Kind, flags byte, size int64) bool {
	if kind == watch.Dir {
		if !ls.list.Dirs && ls.list.Depth == math.MaxInt {
			return true
		}
		size = 0
	}
	if !ls.scope.accepts(path, flags) {
		return true
	}
	if ls.list.Depth != math.MaxInt {
		level := 1 + strings.Count(path[min(ls.scope.names, len(path)):], "/")
		if level > ls.list.Depth {
			return true
		}
		if kind == watch.Dir && level == ls.list.Depth {
			ls.out.Deeper++
		}
		if kind == watch.Dir && !ls.list.Dirs {
			return true
		}
	}
	return ls.emit(Entry{path, size, kind, flags&flagPlain != 0})
}

// Lookup returns the entry at a path.
func (s *Snapshot) Lookup(path string) (Entry, bool) {
	e, ok := s.views[viewOf(s.views, path)].lookup(path)
	if e.kind == watch.Dir {
		e.size = 0
	}
	return Entry{e.path, e.size, e.kind, e.flags&flagPlain != 0}, ok
}
