package place_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/loomd/loomd/daemon/place"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// home gives the test directories of its own for everything that For looks at.
func home(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	run := filepath.Join(dir, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("LocalAppData", filepath.Join(dir, "home"))
	t.Setenv("XDG_RUNTIME_DIR", run)
	t.Setenv("XDG_STATE_HOME", "")
	return dir
}

func mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustFor(t *testing.T, roots ...string) place.Place {
	t.Helper()
	p, err := place.For(roots)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestForIsOnePlacePerSetOfRoots(t *testing.T) {
	dir := home(t)
	a, b := mkdir(t, dir, "a"), mkdir(t, dir, "b")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	pa := mustFor(t, a)
	for _, same := range [][]string{{link}, {a + "/"}, {a, a}, {a, link}, {filepath.Join(b, "..", "a")}} {
		if got := mustFor(t, same...); got.Socket != pa.Socket || got.StateDir != pa.StateDir || got.Lock != pa.Lock {
			t.Errorf("For(%q) = %+v, want the place of a: %+v", same, got, pa)
		}
	}
	pb, pab, pba := mustFor(t, b), mustFor(t, a, b), mustFor(t, b, a)
	if pa.Socket == pb.Socket || pa.Socket == pab.Socket || pa.StateDir == pab.StateDir {
		t.Errorf("different roots share a place: %+v %+v %+v", pa, pb, pab)
	}
	if pab.Socket != pba.Socket {
		t.Errorf("the order of roots matters: %s %s", pab.Socket, pba.Socket)
	}
	if want := []string{pa.Lock, pb.Lock}; len(pab.Locks) != 2 || pab.Locks[0] != want[0] || pab.Locks[1] != want[1] {
		t.Errorf("locks of two roots = %q, want each root's own: %q", pab.Locks, want)
	}
	if _, err := os.Lstat(pa.StateBase); !os.IsNotExist(err) {
		t.Errorf("For made %s (%v)", pa.StateBase, err)
	}
}

func TestForDirectories(t *testing.T) {
	dir := home(t)
	root := mkdir(t, dir, "my project")
	run := os.Getenv("XDG_RUNTIME_DIR")

	p := mustFor(t, root)
	if want := filepath.Join(run, "loomd"); p.SocketDir != want || filepath.Dir(p.Socket) != want {
		t.Errorf("socket %s in %s, want it in %s", p.Socket, p.SocketDir, want)
	}
	if want := filepath.Join(dir, "home", ".local", "state", "loomd"); p.StateBase != want {
		t.Errorf("state in %s, want %s", p.StateBase, want)
	}
	if base := filepath.Base(p.StateDir); !strings.HasPrefix(base, "my_project-") {
		t.Errorf("state directory %s does not say which root it is of", base)
	}

	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	if got, want := mustFor(t, root).StateBase, filepath.Join(dir, "state", "loomd"); got != want {
		t.Errorf("state in %s, want %s", got, want)
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	if got := mustFor(t, root).StateBase; got != p.StateBase {
		t.Errorf("a relative XDG_STATE_HOME is used: %s", got)
	}

	// A runtime directory that others can enter is not used.
	if err := os.Chmod(run, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	if got := mustFor(t, root).SocketDir; filepath.Dir(got) != dir {
		t.Errorf("socket in %s, want it in the temporary directory %s", got, dir)
	}
	// Nor is a temporary directory whose name leaves no room.
	t.Setenv("TMPDIR", filepath.Join(dir, strings.Repeat("x", 90)))
	if got := mustFor(t, root).Socket; len(got) > 103 {
		t.Errorf("socket path has %d bytes: %s", len(got), got)
	}
}

func TestForRefuses(t *testing.T) {
	dir := home(t)
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, roots := range [][]string{nil, {filepath.Join(dir, "absent")}, {file}} {
		if p, err := place.For(roots); err == nil {
			t.Errorf("For(%q) = %+v, want an error", roots, p)
		}
	}
}
