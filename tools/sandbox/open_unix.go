//go:build unix

package sandbox

import "syscall"

// openNonblock keeps an open from waiting for the other end of a FIFO that took a
// file's place.
const openNonblock = syscall.O_NONBLOCK
