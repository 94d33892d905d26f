//go:build !amd64

package vector

// Has reports whether there is anything to be gained: whether Pair works.
const Has = false

// Pair is there for callers to compile: nobody calls it where Has is false.
func Pair(_, _ []byte, _, _, _, _ byte) (i int, ok bool) { return 0, false }
