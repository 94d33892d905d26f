package watch

import (
	"os"
	"path/filepath"
	"testing"
)

// guardTest is a tree of the files a and b and the user's excludes file.
type guardTest struct {
	*treeTest
	dir, file string
}

func newGuardTest(t *testing.T) *guardTest {
	tt := newTreeTest(t)
	tt.write("a", "")
	tt.write("b", "")
	tt.start()
	tt.lists("a", "b")
	dir := filepath.Join(tt.home, ".config/git")
	return &guardTest{tt, dir, filepath.Join(dir, "ignore")}
}

// exclude writes an excludes file.
func (gt *guardTest) exclude(name, text string) {
	gt.t.Helper()
	gt.must(os.MkdirAll(filepath.Dir(name), 0o755))
	gt.must(os.WriteFile(name, []byte(text), 0o644))
}

// watched checks whether events are trusted to tell of the file.
func (gt *guardTest) watched(want bool) {
	gt.t.Helper()
	found := false
	for _, in := range gt.outside.Load().inputs {
		if found = found || in.abs == gt.file; in.abs == gt.file && in.watched != want {
			gt.t.Errorf("%s: watched %v", in.abs, in.watched)
		}
	}
	if !found {
		gt.t.Errorf("%s is not looked at", gt.file)
	}
}

// TestTreeGuard changes the file in all ways of which events tell.
func TestTreeGuard(t *testing.T) {
	tt := newGuardTest(t)
	dir, file, write, watched := tt.dir, tt.file, tt.exclude, tt.watched
	watched(true)
	write(file, "a\n")
	tt.lists("b")
	write(file, "b\n") // in place
	tt.lists("a")
	write(file+".new", "a\nb\n")
	tt.must(os.Rename(file+".new", file))
	tt.lists()
	tt.must(os.Rename(filepath.Dir(dir), filepath.Join(tt.home, "away")))
	tt.lists("a", "b")
	write(filepath.Join(tt.home, "away/git/ignore"), "a\n") // what is watched is elsewhere now
	tt.lists("a", "b")
	write(file, "a\n")
	tt.lists("b")
	tt.must(os.RemoveAll(tt.home))
	tt.lists("a", "b")
	write(file, "b\n")
	tt.lists("a")
	watched(true)
}

// TestTreeGuardLooks changes the file in ways of which none tells.
func TestTreeGuardLooks(t *testing.T) {
	tt := newGuardTest(t)
	dir, file, write, watched := tt.dir, tt.file, tt.exclude, tt.watched
	write(file, "b\n")
	tt.lists("a")
	tt.must(os.Link(file, filepath.Join(tt.home, "second")))
	tt.must(os.Chmod(file, 0o600)) // no event tells of the second name
	tt.lists("a")
	watched(false)
	write(filepath.Join(tt.home, "second"), "a\n")
	tt.lists("b")
	tt.must(os.Remove(file))
	tt.must(os.Symlink(filepath.Join(tt.home, "second"), file))
	tt.lists("b")
	watched(false)
	write(filepath.Join(tt.home, "second"), "b\n")
	tt.lists("a")
	tt.must(os.RemoveAll(dir))
	tt.must(os.Symlink(filepath.Join(tt.home, "link"), dir))
	tt.lists("a", "b")
	watched(false)
	write(filepath.Join(tt.home, "link/ignore"), "a\n")
	tt.lists("b")
}

// TestTreeGuardGivesUp has so many events beside the files of the guard that it only
// looks from then on.
func TestTreeGuardGivesUp(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a", "")
	tt.start(func(o *TreeOptions) { o.mostOthers = 20 })
	gt := &guardTest{tt, "", filepath.Join(tt.home, ".config/git/ignore")}
	tt.lists("a")
	gt.watched(true)
	for n := 0; !tt.guard.off.Load(); n++ {
		if n == 100_000 {
			t.Fatal("nothing is too much")
		}
		tt.must(os.WriteFile(filepath.Join(tt.home, "log"), []byte("x"), 0o644))
	}
	tt.lists("a")
	gt.watched(false)
	gt.exclude(gt.file, "a\n")
	tt.lists()
}
