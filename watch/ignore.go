package watch

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// Ignore answers whether git would ignore a path below one root, whether the
// path is tracked or not. The rules, strongest first:
//
//  1. .ignore files, the deepest first. They are not git's but ripgrep's, and as
//     there they reach into nested repositories and go over every .gitignore.
//  2. .gitignore files from the entry's directory up to the top of the
//     repository that it lies in.
//  3. That repository's info/exclude, counted from its top.
//  4. The user's excludes file, counted from the same top.
//
// Within a file the last matching line decides. What lies below an ignored
// directory is ignored, whatever other rules say. ".git" is always ignored.
//
// A root that lies in no repository is treated as if it were one's top: its
// .gitignore files count. That git would not read them there helps nobody.
//
// Differences from git: includeIf in git's configuration is not followed, and a
// nested repository's own core.excludesFile and core.ignoreCase do not count.
//
// An Ignore holds no state of the tree; its methods may be called from any
// goroutine if ReadFile may.
type Ignore struct {
	read    func(rel string) ([]byte, error)
	outside func(abs string) ([]byte, error)
	warn    func(rel string, err error)
	root    string
	around  Surroundings
	global  []pattern
	exclude []pattern
}

// IgnoreOptions says where rules are read from.
type IgnoreOptions struct {
	// ReadFile returns a file below the root; rel is slash separated, without
	// "." and "..". It must not follow a link in rel's last part, as git does
	// not for .gitignore, and must bound the size it returns. Any error but
	// fs.ErrNotExist goes to Warn and counts as an empty file.
	ReadFile func(rel string) ([]byte, error)

	// Root is the root's absolute path and ReadOutside reads a file by its
	// absolute path. They serve one case, the info/exclude of a nested
	// repository whose git directory is elsewhere (a worktree, a submodule of a
	// repository above). Either may be empty: then such a file does not count.
	Root        string
	ReadOutside func(abs string) ([]byte, error)

	// Around is what applies to the root from outside, from ReadSurroundings.
	Around Surroundings

	// Warn hears of ignore files that could not be read. May be nil.
	Warn func(rel string, err error)
}

// NewIgnore returns the rules of one root.
func NewIgnore(opts IgnoreOptions) *Ignore {
	ig := &Ignore{
		read: opts.ReadFile, outside: opts.ReadOutside, warn: opts.Warn,
		root: opts.Root, around: opts.Around,
	}
	ig.global = parsePatterns(opts.Around.Global, ig.around.FoldCase)
	ig.exclude = parsePatterns(opts.Around.Exclude, ig.around.FoldCase)
	return ig
}

// DirRules are the rules in force inside one directory. They do not change: when
// an ignore file does, ask Dir again for its directory and all below.
type DirRules struct {
	rel     string // from the root, "." the root itself
	path    string // from the surrounding repository's top, with a "/" at the end; "" the top
	fold    bool
	ignored bool // the directory itself is ignored, and so is all in it

	dot     []*patternList // .ignore files, the deepest first
	git     []*patternList // .gitignore files of the repository, the deepest first
	exclude []*patternList // info/exclude, then the user's excludes
}

// Dir returns the rules inside directory rel, reading its own ignore files.
// parent are those of the directory above it, nil only for the root ("."). repo
// says that a repository of its own begins here (see IsRepository); for the root
// it says nothing new, since Around has it.
func (ig *Ignore) Dir(parent *DirRules, rel string, repo bool) *DirRules {
	if parent == nil {
		return ig.rootRules()
	}
	name := path.Base(rel)
	d := &DirRules{
		rel:     rel,
		path:    parent.path + name + "/",
		fold:    parent.fold,
		ignored: parent.Ignored(name, true),
		dot:     parent.dot,
		git:     parent.git,
		exclude: parent.exclude,
	}
	if d.ignored {
		return d // nothing read here could change an answer
	}
	if repo {
		d.git, d.exclude = nil, ig.excludes(parsePatterns(ig.nestedExclude(rel), d.fold), len(d.path))
	}
	ig.readOwn(d)
	return d
}

// rootRules lays the levels above the root one on the other, and the root's own
// on top. When those above would ignore the root itself they are dropped: a
// person who opens an ignored folder wants to see what is in it.
func (ig *Ignore) rootRules() *DirRules {
	top := &DirRules{rel: ".", fold: ig.around.FoldCase, exclude: ig.excludes(ig.exclude, 0)}
	d := *top
	for i, level := range ig.around.Above {
		d.add(level.Gitignore, level.Dotignore)
		name := ig.around.names()[i]
		if d.Ignored(name, true) {
			d = *top
			d.exclude = ig.excludes(nil, 0)
			break
		}
		d.path += name + "/"
	}
	ig.readOwn(&d)
	return &d
}

func (ig *Ignore) excludes(own []pattern, base int) []*patternList {
	var lists []*patternList
	for _, patterns := range [][]pattern{own, ig.global} {
		if len(patterns) > 0 {
			lists = append(lists, &patternList{patterns: patterns, base: base, fold: ig.around.FoldCase})
		}
	}
	return lists
}

func (ig *Ignore) readOwn(d *DirRules) {
	d.add(ig.file(path.Join(d.rel, ".gitignore")), ig.file(path.Join(d.rel, ".ignore")))
}

// file reads an ignore file below the root; absent and unreadable are empty.
func (ig *Ignore) file(rel string) []byte {
	data, err := ig.read(rel)
	if err != nil {
		if ig.warn != nil && !errors.Is(err, fs.ErrNotExist) {
			ig.warn(rel, err)
		}
		return nil
	}
	return data
}

// add puts a directory's ignore files before those already there. The slices of
// a parent are shared between its children, so they are copied, not extended.
func (d *DirRules) add(gitignore, dotignore []byte) {
	for _, f := range []struct {
		data  []byte
		lists *[]*patternList
	}{{gitignore, &d.git}, {dotignore, &d.dot}} {
		if patterns := parsePatterns(f.data, d.fold); len(patterns) > 0 {
			list := &patternList{patterns: patterns, base: len(d.path), fold: d.fold}
			*f.lists = append([]*patternList{list}, *f.lists...)
		}
	}
}

// Ignored reports whether the entry name of the directory is ignored. isDir is
// of the entry itself: a link to a directory is none.
func (d *DirRules) Ignored(name string, isDir bool) bool {
	if d.ignored || equalBytes(name, ".git", d.fold) {
		return true
	}
	if name == "" {
		return false
	}
	for _, tier := range [...][]*patternList{d.dot, d.git, d.exclude} {
		for _, list := range tier {
			if p := list.match(d.path, name, isDir); p != nil {
				return !p.negated
			}
		}
	}
	return false
}

// Path answers for one path below the root, reading every ignore file on the
// way to it. repo tells whether a directory below the root is a repository's
// top; nil means that none is. Whoever asks for many paths keeps DirRules.
func (ig *Ignore) Path(rel string, isDir bool, repo func(rel string) bool) bool {
	d := ig.Dir(nil, ".", false)
	for i, c := range rel {
		if c == '/' {
			d = ig.Dir(d, rel[:i], repo != nil && repo(rel[:i]))
		}
	}
	return d.Ignored(path.Base(rel), isDir)
}

// IsRepository reports whether a repository begins in directory rel of the tree
// that read reads: it holds a .git directory with a HEAD, or a .git file that
// names a git directory, as git demands.
func IsRepository(read func(rel string) ([]byte, error), rel string) bool {
	if _, err := read(path.Join(rel, ".git/HEAD")); err == nil {
		return true
	}
	data, err := read(path.Join(rel, ".git"))
	return err == nil && strings.HasPrefix(string(data), gitdirPrefix)
}
