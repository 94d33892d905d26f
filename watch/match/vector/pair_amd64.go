package vector

import "golang.org/x/sys/cpu"

// Has reports whether there is anything to be gained: whether Pair works.
var Has = cpu.X86.HasAVX2

const step = 64 // bytes that are looked at together

// Pair looks for the first i for which a[i]|maskA is valueA and b[i]|maskB is valueB;
// a and b have one length and may overlap. ok is false when there was none before i,
// from where less is left than is looked at together: at most 63 bytes.
// Call it only where Has is true.
func Pair(a, b []byte, valueA, valueB, maskA, maskB byte) (i int, ok bool) {
	if len(a) != len(b) {
		panic("vector: slices of different lengths")
	}
	if len(a) < step {
		return 0, false
	}
	i = pair(&a[0], &b[0], len(a), valueA, valueB, maskA, maskB)
	if i < 0 {
		return ^i, false
	}
	return i, true
}

// pair is Pair for n bytes, at least one step. Where nothing is found it returns the
// complement of the place up to which it looked.
//
//go:noescape
func pair(a, b *byte, n int, valueA, valueB, maskA, maskB byte) int
