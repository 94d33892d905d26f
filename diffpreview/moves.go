package diffpreview

import (
	"slices"
	"sort"
)

// moves is a change of the tree, made quick to ask about one place.
type moves struct {
	spans []Span
	by    []int // by[i] is how many lines spans[:i] add
}

func newMoves(spans []Span) moves {
	m := moves{spans, make([]int, len(spans)+1)}
	for i, s := range spans {
		m.by[i+1] = m.by[i] + s.NewLines - s.OldLines
	}
	return m
}

// shift is by how many lines the old line at moves. An insertion at the very
// line moves it only when after is set.
func (m moves) shift(at int, after bool) int {
	return m.by[sort.Search(len(m.spans), func(i int) bool {
		end := m.spans[i].OldStart + m.spans[i].OldLines
		return end > at || end == at && m.spans[i].OldLines == 0 && !after
	})]
}

// near returns the changes that overlap or border on the lines [from, to).
func (m moves) near(from, to int) []Span {
	first := m.first(from)
	last := first
	for last < len(m.spans) && m.spans[last].OldStart <= to {
		last++
	}
	return m.spans[first:last]
}

// first is the index of the first change that does not end before the line at.
func (m moves) first(at int) int {
	return sort.Search(len(m.spans), func(i int) bool { return m.spans[i].OldStart+m.spans[i].OldLines >= at })
}

// mapRange is [MapRange].
func (m moves) mapRange(start, count int) (newStart, newCount int, touched bool) {
	return mapRange(start, count, m.by[m.first(start)], m.near(start, start+count))
}

// moved is a decided hunk after the change. Where its own lines were changed it
// cannot be undone any more.
func (m moves) moved(h Hunk) Hunk {
	start, count, hit := m.mapRange(h.Start, h.Count)
	h.Start, h.Count, h.Lost = start, count, h.Lost || hit
	return h
}

// onlyInserted reports whether nothing but insertions at this very place touches the
// empty range before line at.
func (m moves) onlyInserted(at int) bool {
	return !slices.ContainsFunc(m.near(at, at), func(s Span) bool { return s.OldLines > 0 && s.touches(at, at) })
}

func (m moves) disturbed(from, to int) bool {
	return slices.ContainsFunc(m.near(from, to), func(s Span) bool { return disturbedBy(from, to, s) })
}

// joined reports whether a range and a hunk's place overlap or one change
// disturbs both.
func (m moves) joined(from, to, start, end int) bool {
	return touches(from, to, start, end) || slices.ContainsFunc(m.near(from, to), func(s Span) bool {
		return disturbedBy(from, to, s) && disturbedBy(start, end, s)
	})
}

// grow widens the place of hunks[i] by the changes that disturb it, if any, and by
// the undecided hunks that then overlap it; taken counts those hunks, itself
// included.
func (m moves) grow(hunks []Hunk, i int) (from, to, taken int) {
	from, to, taken = hunks[i].Start, hunks[i].Start+hunks[i].Count, 1
	if !m.disturbed(from, to) {
		return from, to, taken
	}
	last := i
	for again := true; again; {
		again = false
		for _, s := range m.near(from, to) {
			c, d := s.OldStart, s.OldStart+s.OldLines
			if disturbedBy(from, to, s) && (c < from || d > to) {
				from, to, again = min(from, c), max(to, d), true
			}
		}
		for j := last + 1; j < len(hunks); j++ {
			h := &hunks[j]
			if h.decided() {
				continue
			}
			if h.Start > to || !m.joined(from, to, h.Start, h.Start+h.Count) {
				break
			}
			to, last, again = max(to, h.Start+h.Count), j, true
			taken++
		}
	}
	return from, to, taken
}
