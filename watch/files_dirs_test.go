package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestFilesParentRemovedAndMadeAgain(t *testing.T) {
	ft := startFiles(t)
	for i := range 10 {
		ft.mkdir("a/b")
		ft.write("a/b/f", fmt.Sprint(i))
		if i == 0 {
			ft.add("a/b/f")
		} else {
			ft.seesText("a/b/f", fmt.Sprint(i))
		}
		ft.write("a/b/f", fmt.Sprint("w", i))
		ft.seesText("a/b/f", fmt.Sprint("w", i))
		ft.remove("a")
		ft.seesNothingAt("a/b/f")
	}
	ft.settle()
	if p := ft.Problems(); len(p) != 1 || !strings.Contains(p[0], ft.path("a")+" is gone; 1 file") {
		t.Errorf("problems %q", p)
	}
	ft.mkdir("a/b")
	ft.write("a/b/f", "back")
	ft.seesText("a/b/f", "back")
	ft.settle()
	if p := ft.Problems(); len(p) != 0 {
		t.Errorf("problems %q", p)
	}
}

func TestFilesParentMadeLater(t *testing.T) {
	ft := startFiles(t)
	for i := range 30 {
		rel := fmt.Sprintf("n%d/a/b/c/f", i)
		ft.add(rel)
		if p := ft.Problems(); len(p) != 0 {
			t.Errorf("a parent that never was is a problem: %q", p)
		}
		ft.mkdir(filepath.ToSlash(filepath.Dir(rel)))
		ft.write(rel, "x")
		ft.seesText(rel, "x")
		ft.write(rel, "y")
		ft.seesText(rel, "y")
	}
}

func TestFilesDirectoryMovedAwayAndBack(t *testing.T) {
	for _, moved := range []string{"a", "a/b", "a/b/c"} {
		t.Run(moved, func(t *testing.T) {
			ft := startFiles(t)
			ft.mkdir("a/b/c")
			ft.write("a/b/c/f", "1")
			ft.add("a/b/c/f")
			ft.rename(moved, "away")
			ft.seesNothingAt("a/b/c/f")
			away := "away" + strings.TrimPrefix("a/b/c/f", moved)
			ft.settle()
			ft.write(away, "2") // no longer the watched file
			ft.settle()
			ft.rename("away", moved)
			ft.seesText("a/b/c/f", "2")
			ft.write("a/b/c/f", "3")
			ft.seesText("a/b/c/f", "3")
			ft.save("a/b/c/f", "4")
			ft.seesText("a/b/c/f", "4")
		})
	}
}

func TestFilesDirectorySwapped(t *testing.T) {
	ft := startFiles(t)
	ft.mkdir("a/b")
	ft.mkdir("x/b")
	ft.write("a/b/f", "a")
	ft.write("x/b/f", "x")
	ft.add("a/b/f")
	for i := range 10 {
		ft.rename("a", "tmp")
		ft.rename("x", "a")
		ft.rename("tmp", "x")
		want := []string{"x", "a"}[i%2]
		ft.seesText("a/b/f", want)
		ft.settle()
		ft.save("a/b/f", want) // the watch sits on what is there now
		ft.sees("a/b/f", func() bool { return true })
	}
}

func TestFilesRootMovedAwayAndBack(t *testing.T) {
	ft := startFiles(t)
	ft.mkdir("d")
	ft.write("d/f", "1")
	ft.add("d/f")
	away := ft.dir + "-away"
	ft.must(os.Rename(ft.dir, away))
	ft.seesNothingAt("d/f")
	ft.mkdir("d")
	ft.write("d/f", "2")
	ft.seesText("d/f", "2")
	ft.write("d/f", "3")
	ft.seesText("d/f", "3")
}

func TestFilesThroughLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	ft := startFiles(t)
	ft.mkdir("real/sub")
	ft.mkdir("other/sub")
	ft.write("real/sub/f", "r")
	ft.write("other/sub/f", "o")
	ft.link("real", "dir")
	ft.link("dir/sub/f", "file")
	for _, rel := range []string{"real/sub/f", "dir/sub/f", "file"} {
		ft.add(rel)
	}
	// One change, three names of the file.
	ft.write("real/sub/f", "r2")
	seen := map[string]bool{}
	for len(seen) < 3 {
		select {
		case got := <-ft.hints:
			seen[got] = true
		case <-time.After(patience):
			t.Fatalf("hints for %v only", seen)
		}
	}
	// The link leads elsewhere.
	ft.link("other", "new")
	ft.rename("new", "dir")
	ft.seesText("file", "o")
	ft.write("other/sub/f", "o2")
	ft.seesText("file", "o2")
	// What the link leads to moves.
	ft.rename("other", "gone")
	ft.seesNothingAt("dir/sub/f")
	ft.rename("real", "other")
	ft.seesText("dir/sub/f", "r2")
	// Links in a circle end.
	ft.link("loop", "loop")
	ft.add("loop/f")
	ft.remove("loop")
	ft.mkdir("loop")
	ft.write("loop/f", "1")
	ft.seesText("loop/f", "1")
}

func TestFilesFileWhereADirectoryWas(t *testing.T) {
	ft := startFiles(t)
	ft.write("d", "a file")
	ft.add("d/f")
	ft.remove("d")
	ft.mkdir("d")
	ft.write("d/f", "1")
	ft.seesText("d/f", "1")
	ft.remove("d")
	ft.write("d", "a file")
	ft.seesNothingAt("d/f")
}

func TestFilesDirectoryMovedBeforeItsEventIsRead(t *testing.T) {
	// To fsnotify the moved directory is still watched as its old path; a watch
	// on the new path has to be one of its own.
	n := newFakeNotifier(t)
	ft := startFiles(t, fake(n, never, never))
	ft.mkdir("a/s")
	ft.mkdir("b")
	ft.add("a/f")
	ft.add("a/s/f")
	n.set(nil, true)
	ft.rename("a", "b/c")
	ft.write("end", "")
	n.misses(t, ft.path("end"))
	ft.add("b/c/f")
	ft.add("b/c/s/f")
	n.set(nil, false)
	ft.seesNothingAt("a/s/f")
	ft.Remove(ft.path("a/f"))
	ft.Remove(ft.path("a/s/f"))
	ft.write("b/c/f", "1")
	ft.seesText("b/c/f", "1")
	ft.write("b/c/s/f", "1")
	ft.seesText("b/c/s/f", "1")
}

func TestFilesDirectoryMountedTwice(t *testing.T) {
	ft := startFiles(t)
	ft.mkdir("d")
	ft.add("d/f")
	ft.link("d", "mount") // stands for a second mount: another path of the same directory
	ft.anchoring.Lock()
	defer ft.anchoring.Unlock()
	ft.dirs[ft.path("mount")] = &watchedDir{refs: 1}
	if _, err := ft.ensure(ft.path("mount")); !errors.Is(err, errTwice) {
		t.Errorf("got %v", err)
	}
	if !ft.dirs[ft.path("d")].live {
		t.Error("the first watch was dropped")
	}
	delete(ft.dirs, ft.path("mount"))
}
