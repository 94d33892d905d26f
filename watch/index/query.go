package index

import (
	"slices"
	"strings"

	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/match"
)

// Overlay is what a reader sees at a path in the tree's place.
type Overlay struct {
	Path   string
	Exists bool       // false: there is nothing there
	Kind   watch.Kind // 0 is a file
	Text   []byte     // a file's bytes
}

// Mode says what a search reports.
type Mode int

const (
	Content Mode = iota // matching lines, with context
	Files               // files with a match
	Count               // how many lines match, of each file with a match
)

// Query is one search.
type Query struct {
	Pattern *match.Pattern
	Under   string    // a directory or a file; "." or "" is the root
	Glob    []string  // see CompileGlobs
	Hidden  bool      // take also what begins with a dot
	Overlay []Overlay // in path order

	Mode          Mode
	Limit         int // the most matching lines, or files; 0: all
	Offset        int // matching lines, or files, to pass over before
	Before, After int // lines of context
	MaxLine       int // bytes; of a longer line the part with the match is given. 0: all

	// Verify compares each file with a match to the disk before it is reported,
	// as long as the answer is short, and searches it again if it is another by
	// now: a tree hears nothing of what is written through a mapping. The answer
	// may so be newer than the snapshot.
	Verify bool
}

// Line is one line of an answer; in the modes Files and Count one file.
type Line struct {
	Path   string
	Number int    // from 1; in the mode Count how many lines match
	Text   []byte // without its line end. Valid until emit returns
	Match  bool   // false: context
	Cut    bool   // Text is a part of the line
}

// Warning tells of a file that could not be searched, or not to its end.
type Warning struct{ Path, Message string }

// maxWarnings bounds the warnings of an answer.
const maxWarnings = 20

// Summary is what a search found.
type Summary struct {
	Lines         int  // matching lines seen, those passed over included; in the mode Count all that were counted
	Files         int  // files that they are in
	Exact         bool // false: there are more
	SkippedBinary int  // files not searched because they are binary, as far as the search went
	Generation    uint64
	Warnings      []Warning
	MoreWarnings  int // beyond those given
}

func (s *Summary) warn(ws ...Warning) {
	room := min(maxWarnings-len(s.Warnings), len(ws))
	s.Warnings = append(s.Warnings, ws[:room]...)
	s.MoreWarnings += len(ws) - room
}

// scope is the range of paths that a query is about, and what it leaves out of it.
type scope struct {
	from, to string // to is beyond
	names    int    // where in a path the names begin that may hide it
	hidden   bool
	globs    *Globs
}

// scopeOf returns the scope of what lies under a path in the views.
func scopeOf(views []*view, under string, hidden bool, globs *Globs) scope {
	sc := scope{hidden: hidden, globs: globs}
	if under == "" || under == "." {
		return sc
	}
	if e, ok := views[viewOf(views, under)].lookup(under); ok && e.kind != watch.Dir {
		sc.from, sc.to, sc.names = under, under+"\x00", len(under)
		return sc
	}
	sc.from, sc.to, sc.names = under+"/", under+"0", len(under)+1
	return sc
}

// views returns the views that the scope touches.
func (sc *scope) views(views []*view) []*view {
	if sc.to == "" {
		return views
	}
	return views[viewOf(views, sc.from) : viewOf(views, sc.to)+1]
}

// of returns the range of a view's entries, and of its extra files.
func (sc *scope) of(v *view) (lo, hi, extraLo, extraHi int) {
	if sc.to == "" {
		return 0, v.part.len(), 0, len(v.extra)
	}
	lo, _ = v.part.find(sc.from)
	hi, _ = v.part.find(sc.to)
	return lo, hi, findFile(v.extra, sc.from), findFile(v.extra, sc.to)
}

// accepts reports whether an entry in the range is wanted.
func (sc *scope) accepts(path string, flags byte) bool {
	if !sc.hidden && flags&flagHidden != 0 && (sc.names == 0 || hiddenBelow(path, sc.names)) {
		return false
	}
	return sc.globs.Match(path)
}

// acceptsAll reports whether the scope leaves out nothing in its range.
func (sc *scope) acceptsAll() bool { return sc.hidden && sc.globs.all() }

// lay puts an overlay over the views.
func lay(views []*view, overlay []Overlay) []*view {
	if len(overlay) == 0 {
		return views
	}
	var gone []string
	var came []*file
	for _, o := range overlay {
		if !o.Exists {
			gone = append(gone, o.Path)
			continue
		}
		if o.Kind == 0 {
			o.Kind = watch.File
		}
		f := &file{entry: entry{path: o.Path, size: int64(len(o.Text)), kind: o.Kind}, content: content{late: -1}}
		f.flags = pathFlags(o.Path)
		if o.Kind == watch.File {
			if f.content = decode(o.Text); f.binary {
				f.flags |= flagBinary
			}
		}
		came = append(came, f)
	}
	slices.SortStableFunc(came, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	views = slices.Clone(views)
	for i, change := range split(views, gone, came) {
		views[i] = views[i].with(*change)
	}
	return views
}
