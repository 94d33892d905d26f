//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/secret"
)

func TestBash(t *testing.T) {
	b := newBench(t, map[string]string{"dir/f": "one\n"})
	b.withSandbox()
	a := b.ok("bash", args{"command": "pwd; cat f >&2; echo $IN_SANDBOX $PAGER $0; exit 3", "cwd": "dir"})
	if a["exit_code"] != 3.0 || a["timed_out"] != false || a["truncated"] != false || a["duration_ms"] == nil || len(a["changes"].([]any)) != 0 {
		t.Errorf("%v", a)
	}
	if out := a["stdout"].(string); !strings.HasSuffix(out, "/dir\nyes none bash\n") || a["stderr"] != "one\n" {
		t.Errorf("%q, %q", out, a["stderr"])
	}
	if a["order"] == nil {
		t.Errorf("no order: %v", a)
	}
	for name, absent := range map[string]bool{"signal": true, "cancelled": true, "killed": true, "job": true, "refused": true, "git_discarded": true} {
		if _, there := a[name]; there == absent {
			t.Errorf("%s: %v", name, a[name])
		}
	}
}

type object = map[string]any

// What a command changes is proposed, as an edit would be, and not on the disk.
func TestBashChanges(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\n", "gone": "x\n", ".git/HEAD": "ref\n"})
	b.withSandbox()
	b.ok("edit_file", args{"path": "f", "edits": edits("one", "two")})
	a := b.ok("bash", args{"command": "cat f; echo three >>f; rm gone; echo new >new; echo x >.git/HEAD; echo x >a.o; printf '\\0' >bin"})
	if a["stdout"] != "two\n" || a["git_discarded"] != true || a["ignored"] != 1.0 {
		t.Errorf("%v", a)
	}
	var actions []string
	for _, c := range a["changes"].([]any) {
		c := c.(object)
		actions = append(actions, c["action"].(string)+" "+c["path"].(string))
		if c["proposal"] == "" || c["state"] != "open" || c["diff"] == "" {
			t.Errorf("%v", c)
		}
	}
	if want := []string{"modified f", "deleted gone", "created new"}; !slices.Equal(actions, want) {
		t.Errorf("%v, want %v", actions, want)
	}
	if r := a["refused"].([]any)[0].(object); r["path"] != "bin" || r["code"] != "not_text" {
		t.Errorf("%v", r)
	}
	if b.onDisk("f") != "one\n" || b.onDisk("gone") != "x\n" || b.ok("read_file", args{"path": "f"})["contents"] != "two\nthree\n" {
		t.Error("it is on the disk, or not in the view")
	}
	p, err := b.view.Proposal(a["changes"].([]any)[0].(object)["proposal"].(string))
	must(t, err)
	if last := p.Steps[len(p.Steps)-1].Call; last.Tool != "bash" || last.ID != "call" {
		t.Errorf("the step is of %v", last)
	}
}

func TestBashEnds(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	if a := b.ok("bash", args{"command": "kill -9 $$"}); a["signal"] != "SIGKILL" || a["exit_code"] != nil || a["timed_out"] != false {
		t.Errorf("%v", a)
	}
	start := time.Now()
	a := b.ok("bash", args{"command": "echo before; trap '' TERM; echo kept >f; sleep 1000; echo after", "timeout_secs": 1})
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the answer took %v", took)
	}
	if a["timed_out"] != true || a["stdout"] != "before\n" || a["signal"] != "SIGKILL" && a["exit_code"] == nil || len(a["changes"].([]any)) != 1 {
		t.Errorf("%v", a)
	}
	if a := b.ok("bash", args{"command": "sleep 1000 & echo on"}); a["stdout"] != "on\n" || a["killed"] != 1.0 || a["exit_code"] != 0.0 {
		t.Errorf("%v", a)
	}
}

func TestBashTruncates(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	a := b.ok("bash", args{"command": "yes é | head -n 200000; echo last; printf '\\033[31m9\\033[0m%%1%%\\r2%%\\377' >&2"})
	out := a["stdout"].(string)
	if a["truncated"] != true || a["total"] != 600_000.0+5+6 || a["stderr"] != "2%\ufffd%" || a["unit"] != "bytes of output" {
		t.Errorf("%v of %v %v, %q", a["shown"], a["total"], a["unit"], a["stderr"])
	}
	if !strings.HasPrefix(out, "é\né\n") || !strings.HasSuffix(out, "é\nlast\n") || !strings.Contains(out, "é\n[") || !strings.Contains(out, " bytes are left out here]\né\n") {
		t.Errorf("%.100q … %q", out, out[len(out)-100:])
	}
}

func TestBashRefuses(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x"})
	if a := b.fails("unavailable", "bash", args{"command": "true"}); !strings.Contains(a["message"].(string), "sandbox") {
		t.Errorf("%v", a)
	}
	c := b.withSandbox()
	b.fails("path_outside_workspace", "bash", args{"command": "true", "cwd": "../x"})
	b.fails("file_not_found", "bash", args{"command": "true", "cwd": "absent"})
	b.fails("not_regular_file", "bash", args{"command": "true", "cwd": "f"})
	for field, a := range map[string]args{
		"command": {"command": "a\x00b"}, "cwd": {"command": "true", "cwd": "a\x00b"}, "timeout_secs": {"command": "true", "timeout_secs": 301},
	} {
		if got := b.fails("invalid_arguments", "bash", a); got["field"] != field {
			t.Errorf("%v", got)
		}
	}
	b.allow = func(_ context.Context, command string, argv []string) error {
		if command == "forbidden" && slices.Equal(argv, []string{"bash", "-c", "forbidden"}) {
			return failf(diffpreview.CodeDenied, "a rule denies it")
		}
		return nil
	}
	b.fails("denied", "bash", args{"command": "forbidden"})
	b.ok("bash", args{"command": "true"})
	c.fail = &diffpreview.Error{Code: diffpreview.CodeNoSpace, Message: "full"}
	if a := b.fails("no_space", "bash", args{"command": "seq 9999; exit 4"}); a["exit_code"] != 4.0 || !strings.HasSuffix(a["stdout"].(string), "\n9999\n") || len(a["stdout"].(string)) > maxToldOutput {
		t.Errorf("%v", a)
	}
}

// A cancelled command has its output until then, and has changed nothing.
func TestBashCancelled(t *testing.T) {
	b := newBench(t, nil)
	c := b.withSandbox()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var told []string
	tc := Context{View: b.view, Sandbox: c, Progress: func(p Progress) {
		told = append(told, p.Message)
		cancel()
	}}
	out, err := b.registry.Run(ctx, "bash", "c1", json.RawMessage(`{"command":"echo x >f; echo begun; sleep 1000"}`), tc)
	must(t, err)
	var a answer
	must(t, json.Unmarshal(out.Structured, &a))
	if !out.Cancelled || a["cancelled"] != true || a["stdout"] != "begun\n" || len(a["changes"].([]any)) != 0 {
		t.Errorf("%v %v", out.Cancelled, a)
	}
	if !slices.Equal(told, []string{"begun"}) {
		t.Errorf("told %q", told)
	}
	if left := b.view.Undecided(nil); len(left) != 0 {
		t.Errorf("%d proposals", len(left))
	}
	if _, err := b.registry.Run(ctx, "bash", "c2", json.RawMessage(`{"command":"true"}`), tc); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A session that waits for decisions waits for those on what a command changed.
func TestBashWaitsForTheReview(t *testing.T) {
	b := newBench(t, nil)
	c := b.withSandbox()
	tc := Context{View: b.view, Sandbox: c, ReviewWait: func() time.Duration { return time.Minute }}
	tc.Progress = func(Progress) {
		for _, p := range b.view.Undecided(nil) {
			b.decide(p.ID, true)
		}
	}
	out, err := b.registry.Run(context.Background(), "bash", "c", json.RawMessage(`{"command":"echo x >f"}`), tc)
	must(t, err)
	if !strings.Contains(string(out.Structured), `"state":"applied"`) || b.onDisk("f") != "x\n" {
		t.Errorf("%s", out.Structured)
	}
}

// A secret is shown by no command, whole or in pieces; one that it is for has it.
func TestBashShowsNoSecret(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	b.secrets = secret.NewSet([]string{"KEY=" + apiKey})
	b.secrets.Configure([]secret.Spec{{Name: "KEY", Provider: secret.ProviderEnv, Env: "KEY", Tools: []string{"bash"}}})
	a := b.ok("bash", args{"command": `printf %s "${KEY%????}"; sleep 0.05; printf '%s\n' "${KEY#"${KEY%????}"}"; printf %s "$KEY" | base64 >&2`})
	if a["stdout"] != secret.Mark("KEY")+"\n" || a["stderr"] != secret.Mark("KEY")+"\n" {
		t.Errorf("%v", a)
	}
}

// Without bash there may be sh, and without that nothing.
func TestFindShell(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := findShell(); err == nil {
		t.Error("there is a shell")
	}
	for _, name := range []string{"sh", "bash"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!"), 0o755))
		if got, err := findShell(); err != nil || got != filepath.Join(dir, name) {
			t.Errorf("%q, %v", got, err)
		}
	}
}
