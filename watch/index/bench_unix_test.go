//go:build unix

package index

import (
	"syscall"
	"time"
)

// usedCPU is what the process has used so far, on all cores.
func usedCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
