package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var globsByHand = []string{
	"*", "**", "**/*", "*.go", "**/*.go", "**/*_test.go", "a", "a/**", "a/*", "a/**/*.go", "**/a/**", "**/x.go", "*/x.go", "src/**/x.go", "foo**", "{a,b}/**",
	"**/{x,y}.go", "*.{go,log}", "?", "??", "[ab]", "[!a]*", "[^a]*", "[a-c]*", "**/[[]a]", `**/\[a\]`, `\*`, `**/\?`, ".hid", ".*", "**/.*", "**/.*/**", "é", "**/*é*",
	"", "/", "a/", "/a", "./a", "../a", "**/..", "a//b", "**/**/a", "a/**/**", "**a", "a**b", "*a*", "{a,{b,ab}}", "{,a}b", "**/{a,b}/{x,y}.go", "{**/,}x.go", "*.g[o]", "*.GO",
	"UP", "up", "**/n\nn", "\xfe\xff", "**/\xfe*", "a b", "* *", "!a", "a.b/**/x*", "**/build/**/*.go", "*/*/*", "**/a?b", "!!a",
}

var globAtoms = []string{"*", "**", "?", "a", "b", "x", ".go", ".", "[ab]", "[!x]", "{a,b}", "{x.go,y.go,*.log}", "src", "build", "é", "\\a", "test", "_"}

func globOf(rng *rand.Rand) string {
	parts := make([]string, 1+rng.IntN(4))
	for i := range parts {
		if rng.IntN(3) == 0 {
			parts[i] = "**"
			continue
		}
		for range 1 + rng.IntN(3) {
			parts[i] += pick(rng, globAtoms)
		}
	}
	return strings.Join(parts, "/")
}

// TestOracleGlob: a glob selects what a brute force over the list selects with
// doublestar.
func TestOracleGlob(t *testing.T) {
	seed := newSeed(t)
	for n := range size(4, 100) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			g := newGrown(t, seed, uint64(n))
			g.grow()
			for range 20 {
				g.treeAtOnce()
			}
			s, plain := openIndex(t, g.root, g.env), openScan(t, g.root, g.env)
			for i := range len(globsByHand) + 150 {
				pattern := globOf(g.rng)
				if i < len(globsByHand) {
					pattern = globsByHand[i]
				}
				patterns := []string{pattern}
				if i >= len(globsByHand) && g.rng.IntN(4) == 0 {
					patterns = append(patterns, pick(g.rng, []string{"!**/a/**", "!*.log", "b/**", "!" + globOf(g.rng), globOf(g.rng)}))
				}
				under := pick(g.rng, []string{".", ".", ".", "a", "src", "a/b", "x.go", "nowhere"})
				g.globsAlike(s, plain, patterns, under, g.rng.IntN(4) > 0)
			}
		})
	}
}

func (g *grown) globsAlike(s, plain subject, patterns []string, under string, hidden bool) {
	g.t.Helper()
	got, err := s.Glob(context.Background(), patterns, under, hidden)
	if err != nil {
		// What a tool refuses must be refused for a reason: nothing else could be meant.
		if want, _ := plain.Glob(context.Background(), patterns, under, hidden); len(want) > 0 {
			g.t.Errorf("glob %q: %v, but doublestar finds %d", patterns, err, len(want))
		}
		return
	}
	want, err := plain.Glob(context.Background(), patterns, under, hidden)
	g.must(err)
	inOrder(g.t, name(strings.Join(patterns, " ")), got)
	if diff := difference(names(got), names(want)); diff != "" {
		g.t.Errorf("glob %q under %q, hidden %v: %s", patterns, under, hidden, diff)
	}
}
