package diffpreview

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Span is one maximal run of changed lines: the lines of the old text that go and those of the new text that take their
// place. Indexes count from 0. A pure insertion has OldLines 0 and stands before old line OldStart.
type Span struct {
	OldStart, OldLines int
	NewStart, NewLines int
}

// DiffLines returns what has to change to make the lines of new out of the lines of old, sorted by position, with at
// least one equal line between two spans. The result is a function of the two texts alone: no clock, no random seed.
//
// Lines that occur once on both sides are matched first (the longest sequence of them that stands in the same order);
// what lies between two such lines is diffed for the fewest changed lines. A gap of more than gapCells (old lines times
// new lines) is searched in steps of bounded depth, which can leave a few changed lines more than need be. After
// diffBudget places visited, one to two seconds of work, the gaps that are left count as replaced. Last, an insertion or
// deletion that could stand at several places is moved as far down as it goes, and spans that meet are joined.
func DiffLines(old, new [][]byte) []Span {
	n := min(len(old), len(new))
	prefix := 0
	for prefix < n && bytes.Equal(old[prefix], new[prefix]) {
		prefix++
	}
	suffix := 0
	for suffix < n-prefix && bytes.Equal(old[len(old)-1-suffix], new[len(new)-1-suffix]) {
		suffix++
	}
	return diffBetween(old, new, prefix, suffix)
}

// DiffBytes diffs two texts by their lines, without cutting them into lines whole: the same spans as DiffLines gives of
// SplitLines of both.
func DiffBytes(old, new []byte, enc Encoding) []Span {
	return diffTexts(old, new, enc).spans
}

// textDiff is the diff of two texts with the lines that differ.
type textDiff struct {
	spans    []Span
	first    int      // number of the first line in old and new
	old, new [][]byte // the lines from the first change to the last, and some that follow
}

// oldText and newText are the lines of a span's two sides, as a copy: a hunk does not hold the file it came from.
func (d *textDiff) oldText(s Span) []byte {
	return joinLines(d.old[s.OldStart-d.first:][:s.OldLines])
}

func (d *textDiff) newText(s Span) []byte {
	return joinLines(d.new[s.NewStart-d.first:][:s.NewLines])
}

// diffTexts finds what the texts have in common at both ends by comparing bytes, and cuts only what lies between into
// lines: of a large file with one change that is nearly all the work saved.
func diffTexts(old, new []byte, enc Encoding) textDiff {
	if bytes.Equal(old, new) {
		return textDiff{}
	}
	prefix := wholeLines(old[:commonPrefix(old, new)], enc)
	oldRest, newRest := old[prefix:], new[prefix:]
	suffix := commonLines(oldRest, newRest, enc)
	rest := oldRest[len(oldRest)-suffix:]
	w := window{
		old: SplitLines(oldRest[:len(oldRest)-suffix], enc), new: SplitLines(newRest[:len(newRest)-suffix], enc),
		rest: lineCursor{data: rest, enc: enc},
	}
	first := countLines(old[:prefix], enc)
	spans := w.settle(matchLines(w.old, w.new))
	for i := range spans {
		spans[i].OldStart += first
		spans[i].NewStart += first
	}
	return textDiff{spans: spans, first: first, old: w.old, new: w.new}
}

// wholeLines is the length in bytes of the ended lines at the start of a text.
func wholeLines(text []byte, enc Encoding) int {
	if enc != UTF16LE && enc != UTF16BE {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	for end := len(text) &^ 1; end > 0; end -= 2 {
		if codeUnit(text, end-2, enc) == '\n' {
			return end
		}
	}
	return 0
}

// commonLines is the length in bytes of the lines that two different texts have in common at their end. Both begin with
// a line.
func commonLines(a, b []byte, enc Encoding) int {
	wide := enc == UTF16LE || enc == UTF16BE
	if wide && (len(a)-len(b))%2 != 0 {
		return 0 // a line feed of one is none of the other
	}
	n := commonSuffix(a, b)
	if wide && n > 0 {
		n -= (len(a) - n) % 2
	}
	begins := func(text []byte) bool {
		at := len(text) - n
		return at == 0 || wholeLines(text[max(0, at-2):at], enc) == min(at, 2)
	}
	if begins(a) && begins(b) {
		return n
	}
	rest := a[len(a)-n:]
	end, _ := lineEnd(rest, 0, enc)
	return n - end
}

// equalBlock is the stretch of two texts, in bytes, that is compared at once before it is looked at word by word.
const equalBlock = 4096

// commonPrefix is the number of bytes that a and b have in common at their start.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+equalBlock <= n && bytes.Equal(a[i:i+equalBlock], b[i:i+equalBlock]) {
		i += equalBlock
	}
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix is the number of bytes that a and b have in common at their end.
func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for i >= equalBlock && bytes.Equal(a[i-equalBlock:i], b[i-equalBlock:i]) {
		i -= equalBlock
	}
	for ; i >= 8; i -= 8 {
		if x := binary.LittleEndian.Uint64(a[i-8:]) ^ binary.LittleEndian.Uint64(b[i-8:]); x != 0 {
			return n - i + bits.LeadingZeros64(x)/8
		}
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}

// diffBetween diffs what lies between a common prefix and a common suffix, both counted in lines.
func diffBetween(old, new [][]byte, prefix, suffix int) []Span {
	spans := matchLines(old[prefix:len(old)-suffix], new[prefix:len(new)-suffix])
	for i := range spans {
		spans[i].OldStart += prefix
		spans[i].NewStart += prefix
	}
	w := window{old: old, new: new}
	return w.settle(spans)
}

// matchLines returns the runs between the lines that two texts have in common, not yet in their canonical place.
func matchLines(a, b [][]byte) []Span {
	switch {
	case len(a) == 0 && len(b) == 0:
		return nil
	case len(a) == 0 || len(b) == 0:
		return []Span{{OldLines: len(a), NewLines: len(b)}}
	}
	m := newMatcher(a, b)
	m.match()
	return m.spans()
}
