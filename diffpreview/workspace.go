package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Workspace is the folders served. Every open, create and rename below them
// goes through an [os.Root] that was opened once, so no link can lead out of
// it, whatever happens between a check and a use.
type Workspace struct {
	roots []*root
	// step is called between the stages of a write; tests stop the program there.
	step func(stage string)
}

type root struct {
	name  string // prefix of wire paths when there are several roots
	path  string // absolute, links resolved
	given string // absolute, as given
	dir   *os.Root
	id    fs.FileInfo // of the folder that was opened
}

// Root names one served folder.
type Root struct {
	Name string
	Path string // absolute, links resolved
}

// OpenWorkspace opens the folders. It refuses overlapping ones, and a path
// that is not a directory.
func OpenWorkspace(roots []string) (*Workspace, error) {
	w := &Workspace{step: func(string) {}}
	names := map[string]bool{}
	for _, given := range roots {
		r, err := openRoot(given)
		if err != nil {
			w.Close()
			return nil, err
		}
		base := r.name
		for n := 2; names[r.name]; n++ {
			r.name = fmt.Sprintf("%s-%d", base, n)
		}
		names[r.name] = true
		for _, other := range w.roots {
			if within(r.path, other.path) || within(other.path, r.path) {
				r.dir.Close()
				w.Close()
				return nil, fmt.Errorf("roots overlap: %s and %s", other.path, r.path)
			}
		}
		w.roots = append(w.roots, r)
	}
	if len(w.roots) == 0 {
		return nil, errors.New("no root given")
	}
	return w, nil
}

func openRoot(given string) (*root, error) {
	abs, err := filepath.Abs(given)
	if err != nil {
		return nil, fmt.Errorf("root %s: %w", given, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("root %s: %w", given, err)
	}
	dir, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("root %s: %w", given, err)
	}
	id, err := dir.Stat(".")
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("root %s: %w", given, err)
	}
	return &root{name: filepath.Base(real), path: real, given: abs, dir: dir, id: id}, nil
}

// Gone returns an error when the served folders are no longer what their paths
// name, so that whoever connects needs another daemon: one was replaced by another
// folder of that name, or all were removed or moved. One of several that is
// missing is no such error: the others are served on, and it too when it is back.
func (w *Workspace) Gone() error {
	var missing error
	left := 0
	for i := range w.roots {
		replaced, err := w.gone(i)
		switch {
		case replaced:
			return err
		case err != nil:
			missing = err
		default:
			left++
		}
	}
	if left > 0 {
		return nil
	}
	return missing
}

// gone returns an error when a root is not where its path says; replaced: something
// else is.
func (w *Workspace) gone(index int) (replaced bool, err error) {
	r := w.roots[index]
	now, err := os.Stat(r.path)
	switch {
	case err == nil && os.SameFile(now, r.id):
		return false, nil
	case err == nil:
		return true, &Error{
			Code: CodeUnavailable, Path: r.path, Message: "the folder was replaced by another one since the daemon opened it",
			Hint: "connect again: that starts a daemon for the folder that is there now",
		}
	}
	e := &Error{
		Code: CodeUnavailable, Path: r.path, Message: "the folder was removed or moved since the daemon opened it",
		Hint: "put it back where it was, or connect to a daemon for the place where it is now", Err: err,
	}
	if len(w.roots) > 1 {
		names := slices.DeleteFunc(w.rootNames(), func(name string) bool { return name == r.name })
		e.Hint = "put it back where it was; meanwhile paths below the other roots can be used: " + strings.Join(names, ", ")
	}
	return false, e
}

func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// Close gives the folders back. Paths of a closed workspace fail.
func (w *Workspace) Close() error {
	var err error
	for _, r := range w.roots {
		err = errors.Join(err, r.dir.Close())
	}
	return err
}

// Roots lists the served folders in the order given.
func (w *Workspace) Roots() []Root {
	out := make([]Root, len(w.roots))
	for i, r := range w.roots {
		out[i] = Root{Name: r.name, Path: r.path}
	}
	return out
}

// Path is a place inside a root whose links have been followed. There need not
// be anything there. Paths are comparable.
type Path struct {
	index int
	rel   string // slash separated, "." is the root itself
}

// above are the directories over p below its root, the nearest first.
func (p Path) above() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		for at := path.Dir(p.rel); at != "." && yield(Path{p.index, at}); at = path.Dir(at) {
		}
	}
}

func (w *Workspace) root(p Path) *os.Root { return w.roots[p.index].dir }

// Name is the path on the wire: relative to its root, with "/"; with several
// roots the root's name comes first.
func (w *Workspace) Name(p Path) string {
	if len(w.roots) == 1 {
		return p.rel
	}
	return path.Join(w.roots[p.index].name, p.rel)
}

// Abs is the path for the operating system, for display and for editors.
// Nothing is opened by it.
func (w *Workspace) Abs(p Path) string {
	return filepath.Join(w.roots[p.index].path, filepath.FromSlash(p.rel))
}

// FromAbs is the inverse of Abs. It does not follow links below the root.
func (w *Workspace) FromAbs(abs string) (Path, bool) {
	abs = filepath.Clean(abs)
	for i, r := range w.roots {
		for _, dir := range []string{r.path, r.given} {
			if within(abs, dir) {
				rel, err := filepath.Rel(dir, abs)
				if err == nil {
					return Path{index: i, rel: filepath.ToSlash(rel)}, true
				}
			}
		}
	}
	return Path{}, false
}

// missingAbove counts the directories above p that are not there.
func (w *Workspace) missingAbove(p Path) int {
	n := 0
	for dir := range p.above() {
		if _, err := w.root(p).Lstat(dir.rel); err == nil {
			break
		}
		n++
	}
	return n
}
