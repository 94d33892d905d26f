package diffpreview

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever was split and decided, line by line, an undo of all of it brings the
// first text back, and what was proposed.
func TestPropertyUndoOfPieces(t *testing.T) {
	gen := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "x y\n", "\n"}), 0, 4)
	end := rapid.SampledFrom([]string{"", "a", "b", "end\n"})
	rapid.Check(t, func(rt *rapid.T) {
		base := strings.Join(gen.Draw(rt, "base"), "") + end.Draw(rt, "end")
		want := strings.Join(gen.Draw(rt, "want"), "") + end.Draw(rt, "wanted end")
		if base == want {
			return
		}
		p := (&Proposal{Base: Content{Exists: true, Data: []byte(base)}, form: formBytes}).step(Content{Exists: true, Data: []byte(want)})
		for p.Undecided() && !rapid.Bool().Draw(rt, "stop") {
			open := rapid.SampledFrom(openHunks(p)).Draw(rt, "hunk")
			v := Verdict{Hunk: open.ID, Accept: rapid.Bool().Draw(rt, "accept")}
			if open.State == HunkConflict {
				break // it would not fit beside a line without its end
			}
			v.Lines = drawLines(rt, p, &open)
			q, _, err := p.decide([]Verdict{v}, Decision{By: "r"})
			if err != nil && strings.Contains(err.Error(), "without its end") {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			p = q
		}
		if len(openHunks(p)) == len(p.Hunks) {
			return // nothing was decided
		}
		q, _, err := p.undo("")
		if err != nil && (strings.Contains(err.Error(), "lacks its end") || p.State() == StateConflict) {
			return // beside a last line without its end not all can be told apart
		}
		if err != nil {
			rt.Fatalf("%q to %q: %v of %+v", base, want, err, p.Hunks)
		}
		if got := string(q.Base.Data); got != base {
			rt.Fatalf("%q to %q: undone it is %q", base, want, got)
		}
		if got := string(q.Proposed().Data); got != want && len(openHunks(q)) == len(q.Hunks) && q.State() != StateConflict {
			rt.Fatalf("%q to %q: after the undo %q is proposed", base, want, got)
		}
	})
}

// drawLines draws some lines of a hunk, or none for all of it.
func drawLines(rt *rapid.T, p *Proposal, h *Hunk) *Lines {
	pick := func(n int, label string) (out []int) {
		for i := range n {
			if rapid.Bool().Draw(rt, label) {
				out = append(out, i+1)
			}
		}
		return out
	}
	lines := &Lines{Old: pick(len(p.form.split(h.Old)), "old"), New: pick(len(p.form.split(h.New)), "new")}
	if len(lines.Old)+len(lines.New) == 0 {
		return nil
	}
	return lines
}

// What a person typed where a proposal is in conflict is not replaced by undoing
// the decision and accepting all: that is a conflict again.
func TestUndoOfASettledConflictIsAConflict(t *testing.T) {
	for name, settle := range map[string]Verdict{
		"rejected": {Hunk: "h1"}, "the tree's side": {Hunk: "h1", Accept: true, Side: SideTree}, "the agent's side": {Hunk: "h1", Accept: true, Side: SideAgent},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f": "top\nA 0\nA 1\nend\n"})
			s := w.session("agent")
			w.propose(s, "f", "top\nA zero\nA one\nend\n")
			typed := "top\nA 0\nTYPED\nA 1\nend\n"
			w.save("f", typed)
			p := w.take(w.only(), settle)
			w.restart()
			if _, _, err := w.store.Undo(context.Background(), p.ID, "", "tester"); err != nil {
				t.Fatal(err)
			}
			w.wantDisk("f", typed)
			if p := w.only(); p.State() != StateConflict {
				t.Errorf("undone it is %s: %s", p.State(), ids(p))
			}
			done, err := w.store.DecideSession(context.Background(), DecideSet{Session: s, Accept: true, By: "tester"})
			if CodeOf(err) != CodeConflict {
				t.Errorf("accepting all gives %+v, %v", done, err)
			}
			w.wantDisk("f", typed)
		})
	}
}

// The same where the file came into being meanwhile.
func TestUndoOfASettledConflictOfANewFile(t *testing.T) {
	w := newWorld(t, nil)
	s := w.session("agent")
	w.propose(s, "f", "of the agent\n")
	w.save("f", "of a person\n")
	p := w.take(w.only(), Verdict{Hunk: "h1"})
	if _, _, err := w.store.Undo(context.Background(), p.ID, "", "tester"); err != nil {
		t.Fatal(err)
	}
	if p := w.only(); p.State() != StateConflict {
		t.Errorf("undone it is %s: %s", p.State(), ids(p))
	}
	if _, err := w.store.DecideSession(context.Background(), DecideSet{Session: s, Accept: true, By: "tester"}); CodeOf(err) != CodeConflict {
		t.Error(err)
	}
	w.wantDisk("f", "of a person\n")
}

// What stood before a conflict at one place comes before it still when it is opened
// again, and after the agent's next step.
func TestHunksAtOnePlaceKeepTheirOrder(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n2\n3\n4\nend\n"})
	s := w.session("agent")
	w.mustDecide(w.propose(s, "f", "first\n1\n4\nend\n"), false, "h1")
	w.save("f", "4\nend\n") // the lines that h2 is about are gone
	p := w.only()
	if _, _, err := w.store.Undo(context.Background(), p.ID, "h1", "tester"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"h1:open h2:conflict", "h1:open h2:conflict h3:open"} {
		if got := ids(w.only()); got != want {
			t.Errorf("the hunks are %s, not %s", got, want)
		}
		w.propose(s, "f", "first\n4\nend\n"+want+"\n")
	}
	w.take(w.only(), Verdict{Hunk: "h2", Accept: true, Side: SideAgent}, Verdict{Hunk: "h1", Accept: true})
	w.wantDisk("f", "first\n1\n4\nend\n")
}

// only is the one proposal there is, as it stands on the tree now.
func (w *world) only() *Proposal {
	w.t.Helper()
	list, err := w.store.List(Filter{})
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%d proposals, %v", len(list), err)
	}
	return list[0]
}

// A byte order mark stays in front, once, whatever lines are taken.
func TestLinesBesideAByteOrderMark(t *testing.T) {
	mark := "\xef\xbb\xbf"
	utf16 := func(s string) string { return "\xff\xfe" + strings.Join(strings.Split(s, ""), "\x00") + "\x00" }
	for name, texts := range map[string][2]string{
		"UTF-8": {mark + "c\na\nb\n", mark + "Y\nb\n"}, "UTF-16": {utf16("c\na\nb\n"), utf16("Y\nb\n")},
		"new": {"", mark + "Y\nZ\n"}, "emptied": {mark + "c\na\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			if err := os.WriteFile(filepath.Join(w.root, "f"), []byte(texts[0]), 0o644); err != nil {
				t.Fatal(err)
			}
			p := w.propose(w.session("agent"), "f", texts[1])
			for _, lines := range []Lines{{Old: []int{1}}, {New: []int{1}}, {Old: []int{2}}, {New: []int{2}}, {Old: []int{1}, New: []int{1}}} {
				now := w.only()
				q, _, err := w.store.Decide(context.Background(), DecideFile{
					ID: p.ID, Version: now.Version, By: "tester", Verdicts: []Verdict{{Hunk: "h1", Accept: true, Lines: &lines}},
				})
				data := w.disk("f")
				if _, n := BOMOf([]byte(data)); err == nil && n == 0 && data != "" {
					t.Errorf("with %v it is %q", lines, data)
				}
				if strings.Count(data, mark) > 1 || strings.Count(data, "\xff\xfe") > 1 {
					t.Errorf("with %v it is %q", lines, data)
				}
				if err == nil {
					if _, _, err := w.store.Undo(context.Background(), q.ID, "", "tester"); err != nil {
						t.Fatal(err)
					}
					w.wantDisk("f", texts[0])
				} else if CodeOf(err) != CodeInvalidArguments {
					t.Error(err)
				}
			}
		})
	}
}

// Pieces that together end a file are taken together, whichever of them lacks the
// last line's end.
func TestPiecesOfALastLine(t *testing.T) {
	for _, texts := range [][2]string{{"c", "b\n\ne"}, {"a\na", "d"}, {"a\nb\n", "a\nb\nc\n\nd"}} {
		w := newWorld(t, map[string]string{"f": texts[0]})
		p := w.split(w.propose(w.session("agent"), "f", texts[1]), "h1", nil)
		p = w.mustDecide(p, true)
		w.wantDisk("f", texts[1])
		if _, _, err := w.store.Undo(context.Background(), p.ID, "", "tester"); err != nil {
			t.Error(err)
		}
		w.wantDisk("f", texts[0])
	}
}
