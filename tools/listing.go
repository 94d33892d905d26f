package tools

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch"
)

// listing walks directories of a view in the order of path bytes.
type listing struct {
	view      *diffpreview.View
	recursive bool
	depth     int
	hidden    bool
	// found hears of every entry; when it returns false the walk ends.
	found func(name string, e diffpreview.Entry) bool
	// extra are files that no directory has, by their directory's name: open
	// documents of files that were never saved.
	extra map[string][]diffpreview.Entry

	ignored int // entries left out by rules
	deeper  int // directories that are not entered and not empty
	ended   bool
	warned  warnings

	// own is which of ownNames stand in the directory at, of which the entries
	// are known already: rules that are not there are not looked for.
	at  string // as rules name it
	own []string
}

// ownNames are the entries of a directory that rules are read from.
var ownNames = []string{".git", ".gitignore", ".ignore"}

// roots lists the folders of a workspace that has several.
func (l *listing) roots(ctx context.Context, roots []diffpreview.Root) error {
	names := make([]string, len(roots))
	for i, r := range roots {
		names[i] = r.Name
	}
	slices.Sort(names)
	var missing error
	found := false
	for _, name := range names {
		p, err := l.view.Resolve(name)
		if err != nil {
			missing = err
			l.warn(name, failureOf(err).Message)
			continue
		}
		found = true
		l.tell(name, diffpreview.Entry{Name: name, IsDir: true})
		if !l.recursive {
			continue
		}
		if err := l.walk(ctx, p, rules{}, 2); err != nil {
			return err
		}
	}
	if !found {
		return missing
	}
	return nil
}

func (l *listing) tell(name string, e diffpreview.Entry) {
	l.ended = l.ended || !l.found(name, e)
}

// directory lists one directory.
func (l *listing) directory(ctx context.Context, p diffpreview.Path) error {
	entries, err := l.list(p)
	if err != nil {
		return notListable(l.view, p, err)
	}
	rules := l.rulesAt(p)
	if rules.ignored {
		l.warn(l.view.Name(p), ignoredItself)
	}
	return l.entries(ctx, p, entries, rules, 1)
}

// ignoredItself is the warning for a directory that was named and that the
// rules leave out.
const ignoredItself = "the directory itself is ignored, so nothing in it is listed"

// list is the view's, with the documents that have no file.
func (l *listing) list(p diffpreview.Path) ([]diffpreview.Entry, error) {
	extra := l.extra[l.view.Name(p)]
	entries, err := l.view.List(p)
	if err != nil && (len(extra) == 0 || diffpreview.CodeOf(err) != diffpreview.CodeFileNotFound) {
		return nil, err
	}
	for _, e := range extra {
		if !slices.ContainsFunc(entries, func(o diffpreview.Entry) bool { return o.Name == e.Name }) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// walk lists the entries of a directory that was found on the way. One that
// cannot be read is a warning. above are the rules of the directory it lies in;
// none for a root.
func (l *listing) walk(ctx context.Context, p diffpreview.Path, above rules, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := l.list(p)
	if err != nil {
		l.warn(l.view.Name(p), failureOf(err).Message)
		return nil
	}
	if above.all == nil {
		return l.entries(ctx, p, entries, l.rulesAt(p), depth)
	}
	l.at, l.own = l.rel(p), nil
	for _, e := range entries {
		if slices.Contains(ownNames, e.Name) {
			l.own = append(l.own, e.Name)
		}
	}
	inside := above.enter(l.at)
	l.at = ""
	return l.entries(ctx, p, entries, inside, depth)
}

// visit is one step of a directory's walk: an entry, or what is below it. Sorted
// by key they give the order of path bytes, in which "a-b" is before "a/b".
type visit struct {
	key   string
	entry diffpreview.Entry
	below bool
}

func (l *listing) entries(ctx context.Context, p diffpreview.Path, entries []diffpreview.Entry, rules rules, depth int) error {
	dir := l.view.Name(p)
	kept, ignored := l.keep(dir, entries, rules)
	if depth > l.depth {
		if len(kept) > 0 {
			l.deeper++
		}
		return nil
	}
	l.ignored += ignored
	visits := make([]visit, 0, len(kept))
	for _, e := range kept {
		visits = append(visits, visit{key: e.Name, entry: e})
		if e.IsDir && l.recursive {
			visits = append(visits, visit{key: e.Name + "/", entry: e, below: true})
		}
	}
	slices.SortFunc(visits, func(a, b visit) int { return strings.Compare(a.key, b.key) })
	for _, v := range visits {
		if l.ended {
			return nil
		}
		name := path.Join(dir, v.entry.Name)
		if !v.below {
			l.tell(name, v.entry)
			continue
		}
		below, err := l.view.Resolve(name)
		if err != nil {
			l.warn(name, failureOf(err).Message)
			continue
		}
		if err := l.walk(ctx, below, rules, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// notUTF8 is the warning for a name that JSON cannot carry.
const notUTF8 = "not listed: its name is not valid UTF-8, so no call can name it"

// keep sorts out what is not listed: git's directory, hidden names when they are
// not wanted, names that JSON cannot carry, and what the rules ignore, which is
// counted.
func (l *listing) keep(dir string, entries []diffpreview.Entry, rules rules) (kept []diffpreview.Entry, ignored int) {
	for _, e := range entries {
		switch {
		case strings.EqualFold(e.Name, ".git"), !l.hidden && strings.HasPrefix(e.Name, "."):
		case rules.dir.Ignored(e.Name, e.IsDir):
			ignored++
		case !utf8.ValidString(e.Name):
			l.warn(path.Join(dir, strings.ToValidUTF8(e.Name, "\uFFFD")), notUTF8)
		default:
			kept = append(kept, e)
		}
	}
	return kept, ignored
}

func (l *listing) warn(name, message string) { l.warned.add(name, message) }

// rel is a path within its root.
func (l *listing) rel(p diffpreview.Path) string {
	name := l.view.Name(p)
	if len(l.view.Workspace().Roots()) > 1 {
		_, name, _ = strings.Cut(name, "/")
	}
	if name == "" {
		return "."
	}
	return name
}

// rules are the ignore rules inside one directory.
type rules struct {
	all     *watch.Ignore
	read    func(rel string) ([]byte, error)
	dir     *watch.DirRules
	ignored bool // the directory itself is
}

// enter goes one directory down, to rel.
func (r rules) enter(rel string) rules {
	r.ignored = r.dir.Ignored(path.Base(rel), true)
	r.dir = r.all.Dir(r.dir, rel, watch.IsRepository(r.read, rel))
	return r
}

// rulesAt reads the ignore rules from the root down to p. They are those of the
// view: a .gitignore that is only proposed counts.
func (l *listing) rulesAt(p diffpreview.Path) rules {
	rel := l.rel(p)
	return l.rulesIn(strings.TrimSuffix(strings.TrimSuffix(l.view.Name(p), rel), "/"), rel)
}

// rulesIn is rulesAt for the directory rel of a root. prefix is the root's name
// where there are several.
func (l *listing) rulesIn(prefix, rel string) rules {
	root, err := l.view.Resolve(path.Join(prefix, "."))
	r := rules{read: func(name string) ([]byte, error) { return l.readRules(prefix, name) }}
	opts := watch.IgnoreOptions{
		ReadFile: r.read, ReadOutside: watch.ReadGitFile,
		Warn: func(name string, err error) { l.warn(path.Join(prefix, name), failureOf(err).Message) },
	}
	if err == nil {
		opts.Root = l.view.Workspace().Abs(root)
		if opts.Around, err = watch.ReadSurroundings(opts.Root, os.Getenv); err != nil {
			l.warn(".", err.Error())
		}
	}
	r.all = watch.NewIgnore(opts)
	r.dir = r.all.Dir(nil, ".", false)
	for i, c := range rel {
		if c == '/' {
			r = r.enter(rel[:i])
		}
	}
	if rel != "." {
		r = r.enter(rel)
	}
	return r
}

// maxRules is the size up to which an ignore file is read, in bytes.
const maxRules = 4 << 20

// readRules reads an ignore file of the view. One behind a link does not count,
// as for git.
func (l *listing) readRules(prefix, rel string) ([]byte, error) {
	if in, ok := strings.CutPrefix(rel, l.at+"/"); ok && l.at != "" {
		if name, _, _ := strings.Cut(in, "/"); !slices.Contains(l.own, name) {
			return nil, fs.ErrNotExist
		}
	}
	p, via, err := l.view.Workspace().Resolve(path.Join(prefix, rel))
	if err != nil || via != "" {
		return nil, fs.ErrNotExist
	}
	source, err := l.view.Open(p)
	switch diffpreview.CodeOf(err) {
	case "":
	case diffpreview.CodeFileNotFound, diffpreview.CodeIsDirectory, diffpreview.CodeNotRegularFile:
		return nil, fs.ErrNotExist
	default:
		return nil, err
	}
	defer source.Close()
	return io.ReadAll(io.NewSectionReader(source, 0, maxRules))
}
