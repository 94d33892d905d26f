package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	graceTime = time.Second            // between TERM and KILL
	killTime  = 800 * time.Millisecond // after which the answer says what is left
	lookEvery = 10 * time.Millisecond  // how often what has come meanwhile is looked for
)

// children are all that a supervisor has: its child, and what becomes its child
// when its own parent has gone.
type children struct {
	first  int // the command's own process
	handle int // that becomes readable when the first one ends; -1 before Linux 5.3

	exited bool // the first one has; then status and at are its own
	status syscall.WaitStatus
	at     time.Time
	none   bool // there are none left
}

func newChildren(first int) *children {
	handle, err := unix.PidfdOpen(first, 0)
	if err != nil {
		handle = -1
	}
	return &children{first: first, handle: handle}
}

// reap lets go of those that have ended.
func (c *children) reap() {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD
			c.none = true
			return
		case got == 0:
			return
		case got == c.first:
			c.exited, c.status, c.at = true, status, time.Now()
			if c.handle >= 0 {
				unix.Close(c.handle)
				c.handle = -1
			}
		}
	}
}

// await waits until the first one has ended, the descriptor can be read (-1: none), or
// the time is over, and then reaps. It reports whether the descriptor can be read.
func (c *children) await(most time.Duration, fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(c.handle), Events: unix.POLLIN}}
	if c.handle < 0 { // nothing tells: look often
		most = min(most, lookEvery)
	}
	_, err := unix.Poll(fds, int(most/time.Millisecond))
	c.reap()
	return err == nil && fds[0].Revents != 0
}

// end ends all children: TERM, KILL after grace, and an answer after another wait at
// the latest (0: when there are none). It returns how many there were, and how many of
// them are left.
func (c *children) end(grace, wait time.Duration) (ended, left int) {
	seen, told := map[process]bool{}, map[process]bool{}
	for start := time.Now(); !c.none; c.await(lookEvery, -1) {
		since := time.Since(start)
		if wait > 0 && since > grace+wait {
			return len(seen), len(descendants())
		}
		signals := []syscall.Signal{syscall.SIGKILL}
		if since < grace {
			signals = []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} // a stopped one hears TERM when it goes on
		}
		for _, d := range descendants() {
			if seen[d] = true; signals[0] == syscall.SIGKILL || !told[d] {
				told[d] = true
				d.signal(signals)
			}
		}
		if c.reap(); c.none {
			break
		}
	}
	return len(seen), 0
}

// process is one of the system's, in a way that no later one of the same number is.
type process struct {
	pid     int
	started uint64 // in clock ticks since the system's start
}

// signal sends signals, if it is still that process.
func (p process) signal(signals []syscall.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == unix.ENOSYS { // before Linux 5.3
		for _, s := range signals {
			_ = syscall.Kill(p.pid, s)
		}
		return
	}
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, ok := statOf(strconv.Itoa(p.pid)); !ok || now.started != p.started {
		return
	}
	for _, s := range signals {
		_ = unix.PidfdSendSignal(fd, s, nil, 0)
	}
}

// stat is what is needed of /proc/PID/stat.
type stat struct {
	process
	parent int
	zombie bool
}

// descendants are the processes that have this one among their ancestors, those that
// have ended left out.
func descendants() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	below := map[int][]stat{}
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		if s, ok := statOf(name); ok {
			below[s.parent] = append(below[s.parent], s)
		}
	}
	var found []process
	for next := []int{os.Getpid()}; len(next) > 0; next = next[1:] {
		for _, s := range below[next[0]] {
			next = append(next, s.pid)
			if !s.zombie {
				found = append(found, s.process)
			}
		}
		delete(below, next[0]) // a number that came anew meanwhile makes no circle
	}
	return found
}

// statOf reads /proc/PID/stat (proc(5)). The name in it, in parentheses, can hold
// anything.
func statOf(pid string) (stat, bool) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return stat{}, false
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const state, parent, started = 0, 1, 19 // from the third field of the file on
	if len(fields) <= started {
		return stat{}, false
	}
	var s stat
	var errs [3]error
	s.pid, errs[0] = strconv.Atoi(pid)
	s.parent, errs[1] = strconv.Atoi(string(fields[parent]))
	s.started, errs[2] = strconv.ParseUint(string(fields[started]), 10, 64)
	s.zombie = fields[state][0] == 'Z' || fields[state][0] == 'X'
	return s, errs == [3]error{}
}
