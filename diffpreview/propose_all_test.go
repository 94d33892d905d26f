package diffpreview

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// text is a change that makes the file at a place hold a text.
func (w *world) text(name, text string) Change {
	return Change{Path: w.path(name), Make: func(now Content) (Content, error) {
		now.Exists, now.Data = true, []byte(text)
		return now, nil
	}}
}

func (w *world) proposeAll(session string, changes ...Change) ([]Step, error) {
	return w.store.View(session).ProposeAll(context.Background(), Call{ID: "c", Tool: "test"}, changes)
}

// What one call changes of several files is proposed as a whole, each file as its own
// proposal, and is there after a restart.
func TestProposeAll(t *testing.T) {
	w := newWorld(t, map[string]string{"edit": "1\n", "move": "1\n2\n3\n", "delete": "x\n"})
	s := w.session("agent")
	moved := w.text("move", "1\ntwo\n3\n")
	moved.To = w.path("dir/moved")
	steps, err := w.proposeAll(s, w.text("edit", "one\n"), moved, w.text("new", "n\n"),
		Change{Path: w.path("delete"), Make: func(Content) (Content, error) { return Content{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	kinds := []HunkKind{KindText, KindRename, KindCreate, KindDelete}
	for i, step := range steps {
		if step.Proposal.Kind != kinds[i] || step.Diff == "" {
			t.Errorf("step %d is %s: %q", i, step.Proposal.Kind, step.Diff)
		}
	}
	for range 2 {
		for name, text := range map[string]string{
			"edit": "one\n", "move": "(absent)", "dir/moved": "1\ntwo\n3\n", "new": "n\n", "delete": "(absent)",
		} {
			if got := w.view(s, name); got != text {
				t.Errorf("%s in the view: %q", name, got)
			}
		}
		w.close()
		w.open()
	}
	for _, step := range steps {
		q, _ := w.store.Get(step.Proposal.ID)
		for i := range q.Hunks {
			w.mustDecide(q, true, q.Hunks[i].ID)
			q, _ = w.store.Get(q.ID)
		}
	}
	w.wantDisk("edit", "one\n")
	w.wantDisk("dir/moved", "1\ntwo\n3\n")
	w.wantDisk("new", "n\n")
	for _, name := range []string{"move", "delete"} {
		if _, err := os.Lstat(filepath.Join(w.root, name)); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

// When one change cannot be made, none is.
func TestProposeAllOrNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n", "g": "2\n"})
	s := w.session("agent")
	gone := w.text("nothing", "x\n")
	gone.To = w.path("elsewhere")
	taken := Change{Path: w.path("g"), To: w.path("f")}
	again := w.session("mover")
	if _, err := w.store.View(again).Rename(context.Background(), w.path("f"), w.path("h"), Call{}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		session string
		changes []Change
		code    Code
	}{
		{s, []Change{w.text("f", "one\n"), w.text("g", "2\n")}, CodeNoChange},
		{s, []Change{w.text("f", "one\n"), w.text("f", "two\n")}, CodeInvalidArguments},
		{s, []Change{w.text("new", "one\n"), gone}, CodeFileNotFound},
		{s, []Change{w.text("new", "one\n"), taken}, CodeConflict},
		{s, []Change{w.text("new", "one\n"), w.text(".git/config", "x")}, CodeProtectedPath},
		{s, []Change{w.text("new", "one\n"), w.text("new/below", "x\n")}, CodeNotRegularFile},
		{s, []Change{w.text("new/below", "x\n"), w.text("new", "one\n")}, CodeNotRegularFile},
		{again, []Change{w.text("f", "another one\n"), w.text("h", "1\n2\n")}, CodeConflict},
	} {
		if _, err := w.proposeAll(tt.session, tt.changes...); CodeOf(err) != tt.code {
			t.Errorf("%v, want %s", err, tt.code)
		}
		for name, text := range map[string]string{"f": "1\n", "g": "2\n", "new": "(absent)"} {
			if got := w.view(s, name); got != text {
				t.Errorf("after %s: %s in the view: %q", tt.code, name, got)
			}
		}
	}
	if got := w.view(again, "h"); got != "1\n" {
		t.Errorf("h in the mover's view: %q", got)
	}
}
