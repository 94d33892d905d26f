package diffpreview

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
)

type linkError = os.LinkError

// maxLinks bounds how many links one name may go through, as Linux does
// (MAXSYMLINKS, 40).
const maxLinks = 40

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
	return &root{name: filepath.Base(real), path: real, given: abs, dir: dir}, nil
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

// Resolve turns a name into a place: relative to the root with "/", with
// several roots "root/relative", or absolute when inside a root. Links are
// followed; via is the cleaned name when one was, else "". A name that leaves
// its root, by "..", by a link, or by a link to nowhere outside, fails with
// path_outside_workspace, in the same words whether or not the target exists.
func (w *Workspace) Resolve(name string) (p Path, via string, err error) {
	if strings.IndexByte(name, 0) >= 0 {
		return Path{}, "", failf(CodeInvalidArguments, strings.ReplaceAll(name, "\x00", "\\0"), "a path cannot hold a NUL byte")
	}
	start, err := w.locate(name)
	if err != nil {
		return Path{}, "", err
	}
	p, err = w.follow(start, name)
	if err != nil {
		return Path{}, "", err
	}
	if p != start {
		via = w.Name(start)
	}
	return p, via, nil
}

// locate finds the root that a name speaks of and cleans the rest.
func (w *Workspace) locate(name string) (Path, error) {
	if filepath.IsAbs(name) {
		p, ok := w.FromAbs(name)
		if !ok {
			return Path{}, outside(name)
		}
		return p, nil
	}
	rel := path.Clean(filepath.ToSlash(name))
	index := 0
	if len(w.roots) > 1 && rel != ".." {
		first, rest, _ := strings.Cut(rel, "/")
		index = -1
		for i, r := range w.roots {
			if r.name == first {
				index, rel = i, path.Clean(rest)
			}
		}
		if index < 0 {
			return Path{}, &Error{
				Code: CodePathOutsideWorkspace, Path: name, Message: "does not begin with a root's name",
				Hint: "the roots are " + strings.Join(w.rootNames(), ", "),
			}
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return Path{}, outside(name)
	}
	return Path{index: index, rel: rel}, nil
}

func (w *Workspace) rootNames() []string {
	names := make([]string, len(w.roots))
	for i, r := range w.roots {
		names[i] = r.name
	}
	sort.Strings(names)
	return names
}

// follow resolves the links of p component by component. It only reads; what
// is opened later is opened through the os.Root again, so a link that is
// swapped in meanwhile leads nowhere.
func (w *Workspace) follow(p Path, name string) (Path, error) {
	r := w.roots[p.index]
	if info, err := r.dir.Lstat(p.rel); err == nil && info.Mode()&fs.ModeSymlink == 0 && plainParents(r.dir, p.rel) {
		return p, nil
	}
	rest := strings.Split(p.rel, "/")
	done := "."
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return Path{}, outside(name)
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		info, err := r.dir.Lstat(next)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				return w.absent(Path{p.index, next}, rest, name)
			}
			return Path{}, ioError(name, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return Path{}, failf(CodeIO, name, "too many links")
		}
		target, err := r.dir.Readlink(next)
		if err != nil {
			return Path{}, ioError(name, err)
		}
		if filepath.IsAbs(target) {
			q, ok := w.FromAbs(target)
			if !ok || q.index != p.index {
				return Path{}, outside(name)
			}
			done, target = ".", q.rel
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return Path{p.index, done}, nil
}

// absent ends a walk at a name that is not there: what is left of it must be
// plain.
func (w *Workspace) absent(p Path, rest []string, name string) (Path, error) {
	for _, part := range rest {
		if part == ".." {
			return Path{}, outside(name)
		}
		p.rel = path.Join(p.rel, part)
	}
	return p, nil
}

// plainParents reports whether no parent of rel is a link.
func plainParents(dir *os.Root, rel string) bool {
	for at := path.Dir(rel); at != "."; at = path.Dir(at) {
		info, err := dir.Lstat(at)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return false
		}
	}
	return true
}

// Entry is one name in a directory. Links are not followed.
type Entry struct {
	Name  string
	IsDir bool
	Size  int64
	Mode  fs.FileMode // with type bits
}

// list returns the entries of a directory sorted by name bytes.
func (w *Workspace) list(p Path) ([]Entry, error) {
	name := w.Name(p)
	info, err := w.root(p).Lstat(p.rel)
	if err != nil {
		return nil, ioError(name, err)
	}
	if !info.IsDir() {
		return nil, &Error{Code: CodeNotRegularFile, Path: name, Message: "not a directory"}
	}
	dir, err := w.root(p).Open(p.rel)
	if err != nil {
		return nil, ioError(name, err)
	}
	defer dir.Close()
	found, err := dir.ReadDir(-1)
	if err != nil {
		return nil, ioError(name, err)
	}
	entries := make([]Entry, 0, len(found))
	for _, d := range found {
		info, err := d.Info()
		if err != nil {
			continue // gone since it was listed
		}
		entries = append(entries, Entry{Name: d.Name(), IsDir: d.IsDir(), Size: info.Size(), Mode: info.Mode()})
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	return entries, nil
}

// open opens a regular file for reading. Special files are refused before they
// are opened, because opening a FIFO blocks; the check is repeated on the
// handle.
func (w *Workspace) open(p Path) (*os.File, fs.FileInfo, error) {
	name := w.Name(p)
	info, err := w.root(p).Lstat(p.rel)
	if err != nil {
		return nil, nil, ioError(name, err)
	}
	if err := regular(name, info); err != nil {
		return nil, nil, err
	}
	f, err := w.root(p).OpenFile(p.rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, ioError(name, err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(name, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, ioError(name, err)
	}
	return f, info, nil
}

func regular(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &Error{Code: CodeIsDirectory, Path: name, Message: "is a directory"}
	case mode&fs.ModeSymlink != 0:
		return &Error{Code: CodeNotRegularFile, Path: name, Message: "became a link meanwhile"}
	default:
		return &Error{Code: CodeNotRegularFile, Path: name, Message: "not a regular file (" + kindOf(mode) + ")"}
	}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// read returns the file on disk whole; Exists is false where there is none.
func (w *Workspace) read(p Path) (Content, error) {
	f, info, err := w.open(p)
	if CodeOf(err) == CodeFileNotFound {
		var absent Content
		if dir, err := w.root(p).Stat(path.Dir(p.rel)); err == nil {
			absent.changed = dir.ModTime()
		}
		return absent, nil
	}
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	if info.Size() > MaxEdit {
		return Content{}, tooLarge(w.Name(p), info.Size())
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if len(data) > MaxEdit {
			return Content{}, tooLarge(w.Name(p), int64(len(data)))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return Content{}, ioError(w.Name(p), err)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
	return Content{Exists: true, Data: data, Mode: info.Mode().Perm(), changed: info.ModTime()}, nil
}

func tooLarge(name string, size int64) *Error {
	return failf(CodeTooLarge, name, "%d bytes is over the limit of %d for edited files", size, MaxEdit)
}

// writable fails with permission_denied when this process could not write the
// file at p, whatever its directory allows.
func (w *Workspace) writable(p Path) error {
	if err := mayWrite(w.root(p), p.rel); err != nil {
		return ioError(w.Name(p), err)
	}
	return nil
}

func openToWrite(root *os.Root, rel string) error {
	f, err := root.OpenFile(rel, os.O_WRONLY|openNonblock, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
