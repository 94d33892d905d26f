package tools

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/index"
)

// scan is a [Snapshot] that walks the view and reads the disk: slow, always
// right, and the way where the view's own ignore rules are not the disk's.
type scan struct {
	view *diffpreview.View
	part *part

	ignored int // by the last walk
	unread  []index.Warning
}

// Release implements [Snapshot].
func (*scan) Release() {}

// Unread implements [Snapshot], for what was walked last.
func (s *scan) Unread(string) []index.Warning { return s.unread }

// Ignored implements [Snapshot], for what was walked last.
func (s *scan) Ignored(string, int) int { return s.ignored }

// Remember implements [Snapshot].
func (s *scan) Remember(_ string, ignored func() bool) bool { return ignored() }

// Lookup implements [Snapshot].
func (s *scan) Lookup(string) (index.Entry, bool) { return index.Entry{}, false }

// walk lists what is below under. Entries are relative to the root.
func (s *scan) walk(ctx context.Context, q index.List, found func(index.Entry) bool) (index.Listed, error) {
	l := &listing{
		view: s.view, recursive: q.Depth != 1, depth: q.Depth, hidden: q.Hidden, extra: s.unsaved(),
		found: func(name string, e diffpreview.Entry) bool {
			entry := index.Entry{Path: strings.TrimPrefix(name, s.part.prefix), Size: e.Size, Kind: kindOf(e)}
			if e.IsDir {
				entry.Size = 0
			}
			return found(entry)
		},
	}
	if q.Depth == 0 {
		l.depth = 1 << 30
	}
	at, err := s.view.Resolve(s.part.prefix + q.Under)
	if err != nil {
		return index.Listed{}, err
	}
	err = l.directory(ctx, at)
	s.ignored, s.unread = l.ignored, nil
	for _, w := range l.warned.list {
		s.unread = append(s.unread, index.Warning{Path: strings.TrimPrefix(w.Path, s.part.prefix), Message: w.Message})
	}
	return index.Listed{Deeper: l.deeper}, err
}

// unsaved are the files of the overlay and the directories on the way to them,
// by their directory's name: an open document need not have a file.
func (s *scan) unsaved() map[string][]diffpreview.Entry {
	extra := map[string][]diffpreview.Entry{}
	for _, o := range s.part.overlay {
		if o.Exists && o.Kind == watch.File {
			entry := diffpreview.Entry{Name: path.Base(o.Path), Size: int64(len(o.Text))}
			for rel := o.Path; rel != "."; rel = path.Dir(rel) {
				dir := path.Join(s.part.name(), path.Dir(rel))
				if slices.ContainsFunc(extra[dir], func(e diffpreview.Entry) bool { return e.Name == entry.Name }) {
					break
				}
				extra[dir] = append(extra[dir], entry)
				entry = diffpreview.Entry{Name: path.Base(path.Dir(rel)), IsDir: true, Mode: fs.ModeDir | 0o777}
			}
		}
	}
	return extra
}

// Glob implements [Snapshot].
func (s *scan) Glob(ctx context.Context, q index.List, emit func(index.Entry) bool) (index.Listed, error) {
	globs, err := index.CompileGlobs(q.Patterns)
	if err != nil {
		return index.Listed{}, err
	}
	fits := func(e index.Entry) bool {
		if e.Kind == watch.Dir && !q.Dirs || !globs.Match(e.Path) {
			return true
		}
		return emit(e)
	}
	if !s.part.file {
		return s.walk(ctx, q, fits)
	}
	entry, err := s.view.Stat(s.part.at)
	if err != nil {
		return index.Listed{}, err
	}
	fits(index.Entry{Path: s.part.under, Size: entry.Size, Kind: kindOf(entry)})
	return index.Listed{}, nil
}

// Search implements [Snapshot]. The files that were found are searched as an
// index does that has read none of them yet.
func (s *scan) Search(ctx context.Context, q index.Query, emit func(index.Line) bool) (index.Summary, error) {
	list := fixedTree{}
	var overlay []index.Overlay
	at := 0
	add := func(e index.Entry) bool {
		for at < len(s.part.overlay) && s.part.overlay[at].Path < e.Path {
			at++
		}
		if at < len(s.part.overlay) && s.part.overlay[at].Path == e.Path && s.part.overlay[at].Exists {
			overlay = append(overlay, s.part.overlay[at])
		} else {
			list.entries = append(list.entries, watch.Entry{Path: e.Path, Size: e.Size, Kind: e.Kind})
		}
		return true
	}
	if _, err := s.Glob(ctx, index.List{Under: q.Under, Hidden: q.Hidden}, add); err != nil {
		return index.Summary{}, err
	}
	x, err := index.Open(index.Options{Tree: &list, Root: s.part.root.Path, Memory: 1})
	if err != nil {
		return index.Summary{}, err
	}
	defer x.Close()
	snapshot, err := x.Snapshot(ctx)
	if err != nil {
		return index.Summary{}, err
	}
	defer snapshot.Release()
	q.Overlay = overlay
	sum, err := snapshot.Search(ctx, q, emit)
	sum.Generation = 0
	return sum, err
}

// fixedTree is the tree of a list that was made once.
type fixedTree struct{ entries []watch.Entry }

// Sync implements [index.Tree].
func (t *fixedTree) Sync(context.Context, uint64) (watch.Changes, error) {
	return watch.Changes{Generation: 1, Full: true, Changed: t.entries}, nil
}

// Ready implements [index.Tree]. It never is, so that no search is made ready
// for in advance.
func (t *fixedTree) Ready() <-chan struct{} { return nil }

// Status implements [index.Tree].
func (t *fixedTree) Status() watch.TreeStatus { return watch.TreeStatus{} }
