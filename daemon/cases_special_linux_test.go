package daemon

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

func TestBadInputSpecialFiles(t *testing.T) {
	h := newHost(t, map[string]string{"ok": "ok\n"})
	must(t, unix.Mkfifo(filepath.Join(h.root, "fifo"), 0o644))
	listener, err := net.Listen("unix", filepath.Join(h.root, "socket"))
	if err == nil {
		defer listener.Close()
	}
	kinds := []string{"fifo", "link to a fifo"}
	if err == nil {
		kinds = append(kinds, "socket")
	}
	must(t, os.Symlink("fifo", filepath.Join(h.root, "link to a fifo")))
	if err := unix.Mknod(filepath.Join(h.root, "device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err == nil {
		kinds = append(kinds, "device") // another /dev/null
	} else {
		t.Logf("no device is made: %v", err)
	}
	agent := h.agent("a")
	for _, kind := range kinds {
		for tool, a := range everyTool(kind) {
			t.Run(kind+" "+tool, func(t *testing.T) {
				names := strings.TrimPrefix(kind, "link to a ")
				h.refused(agent, badCall{name: kind, tool: tool, args: a, code: "not_regular_file", names: names})
			})
		}
	}
}

const nobody = 65534

// asNobody reports whether the test may go on: nothing is forbidden to root, so
// root runs it once more in a process of its own as nobody.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "nobody")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	self, err := os.ReadFile(os.Args[0])
	must(t, err)
	program, tmp := filepath.Join(dir, "test"), filepath.Join(dir, "tmp")
	must(t, os.WriteFile(program, self, 0o755))
	must(t, os.Mkdir(tmp, 0o700))
	must(t, os.Chown(tmp, nobody, nobody))
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = tmp, []string{"TMPDIR=" + tmp, "HOME=" + tmp, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	return false
}

func TestBadInputPermissionDenied(t *testing.T) {
	if !asNobody(t) {
		return
	}
	h := newHost(t, map[string]string{"ok": "ok\n", "secret": "x\n", "readonly": "x\n", "locked/f": "x\n", "still/f": "x\n", "later": "x\n"})
	agent, reviewer := h.agent("a"), h.reviewer()
	later := agent.MustTool("edit_file", editOf("later", "x", "y"))
	inStill := agent.MustTool("write_file", args{"path": "still/new", "content": "y\n"})
	for name, mode := range map[string]os.FileMode{"secret": 0, "readonly": 0o444, "later": 0o444, "still": 0o555} {
		must(t, os.Chmod(filepath.Join(h.root, name), mode))
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(h.root, "still"), 0o755) })
	for _, c := range []badCall{
		{name: "unreadable", tool: "read_file", args: args{"path": "secret"}, names: "secret"},
		{name: "unreadable", tool: "edit_file", args: editOf("secret", "x", "y"), names: "secret"},
		{name: "unreadable", tool: "write_file", args: args{"path": "secret", "content": "y"}, names: "secret"},
		{name: "read-only", tool: "edit_file", args: editOf("readonly", "x", "y"), names: "readonly"},
		{name: "read-only", tool: "write_file", args: args{"path": "readonly", "content": "y"}, names: "readonly"},
	} {
		c.code = "permission_denied"
		t.Run(c.name+" "+c.tool, func(t *testing.T) { h.refused(agent, c) })
	}
	for _, out := range []daemontest.Outcome{later, inStill} {
		was := h.tree()
		failure := decideAll(reviewer, out.Text("proposal"), protocol.Accept)
		if failure == nil || failure.Code != rpc.CodeRequestFailed || failure.Data.Kind != "permission_denied" || !strings.Contains(failure.Message, out.Text("path")) {
			t.Errorf("accepting %s: %s", out.Text("path"), failure)
		}
		h.wantTree(was, "an accept that is not permitted")
		wantUsable(t, agent)
	}
	for _, name := range []string{"later", "still"} {
		must(t, os.Chmod(filepath.Join(h.root, name), 0o755))
	}
	for _, out := range []daemontest.Outcome{later, inStill} {
		if failure := decideAll(reviewer, out.Text("proposal"), protocol.Accept); failure != nil {
			t.Errorf("permitted now: %s", failure)
		}
		h.wantDisk(out.Text("path"), "y\n")
	}
	locked := filepath.Join(h.root, "locked")
	t.Cleanup(func() { os.Chmod(locked, 0o755) })
	must(t, os.Chmod(locked, 0))
	for tool, a := range everyTool("locked/f") {
		if out := agent.Tool(tool, a); !out.IsError || out.Text("code") != "permission_denied" || !strings.Contains(out.Text("message"), "locked") {
			t.Errorf("%s in an unreadable directory: %s", tool, out.StructuredContent)
		}
		wantUsable(t, agent)
	}
}

// smallDisk puts a file system of this size over a directory, for the time of
// the test.
func smallDisk(t *testing.T, dir, size string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a full disk needs a mount, which is not permitted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// fill takes what is left of a file system and returns what gives it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	return func() { must(t, os.Remove(name)) }
}

func TestBadInputDiskFull(t *testing.T) {
	h := &host{t: t, top: t.TempDir(), state: t.TempDir()}
	h.root = filepath.Join(h.top, "ws")
	must(t, os.Mkdir(h.root, 0o755))
	smallDisk(t, h.root, "256k")
	h.save("ok", "ok\n")
	h.save("f", "small\n")
	h.serve(Options{})
	agent, reviewer := h.agent("a"), h.reviewer()
	large := strings.Repeat("a line of the large text\n", 100<<10/25)
	outs := map[string]daemontest.Outcome{
		"f":         agent.MustTool("write_file", args{"path": "f", "content": large}),
		"new":       agent.MustTool("write_file", args{"path": "new", "content": large}),
		"d/e/f/new": agent.MustTool("write_file", args{"path": "d/e/f/new", "content": large}),
	}
	free := fill(t, h.root)
	was := h.tree()
	for path, out := range outs {
		failure := decideAll(reviewer, out.Text("proposal"), protocol.Accept)
		if failure == nil || failure.Code != rpc.CodeRequestFailed || failure.Data.Kind != "no_space" || !strings.Contains(failure.Message, path) {
			t.Errorf("accepting %s: %s", path, failure)
		}
		h.wantTree(was, "an accept without room")
		wantUsable(t, agent)
	}
	failure := reviewer.Call(protocol.MethodProposalsDecide, protocol.DecideParams{Session: "a", Decision: protocol.Accept}, nil)
	if failure == nil || failure.Data.Kind != "no_space" {
		t.Errorf("accepting all: %s", failure)
	}
	h.wantTree(was, "an accept of all without room")
	free()
	if failure := decideAll(reviewer, outs["d/e/f/new"].Text("proposal"), protocol.Accept); failure != nil {
		t.Errorf("with room again: %s", failure)
	}
	h.wantDisk("d/e/f/new", large)
	wantUsable(t, agent)
}

func TestBadInputStateDirectoryFull(t *testing.T) {
	h := &host{t: t, top: t.TempDir(), state: t.TempDir()}
	h.root = filepath.Join(h.top, "ws")
	smallDisk(t, h.state, "1m")
	h.save("ok", "ok\n")
	h.save("f", "small\n")
	h.save("g", "small\n")
	h.serve(Options{})
	agent, reviewer := h.agent("a"), h.reviewer()
	told := agent.MustTool("write_file", args{"path": "h", "content": "x\n"})
	before := agent.MustTool("edit_file", editOf("g", "small", "large"))
	if failure := decideAll(reviewer, told.Text("proposal"), protocol.Reject); failure != nil {
		t.Fatal(failure)
	}
	free := fill(t, h.state)
	if out := agent.MustTool("read_file", args{"path": "ok"}); len(out.Reviews) != 1 {
		t.Errorf("the agent is told %+v", out.Reviews)
	}
	large := strings.Repeat("a line of the large text\n", 100<<10/25)
	for _, c := range []badCall{
		{name: "a text of its own file", tool: "write_file", args: args{"path": "f", "content": large}},
		{name: "a record", tool: "edit_file", args: editOf("f", "small", strings.Repeat("x", 4000))},
		{name: "another record", tool: "edit_file", args: editOf("f", "small", strings.Repeat("y", 4000))},
	} {
		c.code, c.names = "no_space", "journal"
		h.refused(agent, c)
	}
	was := h.tree()
	failure := decideAll(reviewer, before.Text("proposal"), protocol.Accept)
	if failure == nil || failure.Data.Kind != "no_space" {
		t.Errorf("accepting: %s", failure)
	}
	h.wantTree(was, "an accept that could not be journalled")
	wantUsable(t, agent)
	hello := args{"initializationOptions": args{"loom": args{"role": "agent"}}}
	var p *daemontest.Peer
	failure = nil
	for range 100 { // until the journal's last block has no room for a session
		p = daemontest.New(t, h.dial())
		if failure = p.Call("initialize", hello, nil); failure != nil {
			break
		}
	}
	if failure == nil || failure.Data.Kind != "no_space" {
		t.Errorf("a new session: %s", failure)
	}
	free()
	p.Must("initialize", hello, nil)
	if out := agent.Tool("write_file", args{"path": "f", "content": large}); out.IsError {
		t.Errorf("with room again: %s", out.StructuredContent)
	}
	if failure := decideAll(reviewer, before.Text("proposal"), protocol.Accept); failure != nil {
		t.Errorf("with room again: %s", failure)
	}
	h.wantDisk("g", "large\n")
	h.stop()
	h.serve(Options{})
	agent = h.agent("a")
	for path, want := range map[string]string{"f": large, "g": "large\n"} {
		if out := agent.MustTool("read_file", args{"path": path}); out.Text("contents") != want {
			t.Errorf("after a restart %s reads %.100q", path, out.Text("contents"))
		}
	}
}
