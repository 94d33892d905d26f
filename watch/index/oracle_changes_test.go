package index_test

import (
	"os"
	"path/filepath"
	"strings"
)

// changes are what happens to a grown tree between two questions. Each may find
// nothing to do.
var changes = []struct {
	name   string
	weight int
	do     func(g *grown)
}{
	{"make a directory", 3, (*grown).makeDir},
	{"write a file", 5, (*grown).makeFile},
	{"write an ignore file", 4, (*grown).writeIgnore},
	{"remove an ignore file", 2, (*grown).removeIgnore},
	{"ignore file by rename", 2, (*grown).renameIgnore},
	{"remove a file", 2, (*grown).removeFile},
	{"remove a tree", 1, (*grown).removeTree},
	{"rename something", 4, (*grown).rename},
	{"move out", 1, (*grown).moveOut},
	{"move in", 2, (*grown).moveIn},
	{"a nested repository", 1, (*grown).makeNested},
	{"a nested repository goes", 1, (*grown).removeNested},
	{"info/exclude", 1, (*grown).writeExclude},
	{"a link", 1, (*grown).link},
	{"a directory becomes a link", 1, (*grown).swapForLink},
	{"a tree at once", 2, (*grown).treeAtOnce},
}

func (g *grown) change() {
	total := 0
	for _, c := range changes {
		total += c.weight
	}
	n := g.rng.IntN(total)
	for _, c := range changes {
		if n -= c.weight; n < 0 {
			c.do(g)
			return
		}
	}
}

// entries lists what is in the tree but repositories' own files.
func (g *grown) entries(want func(d os.DirEntry) bool) []string {
	var list []string
	g.must(filepath.WalkDir(g.root, func(p string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case p != g.root && want(d):
			list = append(list, filepath.ToSlash(p[len(g.root)+1:]))
		}
		return nil
	}))
	return list
}

// one picks an entry of a kind, "" when there is none.
func (g *grown) one(want func(d os.DirEntry) bool) string {
	list := g.entries(want)
	if len(list) == 0 {
		return ""
	}
	return pick(g.rng, list)
}

func isIgnoreFile(d os.DirEntry) bool { return d.Name() == ".gitignore" && !d.IsDir() }
func isRegular(d os.DirEntry) bool    { return d.Type().IsRegular() }
func isDirectory(d os.DirEntry) bool  { return d.IsDir() }
func isAnything(os.DirEntry) bool     { return true }

func (g *grown) removeIgnore() {
	if p := g.one(isIgnoreFile); p != "" {
		g.must(os.Remove(g.abs(p)))
		g.log("remove %q", p)
	}
}

// renameIgnore brings rules by an atomic save, as editors do.
func (g *grown) renameIgnore() {
	p, text := join(g.dir(), ".gitignore"), g.ignoreText()
	g.must(os.WriteFile(g.abs("new~"), []byte(text), 0o644))
	g.must(os.Rename(g.abs("new~"), g.abs(p)))
	g.log("rename over %q: %q", p, text)
}

func (g *grown) removeFile() {
	if p := g.one(isRegular); p != "" {
		g.must(os.Remove(g.abs(p)))
		g.log("remove %q", p)
	}
}

func (g *grown) removeTree() {
	if p := g.one(isDirectory); p != "" {
		g.must(os.RemoveAll(g.abs(p)))
		g.log("remove all %q", p)
	}
}

func (g *grown) rename() {
	from := g.one(isAnything)
	to := join(g.dir(), pick(g.rng, treeNames))
	if from == "" || to == from || strings.HasPrefix(to, from+"/") {
		return
	}
	if os.Rename(g.abs(from), g.abs(to)) == nil {
		g.log("rename %q to %q", from, to)
	}
}

func (g *grown) outside() string { return filepath.Join(g.home, "outside") }

func (g *grown) moveOut() {
	from := g.one(isDirectory)
	if from == "" {
		return
	}
	g.must(os.RemoveAll(g.outside()))
	g.must(os.Rename(g.abs(from), g.outside()))
	g.log("move %q out", from)
}

func (g *grown) moveIn() {
	to := join(g.dir(), pick(g.rng, treeNames))
	if _, err := os.Lstat(g.abs(to)); err == nil {
		return
	}
	if os.Rename(g.outside(), g.abs(to)) == nil {
		g.log("move in %q", to)
	}
}

func (g *grown) nested() []string {
	return g.entries(func(d os.DirEntry) bool { return d.IsDir() })
}

func (g *grown) removeNested() {
	for _, dir := range g.nested() {
		if _, err := os.Lstat(g.abs(dir + "/.git")); err == nil {
			g.must(os.RemoveAll(g.abs(dir + "/.git")))
			g.log("no repository any more: %q", dir)
			return
		}
	}
}

func (g *grown) writeExclude() {
	for _, dir := range append(g.nested(), "") {
		if info, err := os.Lstat(g.abs(join(dir, ".git/info"))); err == nil && info.IsDir() {
			text := g.ignoreText()
			g.must(os.WriteFile(g.abs(join(dir, ".git/info/exclude")), []byte(text), 0o644))
			g.log("exclude of %q: %q", dir, text)
			return
		}
	}
}

func (g *grown) link() {
	p := join(g.dir(), pick(g.rng, treeNames))
	if os.Symlink(pick(g.rng, []string{".", "..", "a", "nowhere", g.home, g.root}), g.abs(p)) == nil {
		g.log("link %q", p)
	}
}

func (g *grown) swapForLink() {
	p := g.one(isDirectory)
	if p == "" {
		return
	}
	g.must(os.RemoveAll(g.outside()))
	g.must(os.Rename(g.abs(p), g.outside()))
	g.must(os.Symlink(g.outside(), g.abs(p)))
	g.log("%q becomes a link to what it was", p)
}

// treeAtOnce makes directories and fills them without a pause: files are there
// before anybody can watch.
func (g *grown) treeAtOnce() {
	p := join(g.dir(), "t"+pick(g.rng, treeNames))
	if strings.Count(p, "/") > 5 {
		return
	}
	for _, sub := range []string{"", "/x/y", "/x/build"} {
		if os.MkdirAll(g.abs(p+sub), 0o755) != nil {
			return
		}
		g.must(os.WriteFile(g.abs(p+sub+"/f.go"), []byte("text\n"), 0o644))
		g.must(os.WriteFile(g.abs(p+sub+"/z.log"), []byte("text\n"), 0o644))
	}
	g.log("tree %q", p)
}
