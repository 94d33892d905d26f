package watch

import (
	"path"
	"path/filepath"
	"strings"
)

// gitdirPrefix starts a .git file, which names the git directory of a worktree
// or a submodule.
const gitdirPrefix = "gitdir: "

// gitPlace is a git directory: its path, slash separated, and how to read below
// it. The path is absolute, or relative to what read counts from.
type gitPlace struct {
	path string
	read func(name string) ([]byte, error)
}

// common returns the git directory that holds info/exclude and config: a
// worktree's own has a file that names the main one.
func (g gitPlace) common() gitPlace {
	data, err := g.read(path.Join(g.path, "commondir"))
	if err != nil {
		return g
	}
	return gitPlace{path: joinGit(g.path, firstLine(data)), read: g.read}
}

func (g gitPlace) file(name string) []byte {
	data, err := g.read(path.Join(g.path, name))
	if err != nil {
		return nil
	}
	return data
}

// findGitDir returns the git directory of the repository whose top is dir: of a
// worktree its own, see common.
func findGitDir(dir string, read func(name string) ([]byte, error)) (gitPlace, bool) {
	own := path.Join(dir, ".git")
	if _, err := read(path.Join(own, "HEAD")); err == nil {
		return gitPlace{path: own, read: read}, true
	}
	data, err := read(own)
	if err != nil || !strings.HasPrefix(string(data), gitdirPrefix) {
		return gitPlace{}, false
	}
	target := firstLine(data[len(gitdirPrefix):])
	return gitPlace{path: joinGit(dir, target), read: read}, true
}

// joinGit resolves a path that git wrote into a file.
func joinGit(base, name string) string {
	name = filepath.ToSlash(name)
	if path.IsAbs(name) || filepath.IsAbs(filepath.FromSlash(name)) {
		return path.Clean(name)
	}
	return path.Join(base, name)
}

func firstLine(data []byte) string {
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSuffix(line, "\r")
}

// nestedExclude reads info/exclude of the repository whose top is rel. Its git
// directory may lie outside the root.
func (ig *Ignore) nestedExclude(rel string) []byte {
	place, ok := findGitDir(rel, ig.readAnywhere)
	if !ok {
		return nil
	}
	return place.common().file("info/exclude")
}

// readAnywhere reads a file by its path from the root, or by a path that leads
// out of the root, which ReadOutside has to answer.
func (ig *Ignore) readAnywhere(name string) ([]byte, error) {
	abs := filepath.IsAbs(filepath.FromSlash(name))
	if !abs && name != ".." && !strings.HasPrefix(name, "../") {
		return ig.read(name)
	}
	if ig.outside == nil || ig.root == "" {
		return nil, errNoOutside
	}
	if !abs {
		name = path.Join(filepath.ToSlash(ig.root), name)
	}
	return ig.outside(filepath.FromSlash(name))
}
