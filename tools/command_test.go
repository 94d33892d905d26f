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

	"github.com/loomd/loomd/diffpreview"
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

// recorder is a place for commands in which nothing is proposed.
type recorder struct{ dir string }

func (r recorder) Begin(context.Context, string) (Workdir, error)      { return r, nil }
func (r recorder) Dir() string                                         { return r.dir }
func (r recorder) Env() []string                                       { return nil }
func (r recorder) Name(path string) string                             { return path }
func (r recorder) End(context.Context, diffpreview.Call) (Left, error) { return Left{}, nil }

func TestCommandRuns(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "git")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" \"$GIT_TERMINAL_PROMPT\" >>ran\necho out\n"), 0o755))
	g, _, err := grant.Preset("git-read")
	must(t, err)
	g.Name, g.Path = "git", program
	tool, err := Command(g)
	must(t, err)
	r, err := NewRegistry(tool)
	must(t, err)
	var asked []string
	tc := Context{
		Sandbox: recorder{dir},
		Allow: func(_ context.Context, command string, argv []string) error {
			asked = append(asked, command+"|"+strings.Join(argv, " "))
			if slices.Contains(argv, "denied") {
				return &Failure{Code: CodeDenied, Message: "no"}
			}
			return nil
		},
	}
	call := func(args string) (Outcome, map[string]any) {
		out, err := r.Run(t.Context(), "command_git", "c1", json.RawMessage(args), tc)
		must(t, err)
		var m map[string]any
		must(t, json.Unmarshal(out.Structured, &m))
		return out, m
	}
	if _, m := call(`{"args":["log","-1"],"timeout_secs":5}`); m["stdout"] != "out\n" || m["exit_code"] != 0.0 {
		t.Errorf("%v", m)
	}
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	must(t, err)
	if lines := strings.Fields(string(ran)); !slices.Contains(lines, "--no-ext-diff") || !slices.Equal(lines[len(lines)-2:], []string{"-1", "0"}) {
		t.Errorf("ran with %q", ran)
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
	if again, _ := os.ReadFile(filepath.Join(dir, "ran")); len(again) != len(ran) {
		t.Errorf("ran %s", again)
	}
	tc.Sandbox = nil
	if out, _ := call(`{"args":["log"]}`); out.Code != "unavailable" {
		t.Errorf("without a place: %s", out.Code)
	}
	var d *grant.Denied
	if g, _, _ := grant.Preset("git-read"); !errors.As(g.Check([]string{"x\x00"}), &d) {
		t.Error("a NUL byte passes")
	}
}
