//go:build unix

package diffpreview

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
)

// Between a crash and the restart somebody edits a file. The edit stays, and
// the other files are all old or all new.
func TestApplyCrashThenEdit(t *testing.T) {
	every := 7 // stages: a sample, others of each file
	if os.Getenv("LOOMD_SOAK") != "" {
		every = 1
	}
	for sc, names := range map[string][]string{
		"everything": {"a", "d/b", "gone", "new/m", "grows", "shrinks"},
		"all kinds": {
			"moved", "new/moved", "d/moved with text", "new/deep/t", "d/moved linked", "l", "script", "script with text",
			"linked", "link", "no link", "to link", "new/link", "dir/a", "dir/sub/b", "b", "dir", "made/f",
		},
		"entangled": {"a", "b", "c1", "c2", "c3", "under/it", "out", "into/new", "p/q"},
	} {
		for i, name := range names {
			for who, act := range people {
				t.Run(sc+"/"+name+"/"+who, func(t *testing.T) {
					for at := 1 + i%every; editAfterCrash(t, at, sc, name, act); at += every {
					}
				})
			}
		}
	}
}

func editAfterCrash(t *testing.T, at int, sc, name string, act somebody) bool {
	t.Helper()
	x := newApplyTree(t, memoryDir(t))
	defer os.RemoveAll(x.dir)
	writes := scenes[sc](x)
	where, did := x.until(at, func() { x.run(lacks{}, writes...) })
	if !did {
		return false
	}
	if below := what(x.abs(name)); below == "directory" || what(x.abs(path.Dir(name))) != "directory" {
		return true // nobody edits a file there now
	}
	result, did := act(x.abs(name))
	if emptied := sc == "all kinds" && name == "dir"; did && emptied && result != "absent" && result != "directory" && x.blocked(writes) {
		return true
	}
	if strings.HasPrefix(result, "file") && what(x.abs(name)) != result {
		return true // saved through a link
	}
	applied := x.restart(writes)
	// What had this name before comes back when the newcomer was deleted.
	back := result == "absent" && !applied && x.names(writes, name) > 1
	if got := what(x.abs(name)); did && got != result && !back {
		t.Errorf("%s: there is %s, want %s (applied %v)", where, got, result, applied)
	}
	x.noTemps()
	for _, wr := range writes {
		x.wantWritten(wr, applied, name, where)
	}
	return true
}

// blocked reports whether recovery finds something in the way of a directory that
// it must make again, and says so. With that out of the way it must succeed.
func (x *applyTree) blocked(writes []write) bool {
	x.Helper()
	if len(x.log) == 0 {
		return false
	}
	_, err := x.w.recover(x.log[len(x.log)-1], x.bodies(writes))
	if err == nil {
		return false
	}
	if CodeOf(err) != CodeIsDirectory {
		x.Errorf("recover: %v (%s)", err, CodeOf(err))
	}
	os.Remove(x.abs("dir"))
	x.restart(writes)
	x.want("dir/a", "a\n")
	x.want("dir/sub/b", "b\n")
	x.noTemps()
	return true
}

// names is how many of the files that writes take away or bring have a name, or
// are below it.
func (x *applyTree) names(writes []write, name string) (n int) {
	for _, wr := range writes {
		for _, p := range []Path{wr.path, wr.from} {
			if p.rel == name || strings.HasPrefix(p.rel, name+"/") {
				n++
			}
		}
	}
	return n
}

// wantWritten fails unless a write is all there, or not at all; but for what is
// under the name that somebody edited.
func (x *applyTree) wantWritten(wr write, applied bool, edited, where string) {
	x.Helper()
	from := wr.path
	if wr.from.rel != "" {
		from = wr.from
	}
	touches := func(p Path) bool {
		return p.rel == edited || strings.HasPrefix(p.rel, edited+"/") || strings.HasPrefix(edited, p.rel+"/")
	}
	if touches(wr.path) || touches(from) {
		return
	}
	at, want := from, wr.base
	if applied {
		at, want = wr.path, wr.want
	}
	told := "absent"
	switch {
	case want.IsLink():
		told = "link to " + string(want.Data)
	case want.Exists:
		told = fmt.Sprintf("file %q <nil>", want.Data)
	}
	got := what(x.abs(at.rel))
	if got == "directory" {
		got = "absent" // no file
	}
	if got != told {
		x.Errorf("%s: %s is %s, want %s (applied %v)", where, at.rel, got, told, applied)
	}
}

// A write fails at its very end, because somebody saved the last file, and
// crashes while it is taken back.
func TestApplyCrashInRollBack(t *testing.T) {
	for name, sc := range scenes {
		for fsName, lacks := range without {
			t.Run(name+"/"+fsName, func(t *testing.T) {
				every := 3 // stages: a sample
				if os.Getenv("LOOMD_SOAK") != "" {
					every = 1
				}
				crashes := 0
				for at := 1 + len(name)%every; crashInRollBack(t, sc, lacks, at); at += every {
					crashes++
				}
				if crashes < 2 {
					t.Errorf("only %d crashes", crashes)
				}
			})
		}
	}
}

func crashInRollBack(t *testing.T, sc scene, lacks lacks, at int) bool {
	t.Helper()
	x := newApplyTree(t, memoryDir(t))
	defer x.w.Close()
	defer os.RemoveAll(x.dir)
	writes := sc(x)
	x.put("zz", "old\n", 0o600)
	x.hardLink("zz", "zz-twin")
	writes = append(writes, x.modify("zz", "old\n", "new\n"))
	old := x.contents()
	n := 0
	failing, where := false, ""
	x.w.step = func(stage string) {
		if stage == "commit logged" {
			failing = true
			saves(x.abs("zz"))
		}
		if !failing {
			return
		}
		if n++; n == at {
			where = stage
			panic(crashed{})
		}
	}
	var err error
	func() {
		defer func() { recover() }()
		err = x.run(lacks, writes...)
	}()
	x.w.step = func(string) {}
	if where != "" {
		if x.restart(writes) {
			t.Errorf("%s: applied", where)
		}
	} else if CodeOf(err) != CodeStale {
		t.Errorf("apply: %v", err)
	}
	x.want("zz", "typed by a person\n")
	os.WriteFile(x.abs("zz"), []byte("old\n"), 0)
	x.wantOldOrNew(false, old, "", where)
	return where != ""
}

// A file that was edited after the crash tells nothing. It counts as written
// only when something else tells that its turn had come.
func TestRecoverUnclear(t *testing.T) {
	for _, c := range []struct {
		stage   string
		applied bool
	}{{"overwriting", false}, {"tidied", true}} {
		x := newApplyTree(t, memoryDir(t))
		x.put("a", "a\n", 0o644)
		x.put("f", "old\n", 0o644)
		os.Link(x.abs("f"), x.abs("twin"))
		writes := []write{x.modify("a", "a\n", "A\n"), x.modify("f", "old\n", "new\n")}
		x.w.step = func(stage string) {
			if stage == c.stage {
				panic(crashed{})
			}
		}
		func() {
			defer func() { recover() }()
			x.apply(writes...)
		}()
		x.w.step = func(string) {}
		saves(x.abs("f"))
		if applied := x.restart(writes); applied != c.applied {
			t.Errorf("crash at %q: applied %v", c.stage, applied)
		}
		x.want("a", map[bool]string{false: "a\n", true: "A\n"}[c.applied])
		x.want("f", "typed by a person\n")
	}
}
