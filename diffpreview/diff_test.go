package diffpreview

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// textOf makes lines of the words of s.
func textOf(s string) [][]byte {
	var lines [][]byte
	for _, word := range strings.Fields(s) {
		lines = append(lines, []byte(word+"\n"))
	}
	return lines
}

func checkSpans(t *testing.T, got, want []Span) {
	t.Helper()
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("spans %v, want %v", got, want)
	}
}

func TestDiffLines(t *testing.T) {
	tests := []struct {
		name     string
		old, new string
		want     []Span
	}{
		{"nothing", "", "", nil},
		{"equal", "a b c", "a b c", nil},
		{"create", "", "a b", []Span{{0, 0, 0, 2}}},
		{"empty", "a b", "", []Span{{0, 2, 0, 0}}},
		{"insert", "a c", "a b c", []Span{{1, 0, 1, 1}}},
		{"delete", "a b c", "a c", []Span{{1, 1, 1, 0}}},
		{"replace", "a b c", "a x y c", []Span{{1, 1, 1, 2}}},
		{"two places", "a b c d e", "A b c d E", []Span{{0, 1, 0, 1}, {4, 1, 4, 1}}},
		{"one equal line between", "a b c", "A b C", []Span{{0, 1, 0, 1}, {2, 1, 2, 1}}},
		{"insertion slides down", "a b", "a a b", []Span{{1, 0, 1, 1}}},
		{"deletion slides down", "x x x y", "x y", []Span{{1, 2, 1, 0}}},
		{"block slides down", "{ a } { b }", "{ a } { x } { b }", []Span{{4, 0, 4, 3}}},
		{"swap", "a b", "b a", []Span{{0, 1, 0, 0}, {2, 0, 1, 1}}},
		{"deletion slides to the next change", "x a a z", "y a w", []Span{{0, 1, 0, 1}, {2, 2, 2, 1}}},
		{"deletion slides into the common end", "x q a a s", "y q a s", []Span{{0, 1, 0, 1}, {3, 1, 3, 0}}},
		{"unique lines moved", "a b c d e f", "d e f a b c", nil},
		{"repeated lines only", "a a b b a a b b", "a b b a a b", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old, new := textOf(test.old), textOf(test.new)
			got := DiffLines(old, new)
			checkDiff(t, old, new, got)
			if test.want != nil || test.old == test.new {
				checkSpans(t, got, test.want)
			}
		})
	}
}

// A last line with and without its line feed are two lines.
func TestDiffFinalNewline(t *testing.T) {
	spans := DiffBytes([]byte("a\nb"), []byte("a\nb\n"), UTF8)
	checkSpans(t, spans, []Span{{1, 1, 1, 1}})
	spans = DiffBytes([]byte("a\nb"), []byte("a\nb\nc"), UTF8)
	checkSpans(t, spans, []Span{{1, 1, 1, 2}})
	spans = DiffBytes([]byte("a\r\nb\r\n"), []byte("a\nb\r\n"), UTF8)
	checkSpans(t, spans, []Span{{0, 1, 0, 1}})
}

func TestDiffBytesUTF16(t *testing.T) {
	old, new := []byte("\xff\xfea\x00\n\x00b\x00\n\x00"), []byte("\xff\xfea\x00\n\x00\x00\x0a\n\x00")
	spans := DiffBytes(old, new, UTF16LE)
	checkSpans(t, spans, []Span{{1, 1, 1, 1}})
}

// checkDiff holds for every diff.
func checkDiff(t interface{ Fatalf(string, ...any) }, old, new [][]byte, spans []Span) {
	at := Span{OldStart: -1, NewStart: -1}
	for i, s := range spans {
		oldEnd, newEnd := at.OldStart+at.OldLines, at.NewStart+at.NewLines
		switch {
		case s.OldLines < 0 || s.NewLines < 0 || s.OldLines+s.NewLines == 0:
			t.Fatalf("span %d of %v is empty", i, spans)
		case s.OldStart <= oldEnd && i > 0 || s.OldStart-oldEnd != s.NewStart-newEnd:
			t.Fatalf("span %d of %v is out of place", i, spans)
		case s.OldLines > 0 && s.NewLines > 0 && bytes.Equal(old[s.OldStart], new[s.NewStart]):
			t.Fatalf("span %d of %v starts with an equal line", i, spans)
		case s.OldLines > 0 && s.NewLines > 0 &&
			bytes.Equal(old[s.OldStart+s.OldLines-1], new[s.NewStart+s.NewLines-1]):
			t.Fatalf("span %d of %v ends with an equal line", i, spans)
		case canSlide(old, s.OldStart, s.OldLines, s.NewLines), canSlide(new, s.NewStart, s.NewLines, s.OldLines):
			t.Fatalf("span %d of %v could stand further down", i, spans)
		}
		at = s
	}
	if got := applySpans(old, new, spans); !sameLines(got, new) {
		t.Fatalf("%q with %v gives %q, not %q", old, spans, got, new)
	}
	if got := applySpans(new, old, reversed(spans)); !sameLines(got, old) {
		t.Fatalf("%v reversed gives %q, not %q", spans, got, old)
	}
}

// canSlide reports whether a run of lines of one text, with nothing on the other side, could stand one line lower.
func canSlide(text [][]byte, start, count, other int) bool {
	return count > 0 && other == 0 && start+count < len(text) && bytes.Equal(text[start], text[start+count])
}

// applySpans makes the new text of the old one and the changed lines alone.
func applySpans(old, new [][]byte, spans []Span) [][]byte {
	out := append([][]byte(nil), old...)
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		out = splice(out, s.OldStart, s.OldLines, new[s.NewStart:s.NewStart+s.NewLines])
	}
	return out
}

// splice puts repl in the place of count lines from start on.
func splice(lines [][]byte, start, count int, repl [][]byte) [][]byte {
	out := append([][]byte(nil), lines[:start]...)
	out = append(out, repl...)
	return append(out, lines[start+count:]...)
}

func sameLines(a, b [][]byte) bool {
	return bytes.Equal(bytes.Join(a, []byte{0}), bytes.Join(b, []byte{0})) && len(a) == len(b)
}

func reversed(spans []Span) []Span {
	out := make([]Span, len(spans))
	for i, s := range spans {
		out[i] = Span{s.NewStart, s.NewLines, s.OldStart, s.OldLines}
	}
	return out
}

// anyLines draws a text; few distinct lines make many repeats, many make many anchors.
func anyLines(t *rapid.T, label string) [][]byte {
	distinct := rapid.SampledFrom([]int{2, 4, 30}).Draw(t, label+" distinct")
	words := rapid.SliceOfN(rapid.IntRange(0, distinct-1), 0, 40).Draw(t, label)
	lines := make([][]byte, len(words))
	for i, w := range words {
		lines[i] = fmt.Appendf(nil, "%d\n", w)
	}
	return lines
}

// anyEdit draws a text and one made of it by some edits.
func anyEdit(t *rapid.T) (old, new [][]byte) {
	old = anyLines(t, "old")
	new = append([][]byte(nil), old...)
	for range rapid.IntRange(0, 5).Draw(t, "edits") {
		start := rapid.IntRange(0, len(new)).Draw(t, "start")
		count := rapid.IntRange(0, min(3, len(new)-start)).Draw(t, "count")
		repl := anyLines(t, "repl")
		new = splice(new, start, count, repl[:min(len(repl), 3)])
	}
	return old, new
}

func TestDiffProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := anyEdit(t)
		if rapid.Bool().Draw(t, "unrelated") {
			new = anyLines(t, "new")
		}
		spans := DiffLines(old, new)
		checkDiff(t, old, new, spans)

		a, b := bytes.Join(old, nil), bytes.Join(new, nil)
		if len(b) > 0 && rapid.Bool().Draw(t, "unterminated") {
			b = b[:len(b)-1]
		}
		checkDiffBytes(t, a, b, UTF8)
		for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
			wideA, errA := Encode(string(a), []byte(mark))
			wideB, errB := Encode(string(b), []byte(mark))
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			enc, _ := BOMOf(wideA)
			checkDiffBytes(t, wideA, wideB, enc)
		}
	})
}

// The search for large gaps gives a diff too, on any text and wherever it is cut short.
func TestSearchProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := anyEdit(t)
		m := newMatcher(old, new)
		m.work = rapid.SampledFrom([]int{0, diffBudget - 50, diffBudget}).Draw(t, "work")
		m.gapSearch(0, len(m.old), 0, len(m.new))
		checkDiff(t, old, new, settled(old, new, m.spans()))
	})
}

// The search leaves as few changed lines as the exact diff, or little more. (It has no need to be as good as that beyond
// searchDepth changes, but it is, and a fault in the choice of its path shows here.)
func TestSearchQuality(t *testing.T) {
	for _, distinct := range []int{5, 200} {
		for _, edits := range []int{20, 1000} {
			rnd := rand.New(rand.NewPCG(1, 1))
			old := randomLines(rnd, 2000, distinct)
			edited := randomEdits(rnd, old, edits, distinct)
			longer := append([][]byte(nil), old...)
			for range edits / 4 {
				longer = splice(longer, rnd.IntN(len(longer)), 0, randomLines(rnd, 1+rnd.IntN(9), distinct))
			}
			for _, texts := range [][2][][]byte{{old, edited}, {old, longer}, {longer, old}, {old[:300], longer}, {longer, old[:300]}} {
				checkSearch(t, texts[0], texts[1])
			}
		}
	}
}

func checkSearch(t *testing.T, old, new [][]byte) {
	t.Helper()
	exact, search := newMatcher(old, new), newMatcher(old, new)
	exact.gapExact(0, len(exact.old), 0, len(exact.new))
	search.gapSearch(0, len(search.old), 0, len(search.new))
	fewest, got := changed(exact.spans()), changed(search.spans())
	if got < fewest || got > fewest && fewest <= searchDepth || 1000*got > 1002*fewest {
		t.Errorf("%d and %d lines: the search leaves %d changed lines, the exact diff %d", len(old), len(new), got, fewest)
	}
	checkDiff(t, old, new, settled(old, new, search.spans()))
}

// The work does not grow with the square of the lines where there are unique ones, or none in common.
func TestDiffWork(t *testing.T) {
	const lines = 20_000
	rnd := rand.New(rand.NewPCG(2, 1))
	old := randomLines(rnd, lines, 1<<40)
	tests := []struct {
		name string
		new  [][]byte
		work int
	}{
		{"nothing in common", randomLines(rnd, lines, 1<<40), 0},
		{"one place in a hundred", randomEdits(rnd, old, lines/100, 1<<40), 0},
		{"two halves changed round", append(append([][]byte(nil), old[lines/2:]...), old[:lines/2]...), 0},
		{"one place in ten, few distinct lines", randomEdits(rnd, old, lines/10, 3), lines},
	}
	for _, test := range tests {
		m := newMatcher(old, test.new)
		m.match()
		if m.work > test.work {
			t.Errorf("%s: %d places visited, want at most %d", test.name, m.work, test.work)
		}
	}
}

// What is left when the budget is spent counts as replaced; both ways of matching a gap spend of it.
func TestDiffBudget(t *testing.T) {
	old, new := textOf("a b a b 1 a b a b 2 x y x y"), textOf("b a a b 1 b a a b 2 y x x y y")
	m := newMatcher(old, new)
	m.match()
	all := m.work
	m = newMatcher(old, new)
	m.work = diffBudget - all + 1
	if m.match(); m.work != diffBudget+1 {
		t.Errorf("of a budget of %d, %d are left, want -1", all-1, diffBudget-m.work)
	}
	m = newMatcher(old, new)
	m.work = diffBudget
	if m.match(); m.work != diffBudget {
		t.Errorf("%d places visited beyond the budget", m.work-diffBudget)
	}
	checkDiff(t, old, new, settled(old, new, m.spans()))

	rnd := rand.New(rand.NewPCG(3, 1))
	m = newMatcher(randomLines(rnd, 1000, 3), randomLines(rnd, 1000, 3))
	m.match()
	if m.work < 1000 {
		t.Errorf("the search through a large gap spends %d", m.work)
	}
}

func changed(spans []Span) (lines int) {
	for _, s := range spans {
		lines += s.OldLines + s.NewLines
	}
	return lines
}

// randomLines makes a text of n lines, drawn from so many distinct ones.
func randomLines(rnd *rand.Rand, n, distinct int) [][]byte {
	lines := make([][]byte, n)
	for i := range lines {
		lines[i] = fmt.Appendf(nil, "line %d of the text\n", rnd.IntN(distinct))
	}
	return lines
}

// randomEdits changes, inserts or deletes a few lines in so many places.
func randomEdits(rnd *rand.Rand, old [][]byte, edits, distinct int) [][]byte {
	cuts := map[int]bool{}
	for len(cuts) < edits {
		cuts[rnd.IntN(len(old))] = true
	}
	var out [][]byte
	for i := 0; i < len(old); i++ {
		if !cuts[i] {
			out = append(out, old[i])
			continue
		}
		kind := rnd.IntN(3)
		if kind != 0 {
			out = append(out, randomLines(rnd, 1+rnd.IntN(3), distinct)...)
		}
		if kind == 1 {
			out = append(out, old[i])
		}
	}
	return out
}

// settled is the canonical form of spans.
func settled(old, new [][]byte, spans []Span) []Span {
	w := window{old: old, new: new}
	return w.settle(spans)
}

// checkDiffBytes compares the diff of two texts with that of their lines.
func checkDiffBytes(t interface{ Fatalf(string, ...any) }, a, b []byte, enc Encoding) {
	old, new := SplitLines(a, enc), SplitLines(b, enc)
	d, want := diffTexts(a, b, enc), DiffLines(old, new)
	if fmt.Sprint(d.spans) != fmt.Sprint(want) {
		t.Fatalf("%q and %q in %s: DiffBytes gives %v, DiffLines %v", a, b, enc, d.spans, want)
	}
	for _, s := range d.spans {
		if got := d.oldText(s); !bytes.Equal(got, joinLines(old[s.OldStart:s.OldStart+s.OldLines])) {
			t.Fatalf("%q and %q in %s: the old text of %v is %q", a, b, enc, s, got)
		}
		if got := d.newText(s); !bytes.Equal(got, joinLines(new[s.NewStart:s.NewStart+s.NewLines])) {
			t.Fatalf("%q and %q in %s: the new text of %v is %q", a, b, enc, s, got)
		}
	}
}

func FuzzDiffLines(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nx\nc"))
	f.Add([]byte(""), []byte("\n\n"))
	f.Add([]byte("\r\n\r\n"), []byte("\n\r"))
	f.Add([]byte("a\na\nb\nb\na\n"), []byte("b\na\nb\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		old, new := SplitLines(a, UTF8), SplitLines(b, UTF8)
		checkDiff(t, old, new, DiffLines(old, new))
		for _, enc := range []Encoding{UTF8, UTF16LE, UTF16BE} {
			checkDiffBytes(t, a, b, enc)
		}
	})
}
