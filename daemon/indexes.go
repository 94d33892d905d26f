package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/loomd/loomd/daemon/place"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/index"
)

// indexes are those of the roots, in their order. A root without one is read
// from the disk at every call.
type indexes struct {
	list     []*rootIndex
	problems []string // why a root has none
}

// rootIndex is the watched tree of one root and what finds things in it.
type rootIndex struct {
	prefix  string // of its paths on the wire: "", or the root's name with "/"
	scratch string // the tree's cookies are there
	*tools.Indexed
}

// openIndexes begins to watch and index the roots of a workspace. memory is how
// many bytes of text are kept in all, 0 for what an index takes by itself.
func (s *Server) openIndexes(memory int64) *indexes {
	out := &indexes{}
	roots := s.ws.Roots()
	for i, root := range roots {
		r, err := s.openIndex(i, root, memory/int64(len(roots)))
		if err != nil {
			s.logger.Error("Searching without an index", "root", root.Path, "error", err)
			out.problems = append(out.problems, fmt.Sprintf("%s is searched without an index: %v", root.Path, err))
		} else if len(roots) > 1 {
			r.prefix = root.Name + "/"
		}
		out.list = append(out.list, r)
	}
	return out
}

func (s *Server) openIndex(i int, root diffpreview.Root, memory int64) (*rootIndex, error) {
	var errs []error
	// Where the files are by which a tree sees that it has caught up. A place in
	// the root does not do: somebody may serve the folder that the state is in.
	for _, dir := range s.place.ScratchDirs() {
		dir = filepath.Join(dir, strconv.Itoa(i))
		if rel, err := filepath.Rel(root.Path, dir); err == nil && filepath.IsLocal(rel) {
			errs = append(errs, fmt.Errorf("%s is inside", dir))
			continue
		}
		if err := place.FreshPrivateDir(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		tree, err := watch.OpenTree(context.Background(), watch.TreeOptions{Root: root.Path, CookieDir: dir, Logger: s.logger})
		if err != nil {
			errs = append(errs, err)
			place.RemoveDir(dir)
			continue
		}
		x, err := index.Open(index.Options{Tree: tree, Root: root.Path, Memory: memory, Logger: s.logger})
		if err != nil {
			return nil, errors.Join(err, tree.Close())
		}
		return &rootIndex{Indexed: tools.NewIndexed(tree, x), scratch: dir}, nil
	}
	return nil, errors.Join(errs...)
}

func (x *indexes) close() error {
	var errs []error
	for _, r := range x.list {
		if r != nil {
			errs = append(errs, r.Index.Close(), r.Tree.Close())
			place.RemoveDir(r.scratch)
		}
	}
	return errors.Join(errs...)
}

// searchers are the indexes as tools know them. One that is nil is none.
func (x *indexes) searchers() []tools.Searcher {
	out := make([]tools.Searcher, len(x.list))
	for i, r := range x.list {
		if r != nil {
			out[i] = r.Indexed
		}
	}
	return out
}
