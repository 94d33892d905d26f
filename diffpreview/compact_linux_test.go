package diffpreview

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// On a full disk a compaction fails and costs nothing: the old journal goes on,
// also after a restart, and with room again everything is as if there had always
// been some.
func TestCompactionOnAFullDisk(t *testing.T) {
	w := &world{t: t, root: t.TempDir(), state: filepath.Join(t.TempDir(), "disk")}
	if err := os.Mkdir(w.state, 0o700); err != nil {
		t.Fatal(err)
	}
	mountOn(t, "tmpfs", w.state, "tmpfs", 0, "size=2m")
	disk := w.state
	w.state = filepath.Join(disk, "state")
	w.now = newQuietWorld(t, Limits{}).now
	w.open()
	t.Cleanup(w.close)
	s := w.session("agent")
	for i := range 12 {
		p := w.propose(s, fmt.Sprint("f", i), numbered(900, map[int]string{1: fmt.Sprint(i)})) // in the line
		if i%2 == 0 {
			w.mustDecide(p, i%4 == 0)
		}
		w.propose(s, "often", numbered(600, map[int]string{2: fmt.Sprint(i)}))
	}
	for name, room := range map[string]int64{"none": 0, "for the history": 8 << 10, "for a part": 20 << 10} {
		before := w.dump(true)
		filler := filepath.Join(disk, "filler")
		fillDisk(t, filler)
		info, err := os.Stat(filler)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filler, info.Size()-room); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := w.store.compact(); CodeOf(err) != CodeNoSpace {
				t.Errorf("room %s: a compaction gives %v", name, err)
			}
		}
		wantSame(t, "a full disk", before, w.dump(true))
		w.restart() // which compacts in vain
		wantSame(t, "a restart on a full disk", before, w.dump(true))
		w.wantHistory(name)
		if _, err := os.Lstat(filepath.Join(w.state, "journal.jsonl.new")); err == nil {
			t.Errorf("room %s: a part of a journal takes what room there is", name)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		w.mustDecide(w.propose(s, "after-"+name, "x\n"), true)
		before = w.dump(true)
		w.restart()
		wantSame(t, "a restart with room again", before, w.dump(true))
		w.wantTidy()
		for i := range 12 { // so that there is something to compact
			w.propose(s, "often", numbered(600, map[int]string{2: name + fmt.Sprint(i)}))
			w.propose(s, "more", name+fmt.Sprint(i))
		}
	}
}

// A restart on a full disk that ends an interrupted write goes on with the old
// journal, in which that write has its end before anything else.
func TestAnInterruptedWriteOnAFullDisk(t *testing.T) {
	w := &world{t: t, root: t.TempDir(), state: filepath.Join(t.TempDir(), "disk")}
	if err := os.Mkdir(w.state, 0o700); err != nil {
		t.Fatal(err)
	}
	mountOn(t, "tmpfs", w.state, "tmpfs", 0, "size=256k")
	disk := w.state
	w.state = filepath.Join(disk, "state")
	w.now = newQuietWorld(t, Limits{}).now
	w.open()
	t.Cleanup(w.close)
	s := w.session("agent")
	w.save("f", "1\n")
	p := w.propose(s, "f", "2\n")
	w.stopAtStage("placed", func() { w.decide(p, true) })
	w.close()
	filler := filepath.Join(disk, "filler")
	fillDisk(t, filler)
	w.open()
	if q, err := w.store.Get(p.ID); err != nil || q.State() != StateApplied {
		t.Fatalf("%v, %v", q, err)
	}
	w.wantDisk("f", "2\n")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.store.Undo(t.Context(), p.ID, "", "tester"); err != nil {
		t.Fatal(err)
	}
	w.save("f", "3\n")
	w.restart() // the write is not judged by this text
	w.wantDisk("f", "3\n")
	if got := w.history(HistoryFilter{}); len(got) != 2 {
		t.Errorf("the history is %q", got)
	}
}
