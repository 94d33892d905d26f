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
	exited chan struct{} // closed when the first one has
	status syscall.WaitStatus
	at     time.Time     // of the first one's end; set like status before exited is closed
	none   chan struct{} // closed when there are none left
}

// reap waits for the children, of which pid is the first, until there are none.
func reap(pid int) *children {
	c := &children{exited: make(chan struct{}), none: make(chan struct{})}
	go func() {
		options, first := 0, false
		for {
			var status syscall.WaitStatus
			got, err := syscall.Wait4(-1, &status, options, nil)
			switch {
			case err == syscall.EINTR:
			case err != nil: // ECHILD
				close(c.none) // first, so that nobody looks for what is left
				if first {
					close(c.exited)
				}
				return
			case got == pid:
				c.status, c.at = status, time.Now()
				// Whether it was the last one is known before its end is told.
				options, first = syscall.WNOHANG, true
			case got == 0 && first:
				close(c.exited)
				options, first = 0, false
			}
		}
	}()
	return c
}

// end ends all children: TERM, KILL after grace, and an answer after another wait at
// the latest (0: when there are none). It returns how many there were, and how many of
// them are left.
func (c *children) end(grace, wait time.Duration) (ended, left int) {
	seen := map[process]bool{}
	for _, turn := range []struct {
		signals []syscall.Signal
		most    time.Duration
	}{
		{[]syscall.Signal{syscall.SIGTERM, syscall.SIGCONT}, grace}, // a stopped one hears TERM when it goes on
		{[]syscall.Signal{syscall.SIGKILL}, wait},
	} {
		var enough <-chan time.Time
		if turn.most > 0 {
			timer := time.NewTimer(turn.most)
			defer timer.Stop()
			enough = timer.C
		} else if turn.signals[0] == syscall.SIGTERM {
			continue
		}
		told := map[process]bool{}
		for over := false; !over; {
			select {
			case <-c.none:
				return len(seen), 0
			default:
			}
			for _, d := range descendants() {
				if seen[d] = true; !told[d] || turn.signals[0] == syscall.SIGKILL {
					told[d] = true
					d.signal(turn.signals)
				}
			}
			select {
			case <-c.none:
				return len(seen), 0
			case <-enough:
				over = true
			case <-time.After(lookEvery):
			}
		}
	}
	return len(seen), len(descendants())
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
