package vector

import (
	"bytes"
	"testing"
)

// slow is Pair, byte by byte.
func slow(a, b []byte, valueA, valueB, maskA, maskB byte) int {
	for i := range a {
		if a[i]|maskA == valueA && b[i]|maskB == valueB {
			return i
		}
	}
	return -1
}

// check compares Pair with the loop that says the same, and that it looks far enough.
func check(t *testing.T, a, b []byte, valueA, valueB, maskA, maskB byte) {
	t.Helper()
	got, ok := Pair(a, b, valueA, valueB, maskA, maskB)
	want := slow(a, b, valueA, valueB, maskA, maskB)
	switch {
	case ok && got != want:
		t.Fatalf("found at %d, is at %d, in %q and %q", got, want, a, b)
	case !ok && (want >= 0 && want < got || len(a)-got >= 64 || got > len(a)):
		t.Fatalf("nothing before %d of %d, is at %d, in %q and %q", got, len(a), want, a, b)
	}
}

func FuzzPair(f *testing.F) {
	if !Has {
		f.Skip("this processor has no such instructions")
	}
	f.Add([]byte("Hello, world"), uint16(200), uint16(3), uint16(90), byte('l'), byte('o'), byte(0), byte(0x20))
	f.Fuzz(func(t *testing.T, text []byte, size, gap, at uint16, valueA, valueB, maskA, maskB byte) {
		if len(text) == 0 {
			return
		}
		whole := bytes.Repeat(text, int(size)/len(text)+1)[:size]
		if int(at) < len(whole) {
			whole[at] = valueA
		}
		if gap := int(gap) % 300; gap < len(whole) {
			check(t, whole[:len(whole)-gap], whole[gap:], valueA, valueB, maskA, maskB)
		}
	})
}

// TestPairEverywhere has the pair at each place of texts of each length, and bytes
// that would match before and behind them.
func TestPairEverywhere(t *testing.T) {
	if !Has {
		t.Skip("this processor has no such instructions")
	}
	for n := range 300 {
		room := bytes.Repeat([]byte{'x'}, n+128)
		a, b := room[64:64+n], bytes.Clone(room)[64:64+n]
		check(t, a, b, 'y', 'y', 0, 0)
		for i := range n {
			a[i], b[i] = 'Y', 'z'
			check(t, a, b, 'y', 'z', 0x20, 0)
			check(t, a, b, 'Y', 'x', 0, 0)
			a[i], b[i] = 'x', 'x'
		}
	}
}
