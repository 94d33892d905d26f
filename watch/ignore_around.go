package watch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// maxOutsideFile bounds an ignore or configuration file outside the root, in
// bytes. The largest published collections of ignore patterns are under 100 KiB.
const maxOutsideFile = 4 << 20

var errNoOutside = errors.New("reading outside the root is not allowed")

// Surroundings are the rules that reach a root from outside it. Only files that
// git itself would read are read for them, and nothing of them but the patterns
// is kept.
type Surroundings struct {
	// Global is the user's excludes file.
	Global []byte
	// Exclude is info/exclude of the repository that the root lies in.
	Exclude []byte
	// Above are the directories from that repository's top down to the root's
	// parent; empty when the root is the top, or in no repository.
	Above []IgnoreLevel
	// Below is the root's path from the repository's top, slash separated; "".
	Below string
	// FoldCase is core.ignoreCase: ASCII letters match in either case.
	FoldCase bool
}

// IgnoreLevel holds one directory's ignore files; nil for those it has not.
type IgnoreLevel struct {
	Gitignore, Dotignore []byte
}

// names are the parts of Below: name i leads from Above[i] a level down.
func (s Surroundings) names() []string { return strings.Split(s.Below, "/") }

// ReadSurroundings reads what reaches root, an absolute path, from outside: it
// looks for the repository's top from root upwards, for the ignore files on the
// way, and for the user's excludes file as git's configuration names it, without
// running git, what it includes under conditions included. getenv gives the environment (HOME, XDG_CONFIG_HOME,
// GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, GIT_CONFIG_NOSYSTEM). Files that are
// absent or cannot be read count as empty; the error is for a root that is not
// absolute.
func ReadSurroundings(root string, getenv func(string) string) (Surroundings, error) {
	if !filepath.IsAbs(root) {
		return Surroundings{}, fmt.Errorf("reading rules around %q: not an absolute path", root)
	}
	return readSurroundings(root, getenv, outsideFiles{following: readFollowing, own: readOwnFile}), nil
}

// outsideFiles read files outside the root: following the links of a path, and
// not following one in its last part.
type outsideFiles struct {
	following, own func(name string) ([]byte, error)
}

func readSurroundings(root string, getenv func(string) string, files outsideFiles) Surroundings {
	root = filepath.Clean(root)
	top, own, ok := findTop(root, files)
	cfg := newGitConfig(getenv, files)
	s := Surroundings{}
	// Outside a repository no configuration tells: these two fold by default.
	cfg.ignoreCase = !ok && (runtime.GOOS == "windows" || runtime.GOOS == "darwin")
	if ok {
		cfg.repo = repository{gitDir: own.path, head: func() ([]byte, error) { return own.read(path.Join(own.path, "HEAD")) }}
	}
	cfg.readUser()
	if ok {
		place := own.common()
		cfg.read(filepath.FromSlash(path.Join(place.path, "config")), 0)
		s.Exclude = place.file("info/exclude")
		s.Below, s.Above = readAbove(top, root, files)
	}
	s.FoldCase = cfg.ignoreCase
	if name := cfg.excludesFile(top); name != "" {
		s.Global, _ = files.following(name)
	}
	return s
}

// findTop returns the top of the repository that root lies in.
func findTop(root string, files outsideFiles) (top string, place gitPlace, ok bool) {
	read := func(name string) ([]byte, error) { return files.following(filepath.FromSlash(name)) }
	for dir := root; ; dir = filepath.Dir(dir) {
		if place, ok := findGitDir(filepath.ToSlash(dir), read); ok {
			return dir, place, true
		}
		if dir == filepath.Dir(dir) {
			return root, gitPlace{}, false
		}
	}
}

// readAbove reads the ignore files from top down to root's parent.
func readAbove(top, root string, files outsideFiles) (below string, levels []IgnoreLevel) {
	rel, err := filepath.Rel(top, root)
	if err != nil || rel == "." {
		return "", nil
	}
	below = filepath.ToSlash(rel)
	dir := top
	for _, name := range strings.Split(below, "/") {
		git, _ := files.own(filepath.Join(dir, ".gitignore"))
		dot, _ := files.own(filepath.Join(dir, ".ignore"))
		levels = append(levels, IgnoreLevel{Gitignore: git, Dotignore: dot})
		dir = filepath.Join(dir, name)
	}
	return below, levels
}

// ReadGitFile reads a file of a git directory by its path: the reader that
// IgnoreOptions.ReadOutside wants. Directories, devices and files over 4 MiB are
// refused.
func ReadGitFile(name string) ([]byte, error) { return readFollowing(filepath.FromSlash(name)) }

// readOwnFile reads an ignore file of the tree; git does not follow a link there.
func readOwnFile(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	return readRegular(name, info)
}

func readFollowing(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	return readRegular(name, info)
}

// readRegular reads the file that info was taken of. A FIFO would block, so the
// kind is looked at first.
func readRegular(name string, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOutsideFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > maxOutsideFile {
		return nil, fmt.Errorf("reading %s: over %d bytes", name, maxOutsideFile)
	}
	return data, nil
}
