package process

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other names are passed there")
	}
	got := Environment([]string{
		"PATH=/first", "HOME=/h", "LC_ALL=C.UTF-8", "LANG=de", "API_KEY=k", "GIT_DIR=/elsewhere", "GIT_PAGER=less", "TERM=xterm", "EDITOR=vi",
		"SSH_ASKPASS=x", "DISPLAY=:0", "PATH=/last", "LD_PRELOAD=x", "BASH_ENV=x", "TZ=", "USER=a\x00b", "odd",
	}, "GOCACHE=/c", "PAGER=more")
	want := []string{
		"EDITOR=false", "GIT_EDITOR=false", "GIT_PAGER=cat", "GIT_SEQUENCE_EDITOR=false", "GIT_TERMINAL_PROMPT=0", "GOCACHE=/c", "HOME=/h",
		"LANG=de", "LC_ALL=C.UTF-8", "PAGER=more", "PATH=/last", "TERM=dumb", "VISUAL=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Environment(nil); !slices.Contains(got, "PATH="+defaultPath) {
		t.Errorf("without a path: %q", got)
	}
}

// A command has exactly the variables that it is given.
func TestNothingOfTheDaemonsEnvironment(t *testing.T) {
	t.Setenv("LOOMD_TEST_KEY", "must not be seen")
	c := bash(t, "env; cat /proc/$PPID/environ")
	r := run(t, c)
	if strings.Contains(stdout(r), "LOOMD_TEST") {
		t.Errorf("%s", stdout(r))
	}
	c.Env = nil
	if r := run(t, c); strings.Contains(stdout(r), "HOME=") || strings.Contains(stdout(r), os.Getenv("HOME")+"\n") {
		t.Errorf("%s", stdout(r))
	}
}
