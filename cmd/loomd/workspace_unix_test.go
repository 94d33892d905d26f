//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// newWorkspace makes a folder with one file and an environment of its own. Its
// daemons are ended with the test.
func newWorkspace(t *testing.T, text string) (dir string, env []string) {
	t.Helper()
	work, err := os.MkdirTemp("", "loomd-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, d := range daemonsIn(work) {
			d.end(syscall.SIGKILL)
		}
		os.RemoveAll(work)
	})
	vars, err := ownFolders(work)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(work, "w")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, append(append(os.Environ(), "NO_COLOR="), vars[:len(vars):len(vars)]...)
}

// loomdIn runs loomd to its end and returns what it prints on stdout.
func loomdIn(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("loomd", args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("loomd %s: %v: %s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

func expectFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is %q, %v; want %q", path, got, err, want)
	}
}
