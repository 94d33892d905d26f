//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// stdioProcess is "loomd serve --stdio" with a client on its streams.
type stdioProcess struct {
	*client.Client
	cmd    *exec.Cmd
	stderr *bytes.Buffer // to be read after its end
}

type pipes struct {
	io.Reader
	io.WriteCloser
}

func startStdio(t *testing.T, dir string, env []string, role protocol.Role) *stdioProcess {
	t.Helper()
	cmd := exec.Command("loomd", "serve", "--stdio")
	cmd.Dir, cmd.Env = dir, env
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	who := client.Identity{Name: "test", Role: role}
	if role == protocol.RoleAgent {
		who.Session = &protocol.SessionOptions{Label: "agent"}
	}
	c, err := client.New(context.Background(), pipes{out, in}, who, nil, nil)
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("%v: %s", err, stderr)
	}
	return &stdioProcess{c, cmd, stderr}
}

// end closes the client's side and expects the process to end well.
func (p *stdioProcess) end(t *testing.T) {
	t.Helper()
	p.Close()
	p.ends(t, exitDone)
}

// ends expects the process to end with a status.
func (p *stdioProcess) ends(t *testing.T, status int) {
	t.Helper()
	p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("serve --stdio: %v, want status %d: %s", p.cmd.ProcessState, status, p.stderr)
	}
}

func edit(t *testing.T, p *stdioProcess, from, to string) {
	t.Helper()
	res, err := p.CallTool(context.Background(), protocol.ToolsCallParams{
		Name: "edit_file", Arguments: []byte(`{"path":"f","edits":[{"old_str":"` + from + `","new_str":"` + to + `"}]}`),
	})
	if err != nil || res.IsError {
		t.Fatalf("edit_file: %v, %s", err, res.StructuredContent)
	}
}

// The process on the streams is the daemon: others reach it by the socket, and
// it ends with its client.
func TestStdioIsTheDaemon(t *testing.T) {
	dir, env := newWorkspace(t, "a\nb\n")
	p := startStdio(t, dir, env, protocol.RoleAgent)
	edit(t, p, "a", "A")
	if out := loomdIn(t, dir, env, "review", "accept", "f"); !strings.Contains(out, "wrote f ") {
		t.Errorf("review accept says %q", out)
	}
	expectFile(t, filepath.Join(dir, "f"), "A\nb\n")
	if running := daemonsIn(filepath.Dir(dir)); len(running) != 1 || running[0].pid != p.cmd.Process.Pid {
		t.Errorf("daemons %+v, want the process itself, %d", running, p.cmd.Process.Pid)
	}
	p.end(t)
	if running := daemonsIn(filepath.Dir(dir)); len(running) != 0 {
		t.Errorf("daemons %+v after the end", running)
	}
}

// Where a daemon runs already, the process is a way to that one, and the end
// of the process is not the daemon's.
func TestStdioIsABridge(t *testing.T) {
	dir, env := newWorkspace(t, "a\nb\n")
	loomdIn(t, dir, env, "call", "list_files")
	before := daemonsIn(filepath.Dir(dir))
	p := startStdio(t, dir, env, protocol.RoleAgent)
	edit(t, p, "b", "B")
	st, err := p.Status(context.Background())
	if err != nil || len(before) != 1 || st.PID != before[0].pid {
		t.Errorf("behind the bridge is %d, %v; want %+v", st.PID, err, before)
	}
	p.end(t)
	if after := daemonsIn(filepath.Dir(dir)); len(after) != 1 || after[0] != before[0] {
		t.Errorf("daemons %+v, before %+v", after, before)
	}
	if out := loomdIn(t, dir, env, "review", "list"); !strings.Contains(out, "agent") {
		t.Errorf("the proposal made through the bridge is not listed: %s", out)
	}
}

// The bridge ends when the daemon does, with a status by which an editor starts
// its server anew, and a signal ends it orderly.
func TestBridgeEnds(t *testing.T) {
	dir, env := newWorkspace(t, "a\n")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		loomdIn(t, dir, env, "call", "list_files")
		p := startStdio(t, dir, env, protocol.RoleReviewer)
		for _, d := range daemonsIn(filepath.Dir(dir)) {
			d.end(sig)
		}
		p.ends(t, exitFailed)
		p.Close()
		if !strings.Contains(p.stderr.String(), "loomd: the daemon has ended\n") {
			t.Errorf("serve --stdio says %s", p.stderr)
		}
	}

	loomdIn(t, dir, env, "call", "list_files")
	p := startStdio(t, dir, env, protocol.RoleReviewer)
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.end(t)
}

// shutdown and exit end the daemon at once, though the client keeps its stdin
// open: no read of it is waited for.
func TestStdioEndsWithItsStdinOpen(t *testing.T) {
	dir, env := newWorkspace(t, "a\n")
	cmd := exec.Command("loomd", "serve", "--stdio")
	cmd.Dir, cmd.Env = dir, env
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`,
		`{"jsonrpc":"2.0","method":"exit"}`,
	} {
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(message), message)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve --stdio: %v", err)
	}
	if strings.Contains(stderr.String(), "did not end a read") {
		t.Errorf("the end waited for stdin: %s", stderr)
	}
}

// Closing the streams ends a read that waits.
func TestStdioCloses(t *testing.T) {
	read, written := io.Pipe() // stays open
	defer written.Close()
	s := newStdio(read, io.Discard)
	ended := make(chan error)
	go func() {
		_, err := s.Read(make([]byte, 1))
		ended <- err
	}()
	s.Close()
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Read after Close: %v", err)
	}
}

// A daemon on its streams ends orderly by a signal, too.
func TestStdioEndsBySignal(t *testing.T) {
	dir, env := newWorkspace(t, "a\n")
	p := startStdio(t, dir, env, protocol.RoleReviewer)
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.end(t)
}

// A client that stops reading and goes ends the daemon, but not by a signal.
func TestStdioOutlivesABrokenPipe(t *testing.T) {
	dir, env := newWorkspace(t, "a\n")
	in, typed := io.Pipe()
	read, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("loomd", "serve", "--stdio")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = dir, env, in, written
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	written.Close()
	c, err := client.New(context.Background(), pipes{read, typed}, client.Identity{Name: "test", Role: protocol.RoleReviewer}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	read.Close()
	// The daemon announces the proposal to its client, which does not read.
	loomdIn(t, dir, env, "call", "edit_file", `{"path":"f","edits":[{"old_str":"a","new_str":"b"}]}`)
	typed.Close()
	cmd.Wait()
	if cmd.ProcessState.ExitCode() < 0 {
		t.Errorf("serve --stdio: %v", cmd.ProcessState)
	}
}
