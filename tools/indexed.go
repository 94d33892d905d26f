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

	mu         sync.Mutex // guards the fields below
	generation uint64     // of ignored
	ignored    map[ignoredKey]int
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
	r.mu.Lock()
	if r.generation != s.Generation() {
		r.generation, r.ignored = s.Generation(), map[ignoredKey]int{}
	}
	n, ok := r.ignored[key]
	r.mu.Unlock()
	if ok {
		return n
	}
	n = r.Tree.Ignored(under)
	below := index.List{Under: under, Hidden: true, Dirs: true}
	if below.Depth = max(depth-1, 0); depth != 1 {
		_, _ = s.Glob(context.Background(), below, func(e index.Entry) bool {
			if e.Kind == watch.Dir {
				n += r.Tree.Ignored(e.Path)
			}
			return true
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.generation == s.Generation() && len(r.ignored) < maxIgnored {
		r.ignored[key] = n
	}
	return n
}

// maxIgnored bounds the places of which it is known how much is ignored there:
// more are asked about by nobody between two changes.
const maxIgnored = 1000

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
