package watch

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	seedFlag    = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one")
	ignoreTrees = flag.Int("ignore.trees", 300, "how many random ignore trees are compared with git")
)

// randomTree writes random ignore files into random trees.
type randomTree struct {
	*gitTree
	rng *rand.Rand
}

var (
	entryNames = []string{
		"a", "b", "ab", "abc", "a.b", "b.log", "x.log", ".x", "A", "B.LOG", "a b", "b ", "é", "aé", "\xff", "!a", "#b",
		"[a]", "a]", "-", "a-b", "a\\b", "*", "?", "^", "z9", "build", "foo", "bar", "foobar", "\t", "a\r",
	}
	patternParts = []string{
		"*", "*", "*", "**", "**", "***", "?", "/", "/", "/", "/**/", "**/", "/**", "/*", "*/", "//", ".", "\\", "\\*", "\\?",
		"\\[", "\\a", "\\/", "[ab]", "[!a]", "[^b]", "[a-c]", "[!a-z]", "[]a]", "[!]a]", "[a-]", "[-a]", "[\\]a]", "[a\\-c]", "[a-\\c]",
		"[[:alpha:]]", "[^[:alnum:].]", "[[:upper:]]", "[[:bogus:]]", "[[:alpha]", "[[:]", "[[a]", "[", "[a", "[A-Z]", "[Z-a]", "[/]", "[!x]", "[--0]",
		" ", "\\ ", "\t", "!", "#", "\r", "\\!", "\\#", "\xef\xbb\xbf", "é", "\xff", "[é]", "[\x80-\xff]", "\x00",
	}
	lineEnds = []string{"\n", "\n", "\n", "\n", "\r\n", " \n", "  \r\n", "\n\n"}
)

func (r *randomTree) pick(list []string) string { return list[r.rng.IntN(len(list))] }

func (r *randomTree) pattern() string {
	var b strings.Builder
	if r.rng.IntN(4) == 0 {
		b.WriteByte('!')
	}
	if r.rng.IntN(5) == 0 {
		b.WriteByte('/')
	}
	for range 1 + r.rng.IntN(4) {
		if r.rng.IntN(2) == 0 {
			b.WriteString(r.pick(entryNames))
		} else {
			b.WriteString(r.pick(patternParts))
		}
	}
	if r.rng.IntN(5) == 0 {
		b.WriteByte('/')
	}
	return b.String()
}

func (r *randomTree) ignoreFile() string {
	var b strings.Builder
	if r.rng.IntN(10) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	for range 1 + r.rng.IntN(6) {
		b.WriteString(r.pattern())
		b.WriteString(r.pick(lineEnds))
	}
	if r.rng.IntN(4) == 0 {
		b.WriteString(r.pattern())
	}
	return b.String()
}

// grow fills the tree and returns its directories, "" first.
func (r *randomTree) grow() []string {
	dirs := []string{""}
	for range 8 + r.rng.IntN(8) {
		dir := path.Join(dirs[r.rng.IntN(len(dirs))], r.pick(entryNames))
		if r.free(dir) {
			r.mkdir(r.abs(dir))
			dirs = append(dirs, dir)
		}
	}
	for range 30 {
		if name := path.Join(dirs[r.rng.IntN(len(dirs))], r.pick(entryNames)); r.free(name) {
			r.write(name, "")
		}
	}
	if name := path.Join(dirs[r.rng.IntN(len(dirs))], r.pick(entryNames)); r.free(name) {
		if err := os.Symlink(r.top, r.abs(name)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.write(".gitignore", r.ignoreFile())
	for range r.rng.IntN(4) {
		r.write(path.Join(dirs[r.rng.IntN(len(dirs))], ".gitignore"), r.ignoreFile())
	}
	if r.rng.IntN(2) == 0 {
		r.write(".git/info/exclude", r.ignoreFile())
	}
	if r.rng.IntN(2) == 0 {
		r.writeAbs(filepath.Join(r.home, ".config/git/ignore"), r.ignoreFile())
	}
	return dirs
}

func (r *randomTree) free(rel string) bool {
	_, err := os.Lstat(r.abs(rel))
	return err != nil
}

// paths lists all entries of the tree.
func (r *randomTree) paths() []string {
	var list []string
	err := filepath.WalkDir(r.top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case name != r.top:
			list = append(list, filepath.ToSlash(name[len(r.top)+1:]))
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// dump prints the ignore files for a failure.
func (r *randomTree) dump() string {
	var b strings.Builder
	for _, name := range append(r.paths(), ".git/info/exclude", "../home/.config/git/ignore") {
		if base := path.Base(name); base != ".gitignore" && base != "exclude" && base != "ignore" {
			continue
		}
		if data, err := os.ReadFile(r.abs(name)); err == nil {
			fmt.Fprintf(&b, "%s: %q\n", name, data)
		}
	}
	return b.String()
}

// randomSeed returns the seed of a random test and says how to repeat it.
func randomSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -seed=%d", seed)
	return seed
}

// forRandomTrees runs check over n trees, each of its own seed.
func forRandomTrees(t *testing.T, n int, check func(t *testing.T, r *randomTree)) {
	seed := randomSeed(t)
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := &randomTree{gitTree: newGitTree(t), rng: rand.New(rand.NewPCG(seed, uint64(i)))}
			check(t, r)
			if t.Failed() {
				t.Logf("seed %d, tree %d:\n%s", seed, i, r.dump())
			}
		})
	}
}

// TestIgnoreRandomAgainstGit compares every path of random trees with git
// check-ignore, and the whole walk with git ls-files.
func TestIgnoreRandomAgainstGit(t *testing.T) {
	forRandomTrees(t, *ignoreTrees, func(t *testing.T, r *randomTree) {
		r.grow()
		r.compare(r.ignore(""), r.paths())
		if got, want := r.walk(""), r.lsFiles(""); !slices.Equal(got, want) {
			t.Errorf("walk\n got %q\nwant %q", got, want)
		}
	})
}

// compare asks both about all paths of the tree.
func (r *randomTree) compare(ig *Ignore, paths []string, config ...string) {
	r.t.Helper()
	want := r.checkIgnore("", paths, config...)
	for _, name := range paths {
		if got := ig.Path(name, r.isDir(name), nil); got != want[name] {
			r.t.Errorf("%q ignored: got %v, git says %v", name, got, want[name])
		}
	}
}

func TestIgnoreRandomFoldedAgainstGit(t *testing.T) {
	forRandomTrees(t, *ignoreTrees/4, func(t *testing.T, r *randomTree) {
		r.grow()
		r.write(".git/config", "[core]\n\tignoreCase\n")
		r.compare(r.ignore(""), r.paths())
	})
}

// TestIgnoreRandomBelowTop takes a directory inside the repository as the root:
// the answers stay git's unless git ignores the root itself.
func TestIgnoreRandomBelowTop(t *testing.T) {
	compared := 0
	forRandomTrees(t, *ignoreTrees/2, func(t *testing.T, r *randomTree) {
		dirs := r.grow()
		root := dirs[r.rng.IntN(len(dirs))]
		paths := r.paths()
		want := r.checkIgnore("", paths)
		if root == "" || want[root] {
			return
		}
		ig := r.ignore(root)
		for _, name := range paths {
			if rel, below := strings.CutPrefix(name, root+"/"); below {
				compared++
				if got := ig.Path(rel, r.isDir(name), nil); got != want[name] {
					t.Errorf("%q below %q ignored: got %v, git says %v", rel, root, got, want[name])
				}
			}
		}
	})
	if compared == 0 && *ignoreTrees > 20 {
		t.Error("no path was compared")
	}
}

// TestIgnoreRandomNested puts repositories into the tree, each with rules of its
// own, and compares the walk of each.
func TestIgnoreRandomNested(t *testing.T) {
	forRandomTrees(t, *ignoreTrees/4, func(t *testing.T, r *randomTree) {
		dirs := r.grow()
		nested := []string{""}
		for range 2 {
			dir := dirs[r.rng.IntN(len(dirs))]
			if dir == "" || slices.Contains(nested, dir) {
				continue
			}
			r.repository(dir)
			r.write(path.Join(dir, ".git/info/exclude"), r.ignoreFile())
			nested = append(nested, dir)
		}
		if got, want := r.walk(""), r.lsFiles(""); !slices.Equal(got, want) {
			t.Errorf("walk\n got %q\nwant %q", got, want)
		}
		for _, dir := range nested[1:] {
			r.compareNested(dir)
		}
	})
}

// compareNested compares repository dir, seen from the root above it, with git
// run in dir.
func (r *randomTree) compareNested(dir string) {
	r.t.Helper()
	read := r.reader("")
	ig := r.ignore("")
	if ig.Path(dir, true, func(rel string) bool { return IsRepository(read, rel) }) {
		return
	}
	want := r.lsFiles(dir)
	var got []string
	for _, name := range r.paths() {
		rel, below := strings.CutPrefix(name, dir+"/")
		if !below || r.isDir(name) {
			continue
		}
		inner := false
		for i, c := range rel {
			inner = inner || c == '/' && IsRepository(read, path.Join(dir, rel[:i]))
		}
		if !inner && !ig.Path(name, false, func(rel string) bool { return IsRepository(read, rel) }) {
			got = append(got, rel)
		}
	}
	want = slices.DeleteFunc(want, func(name string) bool { return strings.HasSuffix(name, "/") })
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.t.Errorf("repository %q\n got %q\nwant %q", dir, got, want)
	}
}
