package process

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervisorName is the first argument, and the only one, of a supervisor.
const supervisorName = "loomd-supervisor"

// supervisable says that this program calls Supervise where it must, so that it can be
// run once more as a supervisor.
var supervisable bool

// Supervise must be what main calls before anything else, in every program that starts
// commands, the TestMain of a test included. In a process that was started as a
// supervisor it does not return.
func Supervise() {
	supervisable = true
	if len(os.Args) == 1 && os.Args[0] == supervisorName {
		if err := supervise(); err != nil {
			fmt.Fprintln(os.Stderr, "loomd supervisor:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// controlFD is the descriptor of a supervisor's socket to its daemon.
const controlFD = 3

// supervise runs one command after the other until the daemon has gone.
func supervise() error {
	// The command's first process is to die with this one; the system takes the thread
	// that started it for that.
	runtime.LockOSThread()
	// No signal that is caught ends this process, and the command has all of them as
	// they are by default.
	signal.Notify(make(chan os.Signal, 1))
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the reaper: %w", err)
	}
	if err := closeOnExec(); err != nil {
		return err
	}
	noCores()
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", os.DevNull, err)
	}
	s := &supervision{null: uintptr(null)}
	if err := s.tell([]byte{readyByte}); err != nil {
		return err
	}
	for {
		m, err := s.hear()
		if err != nil {
			return nil // the daemon has gone
		}
		if m.command == nil {
			continue // a cancellation that came too late
		}
		if over, err := s.run(m); over || err != nil {
			return err
		}
	}
}

// closeOnExec keeps every descriptor but the standard ones from commands.
func closeOnExec() error {
	err := unix.CloseRange(controlFD, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	entries, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return fmt.Errorf("listing descriptors: %w", err)
	}
	for _, e := range entries {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil && fd >= controlFD {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// noCores keeps the memory of a command that crashes from being written into the
// directory where it works.
func noCores() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
}

// supervision is a supervisor's own state. All of it is one thread, so that a short
// command waits for no other.
type supervision struct {
	null uintptr
}

// message is what the daemon sends: a command with its output's descriptors, or with no
// command the wish that the running one be ended.
type message struct {
	command *wireCommand
	outputs []int
}

// hear waits for the next message.
func (s *supervision) hear() (message, error) {
	payload, fds, err := receive(controlFD)
	if err != nil || len(payload) == 0 {
		return message{}, err
	}
	command, err := decodeCommand(payload)
	if err == nil && len(fds) != 2 {
		err = errMessage
	}
	return message{command, fds}, err
}

func (s *supervision) tell(p []byte) error {
	for len(p) > 0 {
		n, err := unix.Write(controlFD, p)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("answering: %w", err)
		}
		p = p[n:]
	}
	return nil
}

// run runs one command and answers. over says that this supervisor is done: its daemon
// has gone, or processes are left that do not end.
func (s *supervision) run(m message) (over bool, err error) {
	c := m.command
	start := time.Now()
	pid, err := syscall.ForkExec(c.path, c.args, &syscall.ProcAttr{
		Dir: c.dir, Env: c.env, Files: []uintptr{s.null, uintptr(m.outputs[0]), uintptr(m.outputs[1])},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	for _, fd := range m.outputs {
		unix.Close(fd)
	}
	if err != nil {
		errno, _ := err.(syscall.Errno)
		return false, s.tell((&wireResult{kind: notStarted, status: int64(errno)}).encode())
	}
	children := newChildren(pid)
	result := wireResult{kind: hasEnded}
	result.why, over = s.watch(children, start, c.timeout)
	killed, left := children.end(graceTime, killTime)
	result.killed, result.left = int64(killed), int64(left)
	result.status, result.duration = int64(syscall.SIGKILL), int64(time.Since(start))
	if children.exited { // or it is one of those left
		result.status, result.duration = int64(children.status), int64(children.at.Sub(start))
	}
	err = s.tell(result.encode())
	if left > 0 {
		over = true
		children.end(0, 0) // which waits for as long as it takes
	}
	return over, err
}

// reapEvery is how often orphans that have ended are let go of while a command runs.
const reapEvery = time.Second

// watch waits until the command ends by itself, or is to be ended: why, and over when
// the daemon has gone.
func (s *supervision) watch(c *children, start time.Time, timeout time.Duration) (why int64, over bool) {
	for {
		wait := reapEvery
		if timeout > 0 {
			left := timeout - time.Since(start)
			if left <= 0 {
				return timedOut, false
			}
			wait = min(wait, left+time.Millisecond) // poll counts in these
		}
		told := c.await(wait, controlFD)
		if c.exited {
			return 0, false
		}
		if told {
			if m, err := s.hear(); err != nil || m.command != nil {
				return cancelled, true
			}
			return cancelled, false
		}
	}
}
