package tools

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/tools/grant"
)

// grantedGit is a registry with a git that only looks.
func grantedGit(t *testing.T) *Registry {
	t.Helper()
	g, _, err := grant.Preset("git-read")
	if err != nil {
		t.Fatal(err)
	}
	g.Name, g.Path, g.Secrets = "git", "/usr/bin/git", []string{"TOKEN"}
	tool, err := Command(g)
	if err != nil {
		t.Fatal(err)
	}
	own, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	r, err := own.With(tool)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCommandIsListed(t *testing.T) {
	r := grantedGit(t)
	tool, ok := r.Get("command_git")
	if !ok || !strings.HasPrefix(tool.Description, "Runs git to look") || strings.Contains(tool.Description, "DESCRIPTION") {
		t.Errorf("%v %q", ok, tool.Description)
	}
	for set, want := range map[string]bool{"coding": true, "read_only": false, "read_only_shell": false} {
		part, err := r.Toolset(set)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := part.Get("command_git"); ok != want {
			t.Errorf("in %s: %v", set, ok)
		}
	}
	if _, err := r.With(tool); err == nil {
		t.Error("two tools of one name")
	}
}

func TestCommandRuns(t *testing.T) {
	r := grantedGit(t)
	var asked []string
	var ran []Program
	zero := 0
	tc := Context{
		Allow: func(_ context.Context, command string, argv []string) error {
			asked = append(asked, command+"|"+strings.Join(argv, " "))
			if slices.Contains(argv, "denied") {
				return &Failure{Code: CodeDenied, Message: "no"}
			}
			return nil
		},
		Run: func(_ context.Context, _ *Context, p Program) (Ran, error) {
			ran = append(ran, p)
			return Ran{ExitCode: &zero, Stdout: "out"}, nil
		},
	}
	call := func(args string) (Outcome, map[string]any) {
		out, err := r.Run(t.Context(), "command_git", "c1", json.RawMessage(args), tc)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(out.Structured, &m); err != nil {
			t.Fatal(err)
		}
		return out, m
	}
	if _, m := call(`{"args":["log","-1"],"cwd":"sub","timeout_secs":5}`); m["stdout"] != "out" || m["exit_code"] != 0.0 {
		t.Errorf("%v", m)
	}
	p := ran[0]
	if p.Path != "/usr/bin/git" || p.Args[0] != "git" || !slices.Contains(p.Args, "--no-ext-diff") || p.Args[len(p.Args)-1] != "-1" ||
		p.Cwd != "sub" || p.Timeout != 5*time.Second || !slices.Contains(p.Env, "GIT_TERMINAL_PROMPT=0") || p.Secrets[0] != "TOKEN" || p.Host {
		t.Errorf("ran %+v", p)
	}
	if asked[0] != "|git log -1" {
		t.Errorf("asked %q", asked)
	}
	for args, argument := range map[string]float64{`{"args":["log","--output=x"]}`: 1, `{"args":["push"]}`: 0, `{"args":[]}`: 0} {
		if out, m := call(args); out.Code != CodeDenied || m["argument"] != argument || m["hint"] == "" {
			t.Errorf("%s: %v", args, m)
		}
	}
	if out, _ := call(`{"args":["log","denied"]}`); out.Code != CodeDenied {
		t.Errorf("denied: %+v", out)
	}
	if out, m := call(`{"args":["log","` + strings.Repeat("ä", maxArgLen/2+1) + `"]}`); out.Code != "invalid_arguments" || m["field"] != "args[1]" {
		t.Errorf("%v", m)
	}
	if len(ran) != 1 {
		t.Errorf("ran %d", len(ran))
	}
	tc.Run = nil
	if out, _ := call(`{"args":["log"]}`); out.Code != "unavailable" {
		t.Errorf("without a place: %s", out.Code)
	}
	var d *grant.Denied
	if g, _, _ := grant.Preset("git-read"); !errors.As(g.Check([]string{"x\x00"}), &d) {
		t.Error("a NUL byte passes")
	}
}
