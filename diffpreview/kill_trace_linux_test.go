//go:build amd64 || arm64

package diffpreview

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// moment is when, of a system call, a process is killed.
type moment string

const (
	atEntry moment = "at the entry of" // the call is not carried out
	halfway moment = "halfway through" // of a write half of the bytes are written, as when the signal comes between two pages
	atExit  moment = "at the exit of"  // the call is carried out, the process does not see its result
)

// A traced process gives itself these signals, which the tracer sees and takes
// away, around that of which it is killed.
const (
	killBegin = unix.SIGUSR1
	killEnd   = unix.SIGUSR2
)

func announce(signal unix.Signal) {
	runtime.LockOSThread() // until the test ends: what follows is traced from its first call on
	unix.Tgkill(unix.Getpid(), unix.Gettid(), signal)
}

// tracer runs a process and kills it at one of the system calls, counted from
// 1, by which it changes a disk.
type tracer struct {
	at   int // 0: never
	when moment

	pid    int
	inside map[int]bool // by thread: whether it is within a system call
	begun  bool         // it came to killBegin
	calls  []string     // what was counted, until the kill
	caller int          // the thread that made the last of them
	ended  bool         // the process came to killEnd
	killed bool
	status unix.WaitStatus
	out    string
}

// hung is how long a traced process may take. It takes a tenth of a second.
const hung = time.Minute

// runTraced runs this test binary's test called name. The system calls of all
// its threads are traced; one is killed with all others, by SIGKILL.
func runTraced(t *testing.T, name string, env []string, at int, when moment) *tracer {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan string)
	go func() {
		text, _ := io.ReadAll(r)
		r.Close()
		out <- string(text)
	}()
	tr := &tracer{at: at, when: when, inside: map[int]bool{}}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel takes a tracee's commands from the thread that began to trace it
		defer runtime.UnlockOSThread()
		err := tr.run([]string{os.Args[0], "-test.run=^" + name + "$"}, append(os.Environ(), env...), w)
		w.Close()
		failed <- err
	}()
	err = <-failed
	tr.out = <-out
	if err != nil {
		t.Fatalf("%v\n%s", err, tr.out)
	}
	if !tr.killed && (!tr.status.Exited() || tr.status.ExitStatus() != 0) {
		t.Fatalf("the traced process ended by itself, status %#x:\n%s", uint32(tr.status), tr.out)
	}
	return tr
}

func (tr *tracer) run(argv, env []string, out *os.File) error {
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{0, out.Fd(), out.Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("this kernel, container or tracer does not let a process trace its child, and without that nothing was tested "+
			"(a container may need --cap-add=SYS_PTRACE): %w", err)
	}
	if err != nil {
		return fmt.Errorf("starting a traced process: %w", err)
	}
	tr.pid = pid
	watchdog := time.AfterFunc(hung, func() { unix.Kill(pid, unix.SIGKILL) })
	defer watchdog.Stop()
	if _, err := unix.Wait4(pid, &tr.status, unix.WALL, nil); err != nil {
		return fmt.Errorf("waiting for a traced process to start: %w", err)
	}
	if !tr.status.Stopped() {
		return fmt.Errorf("a traced process did not stop at its start: status %#x", uint32(tr.status))
	}
	tr.inside[pid] = false
	err = unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL)
	if err == nil {
		err = unix.PtraceCont(pid, 0)
	}
	if err == nil {
		err = tr.follow()
	}
	if err != nil {
		unix.Kill(pid, unix.SIGKILL)
		return fmt.Errorf("tracing: %w", err)
	}
	return nil
}

// follow lets the process run from stop to stop until it has ended.
func (tr *tracer) follow() error {
	for {
		var status unix.WaitStatus
		// Not the children of other threads: other tests wait for those.
		tid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("waiting: %w", err)
		case !status.Stopped() && tid == tr.pid:
			tr.status = status
			return nil
		case !status.Stopped():
			continue // a thread's end
		}
		err = tr.stopped(tid, status)
		// That a thread is no more is nothing that we did not know or will be told.
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
}

// stopped looks at a thread that stands still, and lets it go on.
func (tr *tracer) stopped(tid int, status unix.WaitStatus) error {
	_, known := tr.inside[tid]
	if !known {
		tr.inside[tid] = false
	}
	signal := status.StopSignal()
	switch {
	case tr.killed:
		return nil // it wakes up to die
	case signal == unix.SIGTRAP|0x80: // PTRACE_O_TRACESYSGOOD: a system call begins or ends
		tr.inside[tid] = !tr.inside[tid]
		if err := tr.systemCall(tid); err != nil || tr.killed {
			return err
		}
		signal = 0
	case signal == killBegin:
		tr.begin(tid)
		signal = 0
	case signal == killEnd:
		tr.ended, signal = true, 0
	case signal == unix.SIGTRAP, signal == unix.SIGSTOP && !known: // a thread was made
		signal = 0
	}
	if !tr.begun || tr.ended {
		return unix.PtraceCont(tid, int(signal)) // at full speed
	}
	return unix.PtraceSyscall(tid, int(signal))
}

// begin makes all threads stop at system calls. Those that run do not before
// they have stopped once, for a signal that the Go runtime knows to be of no
// importance.
func (tr *tracer) begin(announcer int) {
	tr.begun = true
	for tid := range tr.inside {
		if tid != announcer {
			unix.Tgkill(tr.pid, tid, unix.SIGURG)
		}
	}
}

// systemCall is called at the entry and at the exit of a system call.
func (tr *tracer) systemCall(tid int) error {
	if tr.ended {
		return nil
	}
	if !tr.inside[tid] {
		if len(tr.calls) == tr.at && tid == tr.caller {
			return tr.kill()
		}
		return nil
	}
	var call systemCall
	if err := call.get(tid); err != nil {
		return fmt.Errorf("registers: %w", err)
	}
	name := tr.changes(tid, &call)
	if name == "" {
		return nil
	}
	tr.calls, tr.caller = append(tr.calls, name), tid
	switch size := call.arg(2); {
	case len(tr.calls) != tr.at, tr.when == atExit:
		return nil
	case tr.when == halfway && strings.Contains(name, "write") && size > 1:
		return call.setArg2(tid, size/2)
	}
	return tr.kill()
}

func (tr *tracer) kill() error {
	tr.killed = true
	if err := unix.Kill(tr.pid, unix.SIGKILL); err != nil {
		return fmt.Errorf("killing: %w", err)
	}
	return nil
}

// changes names a system call that changes a disk or makes it keep a change;
// "" for all others.
func (tr *tracer) changes(tid int, call *systemCall) string {
	name := diskCalls[call.number()]
	switch {
	case name == "openat" && call.arg(2)&(unix.O_CREAT|unix.O_TRUNC) == 0:
		return ""
	case strings.Contains(name, "write"):
		var st unix.Stat_t
		err := unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(call.arg(0))), &st)
		if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG { // a pipe, an eventfd
			return ""
		}
	}
	return name
}
