package match

import "math/bits"

// op is the kind of a node.
type op uint8

const (
	opEmpty  op = iota
	opSet       // one byte of set
	opConcat    // subs, one after the other
	opAlt       // one of subs, the first that leads to a match
	opRepeat    // subs[0], min to max times
	opLook      // nothing is consumed
)

// node is a pattern over bytes. Nodes are not changed after they were made, so
// trees share them.
type node struct {
	op   op
	set  byteSet
	subs []*node
	min  int
	max  int // -1: without end
	lazy bool
	look look
	pos  int // where in the pattern it was written
}

// look is an assertion about what stands before and behind a place.
type look uint8

const (
	lookLineStart look = iota
	lookLineEnd
	lookTextStart
	lookTextEnd
	lookWord      // \b
	lookNotWord   // \B
	lookWordStart // \<
	lookWordEnd   // \>
	lookStartHalf // no word character before
	lookEndHalf   // no word character behind
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func oneByte(b byte) (s byteSet) {
	s.add(b)
	return s
}

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

func (s *byteSet) addRange(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s.add(byte(b))
	}
}

func (s *byteSet) remove(b byte) { s[b>>6] &^= 1 << (b & 63) }

func (s *byteSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// bytes lists the set in order.
func (s *byteSet) bytes() []byte {
	var list []byte
	for b := range 256 {
		if s.has(byte(b)) {
			list = append(list, byte(b))
		}
	}
	return list
}

func (s byteSet) union(t byteSet) byteSet {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// fold adds the other case of each ASCII letter in the set.
func (s *byteSet) fold() {
	for b := byte('a'); b <= 'z'; b++ {
		if up := b - 'a' + 'A'; s.has(b) {
			s.add(up)
		} else if s.has(up) {
			s.add(b)
		}
	}
}

func isWord(b byte) bool {
	return b == '_' || b-'0' < 10 || b|0x20-'a' < 26
}

var empty = &node{op: opEmpty}

func setNode(s byteSet, pos int) *node { return &node{op: opSet, set: s, pos: pos} }

func lookNode(l look) *node { return &node{op: opLook, look: l} }

// literalNode matches text, with its ASCII letters in either case under fold.
func literalNode(text string, fold bool, pos int) *node {
	subs := make([]*node, len(text))
	for i := range len(text) {
		s := oneByte(text[i])
		if fold {
			s.fold()
		}
		subs[i] = setNode(s, pos+i)
	}
	return concat(subs)
}

// concat takes what is concatenated in subs into one list.
func concat(subs []*node) *node {
	var flat []*node
	for _, n := range subs {
		switch n.op {
		case opEmpty:
		case opConcat:
			flat = append(flat, n.subs...)
		default:
			flat = append(flat, n)
		}
	}
	switch len(flat) {
	case 0:
		return empty
	case 1:
		return flat[0]
	}
	return &node{op: opConcat, subs: flat, pos: flat[0].pos}
}

// alternate makes one set of alternatives that are all single bytes.
func alternate(subs []*node) *node {
	if len(subs) == 1 {
		return subs[0]
	}
	all := byteSet{}
	for _, n := range subs {
		if n.op != opSet {
			return &node{op: opAlt, subs: subs, pos: subs[0].pos}
		}
		all = all.union(n.set)
	}
	return setNode(all, subs[0].pos)
}

// nullable reports whether n can match without consuming anything; looks says
// what an assertion counts as.
func nullable(n *node, looks bool) bool {
	switch n.op {
	case opEmpty:
		return true
	case opSet:
		return false
	case opLook:
		return looks
	case opRepeat:
		return n.min == 0 || nullable(n.subs[0], looks)
	case opAlt:
		for _, s := range n.subs {
			if nullable(s, looks) {
				return true
			}
		}
		return false
	}
	for _, s := range n.subs {
		if !nullable(s, looks) {
			return false
		}
	}
	return true
}

// trimEnds drops what is at a pattern's ends and can be empty: a line has a match
// of "\s*return\w+" when it has one of "return\w". It returns n itself when there
// is nothing to drop.
func trimEnds(n *node) *node {
	switch n.op {
	case opRepeat:
		if nullable(n, false) {
			return empty
		}
		if n.min == 1 {
			return trimEnds(n.subs[0])
		}
		if n.max != n.min {
			return &node{op: opRepeat, subs: n.subs, min: n.min, max: n.min, pos: n.pos}
		}
		return n
	case opConcat:
		subs := n.subs
		for len(subs) > 0 && nullable(subs[0], false) {
			subs = subs[1:]
		}
		for len(subs) > 0 && nullable(subs[len(subs)-1], false) {
			subs = subs[:len(subs)-1]
		}
		return trimLeast(n, subs)
	}
	return n
}

// trimLeast cuts the repetitions at the ends of subs, which is n's without what can
// be empty, to their least counts.
func trimLeast(n *node, subs []*node) *node {
	if len(subs) == 0 {
		return empty
	}
	first, last := subs[0], subs[len(subs)-1]
	open := func(n *node) bool { return n.op == opRepeat && n.max != n.min }
	if len(subs) == len(n.subs) && !open(first) && !open(last) {
		return n
	}
	out := append([]*node(nil), subs...)
	for _, i := range []int{0, len(out) - 1} {
		if r := out[i]; open(r) {
			out[i] = &node{op: opRepeat, subs: r.subs, min: r.min, max: r.min, pos: r.pos}
		}
	}
	return concat(out)
}

// staysInLine reports whether no match of n has a "\n", or asks for the borders of
// the text.
func staysInLine(n *node) bool {
	if n.op == opSet && n.set.has('\n') || n.op == opLook && (n.look == lookTextStart || n.look == lookTextEnd) {
		return false
	}
	for _, sub := range n.subs {
		if !staysInLine(sub) {
			return false
		}
	}
	return true
}
