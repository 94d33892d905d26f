package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// rgKnows says what the plain scan leaves to rg: words, bytes beyond ASCII
// together with folding, matches over several lines in texts that are not ASCII.
func rgKnows(q question) bool {
	return q.Word || q.Multiline || q.Fold && latin(q.Pattern) != q.Pattern
}

// stepOf leaves out most patterns for the plain scan, which is slow.
func stepOf(s subject) int {
	if _, plain := s.(scanned); plain {
		return 10
	}
	return 1
}

// TestOracleGrep: the index answers as rg does, line for line, on a corpus with
// every kind of text.
func TestOracleGrep(t *testing.T) {
	binary := rgBinary(t)
	overSubjects(t, func(t *testing.T, open opener) {
		seed := newSeed(t)
		for n := range size(2, 20) {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			c := newCorpus(t, rng, 3)
			s := open(t, c.root, c.env)
			oracle := rg{binary, c.root, c.env}
			step := stepOf(s)
			for i := 0; i < 150; i += step {
				pattern := patternOf(rng, 2)
				if i < len(patternsByHand) {
					pattern = patternsByHand[i]
				}
				t.Run(fmt.Sprintf("%d/%d", n, i), func(t *testing.T) { c.compare(t, s, oracle, questionOf(rng, pattern)) })
			}
		}
	})
}

// TestOracleGrepMultiline is the same for patterns that span lines.
func TestOracleGrepMultiline(t *testing.T) {
	binary := rgBinary(t)
	rng := rand.New(rand.NewPCG(newSeed(t), 0))
	c := newCorpus(t, rng, 3)
	s := openIndex(t, c.root, c.env)
	oracle := rg{binary, c.root, c.env}
	for i, pattern := range multilineByHand {
		for _, mode := range []searchMode{contentMode, filesMode, countMode} {
			q := withRG(question{Pattern: pattern, Multiline: true, Mode: mode})
			if mode == contentMode {
				q.Before, q.After = rng.IntN(3), rng.IntN(3)
			}
			t.Run(fmt.Sprintf("%d/%s", i, mode), func(t *testing.T) { c.compare(t, s, oracle, q) })
		}
	}
}

func (c *corpus) compare(t *testing.T, s subject, oracle rg, q question) {
	t.Helper()
	if _, plain := s.(scanned); plain && rgKnows(q) {
		return // only rg knows
	}
	got, err := s.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	sameAsRG(t, q, got, oracle.search(t, q), c.late)
}
