//go:build unix

package index

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// usedCPU is what the process has used so far, on all cores.
func usedCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// identity is what a stat has beside size and time of a file.
func identity(path string) (inode uint64, changed int64) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return 0, 0
	}
	return st.Ino, st.Ctim.Nano()
}
