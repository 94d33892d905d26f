//go:build unix

package place_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/loomd/loomd/daemon/place"
)

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "root.lock")
	lock, _, err := place.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("lock file has mode %v, %v", info.Mode(), err)
	}
	if _, pid, err := place.Lock(path); !errors.Is(err, place.ErrLocked) || pid != os.Getpid() {
		t.Fatalf("second Lock: pid %d, %v; want pid %d, %v", pid, err, os.Getpid(), place.ErrLocked)
	}
	if err := place.Announce(lock, "/run/s"); err != nil {
		t.Fatal(err)
	}
	if h, err := place.WhoHolds(path); err != nil || h != (place.Holder{PID: os.Getpid(), Socket: "/run/s"}) {
		t.Errorf("WhoHolds = %+v, %v", h, err)
	}
	if err := place.Unlock(lock); err != nil {
		t.Fatal(err)
	}
	if h, err := place.WhoHolds(path); err != nil || h != (place.Holder{}) {
		t.Errorf("after Unlock, WhoHolds = %+v, %v", h, err)
	}
	again, _, err := place.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	place.Unlock(again)
}

// A process that is killed leaves its pid in the file, but not the lock; and a
// child that it started does not inherit it.
func TestLockEndsWithItsProcess(t *testing.T) {
	if os.Getenv("PLACE_TEST_LOCK") != "" {
		if _, _, err := place.Lock(os.Getenv("PLACE_TEST_LOCK")); err != nil {
			t.Fatal(err)
		}
		child := exec.Command("sleep", "60")
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("locked\n")
		child.Wait()
		return
	}
	path := filepath.Join(t.TempDir(), "root.lock")
	if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(os.Args[0], "-test.run=^TestLockEndsWithItsProcess$")
	holder.Env = append(os.Environ(), "PLACE_TEST_LOCK="+path)
	holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(-holder.Process.Pid, syscall.SIGKILL) // its child outlives it
	buf := make([]byte, len("locked\n"))
	if _, err := out.Read(buf); err != nil || string(buf) != "locked\n" {
		t.Fatalf("holder said %q, %v", buf, err)
	}
	if _, pid, err := place.Lock(path); !errors.Is(err, place.ErrLocked) || pid != holder.Process.Pid {
		t.Errorf("Lock while held: pid %d, %v; want pid %d", pid, err, holder.Process.Pid)
	}
	holder.Process.Kill()
	holder.Wait()
	lock, pid, err := place.Lock(path)
	if err != nil {
		t.Fatalf("Lock after the holder was killed: pid %d, %v", pid, err)
	}
	place.Unlock(lock)
}

func TestClaimIsAllOrNothing(t *testing.T) {
	dir := home(t)
	a, b := mkdir(t, dir, "a"), mkdir(t, dir, "b")
	pa, pb, pab := mustFor(t, a), mustFor(t, b), mustFor(t, a, b)

	cb, err := place.TakeClaim(pb)
	if err != nil {
		t.Fatal(err)
	}
	if err := cb.Announce(pb.Socket); err != nil {
		t.Fatal(err)
	}
	_, err = place.TakeClaim(pab)
	var busy *place.BusyError
	if !errors.As(err, &busy) || busy.PID != os.Getpid() || busy.Socket != pb.Socket || busy.Root != pb.Roots[0] {
		t.Fatalf("TakeClaim of a and b while b is served: %v (%+v)", err, busy)
	}
	ca, err := place.TakeClaim(pa) // the failed claim holds nothing
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(ca.Release(), cb.Release(), cb.Release()); err != nil {
		t.Fatal(err)
	}
	cab, err := place.TakeClaim(pab)
	if err != nil {
		t.Fatal(err)
	}
	defer cab.Release()
	if err := cab.Announce(pab.Socket); err != nil {
		t.Fatal(err)
	}
	for _, p := range []place.Place{pa, pb} {
		if h, err := place.WhoHolds(p.Lock); err != nil || h.Socket != pab.Socket {
			t.Errorf("WhoHolds(%s) = %+v, %v; want the socket %s", p.Roots, h, err, pab.Socket)
		}
	}
	if err := cab.Announce("s"); err == nil {
		t.Error("a relative socket path was announced")
	}
}

func TestOpenLogPutsABigOneAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "daemon.log")
	write := func(text string) {
		t.Helper()
		f, err := place.OpenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	write(strings.Repeat("b", 1<<20))
	if info, err := os.Stat(path); err != nil || info.Size() != 1<<20+1 || info.Mode() != 0o600 {
		t.Fatalf("log: %v, %v", info, err)
	}
	write("c")
	if data, err := os.ReadFile(path); err != nil || string(data) != "c" {
		t.Errorf("log = %d bytes, %v; want a new one", len(data), err)
	}
	if info, err := os.Stat(path + ".old"); err != nil || info.Size() != 1<<20+1 {
		t.Errorf("old log: %v, %v", info, err)
	}
}

func TestScratchIsPrivate(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := place.NewScratch("../../f.go", "text\n")
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(filepath.Dir(s.Path)) != dir || filepath.Base(s.Path) != "f.go" {
		t.Errorf("scratch file at %s", s.Path)
	}
	if info, err := os.Stat(filepath.Dir(s.Path)); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("its directory: %v, %v", info.Mode(), err)
	}
	if text, err := s.Text(); err != nil || text != "text\n" {
		t.Errorf("Text() = %q, %v", text, err)
	}
	if err := s.Remove(); err != nil {
		t.Fatal(err)
	}
	if ents, _ := os.ReadDir(dir); len(ents) != 0 {
		t.Errorf("left behind: %v", ents)
	}
}
