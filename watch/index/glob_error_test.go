package index

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// TestGlobErrorsSayWhere: what is wrong with a pattern, and where.
func TestGlobErrorsSayWhere(t *testing.T) {
	for _, c := range []struct {
		pattern string
		offset  int
		reason  string
	}{
		{"", -1, "empty"},
		{"!", -1, "empty"},
		{strings.Repeat("a", maxGlob+1), -1, "at most 4096"},
		{strings.Repeat("{a,b}", 11), -1, "more than 1024"},
		{"src/[a", 4, "[ is not closed"},
		{"!src/[a", 5, "[ is not closed"},
		{"[", 0, "[ is not closed"},
		{`a[b\]`, 1, "[ is not closed"},
		{"[a]/[]", 4, "[ has no characters"},
		{"[!]", 0, "[ has no characters"},
		{"*.{go,ts", 2, "{ is not closed"},
		{"{a,{b}", 0, "{ is not closed"},
		{"{a,{b", 3, "{ is not closed"},
		{"*.go}", 4, "} closes nothing"},
		{`a/\`, 2, `\ has no character`},
	} {
		_, err := CompileGlobs([]string{"fine", c.pattern})
		var bad *GlobError
		if !errors.As(err, &bad) || !errors.Is(err, ErrGlob) {
			t.Errorf("%.40q: %v", c.pattern, err)
			continue
		}
		if bad.Offset != c.offset || !strings.Contains(bad.Reason, c.reason) || bad.Instead == "" || bad.Pattern != c.pattern {
			t.Errorf("%.40q: %v; want %q at %d", c.pattern, err, c.reason, c.offset)
		}
	}
}

// TestPropertyMalformedAsDoublestar: what doublestar refuses is malformed, and
// nothing else is.
func TestPropertyMalformedAsDoublestar(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const letters = `a[]{}!^\,/`
	for range 200_000 {
		b := make([]byte, r.IntN(9))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		if err := malformed(string(b)); (err == nil) != doublestar.ValidatePattern(string(b)) {
			t.Fatalf("%q: %v", b, err)
		}
	}
}
