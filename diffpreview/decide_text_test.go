package diffpreview

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAcceptWithTheReviewersText(t *testing.T) {
	const base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	proposed := strings.NewReplacer("2", "two", "5", "five", "8", "eight").Replace(base)
	w := newWorld(t, map[string]string{"f": base})
	s := w.session("agent")
	p := w.propose(s, "f", proposed)
	text := strings.NewReplacer("2", "two", "5", "FIVE", "9", "nine by the reviewer").Replace(base)
	d := DecideFile{ID: p.ID, Version: p.Version, Accept: true, Text: &text, By: "tester", Comment: "like this"}
	p, written, err := w.store.Decide(context.Background(), d)
	if err != nil || written == nil {
		t.Fatal(err)
	}
	w.wantDisk("f", text)
	if got := w.view(s, "f"); got != text {
		t.Errorf("in the view is %q", got)
	}
	var told []string
	for _, r := range w.store.Reviews(s) {
		told = append(told, r.Hunk+" "+r.Decision+" "+r.Comment)
	}
	if got := strings.Join(told, ", "); got != "h1 accepted like this, h2 modified like this, h3 rejected like this" {
		t.Errorf("the agent is told %s", got)
	}
	for _, undo := range []struct{ hunk, disk string }{
		{"h2", strings.Replace(text, "FIVE", "5", 1)},
		{"h1", strings.NewReplacer("FIVE", "5", "two", "2").Replace(text)},
	} {
		if _, _, err := w.store.Undo(context.Background(), p.ID, undo.hunk, "tester"); err != nil {
			t.Fatal(err)
		}
		w.wantDisk("f", undo.disk)
	}
}

func TestTextOfAnOlderVersionIsRefused(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\n"})
	s := w.session("agent")
	p := w.propose(s, "f", "A\nb\n")
	w.propose(s, "f", "A\nB\n")
	text := "A\nb!\n"
	_, _, err := w.store.Decide(context.Background(), DecideFile{ID: p.ID, Version: p.Version, Accept: true, Text: &text, By: "tester"})
	if CodeOf(err) != CodeChangedSince {
		t.Error(err)
	}
	w.wantDisk("f", "a\nb\n")
}

// Whatever the reviewer's text is, it is the file to the byte; and undoing what can be undone, from the last to the
// first, leaves nothing of what was accepted unmodified.
func TestPropertyReviewersTextIsTheFile(t *testing.T) {
	gen := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "e\n"}), 0, 8)
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) string { return strings.Join(gen.Draw(rt, label), "") }
		base, want, text := draw("base"), draw("want"), draw("text")
		p := (&Proposal{Base: Content{Exists: true, Data: []byte(base)}, form: formBytes}).step(Content{Exists: true, Data: []byte(want)})
		q := p.next()
		decided := q.takeText([]byte(text), Decision{By: "r"})
		if string(q.Base.Data) != text || q.Undecided() || len(decided) != len(p.Hunks) {
			rt.Fatalf("%q became %q with %s", text, q.Base.Data, ids(q))
		}
		lines := q.form.lines(q.Base.Data)
		for _, h := range q.Hunks {
			if h.State == HunkAccepted && !h.Lost && string(h.stands(lines)) != string(h.New) {
				rt.Fatalf("%s says %q is accepted, and %q stands there", h.ID, h.New, h.stands(lines))
			}
		}
	})
}
