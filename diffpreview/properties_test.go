package diffpreview

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (w *world) path(name string) Path {
	w.t.Helper()
	p, _, err := w.ws.Resolve(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) change(session, name string, change func(Content) Content) *Proposal {
	w.t.Helper()
	p, err := w.store.View(session).ResolveEntry(name)
	if err != nil {
		w.t.Fatal(err)
	}
	step, err := w.store.View(session).Propose(context.Background(), p, Call{ID: "c", Tool: "test"}, func(now Content) (Content, error) { return change(now), nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return step.Proposal
}

func (w *world) move(session, from, to string) *Proposal {
	w.t.Helper()
	step, err := w.store.View(session).Rename(context.Background(), w.path(from), w.path(to), Call{ID: "c", Tool: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	return step.Proposal
}

func (w *world) undo(p *Proposal, hunk string) *Proposal {
	w.t.Helper()
	q, _, err := w.store.Undo(context.Background(), p.ID, hunk, "tester")
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func (w *world) mode(name string) fs.FileMode {
	w.t.Helper()
	info, err := os.Lstat(filepath.Join(w.root, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return info.Mode()
}

func TestARenameAndItsTextAreDecidedApart(t *testing.T) {
	for _, order := range []string{"name first", "text first", "name only", "text only", "both"} {
		t.Run(order, func(t *testing.T) {
			w := newWorld(t, map[string]string{"old": "a\nb\nc\n"})
			s := w.session("agent")
			w.move(s, "old", "deep/new")
			p := w.propose(s, "deep/new", "a\nB\nc\n")
			if w.view(s, "old") != "(absent)" || w.view(s, "deep/new") != "a\nB\nc\n" {
				t.Fatalf("in the view are %q and %q", w.view(s, "old"), w.view(s, "deep/new"))
			}
			if p.Kind != KindRename || ids(p) != "h1:open h2:open" {
				t.Fatalf("%s %s", p.Kind, ids(p))
			}
			if diff, _ := p.Diff(); !strings.Contains(diff, "rename from old\nrename to deep/new\n") || !strings.Contains(diff, "-b\n+B\n") {
				t.Errorf("the diff is\n%s", diff)
			}
			w.restart()
			names, text := "deep/new", "a\nB\nc\n"
			switch order {
			case "name first":
				p = w.mustDecide(p, true, "h1")
				w.wantDisk("deep/new", "a\nb\nc\n")
				p = w.mustDecide(p, true, "h2")
			case "text first":
				p = w.mustDecide(p, true, "h2")
				w.wantDisk("old", "a\nB\nc\n")
				p = w.mustDecide(p, true, "h1")
			case "name only":
				text = "a\nb\nc\n"
				w.mustDecide(p, true, "h1")
				p = w.mustDecide(p, false, "h2")
			case "text only":
				names = "old"
				w.mustDecide(p, true, "h2")
				p = w.mustDecide(p, false, "h1")
			case "both":
				p = w.mustDecide(p, true)
			}
			w.wantDisk(names, text)
			if other := map[string]string{"old": "deep/new", "deep/new": "old"}[names]; w.disk(other) != "(absent)" {
				t.Errorf("there is also %s", other)
			}
			w.wantClean()
			w.restart()
			w.undo(p, "")
			w.wantDisk("old", "a\nb\nc\n")
			if w.view(s, "deep/new") != "a\nB\nc\n" {
				t.Errorf("after the undo the view has %q", w.view(s, "deep/new"))
			}
			if _, err := os.Lstat(filepath.Join(w.root, "deep")); !os.IsNotExist(err) {
				t.Error("the directory that was made for the new name is left")
			}
		})
	}
}

func TestARenameRejectedLeavesNoTrace(t *testing.T) {
	w := newWorld(t, map[string]string{"old": "a\n"})
	s := w.session("agent")
	p := w.move(s, "old", "deep/new")
	w.mustDecide(p, false)
	if w.view(s, "old") != "a\n" || w.view(s, "deep/new") != "(absent)" {
		t.Error("the view still has the new name")
	}
	if _, err := os.Lstat(filepath.Join(w.root, "deep")); !os.IsNotExist(err) {
		t.Error("a directory was made")
	}
}

func TestRenamesOfRenames(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "text\n"})
	s := w.session("agent")
	w.move(s, "a", "b")
	p := w.move(s, "b", "c")
	if ids(p) != "h1:open" || w.view(s, "b") != "(absent)" || w.view(s, "c") != "text\n" {
		t.Fatalf("%s, b is %q, c is %q", ids(p), w.view(s, "b"), w.view(s, "c"))
	}
	if p = w.move(s, "c", "a"); p.State() != StateWithdrawn || w.view(s, "a") != "text\n" {
		t.Fatalf("back again it is %s", p.State())
	}
	// A file that the tree does not have is simply made elsewhere.
	w.propose(s, "new", "n\n")
	p = w.move(s, "new", "newer")
	if p.Kind != KindCreate || w.view(s, "new") != "(absent)" {
		t.Errorf("%s, new is %q", p.Kind, w.view(s, "new"))
	}
	w.mustDecide(p, true)
	w.wantDisk("newer", "n\n")
	w.wantDisk("new", "(absent)")
}

// Where the moved file was, the agent makes another one: that is what git shows
// as a changed file and a new one.
func TestANewFileWhereAMovedOneWas(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "old\n"})
	s := w.session("agent")
	w.move(s, "a", "b")
	w.propose(s, "a", "fresh\n")
	if w.view(s, "a") != "fresh\n" || w.view(s, "b") != "old\n" {
		t.Fatalf("in the view are %q and %q", w.view(s, "a"), w.view(s, "b"))
	}
	w.wantDisk("a", "old\n")
	if _, err := w.store.DecideSession(context.Background(), DecideSet{Session: s, Accept: true, By: "tester"}); err != nil {
		t.Fatal(err)
	}
	w.wantDisk("a", "fresh\n")
	w.wantDisk("b", "old\n")
}

func TestARenameMeetsThePerson(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "text\n"})
	s := w.session("agent")
	p := w.move(s, "a", "b")
	state := func() HunkState {
		q, err := w.store.Get(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		return q.Hunks[0].State
	}
	w.save("b", "somebody's\n")
	if got := state(); got != HunkConflict || w.view(s, "a") != "text\n" || w.view(s, "b") != "somebody's\n" {
		t.Fatalf("with another file there it is %s", got)
	}
	if _, err := w.decide(p, true); CodeOf(err) != CodeConflict {
		t.Error(err)
	}
	os.Remove(filepath.Join(w.root, "b"))
	if got := state(); got != HunkOpen {
		t.Fatalf("with the place free again it is %s", got)
	}
	w.save("a", "text of a person\n")
	if got := state(); got != HunkOpen || w.view(s, "b") != "text of a person\n" {
		t.Fatalf("after a save it is %s, the view has %q", got, w.view(s, "b"))
	}
	if err := os.Rename(filepath.Join(w.root, "a"), filepath.Join(w.root, "b")); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != HunkAccepted || w.view(s, "b") != "text of a person\n" {
		t.Fatalf("when the person did it, it is %s", got)
	}
}

func TestRenameRefuses(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n", "b": "2\n", "d/x": "3\n"})
	s := w.session("agent")
	w.propose(s, "made", "4\n")
	for to, code := range map[string]Code{"a": CodeInvalidArguments, "b": CodeConflict, "made": CodeConflict, "d": CodeIsDirectory, "b/c": CodeNotRegularFile, ".git/config": CodeProtectedPath} {
		_, err := w.store.View(s).Rename(context.Background(), w.path("a"), w.path(to), Call{})
		if CodeOf(err) != code {
			t.Errorf("to %s: %v, want %s", to, err, code)
		}
	}
	if _, err := w.store.View(s).Rename(context.Background(), w.path("nothing"), w.path("z"), Call{}); CodeOf(err) != CodeFileNotFound {
		t.Error(err)
	}
}

func TestAModeIsAHunk(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "#!/bin/sh\n"})
	s := w.session("agent")
	p := w.change(s, "f", func(now Content) Content {
		now.Data, now.Mode = []byte("#!/bin/sh\necho\n"), 0o755
		return now
	})
	if ids(p) != "h1:open h2:open" || p.Hunks[0].Kind != KindMode {
		t.Fatalf("%s", ids(p))
	}
	if diff, _ := p.Diff(); !strings.Contains(diff, "old mode 100644\nnew mode 100755\n") {
		t.Errorf("the diff is\n%s", diff)
	}
	w.restart()
	p = w.mustDecide(p, true, "h1")
	w.wantDisk("f", "#!/bin/sh\n")
	if got := w.mode("f"); got != 0o755 {
		t.Errorf("mode is %v", got)
	}
	p = w.mustDecide(p, true, "h2")
	p = w.undo(p, "h1")
	if got := w.mode("f"); got != 0o644 || w.disk("f") != "#!/bin/sh\necho\n" {
		t.Errorf("undone, the mode is %v and the text %q", got, w.disk("f"))
	}
	if err := os.Chmod(filepath.Join(w.root, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	if q, err := w.store.Get(p.ID); err != nil || q.State() != StateConflict {
		t.Errorf("after another chmod it is %v, %v", ids(q), err)
	}
	w.mustDecide(p, false)
	if got := w.mode("f"); got != 0o600 {
		t.Errorf("refused, the mode is %v", got)
	}
}

func TestANewScriptIsExecutable(t *testing.T) {
	w := newWorld(t, nil)
	p := w.change(w.session("agent"), "run.sh", func(Content) Content {
		return Content{Exists: true, Data: []byte("#!/bin/sh\n"), Mode: 0o755}
	})
	if diff, _ := p.Diff(); !strings.Contains(diff, "new file mode 100755\n") {
		t.Errorf("the diff is\n%s", diff)
	}
	w.mustDecide(p, true)
	if got := w.mode("run.sh"); got != 0o755 {
		t.Errorf("mode is %v", got)
	}
}

func TestLinksAreProposed(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "text\n", "g": "other\n"})
	s := w.session("agent")
	link := func(target string) func(Content) Content {
		return func(Content) Content {
			return Content{Exists: true, Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
		}
	}
	target := func() string {
		got, err := os.Readlink(filepath.Join(w.root, "l"))
		if err != nil {
			return "(no link)"
		}
		return got
	}
	made := w.change(s, "l", link("f"))
	if made.Kind != KindLink || target() != "(no link)" {
		t.Fatalf("%s, on disk %s", made.Kind, target())
	}
	w.restart()
	w.mustDecide(made, true)
	if target() != "f" {
		t.Fatalf("accepted, it is %s", target())
	}
	turned := w.change(s, "l", link("g"))
	if diff, _ := turned.Diff(); !strings.Contains(diff, "-f\n\\ No newline at end of file\n+g\n") {
		t.Errorf("the diff is\n%s", diff)
	}
	turned = w.mustDecide(turned, true)
	if target() != "g" {
		t.Fatalf("turned, it is %s", target())
	}
	w.undo(turned, "")
	if target() != "f" {
		t.Fatalf("undone, it is %s", target())
	}
	w.change(s, "l", link("f")) // as it is: withdrawn
	gone := w.change(s, "l", func(Content) Content { return Content{} })
	w.mustDecide(gone, true)
	if target() != "(no link)" {
		t.Fatalf("deleted, it is %s", target())
	}
	file := w.change(s, "f", link("g"))
	w.mustDecide(file, true)
	if got, _ := os.Readlink(filepath.Join(w.root, "f")); got != "g" {
		t.Errorf("the file is no link: %q", got)
	}
	w.wantDisk("g", "other\n")
	w.undo(file, "")
	w.wantDisk("f", "text\n")
	w.wantClean()
}

func TestUndoOfADeleteKeepsTheMode(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "text\n"})
	if err := os.Chmod(filepath.Join(w.root, "f"), 0o750); err != nil {
		t.Fatal(err)
	}
	p := w.change(w.session("agent"), "f", func(Content) Content { return Content{} })
	p = w.mustDecide(p, true)
	w.wantDisk("f", "(absent)")
	w.undo(p, "")
	w.wantDisk("f", "text\n")
	if got := w.mode("f"); got != 0o750 {
		t.Errorf("mode is %v", got)
	}
}
