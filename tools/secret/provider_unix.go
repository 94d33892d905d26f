//go:build unix

package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// openNonblock keeps a FIFO in a file's place from holding up who opens it.
const openNonblock = syscall.O_NONBLOCK

// private refuses a file that somebody else can read, or owns.
func private(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("can be read by others (mode %04o): chmod 600 makes it private", mode)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() && st.Uid != 0 {
		return errors.New("belongs to somebody else")
	}
	return nil
}

// ownGroup puts a program into a session of its own, where there is no terminal to
// ask on, and has the whole group ended with the context.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what a program that has ended left behind in its group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // most often there is nobody
	}
}
