//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openNonblock keeps an open from waiting for the other end of a FIFO.
const openNonblock = syscall.O_NONBLOCK

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// trusted refuses a file that somebody else may have written: what it says
// decides what is written without a look. The group may write, since with
// private groups that is the user.
func trusted(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("it belongs to user %d, not to you", st.Uid)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return errors.New("other users can write it: chmod o-w")
	}
	return nil
}
