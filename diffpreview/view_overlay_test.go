package diffpreview

import (
	"bytes"
	"context"
	"testing"
)

// viewed is a world with one session's view.
type viewed struct {
	*world
	*View
}

func (v viewed) at(name string) Path {
	v.t.Helper()
	p, err := v.Resolve(name)
	if err != nil {
		v.t.Fatal(err)
	}
	return p
}

func (v viewed) rename(from, to string) {
	v.t.Helper()
	if _, err := v.Rename(context.Background(), v.at(from), v.at(to), Call{ID: "c", Tool: "test"}); err != nil {
		v.t.Fatal(err)
	}
}

// manyWays is a view in which files differ from the disk in every way.
func manyWays(t *testing.T) viewed {
	t.Helper()
	w := newWorld(t, map[string]string{
		"same": "s\n", "changed": "a\nb\nc\nd\ne\n", "deleted": "x\n", "moved": "m\n", "swapped": "w\n", "moves/on/disk": "1\n2\n3\n4\n5\n6\n", "open": "o\n", "both": "1\n2\n3\n4\n5\n",
	})
	session := w.session("a")
	v := viewed{w, w.store.View(session)}
	if got := v.Overlaid(); got != nil {
		t.Errorf("nothing is proposed: %v", got)
	}
	w.propose(session, "changed", "a\nB\nc\nd\ne\n")
	w.propose(session, "made/here", "new\n")
	w.propose(session, "moves/on/disk", "one\n2\n3\n4\n5\n6\n")
	w.propose(session, "both", "1\n2\n3\n4\nfive\n")
	v.rename("moved", "to/there")
	v.rename("swapped", "away")
	if _, err := v.View.Propose(context.Background(), v.at("deleted"), Call{ID: "c", Tool: "test"}, func(Content) (Content, error) { return Content{}, nil }); err != nil {
		t.Fatal(err)
	}
	w.propose(w.session("b"), "same", "of another session\n")
	w.save("moves/on/disk", "1\n2\n3\n4\n5\nsix\n")
	w.store.OpenDocument(unasked{}, v.at("open"), 1, "unsaved\n")
	w.store.OpenDocument(unasked{}, v.at("never/saved"), 1, "unsaved\n")
	w.store.OpenDocument(unasked{}, v.at("both"), 1, "one\n2\n3\n4\n5\n")
	return v
}

// What Overlaid lists is what Read shows, and where it lists nothing Read shows
// the disk. Stat agrees with both.
func TestOverlaidIsWhatDiffersFromTheDisk(t *testing.T) {
	v := manyWays(t)
	listed := map[Path]Content{}
	for _, o := range v.Overlaid() {
		if o.Err != nil {
			t.Errorf("%s: %v", v.Name(o.Path), o.Err)
		}
		if _, twice := listed[o.Path]; twice {
			t.Errorf("%s is listed twice", v.Name(o.Path))
		}
		listed[o.Path] = o.Now
	}
	want := map[string]string{ // "" is nothing
		"same": "s\n", "changed": "a\nB\nc\nd\ne\n", "deleted": "", "moved": "", "to/there": "m\n", "swapped": "", "away": "w\n", "made/here": "new\n",
		"moves/on/disk": "one\n2\n3\n4\n5\nsix\n", "open": "unsaved\n", "never/saved": "unsaved\n", "both": "one\n2\n3\n4\nfive\n", "absent": "",
	}
	for name, text := range want {
		p := v.at(name)
		read, err := v.Read(p)
		if err != nil || string(read.Data) != text || read.Exists != (text != "") {
			t.Errorf("%s: Read gives %q, %v", name, read.Data, err)
		}
		now, ok := listed[p]
		if disk := v.disk(name); !ok && (disk == "(absent)" && text != "" || disk != "(absent)" && disk != text) {
			t.Errorf("%s is not listed and not what the disk has", name)
		}
		if ok && (!bytes.Equal(now.Data, read.Data) || now.Exists != read.Exists) {
			t.Errorf("%s: listed as %q, read as %q", name, now.Data, read.Data)
		}
		delete(listed, p)
		switch entry, err := v.Stat(p); {
		case text == "" && CodeOf(err) != CodeFileNotFound:
			t.Errorf("%s: Stat gives %+v, %v", name, entry, err)
		case text != "" && (err != nil || entry.IsDir):
			t.Errorf("%s: Stat gives %+v, %v", name, entry, err)
		}
	}
	for p := range listed {
		t.Errorf("%s is listed", v.Name(p))
	}
	for _, dir := range []string{".", "moves", "made", "to"} {
		if entry, err := v.Stat(v.at(dir)); err != nil || !entry.IsDir {
			t.Errorf("%s: %+v, %v", dir, entry, err)
		}
	}
}

type unasked struct{}

func (unasked) ApplyEdits(context.Context, Path, int32, string, []DocumentEdit, EditReason) error {
	return nil
}
