//go:build !linux

package watch

import (
	"errors"
	"syscall"
)

// eventless reports whether changes in dir can go without an event. Only Linux
// is asked; elsewhere the regular look at every file has to do.
func eventless(string) bool { return false }

// limitHint names the limit that err stands for and what raises it; "" when err
// stands for none. On the BSDs and macOS each watched entry is an open file.
func limitHint(err error) string {
	if errors.Is(err, syscall.EMFILE) {
		return "this process may not open more files (`ulimit -n` raises it)"
	}
	return ""
}
