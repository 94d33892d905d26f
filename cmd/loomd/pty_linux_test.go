package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// screen is a terminal on which a command runs.
type screen struct {
	t   *testing.T
	pty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex // guards what follows
	out  strings.Builder
	seen int           // how much of out was awaited
	more chan struct{} // closed and replaced when out grows; closed for good at the end
	done bool
}

// onTerminal runs loomd with args on a new terminal of 60 columns.
func onTerminal(t *testing.T, dir string, env []string, args ...string) *screen {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals: %v", err)
	}
	fd := int(pty.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	cmd := exec.Command("loomd", args...)
	cmd.Dir, cmd.Env = dir, append(env, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, pty: pty, cmd: cmd, more: make(chan struct{})}
	go s.read()
	t.Cleanup(func() {
		cmd.Process.Kill()
		pty.Close()
	})
	return s
}

func (s *screen) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.out.Write(buf[:n])
		s.done = err != nil // EIO when the last process has closed the terminal
		close(s.more)
		if !s.done {
			s.more = make(chan struct{})
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until what was printed since the last await matches.
func (s *screen) await(pattern string) {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		rest, done, more := s.out.String()[s.seen:], s.done, s.more
		at := re.FindStringIndex(rest)
		if at != nil {
			s.seen += at[1]
		}
		s.mu.Unlock()
		if at != nil {
			return
		}
		if done {
			s.t.Fatalf("ended without %q; the rest is %q", pattern, rest)
		}
		select {
		case <-more:
		case <-deadline:
			s.t.Fatalf("no %q in %q", pattern, rest)
		}
	}
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the command's end and returns its exit code.
func (s *screen) ends() int {
	s.t.Helper()
	s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

const threeEdits = `{"path":"f","edits":[{"old_str":"2\n3","new_str":"two\n3"},{"old_str":"6\n","new_str":"six\n"},{"old_str":"9\n","new_str":"nine\n"}]}`

// TestReviewOnATerminal decides three hunks with single keys on the real
// binary, one of them by an editor.
func TestReviewOnATerminal(t *testing.T) {
	dir, env := newWorkspace(t, tenLines)
	env = append(env, `EDITOR=sed -i s/six/SIX/`)
	loomdIn(t, dir, env, "call", "edit_file", threeEdits)

	s := onTerminal(t, dir, env, "review")
	s.await(`\(1/3\) accept this hunk \[y,n,.*\]\? `)
	s.press("y")
	s.await(`y\r\n(?s:.*)wrote f (?s:.*)\(2/3\) .*\]\? `)
	expectFile(t, filepath.Join(dir, "f"), strings.Replace(tenLines, "2", "two", 1))
	s.press("e")
	s.await(`\(3/3\) .*\]\? `)
	s.press("c")
	s.await(`comment for the agent: `)
	s.press("nine is fine\r")
	s.await(`2 accepted, 1 rejected`)
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	want := strings.NewReplacer("2", "two", "6", "SIX").Replace(tenLines)
	expectFile(t, filepath.Join(dir, "f"), want)
	got := loomdIn(t, dir, env, "call", "read_file", `{"path":"f"}`, "--json")
	for _, part := range []string{`"comment": "nine is fine"`, `"decision": "modified"`} {
		if !strings.Contains(got, part) {
			t.Errorf("the agent is not told %s:\n%s", part, got)
		}
	}
}

// Keys typed ahead decide no hunk that was not shown when they were typed, and
// ^C leaves the rest undecided.
func TestReviewTypedAhead(t *testing.T) {
	dir, env := newWorkspace(t, tenLines)
	loomdIn(t, dir, env, "call", "edit_file", threeEdits)
	s := onTerminal(t, dir, env, "review")
	s.await(`\(1/3\) .*\]\? `)
	s.press("yyyyyyy")
	s.await(`wrote f (?s:.*)\(2/3\) .*\]\? `)
	s.press("c")
	s.await(`comment for the agent: `)
	s.press("no\rnnn")
	s.await(`\(3/3\) .*\]\? `)
	s.press("\x03")
	s.await(`1 accepted, 1 rejected, 1 hunk left`)
	// Between prompt and raw mode it is a signal, not a key.
	if code := s.ends(); code != 0 && code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	expectFile(t, filepath.Join(dir, "f"), strings.Replace(tenLines, "2", "two", 1))
}

// A signal while a key is awaited leaves the terminal as it was.
func TestReviewRestoresTheTerminal(t *testing.T) {
	dir, env := newWorkspace(t, tenLines)
	loomdIn(t, dir, env, "call", "edit_file", threeEdits)
	s := onTerminal(t, dir, env, "review")
	s.await(`\(1/3\) .*\]\? `)
	s.cmd.Process.Signal(syscall.SIGTERM)
	if code := s.ends(); code != exitInterrupted {
		t.Errorf("exit %d, want %d", code, exitInterrupted)
	}
	now, err := unix.IoctlGetTermios(int(s.pty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if now.Lflag&unix.ICANON == 0 || now.Lflag&unix.ECHO == 0 {
		t.Errorf("the terminal is still raw: %x", now.Lflag)
	}
}

// A daemon that is killed while a key is awaited is started again, and the hunk
// is decided there.
func TestReviewOutlivesTheDaemon(t *testing.T) {
	dir, env := newWorkspace(t, tenLines)
	loomdIn(t, dir, env, "call", "edit_file", threeEdits)
	s := onTerminal(t, dir, env, "review")
	s.await(`\(1/3\) .*\]\? `)
	for _, d := range daemonsIn(filepath.Dir(dir)) {
		d.end(syscall.SIGKILL)
	}
	s.press("y")
	s.await(`the daemon had ended and was reached again(?s:.*)\+two(?s:.*)\(1/3\) .*\]\? `)
	s.press("y")
	s.await(`wrote f (?s:.*)\(2/3\) .*\]\? `)
	s.press("q")
	s.await(`1 accepted, 0 rejected, 2 hunks left`)
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	expectFile(t, filepath.Join(dir, "f"), strings.Replace(tenLines, "2", "two", 1))
}

// On a terminal the paths of a list are cut to what it leaves.
func TestListFitsTheTerminal(t *testing.T) {
	dir, env := newWorkspace(t, tenLines)
	loomdIn(t, dir, env, "call", "write_file", `{"path":"`+strings.Repeat("long/", 20)+`end","content":"x"}`)
	s := onTerminal(t, dir, env, "review", "list")
	s.await(`(?m)^p1  long/[long/]*…[long/]*/end  \+1 −0  1      cli      open \(create\)\r$`)
	s.ends()
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(s.out.String()) {
		if columnsOf(strings.TrimSpace(line)) > 60 {
			t.Errorf("wider than the terminal: %q", line)
		}
	}
}

// Colour is for terminals, and NO_COLOR is heeded.
func TestReviewColours(t *testing.T) {
	dir, env := newWorkspace(t, tenLines)
	loomdIn(t, dir, env, "call", "edit_file", threeEdits)
	var plain []string
	for _, v := range env {
		if !strings.HasPrefix(v, "NO_COLOR=") {
			plain = append(plain, v)
		}
	}
	s := onTerminal(t, dir, plain, "review", "show")
	s.await(`\x1b\[32m\+two\x1b\[m`)
	s.ends()
	s = onTerminal(t, dir, append(plain, "NO_COLOR=1"), "review", "show")
	s.await(`(?m)^\+two\r`)
	s.ends()
	if out := loomdIn(t, dir, plain, "review", "show"); strings.Contains(out, "\x1b") {
		t.Errorf("colour without a terminal: %q", out)
	}
}

// On a terminal what a search found is lines, in which nothing acts on it.
func TestCallGrepOnATerminal(t *testing.T) {
	dir, env := newWorkspace(t, "one\ntwo \x1b[31m\nthree\n")
	s := onTerminal(t, dir, env, "call", "grep", `{"pattern":"two","context":1}`)
	s.await(`(^|\x1b\[K)f-1-one\r\nf:2:two \^\[\[31m\r\nf-3-three\r\n$`)
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	s = onTerminal(t, dir, env, "call", "--json", "grep", `{"pattern":"two"}`)
	s.await(`"structuredContent": \{`)
	s.ends()
	s = onTerminal(t, dir, env, "call", "read_file", `{"path":"f","limit":1}`)
	s.await(`"contents": "one\\n"`)
	s.ends()
}
