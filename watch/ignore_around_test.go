package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestIgnoreDotIgnore(t *testing.T) {
	// .ignore is ripgrep's: over .gitignore at every level, and into nested
	// repositories.
	ig := memoryIgnore(map[string]string{
		".gitignore":     "*.log\n!b.tmp\n",
		".ignore":        "!keep.log\n*.tmp\n",
		"d/.gitignore":   "keep.log\n!a.tmp\n",
		"d/.ignore":      "!c.tmp\n",
		"r/.gitignore":   "!*.tmp\n",
		".git/HEAD":      "x",
		"r/.git/HEAD":    "x",
		"hidden/.ignore": "!*\n",
	}, Surroundings{Exclude: []byte("hidden/\n")})
	for name, want := range map[string]bool{
		"a.log": true, "keep.log": false, "a.tmp": true, "b.tmp": true,
		"d/keep.log": false, "d/a.tmp": true, "d/c.tmp": false, "d/a.log": true,
		"r/a.tmp": true, "r/a.log": false, "hidden/x": true,
	} {
		repo := func(rel string) bool { return rel == "r" }
		if got := ig.Path(name, false, repo); got != want {
			t.Errorf("%s ignored: got %v, want %v", name, got, want)
		}
	}
}

func TestIgnoreNeverShowsGit(t *testing.T) {
	ig := memoryIgnore(top("!.git\n!.GIT\n"), Surroundings{})
	for name, want := range map[string]bool{".git": true, "d/.git": true, ".GIT": false, ".github": false, ".git/config": true} {
		if got := ig.Path(name, false, nil); got != want {
			t.Errorf("%s ignored: got %v, want %v", name, got, want)
		}
	}
	if !memoryIgnore(nil, Surroundings{FoldCase: true}).Path(".GIT", true, nil) {
		t.Error(".GIT is not ignored where case is folded")
	}
}

func TestIgnoreNestedRepositoryKinds(t *testing.T) {
	g := newGitTree(t)
	g.write(".gitignore", "*.o\n")
	// A clone with its own exclude.
	g.repository("clone")
	g.write("clone/.git/info/exclude", "*.c1\n")
	// A submodule: its git directory lies in the root's.
	g.repository("../store")
	if err := os.Rename(g.abs("../store/.git"), g.abs(".git/modules")); err != nil {
		t.Fatal(err)
	}
	g.write("sub/.git", "gitdir: ../.git/modules\n")
	g.write(".git/modules/info/exclude", "*.c2\n")
	// A worktree of a repository outside: exclude is in the main git directory.
	g.repository("../main")
	g.write("../main/.git/info/exclude", "*.c3\n")
	g.write("../main/.git/worktrees/w/commondir", "../..\n")
	g.write("../main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n")
	g.write("../main/.git/worktrees/w/gitdir", g.abs("tree/.git")+"\n")
	g.write("tree/.git", "gitdir: "+g.abs("../main/.git/worktrees/w")+"\n")
	// Neither is a repository.
	g.mkdir(g.abs("empty/.git"))
	g.write("odd/.git", "nothing\n")

	read := g.reader("")
	for rel, want := range map[string]bool{"clone": true, "sub": true, "tree": true, "empty": false, "odd": false, ".": true} {
		if got := IsRepository(read, rel); got != want {
			t.Errorf("IsRepository(%q): got %v, want %v", rel, got, want)
		}
	}
	repo := func(rel string) bool { return IsRepository(read, rel) }
	ig := g.ignore("")
	for rel, own := range map[string]string{"clone": "x.c1", "sub": "x.c2", "tree": "x.c3"} {
		names := []string{"x.o", "x.c1", "x.c2", "x.c3"}
		says := g.checkIgnore(rel, names)
		for _, name := range names {
			if (name == own) != says[name] {
				t.Errorf("git says %v of %s in %s", says[name], name, rel)
			}
			if got := ig.Path(rel+"/"+name, false, repo); got != says[name] {
				t.Errorf("%s/%s ignored: got %v, git says %v", rel, name, got, says[name])
			}
		}
		if got := g.ignore(rel).Path(own, false, nil); !got {
			t.Errorf("%s is not ignored with root %s", own, rel)
		}
	}
	// Without leave to read outside, that worktree's exclude does not count.
	inside := NewIgnore(IgnoreOptions{ReadFile: read})
	if inside.Path("tree/x.c3", false, repo) || !inside.Path("sub/x.c2", false, repo) {
		t.Error("reading outside is not bounded by ReadOutside")
	}
}

func TestIgnoreRootInsideAnIgnoredDirectory(t *testing.T) {
	g := newGitTree(t)
	g.write(".gitignore", "/build/\n*.o\n")
	g.write(".git/info/exclude", "*.x\n")
	g.writeAbs(filepath.Join(g.home, ".config/git/ignore"), "*.g\n")
	g.write("build/p/.gitignore", "own\n")
	ig := g.ignore("build/p")
	for name, want := range map[string]bool{"a": false, "a.o": false, "a.x": false, "own": true, "a.g": true} {
		if got := ig.Path(name, false, nil); got != want {
			t.Errorf("%s ignored: got %v, want %v", name, got, want)
		}
	}
}

func TestReadSurroundings(t *testing.T) {
	g := newGitTree(t)
	g.write(".gitignore", "one\n")
	g.write("a/.ignore", "two\n")
	g.write("a/b/.gitignore", "own\n")
	if err := os.Symlink("../.gitignore", g.abs("a/.gitignore")); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSurroundings(g.abs("a/b"), g.getenv)
	if err != nil {
		t.Fatal(err)
	}
	if s.Below != "a/b" || len(s.Above) != 2 || string(s.Above[0].Gitignore) != "one\n" || string(s.Above[1].Dotignore) != "two\n" {
		t.Errorf("got %q, %q", s.Below, s.Above)
	}
	if s.Above[1].Gitignore != nil {
		t.Error("a link to a .gitignore was followed; git does not")
	}
	if _, err := ReadSurroundings("a/b", g.getenv); err == nil {
		t.Error("a relative root was taken")
	}
}

func TestGitConfigExcludesFile(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string // below home; "$T" is the repository's top
		env   map[string]string
		want  []string // which of the names *.g1 … *.g4 are ignored
	}{
		{"nothing", nil, nil, nil},
		{"default place", map[string]string{".config/git/ignore": "*.g1"}, nil, []string{"g1"}},
		{"XDG", map[string]string{".config/git/ignore": "*.g1", "x/git/ignore": "*.g2"}, map[string]string{"XDG_CONFIG_HOME": "$H/x"}, []string{"g2"}},
		{"named", map[string]string{".gitconfig": "[core]\n\texcludesFile = ~/mine\n", "mine": "*.g1", ".config/git/ignore": "*.g2"}, nil, []string{"g1"}},
		{"named by XDG's config", map[string]string{".config/git/config": "[CORE]\nExcludesFile=~/mine # c\n", "mine": "*.g1"}, nil, []string{"g1"}},
		{"home's config wins", map[string]string{".config/git/config": "[core]excludesFile=~/a\n", ".gitconfig": "[core]\nexcludesfile = \"~/b\"\n", "a": "*.g1", "b": "*.g2"}, nil, []string{"g2"}},
		{"GIT_CONFIG_GLOBAL alone", map[string]string{".gitconfig": "[core]\nexcludesFile=~/a\n", "other": "[core]\nexcludesFile=~/b\n", "a": "*.g1", "b": "*.g2"}, map[string]string{"GIT_CONFIG_GLOBAL": "$H/other"}, []string{"g2"}},
		{"included", map[string]string{".gitconfig": "[include]\n\tpath = more/cfg\n", "more/cfg": "[core]\nexcludesFile=~/a\n", "a": "*.g1"}, nil, []string{"g1"}},
		{"includes itself", map[string]string{".gitconfig": "[include]\npath = .gitconfig\n[core]\nexcludesFile=~/a\n", "a": "*.g1"}, nil, []string{"g1"}},
		{"a quoted name over two lines", map[string]string{".gitconfig": "[core] excludesFile = \"~/a \\\nb\" ; x\n", "a b": "*.g1"}, nil, []string{"g1"}},
		{"another section", map[string]string{".gitconfig": "[core \"x\"]\nexcludesFile=~/a\n[other]\nexcludesFile=~/a\n", "a": "*.g1"}, nil, nil},
		{"the repository's own", map[string]string{"../top/.git/config": "[core]\nrepositoryformatversion = 0\nexcludesFile = in/top\n", "../top/in/top": "*.g3"}, nil, []string{"g3"}},
		{"empty name", map[string]string{".gitconfig": "[core]\nexcludesFile =\n", ".config/git/ignore": "*.g1"}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGitTree(t)
			for name, text := range c.files {
				g.writeAbs(filepath.Join(g.home, name), text)
			}
			getenv := func(name string) string {
				if v, ok := c.env[name]; ok {
					return os.Expand(v, func(string) string { return g.home })
				}
				return g.getenv(name)
			}
			s, err := ReadSurroundings(g.top, getenv)
			if err != nil {
				t.Fatal(err)
			}
			ig := NewIgnore(IgnoreOptions{ReadFile: g.reader(""), Around: s})
			for _, ext := range []string{"g1", "g2", "g3", "g4"} {
				if got, want := ig.Path("a."+ext, false, nil), slices.Contains(c.want, ext); got != want {
					t.Errorf("a.%s ignored: got %v, want %v", ext, got, want)
				}
			}
		})
	}
}

func TestReadGitFileRefuses(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, maxOutsideFile+1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, big, os.DevNull} {
		if _, err := ReadGitFile(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, err := ReadGitFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

func TestIgnoreWarns(t *testing.T) {
	var warned []string
	ig := NewIgnore(IgnoreOptions{
		ReadFile: func(rel string) ([]byte, error) {
			if rel == "d/.gitignore" {
				return nil, fs.ErrPermission
			}
			return nil, fs.ErrNotExist
		},
		Warn: func(rel string, _ error) { warned = append(warned, rel) },
	})
	if ig.Path("d/x", false, nil) || !slices.Equal(warned, []string{"d/.gitignore"}) {
		t.Errorf("warned of %q", warned)
	}
}
