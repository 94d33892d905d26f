package watch

import (
	"path"
	"path/filepath"
	"strings"
)

// repository is what git's configuration may ask of the repository that it is read
// for; the zero value is none.
type repository struct {
	gitDir string // absolute, slash separated; a worktree's own, not the main one
	head   func() ([]byte, error)
}

// includes reports whether the condition of an includeIf section in a file holds,
// as `git help config` has it under "Conditional includes". Of its kinds only
// hasconfig is not known, and never holds.
func (c *gitConfig) includes(condition, file string) bool {
	keyword, pattern, ok := strings.Cut(condition, ":")
	if !ok || c.repo.gitDir == "" {
		return false
	}
	switch keyword {
	case "gitdir":
		return c.atGitDir(pattern, file, false)
	case "gitdir/i":
		return c.atGitDir(pattern, file, true)
	case "onbranch":
		return c.onBranch(pattern)
	}
	return false
}

// atGitDir matches the git directory, with its links resolved or else as it is
// named. What a pattern in file gets from the directory of that file is no pattern.
func (c *gitConfig) atGitDir(pattern, file string, fold bool) bool {
	pattern = filepath.ToSlash(pattern)
	literal := ""
	switch rest, home := strings.CutPrefix(pattern, "~/"); {
	case home && c.home() == "":
		return false
	case home:
		pattern = realPath(c.home()) + "/" + rest
	case strings.HasPrefix(pattern, "./"):
		literal = path.Dir(realPath(file)) + "/"
		pattern = pattern[len("./"):]
	case !path.IsAbs(pattern) && !filepath.IsAbs(filepath.FromSlash(pattern)):
		pattern = "**/" + pattern
	}
	g, ok := compileGlob(wholeDirectory(pattern), true, fold)
	if !ok {
		return false
	}
	for _, dir := range []string{realPath(c.repo.gitDir), c.repo.gitDir} {
		if len(dir) < len(literal) {
			continue
		}
		head, rest := dir[:len(literal)], dir[len(literal):]
		if (head == literal || fold && lowerASCII(head) == lowerASCII(literal)) && g.match(rest) {
			return true
		}
	}
	return false
}

// branchPrefix starts what HEAD has when a branch is checked out.
const branchPrefix = "ref: refs/heads/"

// onBranch matches the name of the branch that is checked out.
func (c *gitConfig) onBranch(pattern string) bool {
	data, err := c.repo.head()
	if err != nil {
		return false
	}
	branch, ok := strings.CutPrefix(firstLine(data), branchPrefix)
	if !ok {
		return false
	}
	g, ok := compileGlob(wholeDirectory(pattern), true, false)
	return ok && g.match(strings.TrimRight(branch, " \t"))
}

// wholeDirectory makes a pattern that ends with "/" one of everything below.
func wholeDirectory(pattern string) string {
	if strings.HasSuffix(pattern, "/") {
		return pattern + "**"
	}
	return pattern
}

// realPath is a path with its links resolved, slash separated; as it is when it
// cannot be resolved.
func realPath(name string) string {
	if real, err := filepath.EvalSymlinks(filepath.FromSlash(name)); err == nil {
		name = real
	}
	return filepath.ToSlash(name)
}

// lowerASCII makes capitals of ASCII small.
func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}
