package match

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/loomd/loomd/watch/match/vector"
)

// finder finds one literal.
//
// It looks at the two bytes of the literal that are rarest in source code: 64 places
// at a time where the processor has instructions for that; else eight in a register,
// or for the rarest alone with bytes.IndexByte when that is so rare that the calls do
// not count.
type finder struct {
	text   string // in lower case under fold
	fold   bool
	single bool // look for the rarest byte alone
	rare   int  // where in text it is
	other  int  // the next rare one
	bits   [2]uint64
	mask   [2]uint64 // what makes letters lower case; 0 where case counts
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// rareEnough is the share up to which calls of bytes.IndexByte are faster.
const rareEnough = 1.0 / 250

func newFinder(l literal) *finder {
	f := &finder{text: l.text, fold: l.fold && hasLetter(l.text)}
	chance := func(i int) float64 { return byteChance(l.text[i], f.fold) }
	for i := range len(l.text) {
		if chance(i) < chance(f.rare) {
			f.rare = i
		}
	}
	if f.rare == 0 && len(l.text) > 1 {
		f.other = 1
	}
	for i := range len(l.text) {
		// The bytes beside the rarest say less than those further away.
		if i != f.rare && (chance(i) < chance(f.other) || f.other == f.rare) {
			f.other = i
		}
	}
	cased := f.fold && isLetter(l.text[f.rare])
	f.single = !cased && (len(l.text) == 1 || !vector.Has && chance(f.rare) < rareEnough)
	for k, i := range []int{f.rare, f.other} {
		f.bits[k] = uint64(l.text[i]) * lowBits
		if f.fold && isLetter(l.text[i]) {
			f.mask[k] = 0x20 * lowBits
		}
	}
	return f
}

// find returns the first place from i on, or -1.
func (f *finder) find(text []byte, i int) int {
	last := len(text) - len(f.text) // the last place where it could be
	if i > last {
		return -1
	}
	switch {
	case f.single:
		return f.findRare(text, i, last)
	case vector.Has:
		return f.findVector(text, i, last)
	}
	return f.findPair(text, i, last)
}

func (f *finder) findVector(text []byte, i, last int) int {
	p, q, m, n := byte(f.bits[0]), byte(f.bits[1]), byte(f.mask[0]), byte(f.mask[1])
	for i <= last {
		k, ok := vector.Pair(text[i+f.rare:last+f.rare+1], text[i+f.other:last+f.other+1], p, q, m, n)
		if i += k; !ok {
			break
		}
		if f.at(text, i) {
			return i
		}
		i++
	}
	for ; i <= last; i++ {
		if text[i+f.rare]|m == p && f.at(text, i) {
			return i
		}
	}
	return -1
}

func (f *finder) findRare(text []byte, i, last int) int {
	b := f.text[f.rare]
	region := text[:last+f.rare+1]
	for at := i + f.rare; at < len(region); at++ {
		j := bytes.IndexByte(region[at:], b)
		if j < 0 {
			return -1
		}
		at += j
		if f.at(text, at-f.rare) {
			return at - f.rare
		}
	}
	return -1
}

func (f *finder) findPair(text []byte, i, last int) int {
	a, b := text[i+f.rare:last+f.rare+1], text[i+f.other:last+f.other+1]
	p, q, m, n := f.bits[0], f.bits[1], f.mask[0], f.mask[1]
	for len(a) >= 32 && len(b) >= 32 {
		x0 := ((binary.LittleEndian.Uint64(a) | m) ^ p) | ((binary.LittleEndian.Uint64(b) | n) ^ q)
		x1 := ((binary.LittleEndian.Uint64(a[8:]) | m) ^ p) | ((binary.LittleEndian.Uint64(b[8:]) | n) ^ q)
		x2 := ((binary.LittleEndian.Uint64(a[16:]) | m) ^ p) | ((binary.LittleEndian.Uint64(b[16:]) | n) ^ q)
		x3 := ((binary.LittleEndian.Uint64(a[24:]) | m) ^ p) | ((binary.LittleEndian.Uint64(b[24:]) | n) ^ q)
		// A byte of x that is zero leaves its high bit; so may the byte above it.
		z0, z1, z2, z3 := (x0-lowBits)&^x0, (x1-lowBits)&^x1, (x2-lowBits)&^x2, (x3-lowBits)&^x3
		if (z0|z1|z2|z3)&highBits != 0 {
			if k := f.candidates(text, i, [4]uint64{z0, z1, z2, z3}); k >= 0 {
				return k
			}
		}
		a, b = a[32:], b[32:]
		i += 32
	}
	for ; i <= last; i++ {
		if f.at(text, i) {
			return i
		}
	}
	return -1
}

// candidates checks the places from i on whose high bits are set.
func (f *finder) candidates(text []byte, i int, words [4]uint64) int {
	for _, z := range words {
		for z &= highBits; z != 0; z &= z - 1 {
			if k := i + bits.TrailingZeros64(z)/8; f.at(text, k) {
				return k
			}
		}
		i += 8
	}
	return -1
}

// at reports whether the literal stands at i, where there is room for it.
func (f *finder) at(text []byte, i int) bool {
	if !f.fold {
		return string(text[i:i+len(f.text)]) == f.text
	}
	return equalFold(text[i:i+len(f.text)], f.text)
}

// equalFold compares with text in lower case; both are of one length.
func equalFold(b []byte, text string) bool {
	for i, c := range b {
		if c-'A' < 26 {
			c |= 0x20
		}
		if c != text[i] {
			return false
		}
	}
	return true
}
