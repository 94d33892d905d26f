package index_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// opener makes a subject for a tree, which ends with the test.
type opener func(t *testing.T, root string, env []string) subject

func openScan(_ *testing.T, root string, env []string) subject { return scanned{root, envOf(env)} }

// overSubjects runs a test on the plain scan, which shows that the harness is
// right, and on the index.
func overSubjects(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("scan", func(t *testing.T) { test(t, openScan) })
	t.Run("index", func(t *testing.T) { test(t, openIndex) })
}

// TestOracleLists: what the index lists is what git says, on random trees with
// nested ignore files and repositories, and after each of their changes.
func TestOracleLists(t *testing.T) {
	overSubjects(t, func(t *testing.T, open opener) {
		seed := newSeed(t)
		for n := range size(60, 2000) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				g := newGrown(t, seed, uint64(n))
				g.grow()
				s := open(t, g.root, g.env)
				g.listsAsGit(s)
				for range 4 {
					for range 1 + g.rng.IntN(5) {
						g.change()
					}
					g.listsAsGit(s)
					if t.Failed() {
						break
					}
				}
				if t.Failed() {
					t.Logf("tree %d, done:\n%s", n, strings.Join(g.did, "\n"))
				}
			})
		}
	})
}

func (g *grown) listsAsGit(s subject) {
	g.t.Helper()
	got, err := s.List(context.Background(), ".", true)
	g.must(err)
	inOrder(g.t, name("list"), got)
	if diff := difference(names(got), names(gitLists(g.t, g.root, g.env))); diff != "" {
		g.t.Errorf("after %d changes: %s", len(g.did), diff)
	}
}
