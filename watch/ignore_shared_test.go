package watch

import (
	"path"
	"slices"
	"testing"
)

// The shared cases of group D at the level of the ignore rules, by id.

func TestC087NegatedDirectorySeenFromAnyRoot(t *testing.T) {
	g := newGitTree(t)
	g.write(".gitignore", "out/\n!/pkg/out/\n")
	g.write("pkg/out/f", "")
	g.write("other/out/f", "")
	want := g.checkIgnore("", []string{"pkg/out/f", "other/out/f"})
	if want["pkg/out/f"] || !want["other/out/f"] {
		t.Fatalf("git says %v", want)
	}
	for root, rel := range map[string]string{"": "pkg/out/f", "pkg": "out/f", "pkg/out": "f"} {
		if g.ignore(root).Path(rel, false, nil) {
			t.Errorf("%s is ignored with root %q", rel, root)
		}
	}
	for root, rel := range map[string]string{"": "other/out/f", "other": "out/f"} {
		if !g.ignore(root).Path(rel, false, nil) {
			t.Errorf("%s is not ignored with root %q", rel, root)
		}
	}
}

func TestC089ExcludedDirectoryIsNotEntered(t *testing.T) {
	for _, c := range []struct {
		gitignore string
		want      []string
	}{
		{"*\n!*.c\n", []string{"top.c"}},
		{"*\n!*.c\n!*/\n", []string{"a/a.c", "top.c"}},
	} {
		g := newGitTree(t)
		g.write(".gitignore", c.gitignore)
		g.write("a/a.c", "")
		g.write("top.c", "")
		if got := g.walk(""); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.gitignore, got, c.want)
		}
		if got := g.lsFiles(""); !slices.Equal(got, c.want) {
			t.Errorf("%q: git lists %q, want %q", c.gitignore, got, c.want)
		}
	}
}

func TestC092ChildRepositoriesUnderAPlainFolder(t *testing.T) {
	g := newGitTree(t)
	plain := "../plain"
	g.repository(path.Join(plain, "r1"))
	g.write(path.Join(plain, ".gitignore"), "a.gen\nown\n")
	g.write(path.Join(plain, "r1/d/.gitignore"), "*.gen\n")
	g.write(path.Join(plain, "r1/d/a.gen"), "")
	g.write(path.Join(plain, "r1/a.gen"), "")
	g.write(path.Join(plain, "own"), "")
	ig := g.ignore(plain)
	repo := func(rel string) bool { return IsRepository(g.reader(plain), rel) }
	for name, want := range map[string]bool{"r1/a.gen": false, "r1/d/a.gen": true, "own": true, "a.gen": true} {
		if got := ig.Path(name, false, repo); got != want {
			t.Errorf("%s ignored: got %v, want %v", name, got, want)
		}
	}
}

func TestC094OddGitignoreBytes(t *testing.T) {
	for _, c := range []ignoreCase{
		{name: "CRLF", files: top("*.log\r\n"), ignored: []string{"a.log"}},
		{name: "byte order mark", files: top("\xef\xbb\xbf*.log\n"), ignored: []string{"a.log"}},
		{name: "quotes", files: top("bar\\ \n\\#x\n\\!y\nfoo \n"), ignored: []string{"bar ", "#x", "!y", "foo"}, kept: []string{"bar", "foo "}},
	} {
		t.Run(c.name, func(t *testing.T) { c.answers(t, c.build(t).ignore("")) })
	}
}
