//go:build unix

package client

import (
	"os/exec"
	"syscall"
)

// detach makes the process outlive the terminal and the session of its starter.
func detach(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return nil
}
