package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// treeTest is a Tree over a scratch directory and a mirror of it that is kept
// with what Sync returns.
type treeTest struct {
	*Tree
	t      *testing.T
	dir    string
	home   string
	mirror map[string]Entry
	since  uint64
}

// newTreeTest makes the directory; nothing is watched yet.
func newTreeTest(t *testing.T) *treeTest {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tt := &treeTest{t: t, dir: filepath.Join(base, "root"), home: filepath.Join(base, "home"), mirror: map[string]Entry{}}
	for _, dir := range []string{tt.dir, tt.home, filepath.Join(base, "cookies")} {
		tt.must(os.Mkdir(dir, 0o755))
	}
	return tt
}

// startTree watches below a new directory, with events only unless configure says
// otherwise.
func startTree(t *testing.T, configure ...func(*TreeOptions)) *treeTest {
	t.Helper()
	tt := newTreeTest(t)
	tt.start(configure...)
	return tt
}

func (tt *treeTest) start(configure ...func(*TreeOptions)) {
	tt.t.Helper()
	opts := TreeOptions{
		Root: tt.dir, CookieDir: filepath.Join(filepath.Dir(tt.dir), "cookies"),
		Logger: slog.New(slog.DiscardHandler), Getenv: tt.getenv, audit: never,
	}
	for _, c := range configure {
		c(&opts)
	}
	tree, err := OpenTree(tt.t.Context(), opts)
	tt.must(err)
	tt.Tree = tree
	tt.mirror, tt.since = map[string]Entry{}, 0
	tt.t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			tt.t.Error(err)
		}
	})
}

func (tt *treeTest) getenv(name string) string {
	switch name {
	case "HOME":
		return tt.home
	case "GIT_CONFIG_NOSYSTEM":
		return "1"
	}
	return ""
}

func (tt *treeTest) must(err error) {
	tt.t.Helper()
	if err != nil {
		tt.t.Fatal(err)
	}
}

func (tt *treeTest) path(rel string) string { return filepath.Join(tt.dir, filepath.FromSlash(rel)) }

func (tt *treeTest) mkdir(rel string) {
	tt.t.Helper()
	tt.must(os.MkdirAll(tt.path(rel), 0o755))
}

// write makes a file with its directories.
func (tt *treeTest) write(rel, text string) {
	tt.t.Helper()
	tt.mkdir(path.Dir(rel))
	tt.must(os.WriteFile(tt.path(rel), []byte(text), 0o644))
}

func (tt *treeTest) rename(from, to string) {
	tt.t.Helper()
	tt.must(os.Rename(tt.path(from), tt.path(to)))
}

func (tt *treeTest) remove(rel string) {
	tt.t.Helper()
	tt.must(os.RemoveAll(tt.path(rel)))
}

func (tt *treeTest) link(target, rel string) {
	tt.t.Helper()
	tt.must(os.Symlink(target, tt.path(rel)))
}

// sync brings the mirror up to date, as the index does.
func (tt *treeTest) sync() Changes {
	tt.t.Helper()
	ctx, cancel := context.WithTimeout(tt.t.Context(), 10*patience)
	defer cancel()
	c, err := tt.Sync(ctx, tt.since)
	tt.must(err)
	tt.since = c.Generation
	follow(tt.mirror, c)
	return c
}

// follow applies changes to a list, as their contract says.
func follow(list map[string]Entry, c Changes) {
	if c.Full {
		clear(list)
	}
	for _, p := range c.Gone {
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			delete(list, dir)
			maps.DeleteFunc(list, func(name string, _ Entry) bool { return strings.HasPrefix(name, p) })
			continue
		}
		delete(list, p)
	}
	for _, e := range c.Changed {
		list[e.Path] = e
	}
}

// fresh lists what is there now with nothing of the Tree but the rules.
func (tt *treeTest) fresh() map[string]Entry {
	tt.t.Helper()
	around, err := ReadSurroundings(tt.dir, tt.getenv)
	tt.must(err)
	read := func(rel string) ([]byte, error) {
		info, err := os.Lstat(tt.path(rel))
		if err != nil || !info.Mode().IsRegular() {
			return nil, fs.ErrNotExist
		}
		return os.ReadFile(tt.path(rel))
	}
	ig := NewIgnore(IgnoreOptions{ReadFile: read, Root: tt.dir, ReadOutside: ReadGitFile, Around: around})
	list := map[string]Entry{}
	var walk func(rel string, rules *DirRules)
	walk = func(rel string, rules *DirRules) {
		entries, err := os.ReadDir(tt.path(rel))
		if err != nil {
			return
		}
		for _, e := range entries {
			if strings.EqualFold(e.Name(), ".git") || rules.Ignored(e.Name(), e.IsDir()) {
				continue
			}
			name := path.Join(rel, e.Name())
			st, _, err := statPath(tt.path(name), false)
			tt.must(err)
			if st.kind == Dir {
				list[name] = Entry{Path: name, Kind: Dir, Inode: st.ino}
				walk(name, ig.Dir(rules, name, IsRepository(read, name)))
				continue
			}
			list[name] = st.entry(name)
		}
	}
	if _, err := os.Stat(tt.dir); err == nil {
		walk(".", ig.Dir(nil, ".", false))
	}
	return list
}

// check syncs and compares the mirror, and a full answer, with a fresh list.
// Nobody may be writing.
func (tt *treeTest) check() {
	tt.t.Helper()
	tt.sync()
	want := tt.fresh()
	if diff := differences(tt.mirror, want); diff != "" {
		tt.t.Fatalf("mirror differs from what is there:\n%s\n%+v", diff, tt.Status())
	}
	full := tt.changes(0)
	if !slices.IsSortedFunc(full.Changed, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) }) {
		tt.t.Fatal("the whole list is not sorted")
	}
	all := map[string]Entry{}
	follow(all, full)
	if diff := differences(all, want); diff != "" || len(full.Changed) != len(all) {
		tt.t.Fatalf("tree differs from what is there:\n%s", diff)
	}
	dirs := 0
	for _, e := range want {
		if e.Kind == Dir {
			dirs++
		}
	}
	if s := tt.Status(); s.Dirs != dirs || s.Files != len(want)-dirs {
		tt.t.Fatalf("%d files and %d directories counted, there are %d and %d", s.Files, s.Dirs, len(want)-dirs, dirs)
	}
}

func differences(got, want map[string]Entry) string {
	var lines []string
	for name, e := range want {
		if g, ok := got[name]; !ok {
			lines = append(lines, fmt.Sprintf("missing %+v", e))
		} else if g != e {
			lines = append(lines, fmt.Sprintf("got %+v, there is %+v", g, e))
		}
	}
	for name, e := range got {
		if _, ok := want[name]; !ok {
			lines = append(lines, fmt.Sprintf("not there: %+v", e))
		}
	}
	slices.Sort(lines)
	if len(lines) > 20 {
		lines = append(lines[:20], fmt.Sprintf("and %d more", len(lines)-20))
	}
	return strings.Join(lines, "\n")
}

// lists asserts what is in the tree, by path.
func (tt *treeTest) lists(want ...string) {
	tt.t.Helper()
	tt.check()
	got := slices.Sorted(maps.Keys(tt.mirror))
	if !slices.Equal(got, want) {
		tt.t.Fatalf("the tree has %q, not %q", got, want)
	}
}

// awaitState syncs until the state is one of states.
func (tt *treeTest) state(want string) {
	tt.t.Helper()
	if s := tt.Status(); s.State != want {
		tt.t.Fatalf("state %q, not %q: %+v", s.State, want, s.Problems)
	}
}

func TestTreeListsWhatIsThere(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a/b/c.txt", "1")
	tt.write("a-b", "2")
	tt.write(".hidden/x", "3")
	tt.write(".git/HEAD", "ref: x")
	tt.write("sub/.Git/f", "no")
	tt.write(".gitignore", "*.log\nbuild/\n")
	tt.write("x.log", "")
	tt.write("build/y", "")
	tt.link("..", "a/up")
	tt.write("bad\xff\nname", "4")
	tt.start()
	select {
	case <-tt.Ready():
	case <-time.After(patience):
		t.Fatal("not ready")
	}
	tt.lists(".gitignore", ".hidden", ".hidden/x", "a", "a-b", "a/b", "a/b/c.txt", "a/up", "bad\xff\nname", "sub")
	if n := tt.Ignored("."); n != 2 {
		t.Errorf("%d ignored in the root, not 2", n)
	}
	if n := tt.Ignored("sub"); n != 0 {
		t.Errorf("%d ignored in sub", n)
	}
	tt.state("live")
	if s := tt.Status(); s.Watches != 5 || s.Generation == 0 || s.Scanned == 0 || len(s.Problems) != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestTreeChanges(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("d/a", "1")
	tt.write("d/b", "1")
	tt.write("e/x/y", "1")
	tt.start()
	if c := tt.sync(); !c.Full || len(c.Changed) != 6 {
		t.Fatalf("first: %+v", c)
	}
	if c := tt.sync(); c.Full || len(c.Changed)+len(c.Gone) != 0 {
		t.Fatalf("idle: %+v", c)
	}
	tt.write("d/a", "22")
	tt.remove("d/b")
	tt.remove("e")
	tt.write("n/m", "")
	c := tt.sync()
	var changed []string
	for _, e := range c.Changed {
		changed = append(changed, e.Path)
	}
	if !slices.Equal(changed, []string{"d/a", "n", "n/m"}) || c.Full {
		t.Errorf("changed %q", changed)
	}
	for _, want := range []string{"d/b", "e/"} {
		if !slices.Contains(c.Gone, want) {
			t.Errorf("%s is not among %q", want, c.Gone)
		}
	}
	tt.check()
}

func TestTreeOptionsAreChecked(t *testing.T) {
	dir := t.TempDir()
	for name, opts := range map[string]TreeOptions{
		"relative root":    {Root: "a", CookieDir: dir},
		"relative cookies": {Root: dir, CookieDir: "a"},
		"cookies inside":   {Root: dir, CookieDir: dir},
		"no cookies":       {Root: dir + "/a", CookieDir: dir + "/none"},
	} {
		if tree, err := OpenTree(t.Context(), opts); err == nil {
			tree.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTreeClosed(t *testing.T) {
	tt := startTree(t)
	tt.sync()
	tt.must(tt.Close())
	if _, err := tt.Sync(t.Context(), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("error %v after Close", err)
	}
}
