package diffpreview

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// internLines numbers the lines of both texts, first those of a, so that equal lines have equal numbers. Numbers are
// given in the order of first occurrence: the random seed of the hash has no part in them.
func internLines(a, b [][]byte) (ids []int32, distinct int) {
	total := len(a) + len(b)
	ids = make([]int32, total)
	// Open addressing, at most half full. A slot holds the line's number + 1 and the upper half of its hash.
	type slot struct {
		id  int32
		tag uint32
	}
	table := make([]slot, 1<<bits.Len(uint(2*total)))
	mask := uint64(len(table) - 1)
	first := make([][]byte, 0, total) // by number
	seed := maphash.MakeSeed()
	number := func(line []byte) int32 {
		hash := maphash.Bytes(seed, line)
		tag := uint32(hash >> 32)
		for at := hash & mask; ; at = (at + 1) & mask {
			s := &table[at]
			switch {
			case s.id == 0:
				first = append(first, line)
				*s = slot{int32(len(first)), tag}
				return s.id - 1
			case s.tag == tag && bytes.Equal(first[s.id-1], line):
				return s.id - 1
			}
		}
	}
	for i, line := range a {
		ids[i] = number(line)
	}
	for i, line := range b {
		ids[len(a)+i] = number(line)
	}
	return ids, len(first)
}
