package watch

import (
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTreeIgnoreFilesChange changes every kind of file that rules come from.
func TestTreeIgnoreFilesChange(t *testing.T) {
	tt := newTreeTest(t)
	tt.write(".git/HEAD", "ref: x")
	tt.write("a/x.log", "")
	tt.write("a/build/out/f", "")
	tt.write("b", "")
	tt.start()
	all := []string{"a", "a/build", "a/build/out", "a/build/out/f", "a/x.log", "b"}
	tt.lists(all...)
	for _, file := range []string{".gitignore", ".ignore", "a/.gitignore"} {
		tt.write(file, "build\n*.log\n.*ignore\n")
		tt.lists("a", "b")
		if n := tt.Ignored("a"); n < 2 {
			t.Errorf("%s: %d ignored in a", file, n)
		}
		tt.write(file, "out/\n.*ignore\n")
		tt.lists("a", "a/build", "a/x.log", "b")
		tt.write("a/build/out/new", "")
		tt.remove("a/build/out/new")
		tt.remove(file)
		tt.lists(all...)
	}
	outside := []string{tt.path(".git/info/exclude"), filepath.Join(tt.home, ".config/git/ignore")}
	for _, file := range outside {
		tt.must(os.MkdirAll(filepath.Dir(file), 0o755))
		tt.must(os.WriteFile(file, []byte("a/*\n"), 0o644))
		tt.lists("a", "b")
		tt.must(os.WriteFile(file, []byte("b/*\n"), 0o644))
		tt.lists(all...)
		tt.must(os.Remove(file))
	}
	tt.must(os.WriteFile(filepath.Join(tt.home, ".gitconfig"), []byte("[core]\n\texcludesFile = ~/mine\n"), 0o644))
	tt.lists(all...)
	tt.must(os.WriteFile(filepath.Join(tt.home, "mine"), []byte("b\n"), 0o644))
	tt.lists(all[:5]...)
	tt.must(os.Rename(filepath.Join(tt.home, "mine"), filepath.Join(tt.home, "other")))
	tt.lists(all...)
	tt.must(os.WriteFile(filepath.Join(tt.home, "other"), []byte("b\n"), 0o644))
	tt.must(os.WriteFile(filepath.Join(tt.home, "inc"), []byte("[core]\n\texcludesFile = ~/other\n"), 0o644))
	tt.must(os.WriteFile(filepath.Join(tt.home, ".gitconfig"), []byte("[includeIf \"onbranch:topic/\"]\n\tpath = inc\n"), 0o644))
	tt.lists(all...)
	tt.write(".git/HEAD", "ref: refs/heads/topic/one\n")
	tt.lists(all[:5]...)
	tt.write(".git/HEAD", "ref: refs/heads/main\n")
	tt.lists(all...)
	tt.write(".gitignore", "a\n")
	tt.lists(".gitignore", "b")
	if s := tt.Status(); s.Watches != 1 {
		t.Errorf("%d watches: an ignored tree is watched", s.Watches)
	}
}

// TestTreeNestedRepositoryComesAndGoes makes, changes and removes a repository
// and a worktree inside the tree.
func TestTreeNestedRepositoryComesAndGoes(t *testing.T) {
	tt := newTreeTest(t)
	tt.write(".gitignore", "*.log\n")
	tt.write("sub/x.log", "")
	tt.write("sub/y.tmp", "")
	tt.start()
	tt.lists(".gitignore", "sub", "sub/y.tmp")
	tt.mkdir("sub/.git")
	tt.lists(".gitignore", "sub", "sub/y.tmp")
	tt.write("sub/.git/HEAD", "ref: x")
	tt.lists(".gitignore", "sub", "sub/x.log", "sub/y.tmp")
	tt.write("sub/.git/info/exclude", "*.tmp\n")
	tt.lists(".gitignore", "sub", "sub/x.log")
	tt.write("sub/.git/info/exclude", "*.tmp\n*.log\n")
	tt.lists(".gitignore", "sub")
	tt.remove("sub/.git/HEAD")
	tt.lists(".gitignore", "sub", "sub/y.tmp")
	tt.remove("sub/.git")
	elsewhere := filepath.Join(filepath.Dir(tt.dir), "elsewhere")
	tt.must(os.MkdirAll(filepath.Join(elsewhere, "info"), 0o755))
	tt.write("sub/.git", "gitdir: "+elsewhere+"\n")
	tt.lists(".gitignore", "sub", "sub/x.log", "sub/y.tmp")
	tt.must(os.WriteFile(filepath.Join(elsewhere, "info/exclude"), []byte("*.tmp\n"), 0o644))
	tt.lists(".gitignore", "sub", "sub/x.log")
	tt.remove("sub/.git")
	tt.lists(".gitignore", "sub", "sub/y.tmp")
	tt.state("live")
}

// TestTreeAgainstGit compares with git ls-files in random repositories, whose
// ignore files then change.
func TestTreeAgainstGit(t *testing.T) {
	n := 25
	if long() {
		n = 2000
	}
	forRandomTrees(t, n, func(t *testing.T, r *randomTree) {
		dirs := r.grow()
		cookies := t.TempDir()
		tree, err := OpenTree(t.Context(), TreeOptions{Root: r.top, CookieDir: cookies, Getenv: r.getenv, audit: never})
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		for range 4 {
			got, want := r.treeFiles(tree), r.lsFiles("")
			if !slices.Equal(got, want) {
				t.Fatalf("tree has\n%q, git lists\n%q", got, want)
			}
			r.change(dirs)
		}
	})
}

// treeFiles are the files of a synced tree.
func (r *randomTree) treeFiles(tree *Tree) (files []string) {
	c, err := tree.Sync(r.t.Context(), 0)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range c.Changed {
		if e.Kind != Dir {
			files = append(files, e.Path)
		}
	}
	return files
}

// change does something that changes what git lists.
func (r *randomTree) change(dirs []string) {
	dir := dirs[r.rng.IntN(len(dirs))]
	switch r.rng.IntN(6) {
	case 0, 1, 2:
		r.tryWrite(path.Join(dir, ".gitignore"), r.ignoreFile())
	case 3:
		r.write(".git/info/exclude", r.ignoreFile())
	case 4:
		r.writeAbs(filepath.Join(r.home, ".config/git/ignore"), r.ignoreFile())
	case 5:
		_ = os.Remove(r.abs(path.Join(dir, ".gitignore")))
	}
	for range 3 {
		r.tryWrite(path.Join(dirs[r.rng.IntN(len(dirs))], r.pick(entryNames)), "")
	}
}

// tryWrite writes where a file can be.
func (r *randomTree) tryWrite(rel, text string) {
	_ = os.WriteFile(r.abs(rel), []byte(text), 0o644)
}

// TestTreeRandomRules checks the tree against a fresh list while random ignore
// files come and go in nested repositories.
func TestTreeRandomRules(t *testing.T) {
	seed := randomSeed(t)
	rounds := 60
	if long() {
		rounds = 3000
	}
	tt := newTreeTest(t)
	r := &randomTree{gitTree: &gitTree{t: t, top: tt.dir, home: tt.home}, rng: rand.New(rand.NewPCG(seed, 2))}
	dirs := r.grow()
	tt.start()
	for range rounds {
		dir := dirs[r.rng.IntN(len(dirs))]
		switch {
		case dir != "" && r.rng.IntN(5) == 0:
			if _, err := os.Stat(r.abs(path.Join(dir, ".git"))); err == nil {
				tt.remove(path.Join(dir, ".git"))
			} else {
				r.repository(dir)
			}
		default:
			r.change(dirs)
		}
		tt.check()
	}
}

// TestTreeRulesFromAbove has a root below a repository's top.
func TestTreeRulesFromAbove(t *testing.T) {
	tt := newTreeTest(t)
	top := filepath.Dir(tt.dir)
	tt.must(os.MkdirAll(filepath.Join(top, ".git/info"), 0o755))
	tt.must(os.WriteFile(filepath.Join(top, ".git/HEAD"), nil, 0o644))
	tt.write("x.log", "")
	tt.write("y", "")
	tt.start()
	tt.lists("x.log", "y")
	tt.must(os.WriteFile(filepath.Join(top, ".gitignore"), []byte("*.log\n"), 0o644))
	tt.lists("y")
	tt.must(os.WriteFile(filepath.Join(top, ".git/info/exclude"), []byte("root/y\n"), 0o644))
	tt.lists()
	tt.must(os.RemoveAll(filepath.Join(top, ".git")))
	tt.lists("x.log", "y")
	if !strings.HasPrefix(tt.dir, top) {
		t.Fatal("the root is elsewhere")
	}
}
