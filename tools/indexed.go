package tools

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/index"
)

// Indexed is the [Searcher] of a root that is watched and indexed.
type Indexed struct {
	Tree  *watch.Tree
	Index *index.Index

	built atomic.Bool // the first build is over

	mu    sync.Mutex // guards known
	known facts
}

// facts are what was found out about one generation.
type facts struct {
	generation uint64
	ignored    map[ignoredKey]int
	leftOut    map[string]bool
}

type ignoredKey struct {
	under string
	depth int
}

// NewIndexed answers by x, which follows tree. Whoever opened them closes them.
func NewIndexed(tree *watch.Tree, x *index.Index) *Indexed { return &Indexed{Tree: tree, Index: x} }

// Snapshot implements [Searcher].
func (r *Indexed) Snapshot(ctx context.Context) (Snapshot, error) {
	snapshot, err := r.Index.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return indexed{snapshot, r}, nil
}

// Building implements [Searcher].
func (r *Indexed) Building() (done, total int, ok bool) {
	if r.built.Load() {
		return 0, 0, false
	}
	st := r.Index.Status()
	switch {
	case st.State == "building" || st.Parts == 0 && st.Building:
		return st.Scanned, 0, true
	case st.Pending == 0:
		r.built.Store(true)
		return 0, 0, false
	}
	return st.Files * (st.Parts - st.Pending) / st.Parts, st.Files, true
}

// indexed is a snapshot that knows what was ignored.
type indexed struct {
	*index.Snapshot
	root *Indexed
}

// Ignored implements [Snapshot]. It is counted once in a generation.
func (s indexed) Ignored(under string, depth int) int {
	r, key := s.root, ignoredKey{under, depth}
	if n, ok := remembered(s, func(f *facts) map[ignoredKey]int { return f.ignored }, key); ok {
		return n
	}
	n := r.Tree.Ignored(under)
	below := index.List{Under: under, Hidden: true, Dirs: true}
	if below.Depth = max(depth-1, 0); depth != 1 {
		_, _ = s.Glob(context.Background(), below, func(e index.Entry) bool {
			if e.Kind == watch.Dir {
				n += r.Tree.Ignored(e.Path)
			}
			return true
		})
	}
	s.remember(func(f *facts) {
		if len(f.ignored) < maxKnown {
			f.ignored[key] = n
		}
	})
	return n
}

// maxKnown bounds the places of which something is known: more are asked about
// by nobody between two changes.
const maxKnown = 10_000

// Remember implements [Snapshot]. That the rules outside of the root changed it
// sees with the next change in it.
func (s indexed) Remember(path string, ignored func() bool) bool {
	if out, ok := remembered(s, func(f *facts) map[string]bool { return f.leftOut }, path); ok {
		return out
	}
	out := ignored()
	s.remember(func(f *facts) {
		if len(f.leftOut) < maxKnown {
			f.leftOut[path] = out
		}
	})
	return out
}

// remembered is what is known of the snapshot's generation.
func remembered[K comparable, V any](s indexed, of func(*facts) map[K]V, key K) (V, bool) {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	known := &s.root.known
	if known.generation != s.Generation() || known.ignored == nil {
		*known = facts{s.Generation(), map[ignoredKey]int{}, map[string]bool{}}
	}
	value, ok := of(known)[key]
	return value, ok
}

// remember adds to what is known, if the generation is still that of s.
func (s indexed) remember(add func(*facts)) {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	if s.root.known.generation == s.Generation() {
		add(&s.root.known)
	}
}

// Unread implements [Snapshot].
func (s indexed) Unread(under string) []index.Warning {
	var out []index.Warning
	for _, p := range s.root.Tree.Status().Problems {
		if within(p.Path, under) && strings.HasSuffix(p.Message, fs.ErrPermission.Error()) {
			out = append(out, index.Warning{Path: p.Path, Message: p.Message})
		}
	}
	return out
}
