//go:build unix

package diffpreview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// without names what a file system may lack; every race is run on each.
var without = map[string]lacks{
	"all":                 {},
	"no exchange":         {exchange: true},
	"no exchange, link":   {exchange: true, link: true},
	"no noreplace":        {noReplace: true},
	"neither nor":         {exchange: true, noReplace: true},
	"only plain renaming": {exchange: true, noReplace: true, link: true},
}

// run is apply on a file system that lacks something.
func (x *applyTree) run(lacks lacks, writes ...write) error {
	x.Helper()
	x.log = nil
	tr, err := x.w.begin(writes)
	if err != nil {
		x.Fatal(err)
	}
	defer tr.close()
	tr.lacks = lacks
	return tr.run(context.Background(), x.record)
}

// somebody is what another program does to a file. It returns what must be
// there in the end, and false when it could not do anything.
type somebody func(path string) (result string, did bool)

// what describes what is at a path, as somebody's result does.
func what(path string) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "absent"
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "link to " + target
	case info.IsDir():
		return "directory"
	}
	data, err := os.ReadFile(path)
	return fmt.Sprintf("file %q %v", data, err)
}

func saves(path string) (string, bool) {
	err := os.WriteFile(path, []byte("typed by a person\n"), 0o644)
	return "file \"typed by a person\\n\" <nil>", err == nil
}

func savesByRename(path string) (string, bool) {
	swap := path + ".swp"
	err := os.WriteFile(swap, []byte("typed and renamed\n"), 0o644)
	return "file \"typed and renamed\\n\" <nil>", err == nil && os.Rename(swap, path) == nil
}

// movesOld puts a file there that was last written long ago.
func movesOld(path string) (string, bool) {
	old := path + ".bak"
	err := os.WriteFile(old, []byte("an old text\n"), 0o644)
	err = errors.Join(err, os.Chtimes(old, time.Time{}, time.Now().Add(-24*time.Hour)))
	return "file \"an old text\\n\" <nil>", err == nil && os.Rename(old, path) == nil
}

func savesTwice(path string) (string, bool) {
	savesByRename(path)
	return saves(path)
}

func deletes(path string) (string, bool) {
	if what(path) == "directory" { // made by the write: no file of anybody's
		return "", false
	}
	return "absent", os.Remove(path) == nil
}

func links2(path string) (string, bool) {
	os.Remove(path)
	return "link to elsewhere", os.Symlink("elsewhere", path) == nil
}

func makesDirectory(path string) (string, bool) {
	os.Remove(path)
	return "directory", os.Mkdir(path, 0o755) == nil
}

var people = map[string]somebody{
	"saves": saves, "saves by rename": savesByRename, "moves an old file": movesOld, "saves twice": savesTwice,
	"deletes": deletes, "links": links2, "makes directory": makesDirectory,
}

// At every stage of a write somebody does something to the file. What they did
// is there in the end, and of the other files all or none are written. With
// LOOMD_SOAK set it is every stage, else every third, others each time.
func TestApplyLosesNoSave(t *testing.T) {
	every := 3
	if os.Getenv("LOOMD_SOAK") != "" {
		every = 1
	}
	races, first := 0, 0
	for name, kind := range kinds {
		for fsName, lacks := range without {
			for who, act := range people {
				t.Run(name+"/"+fsName+"/"+who, func(t *testing.T) {
					first++
					for at := 1 + first%every; raceAt(t, at, lacks, kind, act); at += every {
						races++
					}
				})
			}
		}
	}
	t.Logf("%d races", races)
}

// raceAt runs one write in which somebody acts at the at-th stage; false when
// there are not so many.
func raceAt(t *testing.T, at int, lacks lacks, kind raced, act somebody) bool {
	t.Helper()
	x := newApplyTree(t, memoryDir(t))
	wr := kind.prepare(x)
	x.put("a", "a\n", 0o640)
	x.put("z", "z\n", 0o640)
	x.put("gone", "g\n", 0o640)
	var result, where string
	var did bool
	var acting sync.WaitGroup
	n := 0
	x.w.step = func(stage string) {
		if n++; n != at {
			return
		}
		where = stage
		// In its own goroutine, because the system may make it wait for the write.
		started := make(chan struct{})
		acting.Go(func() {
			close(started)
			result, did = act(x.abs("f"))
		})
		<-started
		if !isInPlace(stage) {
			acting.Wait()
		}
	}
	err := x.run(lacks, x.modify("a", "a\n", "A\n"), wr, x.create("new/n", "n\n", 0), x.remove("gone", "g\n"), x.modify("z", "z\n", "Z\n"))
	acting.Wait()
	if n < at {
		return false
	}
	// A text saved into a file that had just been moved goes where the file goes.
	followed := kind.from != "" && err != nil && what(x.abs(kind.from)) == result
	if got := what(x.abs("f")); did && got != result && !followed {
		t.Errorf("at %q (%d): there is %s, want %s; apply said %v", where, at, got, result, err)
	}
	x.wantWhole(err, where)
	x.noTemps()
	return true
}

func isInPlace(stage string) bool {
	return stage == "overwriting" || stage == "appended" || stage == "changed" || stage == "overwritten" || stage == "restored" ||
		stage == "mode changed" || stage == "mode put back"
}

// wantWhole fails unless the files beside f are all new, or after an error all old.
func (x *applyTree) wantWhole(err error, where string) {
	x.Helper()
	state := what(x.abs("a")) + what(x.abs("z")) + what(x.abs("new")) + what(x.abs("gone"))
	want := `file "A\n" <nil>file "Z\n" <nil>directoryabsent`
	if err != nil {
		want = `file "a\n" <nil>file "z\n" <nil>absentfile "g\n" <nil>`
		switch CodeOf(err) {
		case CodeStale, CodeNotRegularFile, CodeIsDirectory:
		default:
			x.Errorf("at %q: apply said %v (%s)", where, err, CodeOf(err))
		}
		if errors.Is(err, errHalfDone) {
			x.Errorf("at %q: half done: %v", where, err)
		}
	}
	if state != want {
		x.Errorf("at %q: the other files are %s; apply said %v", where, state, err)
	}
	if _, e := os.Lstat(x.abs("twin")); e == nil && err != nil && what(x.abs("f")) != what(x.abs("twin")) {
		if got := what(x.abs("twin")); got != what(x.abs("from")) && got != `file "base\n" <nil>` {
			x.Errorf("at %q: the other name of the file is %s", where, got)
		}
	}
}

// A program opens the file at some stage and writes when all is over.
func TestApplySlowWriter(t *testing.T) {
	for at := 1; ; at++ {
		x := newApplyTree(t, memoryDir(t))
		x.put("f", "base\n", 0o644)
		var file *os.File
		var where string
		n := 0
		x.w.step = func(stage string) {
			if n++; n == at {
				where = stage
				file, _ = os.OpenFile(x.abs("f"), os.O_RDWR, 0)
			}
		}
		if reader, err := os.OpenFile(x.abs("f"), os.O_RDWR, 0); err == nil {
			if look, _ := os.Open(x.abs("f")); !openForWriting(look) {
				t.Skip("this system does not tell who writes")
			}
			reader.Close()
		}
		err := x.apply(x.modify("f", "base\n", "accepted\n"))
		if n < at {
			return
		}
		if file == nil {
			t.Fatalf("at %q: not opened", where)
		}
		file.WriteAt([]byte("TYPED"), 0)
		file.Close()
		want := "TYPED" // over the five bytes of the base
		if err == nil {
			want = "TYPEDted\n" // over the accepted text
		}
		if got := x.text("f"); got != want {
			t.Errorf("at %q: f holds %q, want %q; apply said %v", where, got, want, err)
		}
		x.noTemps()
	}
}

// A directory becomes a link to a place outside at some stage. Nothing outside
// is touched.
func TestApplyStaysInside(t *testing.T) {
	for at := 1; ; at++ {
		x := newApplyTree(t, memoryDir(t))
		outside := newApplyTree(t, memoryDir(t))
		x.put("d/e/f", "base\n", 0o644)
		x.put("d/e/g", "gone\n", 0o644)
		outside.put("e/f", "base\n", 0o644)
		outside.put("e/g", "gone\n", 0o644)
		before := outside.picture()
		n := 0
		where := ""
		x.w.step = func(stage string) {
			if n++; n == at {
				where = stage
				os.Rename(x.abs("d"), x.abs("was"))
				os.Symlink(outside.dir, x.abs("d"))
			}
		}
		err := x.apply(x.modify("d/e/f", "base\n", "accepted\n"), x.remove("d/e/g", "gone\n"), x.create("d/new/n", "n\n", 0))
		if n < at {
			return
		}
		if after := outside.picture(); after != before {
			t.Errorf("at %q: outside is\n%s, was\n%s; apply said %v", where, after, before, err)
		}
		x.noTemps()
		entries, _ := filepath.Glob(filepath.Join(outside.dir, "*", tempPrefix+"*"))
		if len(entries) > 0 {
			t.Errorf("at %q: outside there is %v", where, entries)
		}
	}
}

// A save that replaces a file with several names while its bytes are being
// overwritten wins, and the other names keep the old text.
func TestApplyInPlaceReplaced(t *testing.T) {
	for _, at := range []string{"overwriting", "appended", "changed", "overwritten"} {
		x := newApplyTree(t, memoryDir(t))
		x.put("f", "base\n", 0o644)
		os.Link(x.abs("f"), x.abs("twin"))
		x.w.step = func(stage string) {
			if stage == at {
				savesByRename(x.abs("f"))
			}
		}
		if err := x.apply(x.modify("f", "base\n", "accepted\n")); CodeOf(err) != CodeStale {
			t.Errorf("at %q: apply said %v", at, err)
		}
		x.want("f", "typed and renamed\n")
		x.want("twin", "base\n")
	}
}
