package diffpreview

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// restless is a world whose time stands still a minute after its file was saved.
// What fresh saves was saved at that very moment, until the time goes on.
type restless struct {
	*world
	clock atomic.Int64
}

func newRestless(t *testing.T, text string) *restless {
	t.Helper()
	w := &restless{world: newWorld(t, map[string]string{"f": text})}
	w.close()
	w.clock.Store(time.Now().Add(time.Minute).UnixNano())
	w.now = func() time.Time { return time.Unix(0, w.clock.Load()) }
	w.open()
	return w
}

func (w *restless) fresh(text string) {
	w.t.Helper()
	w.save("f", text)
	if err := os.Chtimes(filepath.Join(w.root, "f"), w.now(), w.now()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *restless) rest() { w.clock.Add(int64(time.Minute)) }

// A file that was just written may be caught half written: an undo takes nothing
// that it finds there as accepted, which would be final, and which its agent would
// have to be told.
func TestUndoInAFileThatMoves(t *testing.T) {
	w := newRestless(t, "1\n2\n3\n4\n5\n")
	s := w.session("agent")
	p := w.mustDecide(w.propose(s, "f", "one\n2\n3\n4\nfive\n"), true, "h1")
	w.fresh("one\n2\n3\n4\nfive\n")
	q, _, err := w.store.Undo(context.Background(), p.ID, "h1", "tester")
	if err != nil {
		t.Fatal(err)
	}
	w.wantDisk("f", "1\n2\n3\n4\nfive\n")
	if h, _ := q.Hunk("h2"); h.decided() {
		t.Errorf("h2 is %s by %+v", h.State, h.Decision)
	}
	w.rest()
	w.save("f", "1\n2\n3\n4\n5\n") // the other half
	for _, h := range w.only().Hunks {
		if h.State != HunkOpen {
			t.Errorf("%s is %s", h.ID, h.State)
		}
	}
}

// Where a buffer went, and the file was just written, nobody knows yet what became
// of the hunks that were accepted into it: an undo does not give them up.
func TestUndoWhenABufferWent(t *testing.T) {
	for _, undo := range []string{"", "h1", "h2"} {
		w := newRestless(t, "1\n2\n3\n4\n5\n")
		s, editor, path := w.session("agent"), &bufferOwner{store: w.store}, w.resolve("f")
		w.store.OpenDocument(editor, path, 1, "1\n2\n3\n4 typed\n5\n")
		p := w.propose(s, "f", "one\n2\n3\n4 typed\nfive\n")
		w.mustDecide(p, true, "h1")
		w.mustDecide(p, false, "h2")
		saved := "1\n2\nthree\n4\n5\n"
		w.fresh(saved)
		w.store.CloseDocument(editor, path)
		if _, _, err := w.store.Undo(context.Background(), p.ID, undo, "tester"); err != nil && CodeOf(err) != CodeStale {
			t.Errorf("undo %q: %v", undo, err)
		}
		w.rest()
		q, err := w.store.refreshed(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if h, _ := q.Hunk("h1"); h.State != HunkOpen || string(h.New) != "one\n" {
			t.Errorf("undo %q: h1 is %s", undo, h.State)
		}
		w.wantDisk("f", saved)
	}
}

// What was read from the disk before a buffer was saved there is not the tree after
// the buffer was closed: a hunk that was accepted into it stays accepted.
func TestCloseWhileTheDiskIsRead(t *testing.T) {
	rest := strings.Repeat("as it was\n", 20_000) // a read takes longer than a save
	w := newRestless(t, "1\n"+rest)
	w.rest() // whatever is saved has come to rest
	s, editor, path := w.session("agent"), &bufferOwner{store: w.store}, w.resolve("f")
	done := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				w.store.settle(path)
			}
		}
	})
	for range 50 {
		w.save("f", "1\n"+rest)
		w.store.OpenDocument(editor, path, 1, "1\n"+rest+"typed\n")
		p := w.mustDecide(w.propose(s, "f", "one\n"+rest+"typed\n"), true, "h1")
		w.save("new", "one\n"+rest+"typed\n")
		if err := os.Rename(filepath.Join(w.root, "new"), filepath.Join(w.root, "f")); err != nil {
			t.Fatal(err)
		}
		w.store.CloseDocument(editor, path)
		q, err := w.store.refreshed(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if h, _ := q.Hunk("h1"); h.State != HunkAccepted || h.Decision.By == treeName {
			t.Errorf("h1 is %s: %+v", h.State, h.Decision)
			break
		}
	}
	close(done)
	reading.Wait()
}
