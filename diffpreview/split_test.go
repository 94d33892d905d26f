package diffpreview

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func (w *world) take(p *Proposal, v ...Verdict) *Proposal {
	w.t.Helper()
	q, _, err := w.store.Decide(context.Background(), DecideFile{ID: p.ID, Version: p.Version, By: "tester", Verdicts: v})
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func (w *world) split(p *Proposal, hunk string, lines *Lines) *Proposal {
	w.t.Helper()
	q, err := w.store.Split(p.ID, p.Version, hunk, lines)
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func ids(p *Proposal) string {
	var out []string
	for i := range p.Hunks {
		out = append(out, p.Hunks[i].ID+":"+string(p.Hunks[i].State))
	}
	return strings.Join(out, " ")
}

func TestSplitHunkIsDecidedPieceByPiece(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\nc\nd\n"})
	s := w.session("agent")
	p := w.split(w.propose(s, "f", "a\nB\nC\nX\nd\n"), "h1", nil)
	if got := ids(p); got != "h1:open h2:open h3:open" {
		t.Fatalf("pieces are %s", got)
	}
	p = w.take(p, Verdict{Hunk: "h3", Accept: true}) // the line that is only added
	w.wantDisk("f", "a\nb\nc\nX\nd\n")
	p = w.take(p, Verdict{Hunk: "h1", Accept: true})
	w.wantDisk("f", "a\nB\nc\nX\nd\n")
	if got := w.view(s, "f"); got != "a\nB\nC\nX\nd\n" {
		t.Errorf("in the view is %q", got)
	}
	w.take(p, Verdict{Hunk: "h2"})
	w.wantDisk("f", "a\nB\nc\nX\nd\n")
}

// Pieces put in at one place keep their order, whichever is taken first, also
// when they are undone.
func TestPiecesAtOnePlaceKeepTheirOrder(t *testing.T) {
	for _, order := range [][]string{{"h1", "h2", "h3"}, {"h3", "h2", "h1"}, {"h2", "h3", "h1"}, {"h2", "h1", "h3"}} {
		w := newWorld(t, map[string]string{"f": "top\nend\n"})
		p := w.split(w.propose(w.session("agent"), "f", "top\n1\n2\n3\nend\n"), "h1", nil)
		for _, id := range order {
			p = w.take(p, Verdict{Hunk: id, Accept: true})
		}
		w.wantDisk("f", "top\n1\n2\n3\nend\n")
		if _, _, err := w.store.Undo(context.Background(), p.ID, "h2", "tester"); err != nil {
			t.Fatal(err)
		}
		w.wantDisk("f", "top\n1\n3\nend\n")
	}
}

func TestSplitSurvivesTheAgentsNextStepAndARestart(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\nc\nd\ne\n"})
	s := w.session("agent")
	p := w.split(w.propose(s, "f", "A\nB\nc\nd\ne\n"), "h1", &Lines{Old: []int{1}, New: []int{1}})
	if got := ids(p); got != "h1:open h2:open" {
		t.Fatalf("pieces are %s", got)
	}
	w.restart()
	p = w.propose(s, "f", "A\nB\nc\nd\nE\n") // elsewhere
	if got := ids(p); got != "h1:open h2:open h3:open" {
		t.Fatalf("after a step elsewhere the hunks are %s", got)
	}
	w.save("f", "new\na\nb\nc\nd\ne\n") // and the tree moves
	p, err := w.store.Get(p.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.take(p, Verdict{Hunk: "h2", Accept: true})
	w.wantDisk("f", "new\na\nB\nc\nd\ne\n")
	p = w.propose(s, "f", "new\nA\nBB\nc\nd\nE\n") // in the pieces: they are one run again
	if got := ids(p); got != "h2:accepted h1:open h3:open" && got != "h1:open h2:accepted h3:open" {
		t.Errorf("after a step inside the hunks are %s", got)
	}
}

func TestLinesOfAHunk(t *testing.T) {
	tests := []struct {
		name, base, proposed string
		lines                Lines
		accept, disk, view   string
	}{
		{"one pair", "a\nb\n", "A\nB\n", Lines{Old: []int{2}, New: []int{2}}, "a", "a\nB\n", "A\nB\n"},
		{"only the new line", "a\nb\n", "A\nB\n", Lines{New: []int{1}}, "a", "a\nA\nb\n", "A\nB\n"},
		{"only the old line", "a\nb\n", "A\nB\n", Lines{Old: []int{1}}, "a", "b\n", "A\nB\n"},
		{"an added one", "x\n", "1\n2\n3\nx\n", Lines{New: []int{2}}, "a", "2\nx\n", "1\n2\n3\nx\n"},
		{"deleted ones", "1\n2\n3\nx\n", "x\n", Lines{Old: []int{1, 3}}, "a", "2\nx\n", "x\n"},
		{"all", "a\n", "b\n", Lines{Old: []int{1}, New: []int{1}}, "a", "b\n", "b\n"},
		{"rejected", "x\n", "1\n2\nx\n", Lines{New: []int{1}}, "r", "x\n", "2\nx\n"},
		{"of a new file", "", "1\n2\n3\n", Lines{New: []int{1, 3}}, "a", "1\n3\n", "1\n2\n3\n"},
		{"rejected of a new file", "", "1\n2\n3\n", Lines{New: []int{2}}, "r", "(absent)", "1\n3\n"},
		{"of a deleted file", "1\n2\n3\n", "", Lines{Old: []int{1, 3}}, "a", "2\n", "(absent)"},
		{"rejected of a deleted file", "1\n2\n3\n", "", Lines{Old: []int{2}}, "r", "1\n2\n3\n", "2\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			if test.base != "" {
				w.save("f", test.base)
			}
			s := w.session("agent")
			p := w.proposeOrDelete(s, "f", test.proposed)
			id := p.Hunks[0].ID
			q := w.take(p, Verdict{Hunk: id, Accept: test.accept == "a", Lines: &test.lines})
			w.wantDisk("f", test.disk)
			if got := w.view(s, "f"); got != test.view {
				t.Errorf("in the view is %q, want %q", got, test.view)
			}
			if q.Version != p.Version+1 {
				t.Errorf("version %d became %d", p.Version, q.Version)
			}
			if h, ok := q.Hunk(id); q.Undecided() && (!ok || h.decided()) {
				t.Errorf("what is left does not go on as %s: %s", id, ids(q))
			}
			w.restart()
			reviews := w.store.Reviews(s)
			if len(reviews) == 0 || reviews[0].Decision != map[string]string{"a": "accepted", "r": "rejected"}[test.accept] {
				t.Errorf("the agent is told %+v", reviews)
			}
			if q, err := w.store.Get(q.ID); err == nil && q.Undecided() {
				w.mustDecide(q, true)
				if got := w.disk("f"); got != test.view {
					t.Errorf("with the rest accepted the file is %q, want %q", got, test.view)
				}
			}
			w.wantClean()
		})
	}
}

// proposeOrDelete is propose, where no text means no file.
func (w *world) proposeOrDelete(session, name, text string) *Proposal {
	w.t.Helper()
	if text != "" {
		return w.propose(session, name, text)
	}
	v := w.store.View(session)
	path, err := v.Resolve(name)
	if err != nil {
		w.t.Fatal(err)
	}
	step, err := v.Propose(context.Background(), path, Call{ID: "c", Tool: "test"}, func(Content) (Content, error) { return Content{}, nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return step.Proposal
}

func TestLinesThatAreNotThere(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\n"})
	p := w.propose(w.session("agent"), "f", "A\nb\n")
	for _, lines := range []Lines{{}, {Old: []int{2}}, {New: []int{0}}} {
		d := DecideFile{ID: p.ID, Version: p.Version, By: "tester", Verdicts: []Verdict{{Hunk: "h1", Accept: true, Lines: &lines}}}
		if _, _, err := w.store.Decide(context.Background(), d); CodeOf(err) != CodeInvalidArguments {
			t.Errorf("%v: %v", lines, err)
		}
	}
	w.wantDisk("f", "a\nb\n")
}

// Whatever lines are chosen, in whatever order, the sum of all is the proposed text, and what is not chosen is not
// written.
func TestPropertyLinesAddUp(t *testing.T) {
	gen := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\r\n", "\n"}), 0, 6)
	rapid.Check(t, func(rt *rapid.T) {
		base := strings.Join(gen.Draw(rt, "base"), "") + "end\n"
		want := strings.Join(gen.Draw(rt, "want"), "") + "end\n"
		p := (&Proposal{Base: Content{Exists: true, Data: []byte(base)}, form: formBytes}).step(Content{Exists: true, Data: []byte(want)})
		for p.Undecided() {
			open := rapid.SampledFrom(openHunks(p)).Draw(rt, "hunk")
			v := Verdict{Hunk: open.ID, Accept: true}
			old, new := p.form.split(open.Old), p.form.split(open.New)
			pick := func(n int, label string) (out []int) {
				for i := range n {
					if rapid.Bool().Draw(rt, label) {
						out = append(out, i+1)
					}
				}
				return out
			}
			lines := &Lines{Old: pick(len(old), "old"), New: pick(len(new), "new")}
			if len(lines.Old)+len(lines.New) > 0 {
				v.Lines = lines
			}
			q, _, err := p.decide([]Verdict{v}, Decision{By: "r"})
			if err != nil {
				rt.Fatal(err)
			}
			if got := string(q.Proposed().Data); got != want {
				rt.Fatalf("of %q, proposed %q, after %+v the view has %q", base, want, v, got)
			}
			p = q
		}
		if got := string(p.Base.Data); got != want {
			rt.Fatalf("with all accepted %q is %q, want %q", base, got, want)
		}
	})
}

func openHunks(p *Proposal) (out []Hunk) {
	for _, h := range p.Hunks {
		if !h.decided() {
			out = append(out, h)
		}
	}
	return out
}
