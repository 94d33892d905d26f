package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomPattern makes patterns of the part of the dialect that Go's regexp and rg
// read alike. small keeps them to few letters, so that they match often.
type randomPattern struct {
	r         *rand.Rand
	multiline bool
	looks     bool
	plain     bool // nothing that matches "\r" but itself
}

func (g *randomPattern) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *randomPattern) pattern(depth int) string {
	n := 1 + g.r.IntN(4)
	parts := make([]string, n)
	for i := range parts {
		parts[i] = g.piece(depth)
	}
	s := strings.Join(parts, "")
	if g.r.IntN(6) == 0 && depth > 0 {
		s += "|" + g.pattern(depth-1)
	}
	return s
}

func (g *randomPattern) piece(depth int) string {
	s := g.atom(depth)
	switch g.r.IntN(12) {
	case 0:
		s += "*"
	case 1:
		s += "+"
	case 2:
		s += "?"
	case 3:
		low := g.r.IntN(3)
		s += fmt.Sprintf("{%d,%d}", low, low+g.r.IntN(3))
	case 4:
		s += fmt.Sprintf("{%d,}", g.r.IntN(3))
	case 5:
		s += g.pick("*?", "+?", "??", "{1,2}?", "{2}")
	}
	return s
}

func (g *randomPattern) atom(depth int) string {
	switch k := g.r.IntN(14); {
	case k < 5:
		return g.pick("a", "b", "c", "ab", "bca", "A", "_", "1", " ", "foo", "-")
	case k < 7 && g.plain:
		return g.pick(`[ab]`, `[a-c]`, `\d`, `\w`, `[A-Za-z_]`, `[[:alpha:]]`, `[abc1]`)
	case k < 7:
		return g.pick(".", `\w`, `\d`, `[^a]`, `[ab]`, `[a-c]`, `\W`, `\D`, `[^\w]`, `[[:upper:]]`, `[^a-c\n]`)
	case k == 7 && g.looks && !g.plain:
		return g.pick(`\b`, `\B`, `^`, `$`, `\A`, `\z`)
	case k == 7 && g.looks:
		return g.pick(`\b`, `^`, `$`, `$`)
	case k == 8 && g.multiline:
		return g.pick(`\n`, `\n`, `[\n ]`, `(?s:.)`, `[^a]`)
	case k == 9:
		return g.pick("(?i:ab)", "(?i:foo)", "(?i:[a-b])", "(?i)b")
	case k >= 10 && depth > 0:
		return g.pick("(?:", "(") + g.pattern(depth-1) + ")"
	}
	return g.pick("a", "b", "foo", "bar")
}

// randomText makes lines of the letters that randomPattern likes.
func randomText(r *rand.Rand, lines int, letters []string) []byte {
	var text []byte
	for i := range lines {
		for range r.IntN(12) {
			text = append(text, letters[r.IntN(len(letters))]...)
		}
		if i+1 < lines || r.IntN(3) > 0 {
			text = append(text, '\n')
		}
	}
	return text
}

var asciiLetters = []string{"a", "b", "c", "ab", "bca", "A", "B", "_", "1", "23", " ", "foo", "bar", "FOO", "-", "."}

// wildLetters are bytes that are no UTF-8 wherever they stand side by side, so that
// Go's regexp takes each as one character too.
var wildLetters = append([]string{"\xff", "\x80", "\xfe", "\x00", "\t", "\v", "\xc1"}, asciiLetters...)
