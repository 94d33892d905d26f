package diffpreview

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// brief is an entry without what a test does not choose.
func (e HistoryEntry) brief() string {
	return fmt.Sprintf("%d %s %s %s %s %s %s by %s %q %.6s→%.6s +%d-%d %v",
		e.Seq, e.Proposal, e.Label, e.Path, e.Hunk, e.Kind, e.Decision, e.By, e.Comment, e.HashBefore, e.HashAfter, e.Added, e.Removed, e.Tools)
}

func (w *world) history(f HistoryFilter) []string {
	w.t.Helper()
	entries, _, err := w.store.History(f)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.brief())
	}
	return out
}

// Every way in which a hunk is decided, or opened again, leaves its entry.
func TestHistoryOfEveryDecision(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	ctx := context.Background()
	base := "a\nb\nc\nd\ne\n"
	w.save("a", base)
	w.save("b", "1\n")
	s := w.session("agent")
	p := w.propose(s, "a", "A\nb\nC\nd\nE\nF\n")
	text := "CC\n"
	_, _, err := w.store.Decide(ctx, DecideFile{ID: p.ID, By: "ann", Verdicts: []Verdict{
		{Hunk: "h1", Accept: true, Comment: "fine"}, {Hunk: "h2", Accept: true, Text: &text}, {Hunk: "h3", Comment: "no"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.store.Undo(ctx, p.ID, "h1", "bob"); err != nil {
		t.Fatal(err)
	}
	w.save("a", "A\nb\nCC\nd\ne\n") // the text of h1 by another way
	if _, err := w.store.Get(p.ID); err != nil {
		t.Fatal(err)
	}
	made := w.propose(s, "new", "x\n")
	w.propose(s, "b", "2\n")
	if _, err := w.store.DecideSession(ctx, DecideSet{Session: s, Accept: true, Comment: "all", By: "cleo"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.store.Undo(ctx, made.ID, "", "cleo"); err != nil {
		t.Fatal(err)
	}
	hash := func(text string) string { return hashBytes([]byte(text))[:6] }
	first, second := hash(base), hash("A\nb\nCC\nd\ne\n")
	undone := hash("a\nb\nCC\nd\ne\n")
	want := []string{
		"1 p1 agent a h1 text accepted by ann \"fine\" " + first + "→" + second + " +1-1 [test]",
		"2 p1 agent a h2 text modified by ann \"\" " + first + "→" + second + " +1-1 [test]",
		"3 p1 agent a h3 text rejected by ann \"no\" " + first + "→" + second + " +2-1 [test]",
		"4 p1 agent a h1 text reopened by bob \"\" " + second + "→" + undone + " +1-1 [test]",
		"5 p1 agent a h1 text accepted by tree \"\" " + undone + "→" + second + " +1-1 [test]",
		"6 p3 agent b h1 text accepted by cleo \"all\" " + hash("1\n") + "→" + hash("2\n") + " +1-1 [test]",
		"7 p2 agent new h1 create accepted by cleo \"all\" →" + hash("x\n") + " +1-0 [test]",
		"8 p2 agent new h1 create reopened by cleo \"\" " + hash("x\n") + "→ +1-0 [test]",
	}
	for _, when := range []string{"at once", "after a restart", "after another"} {
		if got := w.history(HistoryFilter{}); !slices.Equal(got, want) {
			t.Errorf("%s the history is\n%s, want\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		w.restart()
	}
	entries, _, _ := w.store.History(HistoryFilter{})
	for i, e := range entries {
		if e.Time.IsZero() || i > 0 && e.Time.Before(entries[i-1].Time) {
			t.Errorf("entry %d has time %v", e.Seq, e.Time)
		}
	}
}

// A write that fails, or is not even begun, leaves no entry.
func TestHistoryHasNothingThatDidNotHappen(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	w.save("a", "1\n")
	w.save("b", "1\n")
	s := w.session("agent")
	p := w.propose(s, "a", "2\n")
	w.propose(s, "b", "2\n")
	for _, stage := range []string{"checked", "commit logged"} {
		w.ws.step = func(at string) {
			if at == stage { // another program is quicker, at every try
				w.save("a", fmt.Sprint("theirs ", time.Now().UnixNano(), "\n"))
			}
		}
		if _, err := w.decide(p, true); err == nil {
			t.Fatal("accepted over a change of the file")
		}
	}
	w.ws.step = func(string) {}
	if got := w.history(HistoryFilter{}); len(got) > 0 {
		t.Errorf("the history tells of %q", got)
	}
	w.restart()
	if got := w.history(HistoryFilter{}); len(got) > 0 {
		t.Errorf("after a restart the history tells of %q", got)
	}
}

// addHistory fills a history with n entries, some in the files and the newest in
// memory.
func addHistory(t testing.TB, h *history, n, inMemory int) {
	for i := range n {
		file := fmt.Sprintf("dir%d/f%d", i%7, i%3)
		h.add([]HistoryEntry{{
			Time: time.Unix(int64(i), 0), Proposal: fmt.Sprintf("p%d", i/2), Session: fmt.Sprintf("s%d", i%5), Label: "label<" + fmt.Sprint(i%5) + ">", Path: file,
			Hunk: "h1", Kind: "text", Decision: "accepted", By: "tester", Comment: strings.Repeat("c", i%400), HashBefore: hashBytes([]byte(file)), Tools: []string{},
		}})
		if i%50 == 49 || i == n-inMemory-1 {
			last := h.last
			if n-i-1 < inMemory {
				continue
			}
			if err := h.save(last, func(string) {}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What a filter finds, by pages of any size, is what looking at every entry
// finds.
func TestHistoryFilters(t *testing.T) {
	w := newQuietWorld(t, Limits{History: 2 << 20})
	addHistory(t, w.store.history, 1500, 30)
	all := slices.Clone(w.store.history.recent)
	for seq := range 1470 {
		i := 1469 - seq
		entries, _, err := w.store.History(HistoryFilter{Before: i + 2, Limit: 1})
		if err != nil || len(entries) != 1 || entries[0].Seq != i+1 {
			t.Fatalf("entry %d: %v, %v", i+1, entries, err)
		}
		all = append(all, entries[0])
	}
	slices.SortFunc(all, func(a, b HistoryEntry) int { return a.Seq - b.Seq })
	if len(all) != 1500 || all[0].Seq != 1 {
		t.Fatalf("%d entries from %d", len(all), all[0].Seq)
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := HistoryFilter{
			Session:  rapid.SampledFrom([]string{"", "s1", "s4", "label<2>", "nobody", "s"}).Draw(rt, "session"),
			Path:     rapid.SampledFrom([]string{"", ".", "dir1", "dir1/f1", "dir6/f", "dir2/f2", "gone"}).Draw(rt, "path"),
			Proposal: rapid.SampledFrom([]string{"", "", "", "p1", "p70", "p7"}).Draw(rt, "proposal"),
			Before:   rapid.IntRange(0, 1600).Draw(rt, "before"),
			Limit:    rapid.IntRange(1, 200).Draw(rt, "limit"),
		}
		if rapid.Bool().Draw(rt, "since") {
			f.Since = time.Unix(int64(rapid.IntRange(0, 1500).Draw(rt, "when")), 0)
		}
		var want []int
		for _, e := range all {
			inside := f.Path == "" || f.Path == "." || e.Path == f.Path || strings.HasPrefix(e.Path, f.Path+"/")
			if (f.Session == "" || e.Session == f.Session || e.Label == f.Session) && inside && (f.Proposal == "" || e.Proposal == f.Proposal) &&
				(f.Before == 0 || e.Seq < f.Before) && !e.Time.Before(f.Since) {
				want = append(want, e.Seq)
			}
		}
		var got []int
		for more := true; more; {
			var entries []HistoryEntry
			var err error
			if entries, more, err = w.store.History(f); err != nil {
				rt.Fatal(err)
			}
			var page []int
			for _, e := range entries {
				page = append(page, e.Seq)
			}
			if more && len(page) != f.Limit {
				rt.Fatalf("a page of %d entries, and there are more", len(page))
			}
			got = append(page, got...)
			if len(page) > 0 {
				f.Before = page[0]
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("found %v, want %v", got, want)
		}
	})
}

// The files are two of half the limit at most; the oldest entries go, and the
// first that is left says so.
func TestHistoryIsBounded(t *testing.T) {
	w := newQuietWorld(t, Limits{History: 100 << 10})
	addHistory(t, w.store.history, 3000, 0)
	for _, when := range []string{"at once", "after a restart"} {
		var size int64
		for _, path := range []string{w.store.history.path(), w.store.history.older()} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if size += info.Size(); info.Size() > 50<<10 {
				t.Errorf("%s %s has %d bytes", when, path, info.Size())
			}
		}
		if size < 50<<10 {
			t.Errorf("%s only %d bytes are left of the history", when, size)
		}
		first, last := w.store.HistoryRange()
		if first < 2 || last != 3000 {
			t.Errorf("%s the history goes from %d to %d", when, first, last)
		}
		entries, more, err := w.store.History(HistoryFilter{Before: first + 1})
		if err != nil || more || len(entries) != 1 || entries[0].Seq != first {
			t.Errorf("%s the first one is %v, %v, %v", when, entries, more, err)
		}
		w.restart()
	}
}

// A last line that was cut short, or never reached the disk, is written over.
func TestATornHistory(t *testing.T) {
	for _, torn := range []string{`{"seq":6,"torn`, "\x00\x00\x00\n\x00\x00", strings.Repeat("x", 3*historyBlock)} {
		w := newQuietWorld(t, Limits{})
		addHistory(t, w.store.history, 5, 0)
		w.close()
		path := filepath.Join(w.state, "history.jsonl")
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(torn)
		f.Close()
		w.open()
		addHistory(t, w.store.history, 3, 0)
		w.wantHistory("torn")
		data, err := os.ReadFile(path)
		if err != nil || bytes.Count(data, []byte("\n")) != 8 || bytes.Contains(data, []byte(torn)) {
			t.Errorf("%.10q: the file has %d lines, ends with %.300q, %v", torn, bytes.Count(data, []byte("\n")), data[len(data)-30:], err)
		}
	}
}

// A history whose journal was removed goes on with its numbers, and one that was
// removed itself does, too.
func TestHistoryWithoutItsOtherHalf(t *testing.T) {
	for _, name := range []string{"journal.jsonl", "history.jsonl"} {
		w := newQuietWorld(t, Limits{})
		for range 2 {
			w.mustDecide(w.propose(w.session("agent"), "a", "1\n"), false)
		}
		w.restart()
		w.close()
		if err := os.Remove(filepath.Join(w.state, name)); err != nil {
			t.Fatal(err)
		}
		w.open()
		w.mustDecide(w.propose(w.session("agent"), "b", "1\n"), false)
		for range 2 {
			if got := w.history(HistoryFilter{Path: "b"}); len(got) != 1 || !strings.HasPrefix(got[0], "3 ") {
				t.Errorf("without %s: %q", name, got)
			}
			w.wantHistory(name)
			w.restart()
		}
	}
}

// A page of a large history takes the memory of a page.
func TestHistoryIsReadInPieces(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	addHistory(t, w.store.history, 40_000, 0)
	allocated := func(f HistoryFilter) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := w.store.History(f); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, f := range []HistoryFilter{{}, {Before: 20_000}} {
		if got := allocated(f); got > 8<<20 {
			t.Errorf("a page of %+v took %d bytes of a history of %d", f, got, w.store.history.size)
		}
	}
	info, err := os.Stat(w.store.history.path())
	if err != nil || info.Size() < 10<<20 {
		t.Errorf("the history is too small for this test: %v, %v", info.Size(), err)
	}
}

// An entry is short whatever was said, and a comment is cut between characters.
func TestHistoryCommentsAreBounded(t *testing.T) {
	for _, long := range []string{strings.Repeat("é", 5000), strings.Repeat("\xff", 5000), strings.Repeat("x", 5000)} {
		got := shortened(long)
		if len(got) > maxHistoryText+len("\uFFFD") || !strings.HasSuffix(got, "…") || strings.Contains(long, "é") && strings.Contains(got, "\uFFFD") {
			t.Errorf("%.8q: %d bytes, ends with %q", long, len(got), got[len(got)-8:])
		}
	}
	if got := shortened("short"); got != "short" {
		t.Error(got)
	}
}

// wantHistory fails unless the history is numbered without gaps from its first
// entry on, and says what was decided last about each file.
func (w *world) wantHistory(where string) map[string]string {
	w.t.Helper()
	last := map[string]string{}
	entries, more, err := w.store.History(HistoryFilter{Limit: 1000})
	if err != nil || more {
		w.t.Fatalf("%s: %v, %v", where, more, err)
	}
	first, newest := w.store.HistoryRange()
	for i, e := range entries {
		if e.Seq != first+i {
			w.t.Errorf("%s: entry %d has number %d", where, first+i, e.Seq)
		}
		last[e.Path] = e.Decision
	}
	if len(entries) > 0 && entries[len(entries)-1].Seq != newest {
		w.t.Errorf("%s: the newest is said to be %d", where, newest)
	}
	return last
}
