//go:build unix && !linux

package process

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Where there is no reaper to be had, a command has a session of its own, and its
// process group is what is ended. A process that leaves the group (setsid) is not
// found, and one that it left behind is not ended when the daemon is killed.

// Supervise does nothing on this system.
func Supervise() {}

// Rest does nothing on this system.
func Rest() {}

const (
	graceTime = time.Second            // between TERM and KILL
	killTime  = 800 * time.Millisecond // after which the answer says what is left
	lookEvery = 10 * time.Millisecond
)

func newPipe() (read, write *os.File, err error) { return os.Pipe() }

// group is a command and its process group.
type group struct {
	cmd     *exec.Cmd
	start   time.Time
	timeout time.Duration
	asked   chan struct{} // closed by the first kill
	once    sync.Once
}

func launch(c *Command, outputs [2]*os.File) (host, error) {
	cmd := exec.Command(c.Path)
	cmd.Args, cmd.Dir, cmd.Env = c.Args, c.Dir, c.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Stdout, cmd.Stderr = outputs[0], outputs[1]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	g := &group{cmd: cmd, start: time.Now(), timeout: c.Timeout, asked: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *group) kill() { g.once.Do(func() { close(g.asked) }) }

func (g *group) wait() (Result, error) {
	exited := make(chan time.Time, 1)
	go func() {
		_ = g.cmd.Wait()
		exited <- time.Now()
	}()
	var limit <-chan time.Time
	if g.timeout > 0 {
		timer := time.NewTimer(g.timeout)
		defer timer.Stop()
		limit = timer.C
	}
	r := Result{ExitCode: -1}
	var at time.Time
	select {
	case at = <-exited:
	case <-limit:
		r.TimedOut = true
	case <-g.asked:
		r.Cancelled = true
	}
	r.Killed = g.end()
	if at.IsZero() {
		at = <-exited
	}
	r.Duration = at.Sub(g.start)
	if status, ok := g.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.Signal = unix.SignalName(status.Signal())
	} else {
		r.ExitCode = g.cmd.ProcessState.ExitCode()
	}
	return r, nil
}

// end ends the group, and returns 1 if there was anything in it.
func (g *group) end() int {
	pid := -g.cmd.Process.Pid
	if syscall.Kill(pid, 0) != nil {
		return 0
	}
	for _, turn := range []struct {
		signals []syscall.Signal
		most    time.Duration
	}{{[]syscall.Signal{syscall.SIGTERM, syscall.SIGCONT}, graceTime}, {[]syscall.Signal{syscall.SIGKILL}, killTime}} {
		for _, s := range turn.signals {
			_ = syscall.Kill(pid, s)
		}
		for end := time.Now().Add(turn.most); time.Now().Before(end); time.Sleep(lookEvery) {
			if syscall.Kill(pid, 0) != nil {
				return 1
			}
		}
	}
	return 1
}
