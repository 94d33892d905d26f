//go:build unix

package place

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// shortTemp is where sockets go when the temporary directory's name is too
// long, as it is in some test runners and on darwin.
const shortTemp = "/tmp"

// sharedMemory is a file system in memory that everybody may use: on Linux, and
// where it is not there the directory cannot be made and the next one is taken.
const sharedMemory = "/dev/shm"

func checkOwner(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &NotPrivateError{path, "has an owner that cannot be told"}
	}
	if int(st.Uid) != os.Getuid() {
		return &NotPrivateError{path, fmt.Sprintf("belongs to uid %d", st.Uid)}
	}
	return nil
}

// checkWritable asks the system, which knows of access lists and of file
// systems that are read-only.
func checkWritable(dir string) error {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, 0)
}

func othersMayUse(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

func platformStateBase() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the state directory: %w", err)
	}
	return filepath.Join(home, ".local", "state", "loomd"), nil
}
