package process

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Supervise()
	playDaemon()
	goleak.VerifyTestMain(rested{m})
}

// rested are tests whose supervisors have ended when they are over.
type rested struct{ *testing.M }

func (r rested) Run() int {
	defer Rest()
	return r.M.Run()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bash is a command line as a Command.
func bash(t testing.TB, line string) Command {
	t.Helper()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	return Command{Path: shell, Args: []string{"bash", "-c", line}, Dir: t.TempDir(), Env: Environment(os.Environ())}
}

// run runs a command line that can be started.
func run(t testing.TB, c Command) Result {
	t.Helper()
	r, err := Run(context.Background(), c)
	must(t, err)
	return r
}

func stdout(r Result) string { return string(r.Stdout.Head) + string(r.Stdout.Tail) }
func stderr(r Result) string { return string(r.Stderr.Head) + string(r.Stderr.Tail) }

// until waits for what must become true.
func until(t testing.TB, limit time.Duration, what string, is func() bool) {
	t.Helper()
	end, tick := time.After(limit), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-end:
			t.Fatalf("not within %v: %s", limit, what)
		case <-tick.C:
		}
	}
}

func TestRun(t *testing.T) {
	r := run(t, bash(t, "echo out; echo err >&2; exit 42"))
	if r.ExitCode != 42 || r.Signal != "" || r.TimedOut || r.Cancelled || r.Killed != 0 || r.Duration <= 0 {
		t.Errorf("%+v", r)
	}
	if stdout(r) != "out\n" || stderr(r) != "err\n" {
		t.Errorf("%q, %q", stdout(r), stderr(r))
	}
}

func TestEndBySignalIsTold(t *testing.T) {
	for _, name := range []string{"KILL", "TERM", "SEGV", "USR1"} {
		if r := run(t, bash(t, "kill -"+name+" $$")); r.ExitCode != -1 || r.Signal != "SIG"+name {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestNothingToRun(t *testing.T) {
	c := bash(t, "")
	for what, change := range map[string]func(c *Command){
		"no such file":    func(c *Command) { c.Path = "/absent/bash" },
		"permission":      func(c *Command) { c.Path = c.Dir },
		"no such file or": func(c *Command) { c.Dir = "/absent" },
		"absolute":        func(c *Command) { c.Path = "bash" },
		"directory":       func(c *Command) { c.Dir = "." },
		"arguments":       func(c *Command) { c.Args = nil },
		"NUL":             func(c *Command) { c.Args = []string{"a\x00b"} },
		"too long":        func(c *Command) { c.Args = append(c.Args, strings.Repeat("x", 1<<20)) },
	} {
		bad := c
		change(&bad)
		if r, err := Run(context.Background(), bad); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	if r := run(t, bash(t, "echo still here")); stdout(r) != "still here\n" {
		t.Errorf("after all this: %+v", r)
	}
}
