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

// DiffBytes splits two texts into lines and diffs them: the same spans as DiffLines, but what the texts have in common
// at both ends is found by comparing bytes, which is most of the time saved when little has changed.
func DiffBytes(old, new []byte, enc Encoding) (oldLines, newLines [][]byte, spans []Span) {
	oldLines, newLines = SplitLines(old, enc), SplitLines(new, enc)
	n := min(len(oldLines), len(newLines))
	prefix := 0
	for left := commonPrefix(old, new); prefix < n; prefix++ {
		length := len(oldLines[prefix])
		if length != len(newLines[prefix]) || length > left {
			break
		}
		left -= length
	}
	suffix := 0
	for left := commonSuffix(old, new); suffix < n-prefix; suffix++ {
		length := len(oldLines[len(oldLines)-1-suffix])
		if length != len(newLines[len(newLines)-1-suffix]) || length > left {
			break
		}
		left -= length
	}
	return oldLines, newLines, diffBetween(oldLines, newLines, prefix, suffix)
}

// commonPrefix is the number of bytes that a and b have in common at their start.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
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
	a, b := old[prefix:len(old)-suffix], new[prefix:len(new)-suffix]
	var spans []Span
	switch {
	case len(a) == 0 && len(b) == 0:
		return nil
	case len(a) == 0 || len(b) == 0:
		spans = []Span{{OldLines: len(a), NewLines: len(b)}}
	default:
		m := newMatcher(a, b)
		m.match()
		spans = m.spans()
	}
	for i := range spans {
		spans[i].OldStart += prefix
		spans[i].NewStart += prefix
	}
	return settleSpans(old, new, spans)
}
