package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/loomd/loomd/daemon/protocol"
)

// The hard cases of commands, through the real binary: an agent on its streams calls
// bash, which runs in the sandbox of its session.

// shellHost is a daemon of its own with an agent. In the end it must still answer, the
// workspace must have what it had, and no process of a command may live.
type shellHost struct {
	t   *testing.T
	dir string // the workspace
	p   *stdioProcess
}

// ranCommand is a result of bash, or a failure with its code.
type ranCommand struct {
	ExitCode  *int   `json:"exit_code"`
	Signal    string `json:"signal"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	TimedOut  bool   `json:"timed_out"`
	Truncated bool   `json:"truncated"`
	Killed    int    `json:"killed"`
	Code      string `json:"code"`
	Message   string `json:"message"`

	took time.Duration
}

func (r ranCommand) exited(code int) bool { return r.ExitCode != nil && *r.ExitCode == code }

// newShellHost starts a daemon with more in its environment, on a folder that a script
// has prepared.
func newShellHost(t *testing.T, prepare string, more ...string) *shellHost {
	t.Helper()
	dir, env := newWorkspace(t, "a\n")
	if out, err := inShell(dir, prepare); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h := &shellHost{t, dir, startStdio(t, dir, append(env, more...), protocol.RoleAgent)}
	before := h.names()
	t.Cleanup(func() {
		if res, err := h.call("read_file", map[string]any{"path": "f"}); err != nil || res.IsError {
			t.Errorf("afterwards: %v %s", err, res.StructuredContent)
		}
		if after := h.names(); !slices.Equal(after, before) {
			t.Errorf("the workspace has %q, and had %q", after, before)
		}
		if left := workingBelow(filepath.Dir(dir), "sandboxes"); len(left) > 0 {
			t.Errorf("there are processes left: %q", left)
		}
		h.p.end(t)
	})
	return h
}

func inShell(dir, script string) ([]byte, error) {
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// names are what is in the workspace's folder itself.
func (h *shellHost) names() (names []string) {
	h.t.Helper()
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (h *shellHost) call(tool string, args map[string]any) (protocol.ToolsCallResult, error) {
	encoded, err := json.Marshal(args)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return h.p.CallTool(ctx, protocol.ToolsCallParams{Name: tool, Arguments: encoded})
}

// bash runs a command, in so many seconds, 0 for as long as it may take, and expects
// the answer within a time.
func (h *shellHost) bash(most time.Duration, timeout int, command string, cwd ...string) (r ranCommand) {
	h.t.Helper()
	args := map[string]any{"command": command}
	if timeout > 0 {
		args["timeout_secs"] = timeout
	}
	if len(cwd) > 0 {
		args["cwd"] = cwd[0]
	}
	start := time.Now()
	res, err := h.call("bash", args)
	if err != nil {
		h.t.Fatalf("%s: %v", command, err)
	}
	r.took = time.Since(start)
	if err := json.Unmarshal(res.StructuredContent, &r); err != nil {
		h.t.Fatal(err)
	}
	if r.took > most {
		h.t.Errorf("%s: took %v", command, r.took)
	}
	if !utf8.Valid(res.StructuredContent) || res.IsError != (r.Code != "") {
		h.t.Errorf("%s: answered %.300q", command, res.StructuredContent)
	}
	return r
}

// workingBelow are the processes whose directory is in a folder, and has a part in its
// path.
func workingBelow(dir, part string) (found []string) {
	links, _ := filepath.Glob("/proc/[1-9]*/cwd")
	for _, link := range links {
		if cwd, _ := os.Readlink(link); strings.HasPrefix(cwd, dir+"/") && strings.Contains(cwd, "/"+part+"/") {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
			found = append(found, string(args))
		}
	}
	return found
}

// withArgument are the processes that have a word in their arguments, zombies left out.
func withArgument(word string) (found []string) {
	files, _ := filepath.Glob("/proc/[1-9]*/cmdline")
	for _, file := range files {
		if args, _ := os.ReadFile(file); slices.Contains(strings.Split(string(args), "\x00"), word) {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}

func TestC117_SilentBackgroundChild(t *testing.T) {
	h := newShellHost(t, "")
	if r := h.bash(2*time.Second, 10, "sleep 30 & echo fg"); r.Stdout != "fg\n" || !r.exited(0) || r.TimedOut {
		t.Errorf("%+v", r)
	}
}

func TestC120_TimeoutEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	h := newShellHost(t, "")
	word := fmt.Sprintf("301.%d", time.Now().UnixNano())
	r := h.bash(3*time.Second, 1, "sh -c 'sleep "+word+" & sleep "+word+"' | cat")
	if left := withArgument(word); !r.TimedOut || len(left) > 0 {
		t.Errorf("%+v; left: %v", r, left)
	}
}

func TestC121_ChildThatIgnoresTERM(t *testing.T) {
	t.Parallel()
	h := newShellHost(t, "")
	r := h.bash(6*time.Second, 1, "trap '' TERM INT; echo $$; while :; do sleep 1; done")
	pid := strings.TrimSpace(r.Stdout)
	if _, err := os.Stat("/proc/" + pid); !r.TimedOut || r.Signal != "SIGKILL" || pid == "" || !os.IsNotExist(err) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestC123_OutputBeforeTheTimeout(t *testing.T) {
	t.Parallel()
	h := newShellHost(t, "")
	r := h.bash(4*time.Second, 1, "echo part; echo e >&2; sleep 60")
	if !r.TimedOut || r.Stdout != "part\n" || r.Stderr != "e\n" {
		t.Errorf("%+v", r)
	}
}

func TestC124_StdinIsEmpty(t *testing.T) {
	h := newShellHost(t, "")
	if r := h.bash(time.Second, 0, "cat; read x; echo rc=$?"); r.Stdout != "rc=1\n" || !r.exited(0) {
		t.Errorf("%+v", r)
	}
}

func TestC126_GitWantsAnEditor(t *testing.T) {
	bin := t.TempDir()
	mark := filepath.Join(bin, "was-opened")
	if err := os.WriteFile(filepath.Join(bin, "vi"), []byte("#!/bin/sh\n: >'"+mark+"'\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := newShellHost(t, `
		git init -q .
		git config user.name ada; git config user.email ada@example.org
		git add f; git commit -qm one; git commit -qm two --allow-empty
	`, "EDITOR=vi", "VISUAL=vi", "PATH="+bin+":"+os.Getenv("PATH"))
	if r := h.bash(5*time.Second, 30, "command -v vi"); !r.exited(0) {
		t.Fatalf("the editor is not to be found: %+v", r)
	}
	for _, command := range []string{"git commit --allow-empty", "git rebase -i HEAD~1"} {
		if r := h.bash(5*time.Second, 30, command); r.TimedOut || r.exited(0) || !strings.Contains(r.Stderr, "editor") {
			t.Errorf("%s: %+v", command, r)
		}
	}
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Errorf("an editor was opened (%v)", err)
	}
	if r := h.bash(5*time.Second, 30, "git log --oneline | cat"); strings.Count(r.Stdout, "\n") != 2 {
		t.Errorf("%+v", r)
	}
}

func TestC127_EndlessOutput(t *testing.T) {
	t.Parallel()
	h := newShellHost(t, "")
	h.bash(time.Minute, 0, "true") // what every first command needs is no growth
	before, _ := memoryOf(t, h.p.cmd.Process.Pid)
	r := h.bash(5*time.Second, 3, "yes")
	_, most := memoryOf(t, h.p.cmd.Process.Pid)
	// The line that stands for what is left out comes on top of the 256 KiB.
	if !r.TimedOut || !r.Truncated || !strings.HasPrefix(r.Stdout, "y\ny\n") || len(r.Stdout) > 256<<10+100 {
		t.Errorf("%d bytes of output, timed out %v, truncated %v", len(r.Stdout), r.TimedOut, r.Truncated)
	}
	if grown := most - before; grown > 64<<20 {
		t.Errorf("the daemon grew by %d MiB", grown>>20)
	}
}

// memoryOf is how many bytes of memory a process has now, and the most that it had
// since it was asked last.
func memoryOf(t *testing.T, pid int) (now, most int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]*int64{"VmRSS:": &now, "VmHWM:": &most} {
		_, rest, _ := bytes.Cut(status, []byte(name))
		if _, err := fmt.Sscan(string(rest), to); err != nil {
			t.Fatal(err)
		}
		*to *= 1024
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
	return now, most
}

func TestC130_CharacterSplitBetweenReads(t *testing.T) {
	t.Parallel()
	h := newShellHost(t, "")
	if r := h.bash(10*time.Second, 0, "printf '你%.0s' {1..50000}"); r.Stdout != strings.Repeat("你", 50_000) || r.Truncated {
		t.Errorf("%d characters, truncated %v", utf8.RuneCountInString(r.Stdout), r.Truncated)
	}
	if r := h.bash(10*time.Second, 0, `printf '\344\275'; sleep 0.3; printf '\240\n'`); r.Stdout != "你\n" {
		t.Errorf("%q", r.Stdout)
	}
}

func TestC132_DeathBySignal(t *testing.T) {
	h := newShellHost(t, "")
	if r := h.bash(5*time.Second, 0, "echo b; kill -9 $$"); r.Signal != "SIGKILL" || r.ExitCode != nil || r.Stdout != "b\n" || r.TimedOut {
		t.Errorf("%+v", r)
	}
	if r := h.bash(5*time.Second, 0, "kill -TERM $$"); r.Signal != "SIGTERM" || r.ExitCode != nil || r.TimedOut {
		t.Errorf("%+v", r)
	}
}

func TestC133_WorkingDirectoryVanishes(t *testing.T) {
	h := newShellHost(t, "mkdir d")
	if r := h.bash(5*time.Second, 0, "rm -rf ../d", "d"); !r.exited(0) {
		t.Errorf("%+v", r)
	}
	root := h.bash(5*time.Second, 0, "pwd")
	if !root.exited(0) || root.Stderr != "" {
		t.Errorf("%+v", root)
	}
	if r := h.bash(5*time.Second, 0, "pwd", "d"); r.Code != "file_not_found" || !strings.Contains(r.Message, "no such directory") {
		t.Errorf("%+v", r)
	}
	h.bash(5*time.Second, 0, "mkdir d")
	// The copy stands for the workspace: its root is W.
	if r := h.bash(5*time.Second, 0, "pwd", "d"); r.Stdout != strings.TrimSpace(root.Stdout)+"/d\n" {
		t.Errorf("%+v in %s", r, root.Stdout)
	}
}

// The process above a command is loomd's supervisor, which has no environment: there is
// nothing of the daemon's in it.
func TestC136_SecretsOfTheDaemonAreNotInherited(t *testing.T) {
	h := newShellHost(t, "", "SEARCH_API_KEY=s3cr3t", "LOOMD_TOKEN=t0k")
	r := h.bash(5*time.Second, 0, "env; echo; tr '\\0' '\\n' </proc/$PPID/environ; echo read")
	first, second, _ := strings.Cut(r.Stdout, "\n\n")
	for _, wanted := range []string{"PATH=", "HOME="} {
		if !strings.Contains("\n"+first, "\n"+wanted) {
			t.Errorf("there is no %s in %q", wanted, first)
		}
	}
	if !strings.HasSuffix(second, "read\n") {
		t.Errorf("the environment above was not read: %+v", r)
	}
	for _, value := range []string{"s3cr3t", "t0k", "SEARCH_API_KEY", "LOOMD_TOKEN"} {
		if strings.Contains(r.Stdout+r.Stderr, value) {
			t.Errorf("%s is shown: %q", value, r.Stdout)
		}
	}
}
