package secret

import (
	"slices"
	"strings"
	"sync"
)

// matcher finds needles. It does not change, so that many can use it at once.
//
// It is two automata of Aho and Corasick, one for the needles that are looked for
// as they are, one for those that line breaks may be in; and a filter on pairs of
// bytes that passes over most text five bytes at a time. (The libraries for this
// find needles in a text that is at hand; a stream's automaton must go on where
// the chunk before ended.)
type matcher struct {
	names   []string
	marks   []string
	plain   automaton
	wrapped automaton
	pairs   pairSet // of neighbouring bytes within the first six of a needle
	breaks  pairSet // likewise, with a line break between
	longest int     // bytes of the longest needle
	needles []needle
	edges   func() map[string][]edgeNeedle // made when it is first asked for
}

// edgeNeedle is a needle whose end from byte at on begins with the same bytes.
type edgeNeedle struct {
	needle *needle
	at     int
}

// automaton is a trie with the failure links of Aho and Corasick. State 0 is the
// root, where nothing of a needle was seen.
type automaton struct {
	first  [256]int32 // the root's transitions
	states []state
}

type state struct {
	next   []transition
	fail   int32
	depth  int32 // how many bytes of a needle were seen
	found  int32 // the needle that ends here, the longest: its length; 0 for none
	name   int32 // of that needle
	least  int32 // length of the shortest needle through here
	leastN int32 // name of that needle
}

type transition struct {
	by byte
	to int32
}

// newMatcher makes the matcher of values by name.
func newMatcher(names []string, values map[string][]string) *matcher {
	m := &matcher{names: names}
	for i, name := range names {
		m.marks = append(m.marks, Mark(name))
		for _, value := range values[name] {
			m.needles = append(m.needles, needlesOf(value, i)...)
		}
	}
	if len(m.needles) == 0 {
		return nil
	}
	m.plain.states, m.wrapped.states = make([]state, 1), make([]state, 1)
	for i := range m.needles {
		n := &m.needles[i]
		m.longest = max(m.longest, len(n.text))
		if n.wrapped {
			m.wrapped.add(n)
		} else {
			m.plain.add(n)
		}
		m.filter(n)
	}
	m.plain.link()
	m.wrapped.link()
	m.edges = sync.OnceValue(m.index)
	return m
}

func (a *automaton) add(n *needle) {
	at := int32(0)
	for i := range len(n.text) {
		to := a.child(at, n.text[i])
		if to == 0 {
			to = int32(len(a.states))
			a.states = append(a.states, state{depth: int32(i + 1)})
			if at == 0 {
				a.first[n.text[i]] = to
			} else {
				a.states[at].next = append(a.states[at].next, transition{n.text[i], to})
			}
		}
		at = to
		if s := &a.states[at]; s.least == 0 || len(n.text) < int(s.least) {
			s.least, s.leastN = int32(len(n.text)), int32(n.name)
		}
	}
	a.states[at].found, a.states[at].name = int32(len(n.text)), int32(n.name)
}

// child is where a byte leads without failure links, 0 for nowhere.
func (a *automaton) child(at int32, by byte) int32 {
	if at == 0 {
		return a.first[by]
	}
	for _, t := range a.states[at].next {
		if t.by == by {
			return t.to
		}
	}
	return 0
}

// link sets the failure links, breadth first.
func (a *automaton) link() {
	var queue []int32
	for _, to := range a.first {
		if to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, t := range a.states[at].next {
			a.states[t.to].fail = a.step(a.states[at].fail, t.by)
			queue = append(queue, t.to)
		}
		// A needle that ends here is longer than one that ends where the link leads.
		if s := &a.states[at]; s.found == 0 {
			s.found, s.name = a.states[s.fail].found, a.states[s.fail].name
		}
	}
}

func (a *automaton) step(at int32, by byte) int32 {
	for {
		if to := a.child(at, by); to != 0 || at == 0 {
			return to
		}
		at = a.states[at].fail
	}
}

// begun is how many bytes were seen, up to a state, of a needle that goes on.
func (a *automaton) begun(at int32) int {
	for at != 0 && len(a.states[at].next) == 0 {
		at = a.states[at].fail
	}
	return int(a.states[at].depth)
}

// pairSet is a set of pairs of bytes.
type pairSet [1 << 16 / 64]uint64

func (p *pairSet) add(a, b byte) {
	i := uint(a) | uint(b)<<8
	p[i/64] |= 1 << (i % 64)
}

func (p *pairSet) has(a, b byte) bool {
	i := uint(a) | uint(b)<<8
	return p[i/64]&(1<<(i%64)) != 0
}

// window is how many bytes at the beginning of a needle the filter looks at. Every
// needle is as long.
const window = MinValue

func (m *matcher) filter(n *needle) {
	for i := range window - 1 {
		m.pairs.add(n.text[i], n.text[i+1])
	}
	if !n.wrapped {
		return
	}
	for i := range window {
		c := n.text[i]
		for _, b := range []byte("\r\n") {
			m.breaks.add(c, b)
			m.breaks.add(b, c)
		}
		m.breaks.add(c, '\\')
		m.breaks.add('n', c)
		m.breaks.add('r', c)
	}
	for _, pair := range []string{"\r\n", `\n`, `\r`, `r\`} {
		m.breaks.add(pair[0], pair[1])
	}
}

// edge is the least length of a part of a needle that is taken for one at the
// border where a text was cut. Shorter ones are in too many other words.
const edge = 4

// index are the ends of needles by their first bytes.
func (m *matcher) index() map[string][]edgeNeedle {
	edges := map[string][]edgeNeedle{}
	for i := range m.needles {
		n := &m.needles[i]
		for at := 1; at+edge <= len(n.text); at++ {
			key := n.text[at : at+edge]
			edges[key] = append(edges[key], edgeNeedle{n, at})
		}
	}
	return edges
}

// tail is the length of the longest end of a needle that text begins with, at
// least edge, and the needle's name; 0 for none.
func (m *matcher) tail(text []byte) (size, name int) {
	if len(text) < edge {
		return 0, 0
	}
	for _, e := range m.edges()[string(text[:edge])] {
		rest := e.needle.text[e.at:]
		if len(rest) > size && len(rest) <= len(text) && string(text[:len(rest)]) == rest {
			size, name = len(rest), e.needle.name
		}
	}
	return size, name
}

// Mark is what stands in the place of the secret of this name.
func Mark(name string) string { return "[redacted:" + name + "]" }

// unmarkable reports whether a value is part of a mark, so that to replace it
// would bring it in.
func unmarkable(value string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(Mark(name), value) })
}
