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
	"unsafe"

	"golang.org/x/sys/unix"
)

// moment is when, of a system call, a process is killed.
type moment string

const (
	atEntry moment = "at the entry of" // the call is not carried out
	halfway moment = "halfway through" // of a write half of the bytes are written, as when the signal comes between two pages
	atExit  moment = "at the exit of"  // the call is carried out, the process does not see its result
)

// A traced process says by these calls between which of its system calls it is
// to be killed: prctl with an option that no kernel knows.
const (
	killBegin = 0x6c6f6f6d0001
	killEnd   = 0x6c6f6f6d0002
)

func announce(what uintptr) { unix.RawSyscall(unix.SYS_PRCTL, what, 0, 0) }

// tracer runs a process and kills it at one of the system calls, counted from
// 1, by which it changes a disk.
type tracer struct {
	at   int // 0: never
	when moment

	pid    int
	seen   map[int]bool // threads
	begun  bool
	calls  []string // what was counted, until the kill
	caller int      // the thread that made the last of them
	ended  bool     // the process came to killEnd
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
	tr := &tracer{at: at, when: when, seen: map[int]bool{}}
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
	tr.seen[pid] = true
	err = unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL)
	if err == nil {
		err = unix.PtraceSyscall(pid, 0)
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
		signal, err := tr.stopped(tid, status)
		if err != nil {
			return err
		}
		if tr.killed {
			continue // it wakes up to die
		}
		if err := unix.PtraceSyscall(tid, int(signal)); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("resuming: %w", err)
		}
	}
}

// stopped looks at a thread that stands still, and returns the signal with
// which it goes on.
func (tr *tracer) stopped(tid int, status unix.WaitStatus) (unix.Signal, error) {
	known := tr.seen[tid]
	tr.seen[tid] = true
	switch signal := status.StopSignal(); {
	case signal == unix.SIGTRAP|0x80: // PTRACE_O_TRACESYSGOOD: a system call
		return 0, tr.systemCall(tid)
	case signal == unix.SIGTRAP, signal == unix.SIGSTOP && !known: // a thread was made
		return 0, nil
	default:
		return signal, nil
	}
}

// systemCallInfo is the kernel's struct ptrace_syscall_info, of a call's entry.
type systemCallInfo struct {
	Op   uint8
	_    [3]uint8
	Arch uint32
	IP   uint64
	SP   uint64
	Nr   uint64
	Args [6]uint64
}

// systemCall is called at each beginning and each end of a system call.
func (tr *tracer) systemCall(tid int) error {
	var info systemCallInfo
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		if errno == unix.ESRCH {
			return nil // killed by the watchdog
		}
		return fmt.Errorf("asking for a system call (Linux 5.3 and later tell): %w", errno)
	}
	if info.Op != unix.PTRACE_SYSCALL_INFO_ENTRY {
		if tr.at > 0 && tr.at == len(tr.calls) && tid == tr.caller {
			return tr.kill()
		}
		return nil
	}
	switch {
	case info.Nr == unix.SYS_PRCTL && info.Args[0] == killBegin:
		tr.begun = true
		return nil
	case info.Nr == unix.SYS_PRCTL && info.Args[0] == killEnd:
		tr.ended, tr.begun = true, false
		return nil
	}
	name := tr.changes(tid, &info)
	if !tr.begun || name == "" {
		return nil
	}
	tr.calls, tr.caller = append(tr.calls, name), tid
	if len(tr.calls) != tr.at {
		return nil
	}
	if tr.when == halfway && strings.Contains(name, "write") && info.Args[2] > 1 {
		return shortenWrite(tid, info.Args[2]/2)
	}
	if tr.when == atExit {
		return nil
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
func (tr *tracer) changes(tid int, info *systemCallInfo) string {
	name := diskCalls[info.Nr]
	switch {
	case info.Nr == unix.SYS_OPENAT && info.Args[2]&(unix.O_CREAT|unix.O_TRUNC) == 0:
		return ""
	case strings.Contains(name, "write"):
		var st unix.Stat_t
		err := unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(info.Args[0])), &st)
		if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG { // a pipe, an eventfd
			return ""
		}
	}
	return name
}
