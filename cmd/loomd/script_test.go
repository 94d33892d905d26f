//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/loomd/loomd/daemon/place"
)

// TestScript runs the scripts in testdata/script. Besides the commands of
// testscript they have:
//
//	field VAR PATH    set VAR to a field of the JSON on the last stdout:
//	                  proposals.0.id
//	daemons [N]       fail unless N daemons run for this script (default 1)
//	stop [SIGNAL]     send TERM (or SIGNAL) to every daemon of this script and
//	                  wait until they have ended
//	ended             wait until every daemon of this script has ended
//
// Each script has folders of its own for home, state and sockets, and its
// daemons are ended when it ends, however it ends.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			vars, err := ownFolders(e.WorkDir)
			e.Vars = append(e.Vars, vars...)
			e.Defer(func() {
				for _, d := range daemonsIn(e.WorkDir) {
					d.end(syscall.SIGKILL)
				}
			})
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"field":   fieldCommand,
			"daemons": daemonsCommand,
			"stop":    stopCommand,
			"ended":   endedCommand,
		},
	})
}

// ownFolders makes the folders under work that a daemon and its clients use and
// returns the environment that names them.
func ownFolders(work string) (vars []string, err error) {
	for name, dir := range map[string]string{"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run"} {
		path := filepath.Join(work, "."+dir)
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, err
		}
		vars = append(vars, name+"="+path)
	}
	return append(vars, "NO_COLOR=1", "GIT_CONFIG_GLOBAL=/dev/null", "EDITOR=false", "VISUAL="), nil
}

// daemonProcess is a daemon that the holder of a lock file is.
type daemonProcess struct {
	lock string
	pid  int
}

// daemonsIn finds the daemons whose state lies under work, each once.
func daemonsIn(work string) []daemonProcess {
	locks, _ := filepath.Glob(filepath.Join(work, ".state", "loomd", "*.lock"))
	var out []daemonProcess
	for _, lock := range locks {
		h, err := place.WhoHolds(lock)
		known := slices.ContainsFunc(out, func(d daemonProcess) bool { return d.pid == h.PID })
		if err == nil && h.PID > 0 && !known && syscall.Kill(h.PID, 0) == nil {
			out = append(out, daemonProcess{lock, h.PID})
		}
	}
	return out
}

// end sends a signal and waits for the end.
func (d daemonProcess) end(sig syscall.Signal) {
	syscall.Kill(d.pid, sig)
	d.wait()
}

// wait returns when the process holds its lock no more, which the kernel
// guarantees when it has ended.
func (d daemonProcess) wait() {
	f, err := os.Open(d.lock)
	if err != nil {
		return
	}
	defer f.Close()
	for unix.Flock(int(f.Fd()), unix.LOCK_SH) == unix.EINTR {
	}
}

func daemonsCommand(ts *testscript.TestScript, neg bool, args []string) {
	want := 1
	if len(args) > 0 {
		var err error
		want, err = strconv.Atoi(args[0])
		ts.Check(err)
	}
	if got := len(daemonsIn(ts.Getenv("WORK"))); (got == want) == neg {
		ts.Fatalf("%d daemons run", got)
	}
}

func stopCommand(ts *testscript.TestScript, neg bool, args []string) {
	sig := syscall.SIGTERM
	if len(args) > 0 {
		sig = unix.SignalNum("SIG" + args[0])
	}
	if neg || sig == 0 {
		ts.Fatalf("usage: stop [SIGNAL]")
	}
	all := daemonsIn(ts.Getenv("WORK"))
	if len(all) == 0 {
		ts.Fatalf("no daemon to stop")
	}
	for _, d := range all {
		d.end(sig)
	}
}

func endedCommand(ts *testscript.TestScript, _ bool, _ []string) {
	for _, d := range daemonsIn(ts.Getenv("WORK")) {
		d.wait()
	}
}

func fieldCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field VAR PATH")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for name := range strings.SplitSeq(args[1], ".") {
		var ok bool
		switch at := v.(type) {
		case map[string]any:
			v, ok = at[name]
		case []any:
			i, err := strconv.Atoi(name)
			if ok = err == nil && i < len(at); ok {
				v = at[i]
			}
		}
		if !ok {
			ts.Fatalf("no field %s of %s", name, args[1])
		}
	}
	ts.Setenv(args[0], fmt.Sprint(v))
}
