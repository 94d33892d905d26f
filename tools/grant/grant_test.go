package grant_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/loomd/loomd/tools/grant"
)

func preset(t *testing.T, name string) (grant.Grant, string) {
	t.Helper()
	g, program, err := grant.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return g, program
}

func TestEscapesAreRefused(t *testing.T) {
	if len(escapes) < 40 {
		t.Errorf("%d escapes", len(escapes))
	}
	for _, e := range escapes {
		g, _ := preset(t, e.preset)
		e.args = (&yard{mark: "/up/MARK", evil: "/up/evil", secret: "/up/secret", bin: "/up/bin", other: "/up/other"}).fill(e.args)
		err := g.Check(e.args)
		var denied *grant.Denied
		if !errors.As(err, &denied) {
			t.Errorf("%s %q passes, which %s", e.preset, e.args, e.does)
			continue
		}
		if denied.Why == "" || denied.Index < len(e.args) && !strings.Contains(err.Error(), denied.Arg) {
			t.Errorf("%s %q: %v", e.preset, e.args, err)
		}
	}
}

func TestHonestUsesPass(t *testing.T) {
	if len(honest) < 40 {
		t.Errorf("%d honest uses", len(honest))
	}
	for _, h := range honest {
		g, _ := preset(t, h.preset)
		if err := g.Check(h.args); err != nil {
			t.Errorf("%s %q: %v", h.preset, h.args, err)
		}
	}
}

// yard is a workspace beside what is none of an agent's business.
type yard struct {
	t                    *testing.T
	work, bin, other, up string
	mark, secret, evil   string
}

const secretText = "the launch code"

func newYard(t *testing.T) *yard {
	t.Helper()
	up := t.TempDir()
	y := &yard{
		t: t, up: up, work: filepath.Join(up, "work"), bin: filepath.Join(up, "bin"), other: filepath.Join(up, "other"),
		mark: filepath.Join(up, "MARK"), secret: filepath.Join(up, "secret"), evil: filepath.Join(up, "bin", "evil"),
	}
	y.write("secret", secretText+"\n", 0o644)
	y.write("empty", "", 0o644)
	y.write("bin/evil", "#!/bin/sh\ntouch '"+y.mark+"'\n", 0o755)
	y.write("bin/git-hello", "#!/bin/sh\ntouch '"+y.mark+"'\n", 0o755)
	y.write("other/secret", secretText+"\n", 0o644)
	y.write("other/package.json", `{"name":"other","version":"1.0.0","scripts":{"other":"touch '`+y.mark+`'"}}`, 0o644)
	y.write(".config/go/telemetry/mode", "off 2024-01-01", 0o644) // go starts a process for it, which outlives the command
	y.write("work/f", "hit\n", 0o644)
	y.write("work/sub/g", "g\n", 0o644)
	y.write("work/.gitignore", "*.log\n", 0o644)
	y.write("work/package.json", `{"name":"work","version":"1.0.0","scripts":{"hello":"echo hello","test":"echo tested"}}`, 0o644)
	y.write("work/go.mod", "module example.com/work\n\ngo 1.21\n", 0o644)
	y.write("work/main.go", "package main\n\n//go:generate "+y.evil+"\n\nvar v string\n\nfunc main() { println(v) }\n", 0o644)
	y.write("work/main_test.go", "package main\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { main() }\n", 0o644)
	return y
}

func (y *yard) write(name, text string, mode os.FileMode) {
	y.t.Helper()
	path := filepath.Join(y.up, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		y.t.Fatal(err)
	}
}

// repositories makes the workspace one, with some history, and the other folder.
func (y *yard) repositories() {
	for _, line := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "."},
		{"commit", "-qm", "one"},
		{"tag", "v1"},
		{"branch", "topic"},
		{"commit", "-q", "--allow-empty", "-m", "two"},
		{"remote", "add", "origin", y.other},
	} {
		y.must(y.work, "git", line...)
	}
	for _, line := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "other"}} {
		y.must(y.other, "git", line...)
	}
	y.write("work/f", "hit stash\n", 0o644)
	y.must(y.work, "git", "stash")
	y.write("work/f", "hit again\n", 0o644)
}

func (y *yard) must(dir, program string, args ...string) {
	y.t.Helper()
	if out, err := y.run(dir, program, nil, args...); err != nil {
		y.t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}

// run runs a real program in an environment of its own.
func (y *yard) run(dir, program string, env []string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + y.up, "EVILALIAS=!" + y.evil, "GOCACHE=" + goCache(), "GOPROXY=off", "GOFLAGS=-p=1",
		"GOTOOLCHAIN=local", "GOENV=" + filepath.Join(y.up, "goenv"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_PAGER=cat",
		"FILTER_BRANCH_SQUELCH_WARNING=1", "npm_config_update_notifier=false", "npm_config_offline=true",
	}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// goCache is where this test's own build is cached.
var goCache = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
})

func (y *yard) fill(args []string) []string {
	r := strings.NewReplacer("MARK", y.mark, "EVILALIAS", "EVILALIAS", "EVIL", y.evil, "SECRET", y.secret, "UP", "..", "BIN", y.bin, "OTHER", y.other)
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = r.Replace(a)
	}
	return out
}

// state is a text of all that must not change.
func (y *yard) state() string {
	var out strings.Builder
	err := filepath.WalkDir(y.up, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if rel, _ := filepath.Rel(y.up, path); strings.HasPrefix(rel, ".npm/") || strings.HasPrefix(rel, ".cache") {
			return nil
		}
		data, err := os.ReadFile(path)
		out.WriteString(path + "\n" + string(data) + "\n")
		return err
	})
	if err != nil {
		y.t.Fatal(err)
	}
	return out.String()
}

func (y *yard) happened(e escape, out, before string) bool {
	switch e.proof {
	case mark:
		_, err := os.Lstat(y.mark)
		return err == nil
	case secret:
		return strings.Contains(out, secretText)
	}
	return y.state() != before
}

// TestEscapesAreReal shows with the real programs, without any policy, that what
// the table calls an escape is one.
func TestEscapesAreReal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	shared := newYard(t) // by those that only look
	shared.repositories()
	for _, e := range escapes {
		_, program := preset(t, e.preset)
		if _, err := exec.LookPath(program); err != nil || e.proof == untried {
			continue
		}
		t.Run(e.preset+" "+strings.Join(e.args, " "), func(t *testing.T) {
			y := shared
			if e.preset != "git-read" || e.proof == changed {
				if y = newYard(t); strings.HasPrefix(e.preset, "git") {
					y.repositories()
				}
			}
			if e.preset == "git-write" {
				y.must(y.work, "git", "checkout", "-q", "f")
			}
			before := ""
			if e.proof == changed {
				before = y.state()
			}
			os.Remove(y.mark)
			out, err := y.run(y.work, program, nil, y.fill(e.args)...)
			if !y.happened(e, out, before) {
				t.Errorf("it is none: %v\n%s", err, out)
			}
		})
	}
}

// TestHonestUsesWork runs what is allowed as the grant would.
func TestHonestUsesWork(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	var y *yard
	last := ""
	for _, h := range honest {
		g, program := preset(t, h.preset)
		if _, err := exec.LookPath(program); err != nil {
			continue
		}
		if h.preset != last {
			y, last = newYard(t), h.preset
			if strings.HasPrefix(h.preset, "git") {
				y.repositories()
			}
		}
		argv, err := g.Argv(h.args)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := y.run(y.work, program, g.Env, argv...); err != nil && !slices.Contains(h.args, "check-ignore") {
			t.Errorf("%s %q: %v\n%s", h.preset, h.args, err, out)
		}
	}
}

// TestGitRunsNothingOfItsConfiguration plants a program wherever git's
// configuration can name one, and looks with every command that a reader has.
func TestGitRunsNothingOfItsConfiguration(t *testing.T) {
	y := newYard(t)
	y.repositories()
	for key, value := range map[string]string{
		"core.fsmonitor": y.evil, "core.pager": y.evil, "diff.external": y.evil, "diff.evil.command": y.evil, "diff.evil.textconv": y.evil,
		"core.hooksPath": filepath.Join(y.up, "hooks"), "gpg.program": y.evil, "log.showSignature": "true", "commit.gpgSign": "true", "core.editor": y.evil,
		"alias.log": "!" + y.evil, "alias.status": "!" + y.evil, "pager.log": y.evil, "credential.helper": "!" + y.evil, "core.askPass": y.evil,
		"sequence.editor": y.evil, "core.sshCommand": y.evil, "gpg.x509.program": y.evil, "pager.diff": y.evil,
	} {
		y.must(y.work, "git", "config", key, value)
	}
	y.write("work/.git/info/attributes", "* diff=evil\n", 0o644)
	for _, hook := range []string{"pre-commit", "commit-msg", "post-checkout", "post-index-change", "reference-transaction", "pre-rebase", "post-merge"} {
		y.write("hooks/"+hook, "#!/bin/sh\ntouch '"+y.mark+"'\n", 0o755)
	}
	for _, h := range honest {
		if !strings.HasPrefix(h.preset, "git") {
			continue
		}
		g, program := preset(t, h.preset)
		argv, err := g.Argv(h.args)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := y.run(y.work, program, g.Env, argv...)
		if _, err := os.Lstat(y.mark); err == nil {
			t.Errorf("git %q ran a program\n%s", h.args, out)
			os.Remove(y.mark)
		}
	}
	// The programs are found where nothing is in the way.
	y.run(y.work, "git", nil, "diff")
	if _, err := os.Lstat(y.mark); err != nil {
		t.Error("the configuration names no program")
	}
}

func TestOwnPolicy(t *testing.T) {
	all := grant.Policy{Commands: []grant.Command{{Name: "plan", Any: true, Refused: []string{"--output", "-o", "-exec"}, Operands: []string{"any"}}}}
	listed := grant.Policy{Commands: []grant.Command{{Options: []string{"--json", "-n=number", "--out=inside", "--color[=always|never]", "-v"}, Operands: []string{"inside"}}}}
	for _, c := range []struct {
		policy grant.Policy
		args   string
		ok     bool
	}{
		{all, "plan", true},
		{all, "plan --verbose x", true},
		{all, "plan -v -- x", true},
		{all, "apply", false},
		{all, "", false},
		{all, "plan --output=x", false},
		{all, "plan --output x", false},
		{all, "plan --outp x", false},
		{all, "plan --o=x", false},
		{all, "plan -o x", false},
		{all, "plan -vox", false},
		{all, "plan -exec x", false},
		{all, "plan --exec x", false},
		{all, "plan -exec=x", false},
		{all, "plan -execute", false},
		{all, "plan --outputs", true},
		{all, "plan -- --output", false},
		{listed, "a b", true},
		{listed, "--json -vn5 a", true},
		{listed, "-n 5", true},
		{listed, "-n5 --out a/b", true},
		{listed, "--color --color=never", true},
		{listed, "-n x", false},
		{listed, "-nx", false},
		{listed, "--out ../a", false},
		{listed, "--out=/a", false},
		{listed, "--out -x", false},
		{listed, "--color=green", false},
		{listed, "--json=1", false},
		{listed, "--js", false},
		{listed, "../a", false},
		{listed, "-x", false},
		{listed, "-vx", false},
	} {
		g := grant.Grant{Policy: c.policy}
		if err := g.Check(strings.Fields(c.args)); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}

func TestNarrowAndRefuse(t *testing.T) {
	g, _ := preset(t, "git-write")
	if err := g.Policy.Narrow([]string{"log", "stash"}); err != nil {
		t.Fatal(err)
	}
	g.Policy.Refuse([]string{"--all"})
	for args, ok := range map[string]bool{"log -1": true, "stash list": true, "stash pop": true, "commit -m x": false, "log --all": false, "status": false} {
		if err := g.Check(strings.Fields(args)); (err == nil) != ok {
			t.Errorf("%q: %v", args, err)
		}
	}
	if err := g.Policy.Narrow([]string{"push"}); err == nil {
		t.Error("a policy is widened")
	}
	fresh, _ := preset(t, "git-write")
	if fresh.Check([]string{"log", "--all"}) != nil {
		t.Error("what is refused of one grant is refused of all")
	}
}

// Every option of a preset is in the notation, and every name is there once.
func TestPresetsAreWellFormed(t *testing.T) {
	for _, name := range grant.Presets() {
		g, _ := preset(t, name)
		seen := map[string]bool{}
		for _, c := range g.Policy.Commands {
			for _, o := range c.Options {
				if err := grant.CheckOption(o); o != "-#" && err != nil {
					t.Errorf("%s %s: %v", name, c.Name, err)
				}
			}
			for _, class := range c.Operands {
				if !slices.Contains(grant.Classes(), class) {
					t.Errorf("%s %s: %s", name, c.Name, class)
				}
			}
			if seen[c.Name] && name != "git-write" {
				t.Errorf("%s %s twice", name, c.Name)
			}
			seen[c.Name] = true
		}
	}
}

// FuzzCheck: no arguments break it, and what passes holds no option that is
// refused by name.
func FuzzCheck(f *testing.F) {
	for _, e := range escapes {
		f.Add(e.preset, strings.Join(e.args, "\n"))
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		g, _, err := grant.Preset(name)
		if err != nil {
			return
		}
		list := strings.Split(args, "\n")
		if g.Check(list) != nil {
			return
		}
		for _, a := range list {
			if a == "--" {
				return
			}
			if strings.HasPrefix(name, "git") && (strings.HasPrefix(a, "--output") || strings.HasPrefix(a, "--exec")) {
				t.Errorf("%q passes", list)
			}
		}
	})
}
