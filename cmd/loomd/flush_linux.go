package main

import "golang.org/x/sys/unix"

// flushInput throws away what was typed on a terminal and not read yet. It fails
// for what is no terminal.
func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
