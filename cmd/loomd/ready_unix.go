//go:build unix

package main

import "syscall"

func closeOnExec(fd uintptr) { syscall.CloseOnExec(int(fd)) }
