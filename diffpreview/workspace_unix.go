//go:build unix

package diffpreview

import "syscall"

// openNonblock keeps an open from waiting for a FIFO's other end.
const openNonblock = syscall.O_NONBLOCK
