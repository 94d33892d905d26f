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
	limit     int
	hidden    bool

	out      listResult
	total    int // entries, those past the limit included
	bytes    int // what the entries shown take in the reply
	full     bool
	deeper   int // directories that are not entered and not empty
	warnings int

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
	for _, name := range names {
		l.add(listedFile{Path: name, IsDir: true})
		p, err := l.view.Resolve(name)
		if err != nil {
			return err
		}
		if !l.recursive {
			continue
		}
		if err := l.walk(ctx, p, rules{}, 2); err != nil {
			return err
		}
	}
	return nil
}

// directory lists one directory.
func (l *listing) directory(ctx context.Context, name string) error {
	p, via, err := l.view.Workspace().Resolve(name)
	if err != nil {
		return err
	}
	l.out.Path, l.out.Via = l.view.Name(p), via
	entries, err := l.view.List(p)
	if err != nil {
		return notListable(l.view, p, err)
	}
	rules := l.rulesAt(p)
	if rules.ignored {
		l.warn(l.out.Path, "the directory itself is ignored, so nothing in it is listed")
	}
	return l.entries(ctx, p, entries, rules, 1)
}

// walk lists the entries of a directory that was found on the way. One that
// cannot be read is a warning. above are the rules of the directory it lies in;
// none for a root.
func (l *listing) walk(ctx context.Context, p diffpreview.Path, above rules, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := l.view.List(p)
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
	l.out.Ignored += ignored
	visits := make([]visit, 0, len(kept))
	for _, e := range kept {
		visits = append(visits, visit{key: e.Name, entry: e})
		if e.IsDir && l.recursive {
			visits = append(visits, visit{key: e.Name + "/", entry: e, below: true})
		}
	}
	slices.SortFunc(visits, func(a, b visit) int { return strings.Compare(a.key, b.key) })
	for _, v := range visits {
		name := path.Join(dir, v.entry.Name)
		if !v.below {
			l.add(fileOf(name, v.entry))
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
			l.warn(path.Join(dir, strings.ToValidUTF8(e.Name, "\uFFFD")), "not listed: its name is not valid UTF-8, so no call can name it")
		default:
			kept = append(kept, e)
		}
	}
	return kept, ignored
}

func fileOf(name string, e diffpreview.Entry) listedFile {
	f := listedFile{Path: name, Size: e.Size, IsDir: e.IsDir}
	switch {
	case e.IsDir:
		f.Size = 0
	case e.Mode&fs.ModeSymlink != 0:
		f.Kind = "link"
	case !e.Mode.IsRegular():
		f.Kind, f.Size = "special", 0
	}
	return f
}

func (l *listing) add(f listedFile) {
	l.total++
	l.full = l.full || len(l.out.Files) == l.limit || l.bytes+replyBytes(f.Path) > maxListedBytes
	if !l.full {
		l.bytes += replyBytes(f.Path)
		l.out.Files = append(l.out.Files, f)
	}
}

// replyBytes is the most that an entry with this path takes in a reply: once as
// JSON, once as JSON text in a JSON string.
func replyBytes(name string) int {
	n := 160 // the fields around the path, twice
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ':
			n += len(`\u0001`) + len(`\\u0001`)
		case c == '"' || c == '\\':
			n += len(`\"`) + len(`\\\"`)
		default:
			n += 2
		}
	}
	return n
}

func (l *listing) warn(name, message string) {
	if l.warnings++; l.warnings <= maxWarnings {
		l.out.Warnings = append(l.out.Warnings, warning{name, message})
	}
}

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
	prefix := strings.TrimSuffix(strings.TrimSuffix(l.view.Name(p), rel), "/")
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
