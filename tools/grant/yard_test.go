package grant_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

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
