package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// settle makes a file's time one that means the same content.
func settle(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func TestSource(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	user := filepath.Join(home, "config.toml")
	s := NewSource(user, []string{root})
	last := 0
	expect := func(what string, mode Mode, problems int, changed bool) {
		t.Helper()
		c, p, version := s.Current()
		if c.Mode.Value != mode || len(p) != problems || (version != last) != changed {
			t.Errorf("%s: mode %s, problems %v, version %d after %d", what, c.Mode.Value, p, version, last)
		}
		last = version
	}
	expect("at first", ModeStaged, 0, true)
	expect("as before", ModeStaged, 0, false)
	write(t, user, "[review]\nmode = \"auto\"\n")
	expect("a user's file", ModeAuto, 0, true)
	expect("read again within the clock's tick", ModeAuto, 0, false)
	// Same size, same time: told apart because the time was that of the reading.
	info, err := os.Stat(user)
	if err != nil {
		t.Fatal(err)
	}
	write(t, user, "[review]\nmode = \"aut0\"\n")
	if err := os.Chtimes(user, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	expect("a change within the clock's tick", ModeStaged, 1, true)
	write(t, user, "[review]\nmode = \"auto\"\n")
	settle(t, user)
	expect("mended", ModeAuto, 0, true)
	expect("settled", ModeAuto, 0, false)
	write(t, WorkspacePath(root), "[review]\nmode = \"blocking\"\n")
	expect("a workspace's file", ModeBlocking, 0, true)
	if err := os.Remove(WorkspacePath(root)); err != nil {
		t.Fatal(err)
	}
	expect("gone", ModeAuto, 0, true)
	if err := os.Symlink("nowhere", WorkspacePath(root)); err == nil {
		expect("a link to nowhere", ModeAuto, 1, true)
	}
}

// What has not changed is not read again.
func TestSourceDoesNotRead(t *testing.T) {
	root := t.TempDir()
	user := filepath.Join(t.TempDir(), "config.toml")
	write(t, user, "[review]\nmode = \"auto\"\n")
	settle(t, user)
	s := NewSource(user, []string{root})
	s.Current()
	for i := range s.texts {
		if !s.unchanged(i) {
			t.Errorf("file %d is read again", i)
		}
	}
	none := NewSource("", nil)
	if c, problems, _ := none.Current(); len(problems) > 0 || c.Mode.Value != ModeStaged || len(c.Files) > 0 {
		t.Errorf("no files: %+v %v", c, problems)
	}
	if !none.unchanged(0) {
		t.Error("no file is read again")
	}
}

func BenchmarkSourceCurrent(b *testing.B) {
	root := b.TempDir()
	user := filepath.Join(b.TempDir(), "config.toml")
	s := NewSource(user, []string{root})
	for b.Loop() {
		s.Current()
	}
}
