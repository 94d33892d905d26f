//go:build unix

package diffpreview

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Set in a child that shall kill itself at that stage of a write.
const crashStage = "LOOMD_TEST_CRASH_STAGE"

// crashOld and crashNew are a small tree before and after the change set.
var (
	crashOld = map[string]string{"a": "1\n", "b/c": "1\n", "linked": "1\n", "new/dir/n": "(absent)"}
	crashNew = map[string]string{"a": "2\n", "b/c": "2\n", "linked": "2\n", "new/dir/n": "2\n"}
)

// TestCrashChild is the body of a child of TestKillDuringADecision.
func TestCrashChild(t *testing.T) {
	stage, err := strconv.Atoi(os.Getenv(crashStage))
	if err != nil {
		t.Skip("runs as a child")
	}
	ws, err := OpenWorkspace([]string{os.Getenv("CRASH_ROOT")})
	if err != nil {
		t.Fatal(err)
	}
	store, err := Open(ws, Options{Dir: os.Getenv("CRASH_STATE")})
	if err != nil {
		t.Fatal(err)
	}
	ws.step = func(string) {
		if stage--; stage == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is there
		}
	}
	if _, err := store.DecideSession(context.Background(), DecideSet{Session: "s1", Accept: true, Comment: "all of it", By: "tester"}); err != nil {
		t.Fatal(err)
	}
}

// The daemon is killed at every stage of the writing of a change set. After a
// restart all of the set is on disk or nothing, and in the second case every
// proposal is there and can be accepted.
func TestKillDuringADecision(t *testing.T) {
	for stage := 1; ; stage++ {
		w := newWorld(t, map[string]string{"a": "1\n", "b/c": "1\n", "linked": "1\n"})
		if err := os.Link(filepath.Join(w.root, "linked"), filepath.Join(w.root, "twin")); err != nil {
			t.Fatal(err)
		}
		s := w.session("agent")
		for name := range crashNew {
			w.propose(s, name, "2\n")
		}
		w.close()
		child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
		child.Env = append(os.Environ(), crashStage+"="+strconv.Itoa(stage), "CRASH_ROOT="+w.root, "CRASH_STATE="+w.state)
		out, err := child.CombinedOutput()
		w.open()
		if err == nil {
			w.wantTree(stage, crashNew)
			if stage < 10 {
				t.Errorf("a write of four files has %d stages: the hooks are gone", stage)
			}
			t.Logf("killed at each of %d stages", stage-1)
			return
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("stage %d: %v\n%s", stage, err, out)
		}
		open, err := w.store.List(Filter{})
		if err != nil {
			t.Fatal(err)
		}
		switch len(open) {
		case 0:
			if n := len(w.store.Reviews(s)); n != 4 {
				t.Errorf("stage %d: applied, but the agent is told %d things", stage, n)
			}
		case 4:
			w.wantTree(stage, crashOld)
			if _, err := w.store.DecideSession(context.Background(), DecideSet{Session: s, Accept: true, By: "tester"}); err != nil {
				t.Fatalf("stage %d: accepting after the restart: %v", stage, err)
			}
		default:
			t.Fatalf("stage %d: %d proposals of 4 are open", stage, len(open))
		}
		w.wantTree(stage, crashNew)
		w.close()
	}
}

func (w *world) wantTree(stage int, want map[string]string) {
	w.t.Helper()
	for name, text := range want {
		if got := w.disk(name); got != text {
			w.t.Errorf("stage %d: %s is %q, want %q", stage, name, got, text)
		}
	}
	if got := w.disk("twin"); got != want["linked"] {
		w.t.Errorf("stage %d: the other hard link has %q", stage, got)
	}
	w.wantClean()
}

// A journal whose last line was cut short by the crash is read up to there.
func TestATornJournalLine(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n"})
	s := w.session("agent")
	w.propose(s, "f", "2\n")
	w.close()
	f, err := os.OpenFile(filepath.Join(w.state, "journal.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"proposals":[{"id":"p2","ses`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	w.open()
	if list, err := w.store.List(Filter{}); err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	w.propose(s, "g", "x\n")
	w.restart()
	if list, err := w.store.List(Filter{}); err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
}

// The journal holds copies of private files and is private.
func TestTheJournalIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	w := newWorld(t, map[string]string{"f": "1\n"})
	w.propose(w.session("agent"), "f", numbered(5000, nil))
	err := filepath.WalkDir(w.state, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
