package process

import (
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// On Windows a command runs in a job object, which ends all that is in it at once, and
// with the daemon. There is no asking first (TERM), and a process that the command
// starts in the moment before it is put into the job is not in it.

// Supervise does nothing on this system.
func Supervise() {}

// Rest does nothing on this system.
func Rest() {}

func newPipe() (read, write *os.File, err error) { return os.Pipe() }

// job is a command and its job object.
type job struct {
	cmd     *exec.Cmd
	start   time.Time
	timeout time.Duration
	asked   chan struct{} // closed by the first kill
	once    sync.Once
	handle  windows.Handle
}

func launch(c *Command, outputs [2]*os.File) (host, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateJobObject", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	value := reflect.ValueOf(&limits)
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation, value.Pointer(), uint32(value.Elem().Type().Size()))
	runtime.KeepAlive(&limits)
	if err != nil {
		_ = windows.CloseHandle(handle)
		return nil, os.NewSyscallError("SetInformationJobObject", err)
	}
	cmd := exec.Command(c.Path)
	cmd.Args, cmd.Dir, cmd.Env = c.Args, c.Dir, c.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Stdout, cmd.Stderr = outputs[0], outputs[1]
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
	j := &job{cmd: cmd, start: time.Now(), timeout: c.Timeout, asked: make(chan struct{}), handle: handle}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(handle)
		return nil, err
	}
	if err := j.take(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(handle)
		return nil, err
	}
	return j, nil
}

// take puts the command into the job.
func (j *job) take() error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(j.cmd.Process.Pid))
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(p)
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(j.handle, p))
}

func (j *job) kill() { j.once.Do(func() { close(j.asked) }) }

func (j *job) wait() (Result, error) {
	defer windows.CloseHandle(j.handle)
	exited := make(chan time.Time, 1)
	go func() {
		_ = j.cmd.Wait()
		exited <- time.Now()
	}()
	var limit <-chan time.Time
	if j.timeout > 0 {
		timer := time.NewTimer(j.timeout)
		defer timer.Stop()
		limit = timer.C
	}
	var r Result
	var at time.Time
	select {
	case at = <-exited:
	case <-limit:
		r.TimedOut = true
	case <-j.asked:
		r.Cancelled = true
	}
	if err := windows.TerminateJobObject(j.handle, 1); err != nil {
		_ = j.cmd.Process.Kill()
	}
	if at.IsZero() {
		r.Killed = 1
		at = <-exited
	}
	r.Duration, r.ExitCode = at.Sub(j.start), j.cmd.ProcessState.ExitCode()
	return r, nil
}
