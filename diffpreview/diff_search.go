package diffpreview

// searchDepth bounds one step of the search through a gap: so many changed lines are looked through before a part of
// the best path is taken as final. A step visits at most its square of places, beside the equal lines.
const searchDepth = 256

// diffBudget bounds the work of one diff, in places visited by either way of matching a gap: one to two seconds. Past
// it the gaps that are left count as replaced. Ordinary text stays far below: a hundred thousand lines without a unique
// one, all of them changed, take a third of it.
const diffBudget = 1 << 27

// unreached marks a diagonal that has no place within the texts. It stays negative when one is added.
const unreached = -2

// lineSearch is the memory of the bounded search, kept from one step to the next.
type lineSearch struct {
	a, b  []int32
	reach []int32 // at searchDepth+1+k: the furthest place in a on diagonal k (place in a minus place in b)
	trace []int32 // from d*d on: reach before round d, for the diagonals -d to d
	steps int     // places visited in this run
}

// gapSearch matches a gap that is too large for the exact diff, by a greedy search forward from its start (Myers 1986).
// When the end is more than searchDepth changes away, the first half of the path that came furthest is taken, and the
// search starts anew where that ends.
func (m *matcher) gapSearch(i0, i1, j0, j1 int) {
	s := &m.search
	if s.reach == nil {
		s.reach = make([]int32, 2*searchDepth+3)
		s.trace = make([]int32, (searchDepth+1)*(searchDepth+1))
	}
	for i0 < i1 && j0 < j1 && m.work < diffBudget {
		s.a, s.b = m.old[i0:i1], m.new[j0:j1]
		d, k := s.run()
		final := d
		if d == searchDepth {
			final = searchDepth / 2
		}
		di, dj := s.retrace(d, k, final, func(i, j int32) { m.keep(i0+int(i), j0+int(j)) })
		m.work += s.steps
		i0, j0 = i0+int(di), j0+int(dj)
	}
}

// run searches from the start of both texts and returns the number of changes and the diagonal of the place it came to:
// the end of both, or the furthest place at searchDepth changes.
func (s *lineSearch) run() (d, k int) {
	n, m := int32(len(s.a)), int32(len(s.b))
	s.steps = 0
	const mid = searchDepth + 1
	for d = 0; ; d++ {
		if d > 0 {
			s.reach[mid-d], s.reach[mid+d] = unreached, unreached
			copy(s.trace[d*d:], s.reach[mid-d:mid+d+1])
		}
		furthest, best := int32(-1), 0
		for k = -d; k <= d; k += 2 {
			i := int32(0)
			if d > 0 {
				i, _ = s.enter(s.reach[mid-d:mid+d+1], d, k)
			}
			if i < 0 {
				s.reach[mid+k] = unreached
				continue
			}
			from, j := i, i-int32(k)
			for i < n && j < m && s.a[i] == s.b[j] {
				i, j = i+1, j+1
			}
			s.reach[mid+k] = i
			s.steps += int(i-from) + 1
			if i+j > furthest {
				furthest, best = i+j, k
			}
			if i == n && j == m {
				return d, k
			}
		}
		if d == searchDepth {
			return d, best
		}
	}
}

// enter returns the place in a at which round d comes onto diagonal k, and whether by leaving out a line of a (else of
// b). reach is that of the round before, for the diagonals -d to d.
func (s *lineSearch) enter(reach []int32, d, k int) (i int32, fromA bool) {
	i = unreached
	if k < d {
		if down := reach[d+k+1]; down >= 0 && down-int32(k) <= int32(len(s.b)) {
			i = down
		}
	}
	if k > -d {
		if right := reach[d+k-1]; right >= 0 && right < int32(len(s.a)) && right+1 > i {
			return right + 1, true
		}
	}
	return i, false
}

// retrace goes back along the path to diagonal k in round d and keeps the matches of the rounds up to final. It returns
// where the path stood at the end of that round.
func (s *lineSearch) retrace(d, k, final int, keep func(i, j int32)) (endI, endJ int32) {
	i := s.reach[searchDepth+1+k]
	for ; ; d-- {
		from, fromA := int32(0), false
		if d > 0 {
			from, fromA = s.enter(s.trace[d*d:(d+1)*(d+1)], d, k)
		}
		if d == final {
			endI, endJ = i, i-int32(k)
		}
		if d <= final {
			for x := from; x < i; x++ {
				keep(x, x-int32(k))
			}
		}
		switch {
		case d == 0:
			return endI, endJ
		case fromA:
			i, k = from-1, k-1
		default:
			i, k = from, k+1
		}
	}
}
