package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// expect asserts that the last sync changed rel to size bytes.
func (tt *treeTest) expect(rel string, size int64) {
	tt.t.Helper()
	tt.sync()
	e, ok := tt.mirror[rel]
	if !ok || e.Size != size {
		tt.t.Fatalf("%s is %+v, not of %d bytes", rel, e, size)
	}
}

// TestTreeHardLinks writes through another name, which gives no event under the
// first.
func TestTreeHardLinks(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a/one", "1")
	tt.write("b/early", "1")
	tt.must(os.Link(tt.path("b/early"), tt.path("late")))
	tt.start()
	tt.check()
	tt.write("late", "22")
	tt.expect("b/early", 2)
	tt.must(os.Link(tt.path("a/one"), tt.path("b/two")))
	tt.check()
	tt.write("b/two", "333")
	tt.expect("a/one", 3)
	tt.remove("b/two")
	tt.check()
	tt.write("a/one", "4444")
	tt.check()
	outside := filepath.Join(filepath.Dir(tt.dir), "outside")
	tt.must(os.WriteFile(outside, nil, 0o644))
	tt.must(os.Link(outside, tt.path("in")))
	tt.check()
	tt.must(os.WriteFile(outside, []byte("55555"), 0o644))
	tt.expect("in", 5)
	tt.state("live")
}

// TestTreeSameSizeSameTime writes the same number of bytes within one tick of the
// clock and puts the time back: every write must be told of.
func TestTreeSameSizeSameTime(t *testing.T) {
	tt := startTree(t)
	for range 200 {
		tt.write("f", "a")
		info, err := os.Stat(tt.path("f"))
		tt.must(err)
		tt.sync()
		tt.write("f", "b")
		tt.must(os.Chtimes(tt.path("f"), info.ModTime(), info.ModTime()))
		if c := tt.sync(); len(c.Changed) != 1 {
			t.Fatalf("changed: %+v", c)
		}
	}
}

// TestTreeRacyStamps has an event for a file whose times are as they were: it
// counts if they were too young, when they were looked at, to tell.
func TestTreeRacyStamps(t *testing.T) {
	const second = int64(time.Second)
	for _, c := range []struct {
		ctime, at int64
		racy      bool
	}{
		{5*second + 1, 5*second + 1, true},
		{5*second + 1, 5*second + int64(clockTick), true},
		{5*second + 1, 5*second + int64(clockTick) + 1, false},
		{5 * second, 5*second + int64(clockTick) + 1, true},
		{5 * second, 7 * second, false},
		{9*second + 1, 5 * second, true},
	} {
		s := stamp{ctime: c.ctime}
		if s.mark(c.at); s.racy != c.racy {
			t.Errorf("changed at %d, looked at %d: racy is %v", c.ctime, c.at, s.racy)
		}
		tree := &Tree{logging: true, linked: map[*treeDir]struct{}{}}
		dir := &treeDir{path: ".", files: map[string]stamp{"f": s}}
		tree.setFile(dir, "f", stamp{ctime: c.ctime})
		if len(tree.records) == 1 != c.racy || dir.files["f"].racy {
			t.Errorf("records %v, kept %+v", tree.records, dir.files["f"])
		}
	}
}

// TestTreeRootGoes moves the root away, brings it back, and puts another there.
func TestTreeRootGoes(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a/b", "1")
	tt.start()
	tt.lists("a", "a/b")
	away := tt.dir + ".away"
	tt.must(os.Rename(tt.dir, away))
	tt.lists()
	tt.state("stale")
	if p := tt.Status().Problems; len(p) != 1 || p[0].Path != "." || p[0].Since.IsZero() {
		t.Errorf("problems %+v", p)
	}
	tt.must(os.WriteFile(filepath.Join(away, "a/c"), nil, 0o644))
	tt.must(os.Rename(away, tt.dir))
	tt.lists("a", "a/b", "a/c")
	tt.state("live")
	tt.write("a/d", "")
	tt.lists("a", "a/b", "a/c", "a/d")
	tt.must(os.RemoveAll(tt.dir))
	tt.lists()
	tt.write("n/m", "")
	tt.lists("n", "n/m")
	tt.must(os.Rename(tt.dir, away))
	tt.must(os.Symlink(away, tt.dir))
	tt.sync()
	if len(tt.mirror) != 0 {
		t.Errorf("a link as the root lists %v", tt.mirror)
	}
}

// TestTreeAboveTheRootMoves moves a directory above the root, of which the watch
// of the root is not told.
func TestTreeAboveTheRootMoves(t *testing.T) {
	tt := newTreeTest(t)
	above := filepath.Join(filepath.Dir(tt.dir), "above")
	tt.must(os.Mkdir(above, 0o755))
	tt.dir = filepath.Join(above, "root")
	tt.write("f", "")
	tt.start(func(o *TreeOptions) { o.CookieDir = filepath.Join(filepath.Dir(above), "cookies") })
	tt.lists("f")
	tt.must(os.Rename(above, above+"2"))
	tt.lists()
	tt.write("g", "")
	tt.lists("g")
}

func TestTreeStartsWithoutRoot(t *testing.T) {
	tt := newTreeTest(t)
	tt.must(os.Remove(tt.dir))
	tt.start()
	if c := tt.sync(); !c.Full || len(c.Changed) != 0 {
		t.Errorf("changes %+v", c)
	}
	tt.state("stale")
	tt.write("f", "")
	tt.lists("f")
}

// TestTreeSwappedForLinks swaps directories for links, into the tree and out of
// it, and back.
func TestTreeSwappedForLinks(t *testing.T) {
	tt := newTreeTest(t)
	outside := filepath.Join(filepath.Dir(tt.dir), "outside")
	tt.must(os.Mkdir(outside, 0o755))
	tt.must(os.WriteFile(filepath.Join(outside, "secret"), nil, 0o644))
	tt.write("a/x/f", "")
	tt.write("b/g", "")
	tt.start()
	tt.check()
	tt.rename("a/x", "was")
	tt.link(outside, "a/x")
	tt.lists("a", "a/x", "b", "b/g", "was", "was/f")
	tt.remove("a/x")
	tt.link("../b", "a/x")
	tt.lists("a", "a/x", "b", "b/g", "was", "was/f")
	tt.write("b/h", "")
	tt.remove("a/x")
	tt.rename("was", "a/x")
	tt.lists("a", "a/x", "a/x/f", "b", "b/g", "b/h")
	tt.write("a/x/n", "")
	tt.lists("a", "a/x", "a/x/f", "a/x/n", "b", "b/g", "b/h")
}

// TestTreeRenamedDirectory writes below a directory after each of many renames.
func TestTreeRenamedDirectory(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("p/d/e/f", "")
	tt.mkdir("q")
	tt.start()
	tt.check()
	for i, move := range [][2]string{{"p/d", "q/d"}, {"q/d", "p/d"}, {"p", "q/p"}, {"q/p/d", "d"}, {"q/p", "p"}, {"d", "p/d"}} {
		tt.rename(move[0], move[1])
		if i%2 == 0 {
			tt.check()
		}
		tt.write(move[1]+"/e/new", string(rune('a'+i)))
		tt.check()
	}
	// Away, changed there, and back: the same inode at the same path.
	for i := range 20 {
		tt.rename("p/d", "elsewhere")
		tt.write("elsewhere/e/x", "1")
		tt.rename("elsewhere", "p/d")
		tt.write("p/d/e/y", "2")
		tt.check()
		tt.write("p/d/e/y", "33")
		tt.write("p/d/own", strconv.Itoa(i))
		tt.check()
		tt.remove("p/d/e/x")
	}
	tt.state("live")
}

// TestTreeReadAgain makes a directory readable that was not.
func TestTreeReadAgain(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	tt := newTreeTest(t)
	tt.write("locked/f", "")
	tt.must(os.Chmod(tt.path("locked"), 0))
	tt.start()
	tt.sync()
	tt.state("polling")
	tt.must(os.Chmod(tt.path("locked"), 0o755))
	tt.lists("locked", "locked/f")
	tt.state("live")
}
