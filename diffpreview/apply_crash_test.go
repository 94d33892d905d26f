//go:build unix

package diffpreview

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// crashed is what a step panics with to end a write as SIGKILL would: nothing
// is undone, for apply has no deferred undoing.
type crashed struct{}

// until runs do and makes it crash at the at-th stage; false when there are not
// so many.
func (x *applyTree) until(at int, do func()) (where string, did bool) {
	n := 0
	x.w.step = func(stage string) {
		if n++; n == at {
			where = stage
			panic(crashed{})
		}
	}
	defer func() {
		x.w.step = func(string) {}
		if r := recover(); r != nil {
			if _, ours := r.(crashed); !ours {
				panic(r)
			}
			did = true
		}
	}()
	do()
	return "", false
}

// contents is the tree without what a write changes besides bytes: names,
// modes and bytes of all files, and all directories.
func (x *applyTree) contents() string {
	x.Helper()
	var b strings.Builder
	err := filepath.WalkDir(x.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		fmt.Fprintf(&b, "%s %v %s\n", strings.TrimPrefix(p, x.dir), info.Mode(), what(p))
		return err
	})
	if err != nil {
		x.Fatal(err)
	}
	return b.String()
}

// bodies answers recovery as a journal would: with the bytes that the logged
// intent asked for, and no others.
func (x *applyTree) bodies(writes []write) func(string) ([]byte, error) {
	known := map[string][]byte{}
	if len(x.log) > 0 {
		for _, hash := range x.log[len(x.log)-1].bodies() {
			known[hash] = nil
		}
	}
	for _, wr := range writes {
		for _, c := range []Content{wr.base, wr.want} {
			if _, asked := known[c.Hash()]; asked {
				known[c.Hash()] = c.Data
			}
		}
	}
	return func(hash string) ([]byte, error) {
		data, ok := known[hash]
		if !ok {
			return nil, errors.New("the journal has no such bytes")
		}
		return data, nil
	}
}

// restart recovers from the last intent; false without one.
func (x *applyTree) restart(writes []write) (applied bool) {
	x.Helper()
	if len(x.log) == 0 {
		return false
	}
	applied, err := x.w.recover(x.log[len(x.log)-1], x.bodies(writes))
	if err != nil {
		x.Fatalf("recover: %v", err)
	}
	return applied
}

// wantOldOrNew fails unless the tree is all new, or as it was.
func (x *applyTree) wantOldOrNew(applied bool, old, text, where string) {
	x.Helper()
	want := old
	if applied {
		want = text
	}
	if got := x.contents(); got != want {
		x.Fatalf("%s: applied %v, but the tree is\n%s, want\n%s", where, applied, got, want)
	}
	x.noTemps()
}

// outcome is what a scene's tree holds when all is written.
func outcome(t *testing.T, sc scene) string {
	t.Helper()
	x := newApplyTree(t, memoryDir(t))
	x.mustApply(sc(x)...)
	return x.contents()
}

// A write crashes at every stage, and its recovery at some; with LOOMD_SOAK set
// at every stage too.
func TestApplyCrashAnywhere(t *testing.T) {
	soak := os.Getenv("LOOMD_SOAK") != ""
	for name, sc := range scenes {
		for fsName, lacks := range without {
			t.Run(name+"/"+fsName, func(t *testing.T) {
				stride := 13 // of the second crash: a sample, other stages each time
				if name == "all kinds" || name == "entangled" || name == "many" {
					stride = 61
				}
				if soak {
					stride = 1
				}
				text := outcome(t, sc)
				crashes := 0
				for at := 1; crashAt(t, sc, lacks, at, 0, text); at++ {
					crashes++
					for again := 1 + at%stride; crashAt(t, sc, lacks, at, again, text); again += stride {
						crashes++
					}
				}
				if crashes < 5 {
					t.Errorf("only %d crashes", crashes)
				}
			})
		}
	}
}

// crashAt crashes a write at one stage, its recovery at another, and lets the
// second recovery run. again 0: the first recovery runs. It returns false when
// there are not so many stages.
func crashAt(t *testing.T, sc scene, lacks lacks, at, again int, text string) bool {
	t.Helper()
	x := newApplyTree(t, memoryDir(t))
	defer x.w.Close()
	defer os.RemoveAll(x.dir)
	writes := sc(x)
	old, picture := x.contents(), x.picture()
	where, did := x.until(at, func() { x.run(lacks, writes...) })
	if !did {
		return false
	}
	if again > 0 {
		second, did := x.until(again, func() { x.restart(writes) })
		if !did {
			return false
		}
		where += ", then " + second
	}
	applied := x.restart(writes)
	x.wantOldOrNew(applied, old, text, where)
	if after := x.picture(); !applied && !strings.Contains(picture, "twin") && after != picture {
		t.Errorf("%s: not as before:\n%s\nbut\n%s", where, picture, after)
	}
	if second := x.restart(writes); second != applied {
		t.Errorf("%s: recovery says %v, then %v", where, applied, second)
	}
	x.wantOldOrNew(applied, old, text, where+", twice")
	return true
}

// TestApplyKilled kills a process at every stage of a write.
func TestApplyKilled(t *testing.T) {
	for _, name := range []string{"everything", "all kinds"} {
		t.Run(name, func(t *testing.T) {
			text := outcome(t, scenes[name])
			kills := 0
			for killAt(t, name, kills+1, text) {
				kills++
			}
			if kills < 20 {
				t.Errorf("only %d kills", kills)
			}
			t.Logf("%d kills", kills)
		})
	}
}

// killAt kills a process at one stage of a scene, and recovers; false when there
// are not so many stages.
func killAt(t *testing.T, name string, at int, text string) bool {
	t.Helper()
	x := newApplyTree(t, memoryDir(t))
	writes := scenes[name](x)
	old := x.contents()
	journal := filepath.Join(t.TempDir(), "journal")
	child := exec.Command(os.Args[0], "-test.run=^TestApplyKilledChild$")
	child.Env = append(os.Environ(), "LOOMD_TEST_APPLY="+x.dir, "LOOMD_TEST_JOURNAL="+journal, "LOOMD_TEST_SCENE="+name, "LOOMD_TEST_STAGE="+strconv.Itoa(at))
	out, err := child.CombinedOutput()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("stage %d: %v\n%s", at, err, out)
	}
	x.readJournal(journal)
	x.wantOldOrNew(x.restart(writes), old, text, fmt.Sprintf("stage %d", at))
	return true
}

func (x *applyTree) readJournal(name string) {
	x.Helper()
	file, err := os.Open(name)
	if err != nil {
		return // killed before anything was logged
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var in intent
		if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
			x.Fatal(err)
		}
		x.log = append(x.log, in)
	}
}

// TestApplyKilledChild is the process that TestApplyKilled kills.
func TestApplyKilledChild(t *testing.T) {
	dir := os.Getenv("LOOMD_TEST_APPLY")
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	at, err := strconv.Atoi(os.Getenv("LOOMD_TEST_STAGE"))
	if err != nil {
		t.Fatal(err)
	}
	// In the parent's directory, because nothing of this process is cleaned up.
	spare, err := os.MkdirTemp(filepath.Dir(os.Getenv("LOOMD_TEST_JOURNAL")), "scratch-")
	if err != nil {
		t.Fatal(err)
	}
	scratch := newApplyTree(t, spare)
	x := newApplyTree(t, dir)
	writes := scenes[os.Getenv("LOOMD_TEST_SCENE")](scratch) // the same writes; the tree of dir is there already
	n := 0
	x.w.step = func(string) {
		if n++; n == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	_, err = x.w.apply(t.Context(), writes, func(in intent) error {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(os.Getenv("LOOMD_TEST_JOURNAL"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = file.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
