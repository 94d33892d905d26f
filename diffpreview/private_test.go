//go:build unix

package diffpreview

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// wantPrivate fails when anybody but the owner gets at a directory or file, or
// the owner does not.
func wantPrivate(t *testing.T, dir string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := privateFileMode
		if info.IsDir() {
			want = fs.ModeDir | privateDirMode
		} else {
			files++
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Whatever the umask is, all that the store writes is the owner's alone, at any
// moment: the journal and its bodies, a compaction's new journal, the history
// and its older file. Copies of a private file in the workspace are private, too.
func TestEverythingIsPrivate(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o377, 0o777} {
		w := newCompactTree(t, compactLimits)
		if err := os.Chmod(filepath.Join(w.root, "large"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.state = filepath.Join(w.state, "made", "deep")
		most, seen := 0, map[string]bool{}
		old := syscall.Umask(umask)
		script := &compactScript{world: w, said: func(...string) {}, stage: func(stage string) {
			seen[stage] = true
			most = max(most, wantPrivate(t, filepath.Dir(w.state)))
			w.wantCopiesPrivate("large")
		}}
		script.run()
		w.open()
		wantPrivate(t, filepath.Dir(filepath.Dir(w.state)))
		w.close()
		syscall.Umask(old)
		if most < 6 || !seen["history rotated"] || !seen["sweeping"] || !seen["temporary file written"] {
			t.Errorf("with umask %o only %d files were looked at, at %v", umask, most, seen)
		}
	}
}

// wantCopiesPrivate fails when a temporary file in the workspace is open to
// more people than the file that it may hold the text of.
func (w *world) wantCopiesPrivate(name string) {
	private, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil {
		return
	}
	filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !isTempName(d.Name()) {
			return err
		}
		info, err := d.Info()
		if data, e := os.ReadFile(path); err == nil && e == nil && info.Mode().Perm()&0o077 != 0 && (string(data) == string(private) || string(data) == compactText(name)) {
			w.t.Errorf("a copy of %s has mode %v", name, info.Mode())
		}
		return nil
	})
}

// What is there already, from a backup or an older version, is closed to others.
func TestWhatIsThereBecomesPrivate(t *testing.T) {
	w := newCompactTree(t, compactLimits)
	script := &compactScript{world: w, said: func(...string) {}, stage: func(string) {}}
	script.run()
	err := filepath.WalkDir(w.state, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return os.Chmod(path, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.step = nil
	w.open()
	wantPrivate(t, w.state)
	w.propose("s1", "more", compactText("more"))
	wantPrivate(t, w.state)
}

// A journal names files as the system has them, also those whose names are not
// UTF-8.
func TestNamesThatAreNotUTF8OutliveARestart(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	raw := "caf\xe9"
	w.save(raw, "1\n")
	if err := os.Symlink(raw, filepath.Join(w.root, "link")); err != nil {
		t.Fatal(err)
	}
	s := w.session("agent")
	p := w.propose(s, "link", "2\n")
	for range 2 {
		w.restart()
	}
	if _, _, err := w.store.Decide(context.Background(), DecideFile{ID: p.ID, Accept: true, By: "tester"}); err != nil {
		t.Fatal(err)
	}
	w.wantDisk(raw, "2\n")
}
