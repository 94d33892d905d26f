package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// found is a path of the copy that is not as the records say.
type found struct {
	*rootCopy
	rel    string
	rec    *record // nil: nothing was there
	now    stamp   // kind none: nothing is there
	closed bool    // a directory that cannot be listed
}

// scanning is one walk over a root's copy.
type scanning struct {
	*rootCopy
	at time.Time

	mu     sync.Mutex // guards the fields below
	found  []found
	closed []string // directories that cannot be listed
}

// errRootGone is a root's copy that is not in its place any more.
var errRootGone = errors.New("the workspace's folder itself was removed, moved or closed")

// scan compares the copy with the records. What it finds is sorted by path.
func (r *rootCopy) scan(ctx context.Context) ([]found, error) {
	now, err := os.Lstat(filepath.Join(r.files(), r.name))
	if err != nil || !os.SameFile(now, r.id) {
		return nil, errRootGone
	}
	s := &scanning{rootCopy: r, at: time.Now()}
	r.run++
	c := crawl{visit: s.visit}
	if err := c.run(ctx, &node{rel: ".", src: r.copy}); err != nil {
		return nil, err
	}
	slices.Sort(s.closed)
	for rel, rec := range r.records {
		if rec.seen != r.run && rec.copy.kind != none && !s.hidden(rel) {
			s.found = append(s.found, found{rootCopy: r, rel: rel, rec: rec})
		}
	}
	slices.SortFunc(s.found, func(a, b found) int { return strings.Compare(a.rel, b.rel) })
	return s.found, nil
}

// hidden reports whether a path is below a directory that could not be listed.
func (s *scanning) hidden(rel string) bool {
	if len(s.closed) == 0 {
		return false
	}
	for at := path.Dir(rel); at != "."; at = path.Dir(at) {
		if _, is := slices.BinarySearch(s.closed, at); is {
			return true
		}
	}
	return false
}

func (s *scanning) add(f found) {
	f.rootCopy = s.rootCopy
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, f)
}

func (s *scanning) visit(ctx context.Context, n *node) ([]*node, error) {
	names, err := n.list()
	switch {
	case err == nil:
	case gone(err):
		return nil, nil
	case errors.Is(err, fs.ErrPermission) && n.parent == nil:
		return nil, errRootGone
	case errors.Is(err, fs.ErrPermission):
		s.mu.Lock()
		s.closed = append(s.closed, n.rel)
		s.mu.Unlock()
		s.add(found{rel: n.rel, rec: s.records[n.rel], now: stamp{kind: dir, mode: n.mode}, closed: true})
		return nil, nil
	default:
		return nil, fmt.Errorf("looking at what a command left: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var subs []*node
	for _, name := range names {
		e, err := n.at.stat(name, s.at)
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking at what a command left: %w", err)
		}
		rel := join(n.rel, name)
		rec := s.records[rel]
		now := e.stamp
		if rec != nil {
			rec.seen = s.run
		}
		if now.kind == dir {
			subs = append(subs, n.under(name, e))
		}
		if rec == nil || !rec.copy.settled(now) {
			s.add(found{rel: rel, rec: rec, now: now})
		}
	}
	return subs, nil
}

// takeStock notes what differs from the records, to be put back.
func (r *rootCopy) takeStock(ctx context.Context) error {
	all, err := r.scan(ctx)
	if errors.Is(err, errRootGone) {
		return nil // open has made a new one, or will
	}
	for i := range all {
		all[i].putBack()
	}
	return err
}

// record is the path's, made when there is none.
func (f *found) record() *record {
	if f.rec == nil {
		f.rec = &record{}
		f.records[f.rel] = f.rec
	}
	return f.rec
}

// putBack notes that what is there is to be put back, when no command runs.
func (f *found) putBack() {
	rec := f.record()
	rec.copy, rec.reset, rec.left = f.now, true, false
}

// keep notes that what is there is the session's, and stays.
func (f *found) keep() {
	rec := f.record()
	rec.copy, rec.left, rec.reset = f.now, true, false
	if f.now.kind == none && rec.tree.kind == none && rec.over == nil {
		f.pack.drop(rec.body)
		delete(f.records, f.rel)
	}
}
