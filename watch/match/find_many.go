package match

import (
	"encoding/binary"
	"slices"
)

// manyFinder finds the first of several literals.
//
// It looks at a few bytes in each few of the text: all literals are so long that one
// of those samples falls into each of them, and a table tells which samples are in
// any. The literals that have the sample are then compared.
type manyFinder struct {
	literals []literal
	size     int    // bytes of a sample: 2 to 4
	stride   int    // between samples
	mask     uint32 // leaves the sample's bytes
	lower    uint32 // makes letters lower case; 0 where no literal folds
	table    [gramSize / 64]uint64
	starts   [257]uint16 // by the low byte of the hash: where its hits begin
	hits     []hit
}

// hit is a sample in a literal.
type hit struct {
	hash    uint16
	literal uint8
	offset  uint8
}

const (
	gramBits = 14 // a table of 2 KiB
	gramSize = 1 << gramBits
)

// newManyFinder returns nil when a literal is too short.
func newManyFinder(set []literal) *manyFinder {
	shortest := maxLiteral
	fold := false
	for _, l := range set {
		shortest = min(shortest, len(l.text))
		fold = fold || l.fold
	}
	if shortest < 2 || len(set) > maxLiterals {
		return nil
	}
	f := &manyFinder{literals: set}
	if fold {
		f.lower = 0x20202020
	}
	f.size = min(max(2, (shortest+1)/2), 4)
	f.stride = shortest - f.size + 1
	f.mask = 1<<(8*f.size-1)<<1 - 1
	for k, l := range set {
		for o := range f.stride {
			var gram [4]byte
			copy(gram[:], l.text[o:o+f.size])
			h := f.hash(binary.LittleEndian.Uint32(gram[:]))
			f.table[h>>6] |= 1 << (h & 63)
			f.hits = append(f.hits, hit{hash: uint16(h), literal: uint8(k), offset: uint8(o)})
		}
	}
	slices.SortStableFunc(f.hits, func(a, b hit) int { return int(a.hash&0xff) - int(b.hash&0xff) })
	for _, h := range f.hits {
		f.starts[h.hash&0xff+1]++
	}
	for i := range 256 {
		f.starts[i+1] += f.starts[i]
	}
	return f
}

func (f *manyFinder) hash(gram uint32) uint32 {
	return ((gram | f.lower) & f.mask) * 0x9e3779b1 >> (32 - gramBits)
}

// find returns where the first literal from i on is, or -1. Of those that share a
// sample with it, it is the first.
func (f *manyFinder) find(text []byte, i int) int {
	from := i
	lower, mask, stride := f.lower, f.mask, f.stride
	for ; i+4 <= len(text); i += stride {
		h := ((binary.LittleEndian.Uint32(text[i:]) | lower) & mask) * 0x9e3779b1 >> (32 - gramBits)
		if f.table[h>>6%uint32(len(f.table))]>>(h&63)&1 != 0 {
			if at := f.check(text, i, from, h); at >= 0 {
				return at
			}
		}
	}
	for ; i+f.size <= len(text); i += stride {
		var gram [4]byte
		copy(gram[:], text[i:])
		if at := f.check(text, i, from, f.hash(binary.LittleEndian.Uint32(gram[:]))); at >= 0 {
			return at
		}
	}
	return -1
}

// check compares the literals that may have the sample at i, from on.
func (f *manyFinder) check(text []byte, i, from int, h uint32) int {
	first := -1
	for _, c := range f.hits[f.starts[h&0xff]:f.starts[h&0xff+1]] {
		if uint32(c.hash) != h {
			continue
		}
		l := &f.literals[c.literal]
		at := i - int(c.offset)
		if at < from || at+len(l.text) > len(text) || first >= 0 && at >= first {
			continue
		}
		window := text[at : at+len(l.text)]
		if string(window) == l.text || l.fold && equalFold(window, l.text) {
			first = at
		}
	}
	return first
}
