package grant_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
