package diffpreview

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const slotCount = 4

func slot(n int) string { return fmt.Sprintf("slot %d\n", n) }

var slotToken = regexp.MustCompile(`^token (\d) \d+\n$`)

// checkSlots says what is wrong with a text that shall be the slots in order,
// each followed by its own tokens, no token twice.
func checkSlots(text string) error {
	next := 0
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		m := slotToken.FindStringSubmatch(line)
		switch {
		case m == nil && next < slotCount && line == slot(next):
			next++
		case m == nil:
			return fmt.Errorf("%q before slot %d", line, next)
		case m[1] != fmt.Sprint(next-1):
			return fmt.Errorf("%q in slot %d", line, next-1)
		case seen[line]:
			return fmt.Errorf("%q twice", line)
		}
		seen[line] = true
	}
	if next != slotCount {
		return fmt.Errorf("only %d slots", next)
	}
	return nil
}

// slotWorld is two agents who put tokens below the lines of one file, and a
// reviewer.
type slotWorld struct {
	*world
	sessions  []string
	tokens    int
	proposals map[string]bool
	log       []string
}

func (w *slotWorld) insert(rt *rapid.T) {
	s := rapid.SampledFrom(w.sessions).Draw(rt, "session")
	text := w.view(s, "f")
	for range rapid.IntRange(1, 2).Draw(rt, "tokens") {
		n := rapid.IntRange(0, slotCount-1).Draw(rt, "slot")
		w.tokens++
		text = strings.Replace(text, slot(n), slot(n)+fmt.Sprintf("token %d %d\n", n, w.tokens), 1)
	}
	p := w.propose(s, "f", text)
	w.proposals[p.ID] = true
	w.log = append(w.log, fmt.Sprintf("%s proposes %q (%s)", s, text, p.ID))
}

func (w *slotWorld) decide(rt *rapid.T) {
	open, err := w.store.List(Filter{})
	if err != nil {
		rt.Fatal(err)
	}
	if len(open) == 0 {
		return
	}
	p := rapid.SampledFrom(open).Draw(rt, "proposal")
	d := DecideFile{ID: p.ID, Version: p.Version, By: "tester"}
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.decided() || rapid.IntRange(0, 2).Draw(rt, "decide "+h.ID) == 0 {
			continue
		}
		v := Verdict{Hunk: h.ID, Accept: rapid.IntRange(0, 3).Draw(rt, "accept "+h.ID) > 0}
		if v.Accept && h.State == HunkConflict {
			v.Side = rapid.SampledFrom([]Side{SideAgent, SideTree}).Draw(rt, "side of "+h.ID)
		}
		d.Verdicts = append(d.Verdicts, v)
	}
	if len(d.Verdicts) == 0 {
		return
	}
	w.log = append(w.log, fmt.Sprintf("decide %s of %s", fmt.Sprintf("%+v", d.Verdicts), hunksOf(p)))
	if _, _, err := w.store.Decide(context.Background(), d); err != nil {
		rt.Fatalf("decide %+v: %v\n%s", d, err, strings.Join(w.log, "\n"))
	}
}

func (w *slotWorld) undo(rt *rapid.T) {
	if len(w.proposals) == 0 {
		return
	}
	id := fmt.Sprintf("p%d", rapid.IntRange(1, len(w.proposals)).Draw(rt, "proposal"))
	hunk := ""
	if p, err := w.store.Get(id); err == nil && len(p.Hunks) > 0 && rapid.Bool().Draw(rt, "one") {
		hunk = rapid.SampledFrom(p.Hunks).Draw(rt, "hunk").ID
	}
	_, _, err := w.store.Undo(context.Background(), id, hunk, "tester")
	w.log = append(w.log, fmt.Sprintf("undo %s of %s: %v", hunk, id, err))
}

func hunksOf(p *Proposal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s v%d on %q:", p.ID, p.Version, p.Base.Data)
	for i := range p.Hunks {
		h := &p.Hunks[i]
		fmt.Fprintf(&b, " %s %s at %d+%d %q to %q;", h.ID, h.State, h.Start, h.Count, h.Old, h.New)
	}
	return b.String()
}

// Whatever is accepted, refused, undone and settled in whatever order: in the
// tree and in every view a line stands where it was put, once.
func TestPropertyLinesStayAtTheirPlace(t *testing.T) {
	if memory, err := os.MkdirTemp("/dev/shm", "loomd"); err == nil {
		t.Cleanup(func() { os.RemoveAll(memory) })
		t.Setenv("TMPDIR", memory)
	}
	rapid.Check(t, func(rt *rapid.T) {
		first := ""
		for n := range slotCount {
			first += slot(n)
		}
		dir, err := os.MkdirTemp("", "slots")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		w := &slotWorld{world: &world{t: t, root: filepath.Join(dir, "root"), state: filepath.Join(dir, "state")}, proposals: map[string]bool{}}
		w.save("f", first)
		w.open()
		defer w.close()
		w.sessions = []string{w.session("a"), w.session("b")}
		w.sessions = w.sessions[:rapid.IntRange(1, 2).Draw(rt, "sessions")]
		for range rapid.IntRange(2, 14).Draw(rt, "steps") {
			rapid.SampledFrom([]func(*rapid.T){w.insert, w.insert, w.decide, w.decide, w.undo}).Draw(rt, "act")(rt)
			texts := map[string]string{"disk": w.disk("f")}
			for _, s := range w.sessions {
				texts[s] = w.view(s, "f")
			}
			for who, text := range texts {
				if err := checkSlots(text); err != nil {
					rt.Fatalf("%s: %v in %q\n%s", who, err, text, strings.Join(w.log, "\n"))
				}
			}
		}
	})
}

// An agent's line above one that was accepted stays above the line that follows
// when the accepted one is undone.
func TestUndoBelowAnInsertion(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\nc\n"})
	s := w.session("agent")
	p := w.propose(s, "f", "a\nX\nb\nY\nc\n")
	w.mustDecide(p, true, p.Hunks[0].ID)
	w.propose(s, "f", "a\nZ\nX\nb\nY\nc\n")
	w.wantDisk("f", "a\nX\nb\nc\n")
	if _, _, err := w.store.Undo(context.Background(), p.ID, p.Hunks[0].ID, "tester"); err != nil {
		t.Fatal(err)
	}
	w.wantDisk("f", "a\nb\nc\n")
	if got, want := w.view(s, "f"), "a\nZ\nX\nb\nY\nc\n"; got != want {
		t.Errorf("in the view is %q, want %q", got, want)
	}
}
