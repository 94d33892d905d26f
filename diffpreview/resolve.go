package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
)

// maxLinks bounds how many links one name may go through, as Linux does
// (MAXSYMLINKS, 40).
const maxLinks = 40

// maxName bounds a path in bytes, as Linux does (PATH_MAX, 4096, with its NUL).
// A deeper file can be made step by step, but no program can open it by name.
const maxName = 4095

// Resolve turns a name into a place: relative to the root with "/", with
// several roots "root/relative", or absolute when inside a root. Links are
// followed; via is the cleaned name when one was, else "". A name that leaves
// its root, by "..", by a link, or by a link to nowhere outside, fails with
// path_outside_workspace, in the same words whether or not the target exists.
func (w *Workspace) Resolve(name string) (p Path, via string, err error) {
	if err := nameable(name); err != nil {
		return Path{}, "", err
	}
	start, err := w.locate(name)
	if err != nil {
		return Path{}, "", err
	}
	if _, err := w.gone(start.index); err != nil {
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

// nameable refuses what no system takes for a name.
func nameable(name string) error {
	if strings.IndexByte(name, 0) >= 0 {
		return failf(CodeInvalidArguments, strings.ReplaceAll(name, "\x00", "\\0"), "a path cannot hold a NUL byte")
	}
	if len(name) > maxName {
		return failf(CodeInvalidArguments, fmt.Sprintf("%.60s…", name), "a path of %d bytes: no more than %d can be opened", len(name), maxName)
	}
	return nil
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

// ResolveEntry is Resolve for the name itself: when it is a link, the link is
// meant and not what it leads to.
func (w *Workspace) ResolveEntry(name string) (Path, error) {
	if err := nameable(name); err != nil {
		return Path{}, err
	}
	start, err := w.locate(name)
	if err != nil || start.rel == "." {
		p, _, err := w.Resolve(name)
		return p, err
	}
	dir := Path{start.index, path.Dir(start.rel)}
	above, _, err := w.Resolve(w.Abs(dir))
	if err != nil {
		return Path{}, err
	}
	return Path{above.index, path.Join(above.rel, path.Base(start.rel))}, nil
}
