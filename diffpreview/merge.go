package diffpreview

// MapRange moves the range of count lines from start on, of the old text, onto the new text. spans are the diff of the
// two, as DiffLines gives them.
//
// touched reports whether a change reaches into the range: it shares a line with it, or inserts between two of its
// lines, or the range is empty (a place between two lines) and the change spans that place or inserts exactly there.
// A change that only borders on the range does not touch it; the range then keeps its side of it: what was inserted or
// replaced before the range is before it still. Of a touched range, the result covers all that replaced the changes
// that touch it and what was left of the range itself.
func MapRange(start, count int, spans []Span) (newStart, newCount int, touched bool) {
	return mapRange(start, count, 0, spans)
}

// mapRange is MapRange with the spans that end before the range left out; by is how many lines those add.
func mapRange(start, count, by int, spans []Span) (newStart, newCount int, touched bool) {
	end := start + count
	newStart, newEnd := start+by, end+by
	for _, s := range spans {
		oldEnd, newLast := s.OldStart+s.OldLines, s.NewStart+s.NewLines
		switch {
		case s.touches(start, end):
			if !touched && s.OldStart <= start {
				newStart = s.NewStart
			}
			newEnd = newLast + max(0, end-oldEnd)
			touched = true
		case oldEnd <= start: // before the range
			newStart, newEnd = newLast+start-oldEnd, newLast+end-oldEnd
		default: // this one and all that follow lie behind it
			return newStart, newEnd - newStart, touched
		}
	}
	return newStart, newEnd - newStart, touched
}

// touches reports whether the change reaches into the old lines [start, end).
func (s Span) touches(start, end int) bool {
	oldEnd := s.OldStart + s.OldLines
	switch {
	case start == end && s.OldLines == 0:
		return s.OldStart == start
	case start == end:
		return s.OldStart < start && start < oldEnd
	case s.OldLines == 0:
		return start < s.OldStart && s.OldStart < end
	}
	return max(start, s.OldStart) < min(end, oldEnd)
}
