package match

import (
	"slices"
	"unicode/utf8"
)

// span is a range of code points, or of bytes.
type span struct{ lo, hi rune }

// ranges is a set of code points or bytes: sorted, apart from each other.
type ranges []span

func (r ranges) normal() ranges {
	slices.SortFunc(r, func(a, b span) int { return int(a.lo - b.lo) })
	out := r[:0]
	for _, s := range r {
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// negate returns what is not in r up to last.
func (r ranges) negate(last rune) ranges {
	var out ranges
	next := rune(0)
	for _, s := range r {
		if s.lo > next {
			out = append(out, span{next, s.lo - 1})
		}
		next = s.hi + 1
	}
	if next <= last {
		out = append(out, span{next, last})
	}
	return out
}

func (r ranges) union(s ranges) ranges { return slices.Concat(r, s).normal() }

func (r ranges) intersect(s ranges) ranges {
	const last = utf8.MaxRune
	return r.negate(last).union(s.negate(last)).negate(last)
}

// fold adds the other case of each ASCII letter.
func (r ranges) fold() ranges {
	var more ranges
	for _, s := range r {
		for _, letters := range []span{{'a', 'z'}, {'A', 'Z'}} {
			if lo, hi := max(s.lo, letters.lo), min(s.hi, letters.hi); lo <= hi {
				more = append(more, span{lo ^ 0x20, hi ^ 0x20})
			}
		}
	}
	return r.union(more)
}

// rangesOf lists a set of bytes below limit.
func rangesOf(s byteSet, limit int) ranges {
	var out ranges
	for b := range limit {
		if s.has(byte(b)) {
			out = append(out, span{rune(b), rune(b)})
		}
	}
	return out.normal()
}

// bytesNode matches one byte of r.
func (r ranges) bytesNode(pos int) *node {
	var set byteSet
	for _, s := range r {
		set.addRange(byte(s.lo), byte(s.hi))
	}
	return setNode(set, pos)
}

// utf8Node matches the UTF-8 of one character of r.
func (r ranges) utf8Node(pos int) *node {
	var list []*node
	var ascii byteSet
	for _, s := range r {
		for lo, hi := s.lo, rune(0); lo <= s.hi; lo = hi + 1 {
			switch {
			case lo < utf8.RuneSelf:
				hi = min(s.hi, utf8.RuneSelf-1)
				ascii.addRange(byte(lo), byte(hi))
				continue
			case lo < 0x800:
				hi = min(s.hi, 0x7ff)
			case lo < 0xd800:
				hi = min(s.hi, 0xd7ff)
			case lo < 0xe000: // surrogates have no UTF-8
				hi = min(s.hi, 0xdfff)
				continue
			case lo < 0x10000:
				hi = min(s.hi, 0xffff)
			default:
				hi = s.hi
			}
			list = appendUTF8(list, lo, hi, pos)
		}
	}
	if ascii.count() > 0 || len(list) == 0 {
		list = append(list, setNode(ascii, pos))
	}
	return alternate(list)
}

// appendUTF8 adds byte sequences for lo to hi, whose UTF-8 is of one length. It
// cuts the range until each byte's range stands by itself.
func appendUTF8(list []*node, lo, hi rune, pos int) []*node {
	size := utf8.RuneLen(lo)
	for i := 1; i < size; i++ {
		low := rune(1)<<(6*i) - 1 // what the last i bytes hold
		if lo&^low == hi&^low {
			break
		}
		if lo&low != 0 {
			return appendUTF8(appendUTF8(list, lo, lo|low, pos), lo|low+1, hi, pos)
		}
		if hi&low != low {
			return appendUTF8(appendUTF8(list, lo, hi&^low-1, pos), hi&^low, hi, pos)
		}
	}
	from, to := utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi)
	subs := make([]*node, size)
	for i := range subs {
		var set byteSet
		set.addRange(from[i], to[i])
		subs[i] = setNode(set, pos)
	}
	return append(list, concat(subs))
}
