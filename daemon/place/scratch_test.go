//go:build unix

package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFreshPrivateDir(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "scratch", "0")
	for range 2 { // the second finds what the first left
		if err := FreshPrivateDir(dir); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%v, %v", entries, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "left"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	RemoveDir(dir)
	if err := CheckPrivateDir(dir); err != nil {
		t.Errorf("one that is not empty: %v", err)
	}
	os.Remove(filepath.Join(dir, "left"))
	RemoveDir(dir)
	if _, err := os.Lstat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	open := filepath.Join(top, "open")
	if err := os.MkdirAll(filepath.Join(open, "kept"), 0o755); err != nil {
		t.Fatal(err)
	}
	os.Chmod(open, 0o755)
	var notPrivate *NotPrivateError
	if err := FreshPrivateDir(open); !errors.As(err, &notPrivate) {
		t.Errorf("somebody else's: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(open, "kept")); err != nil {
		t.Error("and it was emptied")
	}
}

func TestScratchDirsAreThisDaemonsOwn(t *testing.T) {
	p := Place{StateDir: "/state/app-1", SocketDir: "/tmp/loomd-0"}
	t.Setenv("XDG_RUNTIME_DIR", "")
	dirs := p.ScratchDirs()
	other := Place{StateDir: "/state/app-2", SocketDir: "/tmp/loomd-0"}.ScratchDirs()
	if len(dirs) < 2 || len(other) != len(dirs) {
		t.Fatalf("%v, %v", dirs, other)
	}
	for i := range dirs {
		if dirs[i] == other[i] {
			t.Errorf("two daemons share %s", dirs[i])
		}
	}
	run := t.TempDir()
	os.Chmod(run, 0o700)
	t.Setenv("XDG_RUNTIME_DIR", run)
	if got := p.ScratchDirs()[0]; got != filepath.Join(run, "loomd-scratch-app-1") {
		t.Errorf("%s", got)
	}
}
