package process

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// brood is a command line that starts processes of every kind that is hard to end. The
// number is in the arguments of each.
func brood(number string) string {
	return strings.ReplaceAll(`
		sleep 1000.@ &
		( trap "" TERM HUP INT; while :; do sleep 1000.@; done ) &
		setsid sleep 1000.@ &
		( ( setsid env -i /bin/bash -c "cd /; trap '' TERM; while :; do /bin/sleep 1000.@; done" & ) & )
		( exec >/dev/null 2>&1; cd /; setsid nohup sleep 1000.@ & )
		bash -c 'kill -STOP $$; sleep 1000.@' &
		bash -c 'trap "" TERM; kill -STOP $$; sleep 1000.@' &
		bash -c 'trap "bash -c \"trap : TERM; sleep 1000.@; sleep 1000.@\" &" TERM; sleep 1000.@ & wait; wait' &
		yes 1000.@ &
		yes 1000.@ >&2 &
		echo ready >ready
	`, "@", number)
}

// broodSize is how many processes a brood has at the least, the shell of it left out.
const broodSize = 13

// marked are the processes of the system, zombies left out, that have the text in
// their arguments or work in the directory.
func marked(t testing.TB, text, dir string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[1-9]*")
	must(t, err)
	for _, p := range all {
		args, err := os.ReadFile(p + "/cmdline")
		if err != nil || len(args) == 0 {
			continue // it has ended
		}
		cwd, _ := os.Readlink(p + "/cwd")
		if strings.Contains(string(args), text) || cwd == dir {
			found = append(found, fmt.Sprintf("%s %q", filepath.Base(p), args))
		}
	}
	return found
}

// brooding starts a brood and returns its mark once it is complete.
func brooding(t *testing.T, start func(line, dir string)) (mark, dir string) {
	t.Helper()
	dir = t.TempDir()
	number := fmt.Sprint(100_000_000 + rand.IntN(800_000_000))
	start(brood(number), dir)
	mark = "1000." + number
	until(t, 10*time.Second, "the processes of the command", func() bool {
		_, err := os.Stat(filepath.Join(dir, "ready"))
		return err == nil && len(marked(t, mark, dir)) >= broodSize
	})
	return mark, dir
}

func none(t *testing.T, mark, dir string) {
	t.Helper()
	if left := marked(t, mark, dir); len(left) > 0 {
		t.Errorf("%d processes live:\n%s", len(left), strings.Join(left, "\n"))
	}
}

// brooded is a brood under this process.
func brooded(t *testing.T, ctx context.Context, more string, timeout time.Duration) (p *Process, mark, dir string) {
	mark, dir = brooding(t, func(line, dir string) {
		c := bash(t, line+more)
		c.Dir, c.Timeout = dir, timeout
		var err error
		p, err = Start(ctx, c)
		must(t, err)
	})
	until(t, 10*time.Second, "output on both streams", func() bool {
		p.capture.mu.Lock()
		defer p.capture.mu.Unlock()
		has := func(s Stream) bool { return strings.Contains(string(p.capture.rings[s].head), mark) }
		return has(Stdout) && has(Stderr)
	})
	return p, mark, dir
}

// answered waits for the answer, which must come within 2 s of since, and checks that
// it has what the command had written by then.
func answered(t *testing.T, p *Process, since time.Time, mark, dir string) Result {
	t.Helper()
	r, err := p.Wait()
	if took := time.Since(since); took > 2*time.Second {
		t.Errorf("the answer took %v", took)
	}
	must(t, err)
	none(t, mark, dir)
	if r.Killed < broodSize || r.Surviving != 0 {
		t.Errorf("%d ended, %d left", r.Killed, r.Surviving)
	}
	if !strings.Contains(stdout(r), mark) || !strings.Contains(stderr(r), mark) {
		t.Errorf("%d and %d bytes of output: what was written before the end is missing", r.Stdout.Total, r.Stderr.Total)
	}
	return r
}

func TestNothingOutlivesATimeout(t *testing.T) {
	const limit = 1500 * time.Millisecond
	start := time.Now()
	p, mark, dir := brooded(t, context.Background(), "wait", limit)
	r := answered(t, p, start.Add(limit), mark, dir)
	if !r.TimedOut || r.Cancelled || r.Signal != "SIGTERM" {
		t.Errorf("%v, %v, %q", r.TimedOut, r.Cancelled, r.Signal)
	}
}

func TestNothingOutlivesACancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, mark, dir := brooded(t, ctx, "wait", 0)
	cancel()
	if r := answered(t, p, time.Now(), mark, dir); r.TimedOut || !r.Cancelled {
		t.Errorf("%v, %v", r.TimedOut, r.Cancelled)
	}
}

// The shell's own end is one, whatever it leaves behind.
func TestNothingOutlivesTheShell(t *testing.T) {
	end := `until [ -e go ]; do sleep 0.01; done; exit 7`
	p, mark, dir := brooded(t, context.Background(), end, 0)
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	if r := answered(t, p, time.Now(), mark, dir); r.ExitCode != 7 || r.TimedOut || r.Cancelled {
		t.Errorf("%d, %v, %v", r.ExitCode, r.TimedOut, r.Cancelled)
	}
}

// A daemon that is killed has no time to end anything.
func TestNothingOutlivesTheDaemon(t *testing.T) {
	var daemon *exec.Cmd
	mark, dir := brooding(t, func(line, dir string) {
		daemon = exec.Command("/proc/self/exe")
		daemon.Dir = dir
		daemon.Env = append(os.Environ(), daemonEnv+"="+line+"wait")
		must(t, daemon.Start())
	})
	must(t, daemon.Process.Kill())
	daemon.Wait()
	until(t, 2*time.Second, "the end of the processes of the command", func() bool { return len(marked(t, mark, dir)) == 0 })
}

// A process that is not the command's, as this one, can hold the pipes, and write to
// them; the answer does not wait for it.
func TestSomebodyElseHoldsThePipes(t *testing.T) {
	c := bash(t, "echo $$ >pid; echo on; until [ -e go ]; do sleep 0.01; done")
	p, err := Start(context.Background(), c)
	must(t, err)
	until(t, 5*time.Second, "the first line", func() bool { return p.LastLine(9) == "on" })
	pid, err := os.ReadFile(filepath.Join(c.Dir, "pid"))
	must(t, err)
	out, err := os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/1", os.O_WRONLY, 0)
	must(t, err)
	errout, err := os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/2", os.O_WRONLY, 0)
	must(t, err)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for chunk := make([]byte, 4096); err == nil; {
			_, err = errout.Write(chunk)
		}
	}()
	start := time.Now()
	must(t, os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600))
	r, werr := p.Wait()
	must(t, werr)
	if took := time.Since(start); took > 2*time.Second || stdout(r) != "on\n" {
		t.Errorf("%v, %q", took, stdout(r))
	}
	<-written
	out.Close()
	errout.Close()
}

// A supervisor that somebody kills is no reason to wait for ever, and the shell ends
// with it.
func TestSupervisorIsKilled(t *testing.T) {
	c := bash(t, "kill -KILL $PPID; sleep 1000")
	if r, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "from outside") {
		t.Errorf("%+v, %v", r, err)
	}
	until(t, 2*time.Second, "the end of the shell", func() bool { return len(marked(t, "kill -KILL $PPID", c.Dir)) == 0 })
	for _, name := range []string{"TERM", "INT", "HUP", "QUIT", "USR1", "PIPE", "TSTP"} {
		if r := run(t, bash(t, "kill -"+name+" $PPID; echo on")); stdout(r) != "on\n" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	idle.Lock()
	resting := idle.list
	idle.Unlock()
	for _, s := range resting {
		must(t, s.cmd.Process.Kill())
		s.cmd.Process.Wait()
	}
	if r := run(t, bash(t, "echo on")); stdout(r) != "on\n" {
		t.Errorf("after the end of an idle supervisor: %+v", r)
	}
}

func TestSupervisorsRest(t *testing.T) {
	for range 3 { // at once, so that each has a supervisor of its own
		t.Run("", func(t *testing.T) {
			t.Parallel()
			run(t, bash(t, "sleep 0.2"))
		})
	}
	t.Cleanup(func() {
		idle.Lock()
		n := len(idle.list)
		idle.Unlock()
		if n != mostIdle {
			t.Errorf("%d supervisors wait", n)
		}
		Rest()
		until(t, 2*time.Second, "the end of all supervisors", func() bool { return len(descendants()) == 0 })
	})
}

// What a command finds: no input, no terminal, no descriptor of ours, nothing blocked or
// ignored (but 32 to 34, which C libraries have for themselves and a Go program cannot
// change), no core file, its own session.
func TestSurroundings(t *testing.T) {
	r := run(t, bash(t, `
		cat; echo "end of input"
		(: </dev/tty) 2>/dev/null || echo "no terminal"
		cd /proc/self/fd && echo [0-9]*
		grep -E '^Sig(Blk|Ign)' /proc/self/status
		ulimit -Sc
		read -r _ _ _ _ group session rest </proc/$$/stat; [ $session = $$ ] && [ $group = $$ ] && echo "a session"
	`))
	want := "end of input\nno terminal\n0 1 2 3\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0\na session\n"
	if got := libcSignals.ReplaceAllString(stdout(r), "${1}00$2"); got != want {
		t.Errorf("%q, want %q (%s)", got, want, stderr(r))
	}
}

// libcSignals are a mask of signals that has 32 to 34 in it, and no other.
var libcSignals = regexp.MustCompile(`(Sig(?:Blk|Ign):\t0000000)[0-3][08](0000000\n)`)

// What asks somebody at a terminal fails at once.
func TestPromptsFail(t *testing.T) {
	for name, line := range map[string]string{
		"ssh": "ssh -o StrictHostKeyChecking=ask -o PreferredAuthentications=password user@localhost",
		"git": "git -c credential.helper= ls-remote https://user@localhost:1/x", "sudo": "sudo -k true", "read": "read -r answer",
		"editor": "git init -q . && git -c user.name=a -c user.email=b commit --allow-empty",
		"su":     "su nobody -s /bin/sh -c 'read -r answer </dev/tty'",
	} {
		tool, _, _ := strings.Cut(line, " ")
		if _, err := exec.LookPath(tool); err != nil && tool != "read" {
			t.Logf("%s: %v", name, err)
			continue
		}
		c := bash(t, line)
		c.Timeout = 10 * time.Second
		if r := run(t, c); r.TimedOut || r.ExitCode <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
