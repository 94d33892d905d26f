package place_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/loomd/loomd/daemon/place"
)

// asNobody runs f on a thread of a user without rights when the tests run as
// root, for whom every directory can be written.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	done := make(chan syscall.Errno)
	go func() {
		// Never unlocked: the thread ends with the goroutine.
		runtime.LockOSThread()
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody)
		if errno == 0 {
			f()
		}
		done <- errno
	}()
	if errno := <-done; errno != 0 {
		t.Skipf("becoming another user: %v", errno)
	}
}

func TestCheckMakeable(t *testing.T) {
	base, err := os.MkdirTemp("", "place") // the ones above it can be entered by all
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	for dir, mode := range map[string]fs.FileMode{"": 0o755, "open": 0o777, "closed": 0o555} {
		if err := errors.Join(os.MkdirAll(filepath.Join(base, dir), 0o755), os.Chmod(filepath.Join(base, dir), mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		for dir, want := range map[string]string{
			"open/new": "", "open/several/new/ones": "",
			"closed/new": "closed: permission denied", "closed/several/new/ones": "closed: permission denied",
			"file/new": "file is not a directory", "file/several/new": "not a directory",
		} {
			err := place.CheckMakeable(filepath.Join(base, dir))
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", dir, err, want)
			}
		}
	})
	if _, err := os.Lstat(filepath.Join(base, "open/new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the check made something: %v", err)
	}
}
