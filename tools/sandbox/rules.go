package sandbox

import (
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/loomd/loomd/watch"
)

// maxRules is the size up to which an ignore file is read, in bytes.
const maxRules = 4 << 20

// rules are the ignore rules of one root, read when they are asked for. Its methods may
// be called from any goroutine.
type rules struct {
	mu   sync.Mutex // guards the fields below
	root string     // absolute
	from *os.Root   // where ignore files are read
	all  *watch.Ignore
	dirs map[string]*watch.DirRules
}

// newRules are those that the ignore files in from make. root is the tree's place, for
// what reaches it from outside.
func newRules(root string, from *os.Root) *rules {
	return &rules{root: root, from: from, dirs: map[string]*watch.DirRules{}}
}

// ignored reports whether the rules leave a path out.
func (r *rules) ignored(rel string, isDir bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in(path.Dir(rel)).Ignored(path.Base(rel), isDir)
}

// in returns the rules inside a directory. The caller holds mu.
func (r *rules) in(rel string) *watch.DirRules {
	if d := r.dirs[rel]; d != nil {
		return d
	}
	if r.all == nil {
		around, err := watch.ReadSurroundings(r.root, os.Getenv)
		if err != nil {
			around = watch.Surroundings{}
		}
		r.all = watch.NewIgnore(watch.IgnoreOptions{ReadFile: r.read, Root: r.root, ReadOutside: watch.ReadGitFile, Around: around})
	}
	var d *watch.DirRules
	if rel == "." {
		d = r.all.Dir(nil, ".", false)
	} else {
		above := r.in(path.Dir(rel))
		repo := !above.Ignored(path.Base(rel), true) && watch.IsRepository(r.read, rel)
		d = r.all.Dir(above, rel, repo)
	}
	r.dirs[rel] = d
	return d
}

// read reads an ignore file. One behind a link does not count, as for git.
func (r *rules) read(rel string) ([]byte, error) {
	info, err := r.from.Lstat(rel)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	f, err := r.from.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxRules))
}

// isRules reports whether a file of that name holds ignore rules.
func isRules(name string) bool { return name == ".gitignore" || name == ".ignore" }
