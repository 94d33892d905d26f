package diffpreview

import (
	"testing"

	"pgregory.net/rapid"
)

func TestMapRange(t *testing.T) {
	replaced := []Span{{2, 2, 2, 3}}                         // old lines 2 and 3 by three
	inserted := []Span{{2, 0, 2, 2}}                         // two lines before old line 2
	deleted := []Span{{2, 3, 2, 0}}                          // old lines 2 to 4
	two := []Span{{1, 1, 1, 0}, {4, 1, 3, 4}}                // one deleted, one replaced by four
	many := []Span{{0, 0, 0, 1}, {2, 1, 3, 1}, {5, 2, 6, 0}} // inserted, replaced, deleted
	tests := []struct {
		name         string
		start, count int
		spans        []Span
		newStart     int
		newCount     int
		touched      bool
	}{
		{"no change", 3, 2, nil, 3, 2, false},
		{"change below", 0, 1, replaced, 0, 1, false},
		{"change right below", 0, 2, replaced, 0, 2, false},
		{"change right above", 4, 1, replaced, 5, 1, false},
		{"change above", 7, 0, replaced, 8, 0, false},
		{"the very lines", 2, 2, replaced, 2, 3, true},
		{"half of the change from above", 1, 2, replaced, 1, 4, true},
		{"half of the change from below", 3, 2, replaced, 2, 4, true},
		{"all round the change", 1, 4, replaced, 1, 5, true},
		{"inside the change", 3, 0, replaced, 2, 3, true},
		{"place at the change's start", 2, 0, replaced, 2, 0, false},
		{"place at the change's end", 4, 0, replaced, 5, 0, false},
		{"insertion inside", 1, 2, inserted, 1, 4, true},
		{"insertion at the start", 2, 1, inserted, 4, 1, false},
		{"insertion at the end", 1, 1, inserted, 1, 1, false},
		{"insertion at the very place", 2, 0, inserted, 2, 2, true},
		{"place below the insertion", 3, 0, inserted, 5, 0, false},
		{"all deleted", 3, 1, deleted, 2, 0, true},
		{"deleted from the middle on", 1, 2, deleted, 1, 1, true},
		{"place inside a deletion", 3, 0, deleted, 2, 0, true},
		{"two changes inside", 0, 6, two, 0, 8, true},
		{"the second change only", 2, 3, two, 1, 6, true},
		{"between both", 2, 2, two, 1, 2, false},
		{"one above, one touched, one below", 2, 2, many, 3, 2, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start, count, touched := MapRange(test.start, test.count, test.spans)
			if start != test.newStart || count != test.newCount || touched != test.touched {
				t.Errorf("MapRange(%d, %d, %v) = %d, %d, %t, want %d, %d, %t", test.start, test.count, test.spans,
					start, count, touched, test.newStart, test.newCount, test.touched)
			}
		})
	}
}

// anySpans draws the diff of two texts, and the length of the old one.
func anySpans(t *rapid.T) (spans []Span, oldLen int) {
	newAt := 0
	for range rapid.IntRange(0, 4).Draw(t, "spans") {
		equal := rapid.IntRange(min(len(spans), 1), 3).Draw(t, "equal")
		s := Span{oldLen + equal, rapid.IntRange(0, 3).Draw(t, "old"), newAt + equal, rapid.IntRange(0, 3).Draw(t, "new")}
		if s.OldLines+s.NewLines == 0 {
			s.NewLines = 1
		}
		spans = append(spans, s)
		oldLen, newAt = s.OldStart+s.OldLines, s.NewStart+s.NewLines
	}
	return spans, oldLen + rapid.IntRange(0, 3).Draw(t, "rest")
}

// touchedBy says which lines stand where: line by line, what MapRange says of whole runs.
func touchedBy(s Span, start, end int) bool {
	gone := func(line int) bool { return s.OldStart <= line && line < s.OldStart+s.OldLines }
	if start == end {
		return s.OldLines == 0 && s.OldStart == start || gone(start-1) && gone(start)
	}
	inside := func(line int) bool { return start <= line && line < end }
	for line := start; line < end; line++ {
		if gone(line) {
			return true
		}
	}
	return s.OldLines == 0 && inside(s.OldStart-1) && inside(s.OldStart)
}

// rangeModel is MapRange by the identity of single lines: the new places of the lines of the range that are left, and of
// those that the changes which touch it brought.
func rangeModel(start, end, oldLen int, spans []Span) (lines []int, before int, touched bool) {
	newAt, line := 0, 0
	walk := func(until int) {
		for ; line < until; line++ {
			switch {
			case start <= line && line < end:
				lines = append(lines, newAt)
			case line < start:
				before++
			}
			newAt++
		}
	}
	for _, s := range spans {
		walk(s.OldStart)
		line += s.OldLines
		hit := touchedBy(s, start, end)
		touched = touched || hit
		for range s.NewLines {
			switch {
			case hit:
				lines = append(lines, newAt)
			case line <= start:
				before++
			}
			newAt++
		}
	}
	walk(oldLen)
	return lines, before, touched
}

func TestMapRangeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans, oldLen := anySpans(t)
		start := rapid.IntRange(0, oldLen).Draw(t, "start")
		count := rapid.IntRange(0, oldLen-start).Draw(t, "count")
		newStart, newCount, touched := MapRange(start, count, spans)
		byMoves, byMovesCount, byMovesTouched := newMoves(spans).mapRange(start, count)
		if byMoves != newStart || byMovesCount != newCount || byMovesTouched != touched {
			t.Fatalf("MapRange(%d, %d, %v) = %d, %d, %t, by search %d, %d, %t", start, count, spans,
				newStart, newCount, touched, byMoves, byMovesCount, byMovesTouched)
		}
		lines, before, wantTouched := rangeModel(start, start+count, oldLen, spans)
		wantStart := before
		if len(lines) > 0 {
			wantStart = lines[0]
			if last := lines[len(lines)-1]; last-wantStart+1 != len(lines) {
				t.Fatalf("the model is not one range: %v", lines)
			}
		}
		if newStart != wantStart || newCount != len(lines) || touched != wantTouched {
			t.Fatalf("MapRange(%d, %d, %v) = %d, %d, %t, the model says %d, %d, %t", start, count, spans,
				newStart, newCount, touched, wantStart, len(lines), wantTouched)
		}
		if !touched && newCount != count {
			t.Fatalf("an untouched range of %d lines has now %d", count, newCount)
		}
	})
}

// What lies before the range, the range and what lies behind it make the whole new text, in that order.
func TestMapRangeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans, oldLen := anySpans(t)
		at := rapid.IntRange(0, oldLen).Draw(t, "at")
		end := rapid.IntRange(at, oldLen).Draw(t, "end")
		aStart, aCount, _ := MapRange(0, at, spans)
		bStart, bCount, touched := MapRange(at, end-at, spans)
		if !touched && at > 0 && aStart+aCount > bStart {
			t.Fatalf("lines [0,%d) map to [%d,%d), behind [%d,%d) at %d: %v", at, aStart, aStart+aCount, at, end, bStart, spans)
		}
		if bStart < 0 || bCount < 0 {
			t.Fatalf("a range of %d lines from %d on", bCount, bStart)
		}
	})
}
