package diffpreview

import (
	"sort"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// gapCells bounds what is given to the exact diff, as old lines times new lines. Its time grows with the lines times the
// differences among them: 256 lines that have little in common with another 256 take about 1 ms.
const gapCells = 1 << 16

// matcher finds lines that two texts have in common. Lines are numbers here, equal for equal lines.
type matcher struct {
	old, new     []int32 // the texts without the lines that the other one lacks
	oldAt, newAt []int32 // where in the text each of those stands
	oldLen       int     // lines of the whole texts
	newLen       int
	oldCount     []int32 // by line number: how often it occurs
	newCount     []int32
	oldKept      []bool // by place in old and new: it has a partner. The kept lines pair up in order
	newKept      []bool
	exact        *diffmatchpatch.DiffMatchPatch
	search       lineSearch
	work         int // places visited, up to diffBudget
}

func newMatcher(a, b [][]byte) *matcher {
	ids, distinct := internLines(a, b)
	m := &matcher{
		oldLen: len(a), newLen: len(b),
		oldCount: make([]int32, distinct), newCount: make([]int32, distinct),
		exact: diffmatchpatch.New(),
	}
	m.exact.DiffTimeout = 0 // a clock must not decide a hunk
	oldIDs, newIDs := ids[:len(a)], ids[len(a):]
	for _, id := range oldIDs {
		m.oldCount[id]++
	}
	for _, id := range newIDs {
		m.newCount[id]++
	}
	m.old, m.oldAt = presentLines(oldIDs, m.newCount)
	m.new, m.newAt = presentLines(newIDs, m.oldCount)
	m.oldKept, m.newKept = make([]bool, len(m.old)), make([]bool, len(m.new))
	return m
}

// presentLines returns the lines that occur in the other text, and their places.
func presentLines(ids, otherCount []int32) (kept, at []int32) {
	kept, at = make([]int32, 0, len(ids)), make([]int32, 0, len(ids))
	for i, id := range ids {
		if otherCount[id] > 0 {
			kept, at = append(kept, id), append(at, int32(i))
		}
	}
	return kept, at
}

// match finds the partners of lines.
func (m *matcher) match() {
	oldFrom, newFrom := 0, 0
	for _, anchor := range m.anchors() {
		m.gap(oldFrom, anchor.old, newFrom, anchor.new)
		m.keep(anchor.old, anchor.new)
		oldFrom, newFrom = anchor.old+1, anchor.new+1
	}
	m.gap(oldFrom, len(m.old), newFrom, len(m.new))
}

// spans returns the runs between the lines that have partners.
func (m *matcher) spans() []Span {
	var spans []Span
	oldAt, newAt := 0, 0
	until := func(oldNext, newNext int) {
		if oldNext > oldAt || newNext > newAt {
			spans = append(spans, Span{oldAt, oldNext - oldAt, newAt, newNext - newAt})
		}
		oldAt, newAt = oldNext+1, newNext+1
	}
	j := 0
	for i, kept := range m.oldKept {
		if !kept {
			continue
		}
		for !m.newKept[j] {
			j++
		}
		until(int(m.oldAt[i]), int(m.newAt[j]))
		j++
	}
	until(m.oldLen, m.newLen)
	return spans
}

func (m *matcher) keep(i, j int) {
	m.oldKept[i], m.newKept[j] = true, true
}

// linePair is a line of old and its partner in new, by their places in the matcher's texts.
type linePair struct{ old, new int }

// anchors returns the longest increasing sequence of pairs of lines that occur once on each side.
func (m *matcher) anchors() []linePair {
	place := make([]int32, len(m.newCount))
	for j, id := range m.new {
		place[id] = int32(j)
	}
	var unique []linePair
	for i, id := range m.old {
		if m.oldCount[id] == 1 && m.newCount[id] == 1 {
			unique = append(unique, linePair{i, int(place[id])})
		}
	}
	return longestIncreasing(unique)
}

// longestIncreasing picks from pairs sorted by old the longest sequence that is also increasing by new (patience sorting).
func longestIncreasing(pairs []linePair) []linePair {
	var tops []int                  // tops[n]: the pair that ends the best sequence of length n+1
	back := make([]int, len(pairs)) // the pair before, in the best sequence that ends here
	for i, p := range pairs {
		n := len(tops)
		if n > 0 && pairs[tops[n-1]].new > p.new {
			n = sort.Search(n, func(k int) bool { return pairs[tops[k]].new > p.new })
		}
		back[i] = -1
		if n > 0 {
			back[i] = tops[n-1]
		}
		if n == len(tops) {
			tops = append(tops, i)
		} else {
			tops[n] = i
		}
	}
	chain := make([]linePair, len(tops))
	if len(tops) > 0 {
		for i, n := tops[len(tops)-1], len(tops)-1; n >= 0; i, n = back[i], n-1 {
			chain[n] = pairs[i]
		}
	}
	return chain
}

// gap matches the lines between two anchors: old[i0:i1] and new[j0:j1].
func (m *matcher) gap(i0, i1, j0, j1 int) {
	for i0 < i1 && j0 < j1 && m.old[i0] == m.new[j0] {
		m.keep(i0, j0)
		i0, j0 = i0+1, j0+1
	}
	for i0 < i1 && j0 < j1 && m.old[i1-1] == m.new[j1-1] {
		i1, j1 = i1-1, j1-1
		m.keep(i1, j1)
	}
	switch {
	case i0 == i1 || j0 == j1 || m.work >= diffBudget:
	case (i1-i0)*(j1-j0) <= gapCells:
		m.gapExact(i0, i1, j0, j1)
	default:
		m.gapSearch(i0, i1, j0, j1)
	}
}

// gapExact matches a gap with go-diff, a rune for a line. The runes are numbered anew in each gap: by its bound on the
// gap no number comes near the end of the code points.
func (m *matcher) gapExact(i0, i1, j0, j1 int) {
	numbers := runeNumbers[int32]{}
	asRunes := func(ids []int32) []rune {
		out := make([]rune, len(ids))
		for k, id := range ids {
			out[k] = numbers.of(id)
		}
		return out
	}
	i, j, equal := i0, j0, 0
	for _, d := range m.exact.DiffMainRunes(asRunes(m.old[i0:i1]), asRunes(m.new[j0:j1]), false) {
		n := utf8.RuneCountInString(d.Text)
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			i += n
		case diffmatchpatch.DiffInsert:
			j += n
		case diffmatchpatch.DiffEqual:
			equal += n
			for range n {
				m.keep(i, j)
				i, j = i+1, j+1
			}
		}
	}
	// It searches from both ends, so each of as many rounds as half the changes visits as many places.
	lines := i1 - i0 + j1 - j0
	m.work += lines * (lines - 2*equal) / 2
}
