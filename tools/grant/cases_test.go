package grant_test

import (
	"os"
	"os/exec"
	"testing"
)

// wantNoMark calls the real program with what a grant makes of args, if it makes
// anything of them. Nothing may happen but what the program says.
func (y *yard) wantNoMark(name string, refused bool, args ...string) {
	y.t.Helper()
	g, program := preset(y.t, name)
	if _, err := exec.LookPath(program); err != nil {
		y.t.Skip("no " + program)
	}
	before := y.state()
	argv, err := g.Argv(y.fill(args))
	if (err != nil) != refused {
		y.t.Errorf("%s %q: %v", name, args, err)
	}
	if err == nil {
		y.run(y.work, program, g.Env, argv...)
	}
	if _, err := os.Lstat(y.mark); err == nil || y.state() != before {
		y.t.Errorf("%s %q did something", name, args)
	}
}

// C138: args are not shell.
func TestC138_ArgsAreNotShell(t *testing.T) {
	y := newYard(t)
	y.repositories()
	y.wantNoMark("git-read", true, "status;touch MARK")
	y.wantNoMark("git-read", false, "status", "&&", "touch", "f")
	y.wantNoMark("git-read", true, "$(touch MARK)")
	y.wantNoMark("git-read", true, "status\ntouch MARK")
}

// C142: git's verbs that look like reading, and write or run.
func TestC142_ReadingVerbsThatWriteOrRun(t *testing.T) {
	y := newYard(t)
	y.repositories()
	y.wantNoMark("git-read", true, "grep", "-Otouch MARK;", "hit")
	y.wantNoMark("git-read", true, "log", "--output=MARK", "-1")
	y.wantNoMark("git-read", true, "diff", "--no-index", "--output=MARK", "/dev/null", "f")
}

// C143: find's predicates that run, write and delete.
func TestC143_FindPredicates(t *testing.T) {
	y := newYard(t)
	y.wantNoMark("find", true, ".", "-name", "f", "-exec", "touch", "MARK", ";")
	y.wantNoMark("find", true, ".", "-fprintf", "MARK", "x")
	y.wantNoMark("find", true, ".", "-delete")
}
