package diffpreview

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fresh is a proposal of a session that has not edited yet.
func fresh(base string) *Proposal {
	return &Proposal{
		ID: "p1", Name: "f", Base: Content{Exists: true, Data: []byte(base)},
		form: formOf(Content{Exists: true, Data: []byte(base)}),
	}
}

func text(s string) Content { return Content{Exists: true, Data: []byte(s)} }

// numbered is lines "1".."n", with some replaced.
func numbered(n int, changes map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := changes[i]; ok {
			b.WriteString(s)
			continue
		}
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()
}

func mustDecide(t *rapid.T, p *Proposal, vs ...Verdict) *Proposal {
	t.Helper()
	if err := p.check(0, vs); err != nil {
		t.Fatalf("check: %v", err)
	}
	q, _, err := p.decide(vs, Decision{By: "r"})
	if err != nil {
		t.Fatalf("decide: %v", err)
	}
	return q
}

// invariant checks what must hold of every proposal.
func invariant(t interface {
	Helper()
	Fatalf(string, ...any)
}, p *Proposal,
) {
	t.Helper()
	lines := p.form.split(p.Base.Data)
	ids := map[string]bool{}
	last, lastEnd := -1, 0
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if ids[h.ID] {
			t.Fatalf("two hunks %s", h.ID)
		}
		ids[h.ID] = true
		if h.Start < last {
			t.Fatalf("hunk %s is out of order", h.ID)
		}
		last = h.Start
		if h.Lost {
			continue
		}
		if h.Start+h.Count > len(lines) {
			t.Fatalf("hunk %s [%d,+%d) is outside the %d lines of the base", h.ID, h.Start, h.Count, len(lines))
		}
		stands := joinLines(lines[h.Start : h.Start+h.Count])
		want := h.Old
		if h.State == HunkAccepted {
			want = h.New
		}
		if h.State != HunkConflict && !bytes.Equal(stands, want) && !h.wholeFile() {
			t.Fatalf("hunk %s (%s): base has %q, want %q", h.ID, h.State, stands, want)
		}
		if h.State == HunkOpen {
			if h.Start < lastEnd {
				t.Fatalf("open hunk %s overlaps the one before", h.ID)
			}
			lastEnd = h.Start + h.Count
		}
	}
}

// genLines draws a small text over few distinct lines, so that repeats and
// ambiguous places are common.
func genLines(t *rapid.T, label string) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "x\r\n", "\n"}), 0, 24).Draw(t, label)
	s := strings.Join(lines, "")
	if rapid.Bool().Draw(t, label+" unterminated") {
		s += "end"
	}
	return s
}

// mutate changes a few places of a text.
func mutate(t *rapid.T, s, label string) string {
	lines := strings.SplitAfter(s, "\n")
	for range rapid.IntRange(1, 4).Draw(t, label+" edits") {
		at := rapid.IntRange(0, len(lines)-1).Draw(t, label+" at")
		switch rapid.IntRange(0, 2).Draw(t, label+" op") {
		case 0:
			lines[at] = rapid.SampledFrom([]string{"a\n", "N\n", "M\n"}).Draw(t, label+" line")
		case 1:
			lines = slices.Insert(lines, at, rapid.SampledFrom([]string{"b\n", "I\n", "J\n"}).Draw(t, label+" line"))
		case 2:
			if len(lines) > 1 {
				lines = slices.Delete(lines, at, at+1)
			}
		}
	}
	return strings.Join(lines, "")
}

// What is in the base at the end is the first base with exactly the accepted
// hunks, whatever the order of decisions.
func TestPropertyAcceptedHunksExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := genLines(t, "base")
		want := mutate(t, base, "edit")
		p := fresh(base).step(text(want))
		invariant(t, p)
		if got := string(p.Proposed().Data); got != want {
			t.Fatalf("view is %q, want %q", got, want)
		}
		hunks := slices.Clone(p.Hunks)
		order := rapid.Permutation(hunks).Draw(t, "order")
		var edits []edit
		accepted := map[string]bool{}
		for _, h := range order {
			accept := rapid.Bool().Draw(t, "accept "+h.ID)
			accepted[h.ID] = accept
			p = mustDecide(t, p, Verdict{Hunk: h.ID, Accept: accept})
			invariant(t, p)
		}
		for _, h := range hunks {
			if accepted[h.ID] {
				edits = append(edits, edit{h.Start, h.Count, h.New})
			}
		}
		expected := formBytes.patch([]byte(base), edits)
		if !bytes.Equal(p.Base.Data, expected) {
			t.Fatalf("base is %q, want %q", p.Base.Data, expected)
		}
		if p.Undecided() || !bytes.Equal(p.Proposed().Data, expected) {
			t.Fatalf("after all decisions the view is %q, state %s", p.Proposed().Data, p.State())
		}
	})
}

// Steps, decisions, moves of the tree and undos in any order keep a proposal
// sound; the tree's own text is never part of what changed unasked.
func TestPropertyAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := genLines(t, "tree")
		p := fresh(tree)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			var undecided []string
			for _, h := range p.Hunks {
				if !h.decided() {
					undecided = append(undecided, h.ID)
				}
			}
			switch op := rapid.SampledFrom([]string{"step", "decide", "tree", "undo"}).Draw(t, "op"); {
			case op == "step":
				want := mutate(t, string(p.Proposed().Data), "agent")
				p = p.step(text(want))
				if got := string(p.Proposed().Data); got != want {
					t.Fatalf("view is %q, want %q", got, want)
				}
			case op == "decide" && len(undecided) > 0:
				id := rapid.SampledFrom(undecided).Draw(t, "hunk")
				v := Verdict{Hunk: id, Accept: rapid.Bool().Draw(t, "accept")}
				if h, _ := p.Hunk(id); h.State == HunkConflict && v.Accept {
					v.Side = rapid.SampledFrom([]Side{SideAgent, SideTree}).Draw(t, "side")
				}
				view := string(p.Proposed().Data)
				h, _ := p.Hunk(id)
				q, _, err := p.decide([]Verdict{v}, Decision{By: "r"})
				if err != nil {
					// Lines that would run together are the one reason to refuse
					// a side of a conflict.
					if h.State != HunkConflict || CodeOf(err) != CodeConflict {
						t.Fatalf("decide: %v", err)
					}
					continue
				}
				if h.State == HunkOpen && v.Accept && string(q.Proposed().Data) != view {
					t.Fatalf("accepting %s changed the view from %q to %q", id, view, q.Proposed().Data)
				}
				if !v.Accept && !bytes.Equal(q.Base.Data, p.Base.Data) {
					t.Fatalf("rejecting %s changed the tree", id)
				}
				p = q
				tree = string(p.Base.Data)
			case op == "tree":
				tree = mutate(t, tree, "person")
				q, _ := p.rebase(text(tree), true)
				if string(q.Base.Data) != tree {
					t.Fatalf("base is %q, the tree %q", q.Base.Data, tree)
				}
				p = q
			case op == "undo":
				if q, _, err := p.undo(""); err == nil {
					p = q
					tree = string(p.Base.Data)
				}
			}
			invariant(t, p)
		}
	})
}

// A tree that changes and changes back leaves a proposal as it was.
func TestPropertyThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := genLines(t, "base")
		p := fresh(base).step(text(mutate(t, base, "agent")))
		away, _ := p.rebase(text(mutate(t, base, "person")), true)
		invariant(t, away)
		back, _ := away.rebase(text(base), true)
		invariant(t, back)
		if !bytes.Equal(back.Proposed().Data, p.Proposed().Data) {
			t.Fatalf("view was %q, is %q", p.Proposed().Data, back.Proposed().Data)
		}
	})
}

// Lines that come back beside a conflict and make its text whole are no change to
// the hunk that stands behind them.
func TestLinesThatComeBackBelongToOneHunk(t *testing.T) {
	p := fresh("1\n2\n3\n4\n5\n").step(text("4\n5\n"))
	p, _ = p.rebase(text("1\n2\n4\n5\n"), true)
	p = p.step(text("1\n2\n4\nagent\n5\n"))
	p, _, err := p.decide([]Verdict{{Hunk: "h2"}}, Decision{By: "r"})
	if err != nil {
		t.Fatal(err)
	}
	p, _ = p.rebase(text("1\n5\n"), true)
	if p, _, err = p.undo("h2"); err != nil { // now they stand side by side
		t.Fatal(err)
	}
	p, _ = p.rebase(text("1\n2\n3\n4\n5\n"), true)
	if got, want := string(p.Proposed().Data), "4\nagent\n5\n"; got != want || p.State() != StateOpen || p.overlaps() {
		t.Errorf("the view is %q, want %q: %s", got, want, ids(p))
	}
}

// An edit that an undo takes back is what was there before it was accepted.
func TestPropertyUndoAccept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := genLines(t, "base")
		want := mutate(t, base, "agent")
		p := fresh(base).step(text(want))
		if len(p.Hunks) == 0 {
			return
		}
		id := rapid.SampledFrom(p.Hunks).Draw(t, "hunk").ID
		q := mustDecide(t, p, Verdict{Hunk: id, Accept: true})
		q, _, err := q.undo(id)
		if err != nil {
			t.Fatalf("undo: %v", err)
		}
		if string(q.Base.Data) != base || string(q.Proposed().Data) != want {
			t.Fatalf("tree %q, view %q; want %q, %q", q.Base.Data, q.Proposed().Data, base, want)
		}
	})
}
