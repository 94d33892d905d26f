package watch

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTreeGuard changes the user's excludes file in all ways that there are, while
// events alone tell of it, and in some of which none tells.
func TestTreeGuard(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a", "")
	tt.write("b", "")
	tt.start()
	tt.lists("a", "b")
	dir := filepath.Join(tt.home, ".config/git")
	file := filepath.Join(dir, "ignore")
	write := func(name, text string) {
		t.Helper()
		tt.must(os.MkdirAll(filepath.Dir(name), 0o755))
		tt.must(os.WriteFile(name, []byte(text), 0o644))
	}
	watched := func(want bool) {
		t.Helper()
		found := false
		for _, in := range tt.outside.Load().inputs {
			if found = found || in.abs == file; in.abs == file && in.watched != want {
				t.Errorf("%s: watched %v", in.abs, in.watched)
			}
		}
		if !found {
			t.Errorf("%s is not looked at", file)
		}
	}
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
