package process

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	mostIdle  = 2                // supervisors that are kept for the next command
	restTime  = time.Minute      // after which an idle one ends
	startTime = 10 * time.Second // in which one must be ready
	pipeSize  = 1 << 20          // bytes; the system allows so much without rights
)

// supervisor is one as its daemon has it.
type supervisor struct {
	cmd  *exec.Cmd
	conn *net.UnixConn
	rest *time.Timer // ends it; nil while it has a command
}

var idle struct {
	sync.Mutex // guards list
	list       []*supervisor
	ending     sync.WaitGroup // those that nobody waits for
}

// Rest ends the supervisors that wait for a command, and returns when they and those
// that were let go before have ended.
func Rest() {
	idle.Lock()
	list := idle.list
	idle.list = nil
	idle.Unlock()
	for _, s := range list {
		s.rest.Stop()
		s.end()
	}
	idle.ending.Wait()
}

// startSupervisor runs this program once more.
func startSupervisor() (*supervisor, error) {
	if !supervisable {
		return nil, errors.New("this program cannot be run as a supervisor: its main does not call process.Supervise")
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "supervisor"), os.NewFile(uintptr(pair[1]), "daemon")
	defer near.Close()
	defer far.Close()
	conn, err := net.FileConn(near)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	// The file of this path can be another one by now, or none; this is it.
	s := &supervisor{cmd: exec.Command("/proc/self/exe"), conn: conn.(*net.UnixConn)}
	s.cmd.Args = []string{supervisorName}
	s.cmd.Dir = "/"
	s.cmd.Env = []string{} // nothing that a command could read there
	s.cmd.ExtraFiles = []*os.File{far}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal of a terminal reaches it
	if err := s.cmd.Start(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("starting a supervisor: %w", err)
	}
	far.Close()
	var ready [1]byte
	_ = conn.SetReadDeadline(time.Now().Add(startTime))
	if _, err := io.ReadFull(conn, ready[:]); err != nil || ready[0] != readyByte {
		_ = s.cmd.Process.Kill()
		s.end()
		return nil, fmt.Errorf("the supervisor did not start: %v", err)
	}
	return s, conn.SetReadDeadline(time.Time{})
}

// end lets it go. It ends by itself when it has no command.
func (s *supervisor) end() {
	s.conn.Close()
	_ = s.cmd.Wait()
}

// idleSupervisor takes the one that was used last, so that the others can end; nil:
// there is none.
func idleSupervisor() *supervisor {
	idle.Lock()
	defer idle.Unlock()
	last := len(idle.list) - 1
	if last < 0 {
		return nil
	}
	s := idle.list[last]
	idle.list = idle.list[:last]
	s.rest.Stop()
	return s
}

// giveBack keeps a supervisor whose command has ended for the next one.
func (s *supervisor) giveBack() {
	idle.Lock()
	defer idle.Unlock()
	if len(idle.list) >= mostIdle {
		idle.ending.Go(s.end)
		return
	}
	s.rest = time.AfterFunc(restTime, s.retire)
	idle.list = append(idle.list, s)
}

// retire ends it if it still waits for a command.
func (s *supervisor) retire() {
	idle.Lock()
	i := slices.Index(idle.list, s)
	if i >= 0 {
		idle.list = slices.Delete(idle.list, i, i+1)
	}
	idle.Unlock()
	if i >= 0 {
		s.end()
	}
}

// newPipe is one whose writing end blocks, as commands expect, and whose reading end
// can be closed while it is read.
func newPipe() (read, write *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	_ = unix.SetNonblock(fds[0], true)
	_, _ = unix.FcntlInt(uintptr(fds[0]), unix.F_SETPIPE_SZ, pipeSize)
	return os.NewFile(uintptr(fds[0]), "output"), os.NewFile(uintptr(fds[1]), "command"), nil
}

// supervised is a command that a supervisor runs.
type supervised struct {
	*supervisor
	path string

	mu   sync.Mutex // guards over, and that nothing is sent once it is set
	over bool
}

func launch(c *Command, outputs [2]*os.File) (host, error) {
	request, err := (&wireCommand{path: c.Path, dir: c.Dir, timeout: c.Timeout, args: c.Args, env: c.Env}).encode()
	if err != nil {
		return nil, err
	}
	rights := unix.UnixRights(int(outputs[0].Fd()), int(outputs[1].Fd()))
	for {
		s := idleSupervisor()
		fresh := s == nil
		if fresh {
			if s, err = startSupervisor(); err != nil {
				return nil, err
			}
		}
		if err := s.send(request, rights); err == nil {
			return &supervised{supervisor: s, path: c.Path}, nil
		} else if fresh {
			s.end()
			return nil, fmt.Errorf("asking the supervisor: %w", err)
		}
		s.end() // somebody has ended it meanwhile
	}
}

func (s *supervisor) send(request, rights []byte) error {
	n, _, err := s.conn.WriteMsgUnix(request, rights, nil)
	if err == nil && n < len(request) {
		_, err = s.conn.Write(request[n:])
	}
	return err
}

func (s *supervised) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		_, _ = s.conn.Write(make([]byte, 4))
	}
}

func (s *supervised) wait() (Result, error) {
	var answer [resultSize]byte
	_, err := io.ReadFull(s.conn, answer[:])
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	if err != nil {
		go s.end()
		return Result{ExitCode: -1}, errors.New("the command's supervisor was ended from outside: processes of the command may still run")
	}
	var w wireResult
	w.decode(answer[:])
	if w.left > 0 {
		go s.end() // it goes on trying
	} else {
		s.giveBack()
	}
	if w.kind == notStarted {
		return Result{ExitCode: -1}, &os.PathError{Op: "starting", Path: s.path, Err: syscall.Errno(w.status)}
	}
	r := Result{
		ExitCode: -1, TimedOut: w.why == timedOut, Cancelled: w.why == cancelled,
		Duration: time.Duration(w.duration), Killed: int(w.killed), Surviving: int(w.left),
	}
	if status := syscall.WaitStatus(w.status); status.Signaled() {
		r.Signal = unix.SignalName(status.Signal())
	} else {
		r.ExitCode = status.ExitStatus()
	}
	return r, nil
}
