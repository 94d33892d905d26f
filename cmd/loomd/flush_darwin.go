package main

import "golang.org/x/sys/unix"

// fread is FREAD of sys/fcntl.h: of the terminal's queues the one of input.
const fread = 1

// flushInput throws away what was typed on a terminal and not read yet. It fails
// for what is no terminal.
func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread) }
