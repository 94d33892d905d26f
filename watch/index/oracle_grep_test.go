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

// ways are the forms in which the same questions are asked: of a plain scan,
// which shows that the harness is right, of an index that is complete, of one
// whose memory holds next to nothing, and of one that has just been opened.
var ways = []struct {
	name  string
	open  opener
	step  int  // every how many questions
	fresh bool // opened anew for each
}{
	{"scan", openScan, 10, false},
	{"built", openBuilt, 1, false},
	{"small", openSmall, 2, false},
	{"opened", openIndex, 10, true},
}

func openBuilt(t *testing.T, root string, env []string) subject {
	t.Helper()
	x := openIndexed(t, root, env, 0)
	x.built(t)
	return x
}

// smallBudget is less than one file of a corpus.
const smallBudget = 64 << 10

func openSmall(t *testing.T, root string, env []string) subject {
	t.Helper()
	x := openIndexed(t, root, env, smallBudget)
	if st := x.built(t); st.Kept > smallBudget || st.OnDemand == 0 {
		t.Errorf("of a budget of %d bytes %d are used, %d files are read on demand", smallBudget, st.Kept, st.OnDemand)
	}
	return x
}

// TestOracleGrep: the index answers as rg does, line for line, on a corpus with
// every kind of text.
func TestOracleGrep(t *testing.T) {
	binary := rgBinary(t)
	seed := newSeed(t)
	for n := range size(1, 20) {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		c := newCorpus(t, rng, 2)
		oracle := rg{binary, c.root, c.env}
		var questions []question
		var answers [][]row
		for i := range size(150, 300) {
			pattern := patternOf(rng, 2)
			if i < len(patternsByHand) {
				pattern = patternsByHand[i]
			}
			q := questionOf(rng, pattern)
			questions, answers = append(questions, q), append(answers, oracle.search(t, q))
		}
		for _, way := range ways {
			t.Run(fmt.Sprintf("%d/%s", n, way.name), func(t *testing.T) {
				s := way.open(t, c.root, c.env)
				for i := 0; i < len(questions); i += way.step {
					if way.fresh {
						s = way.open(t, c.root, c.env)
					}
					c.compare(t, s, questions[i], answers[i])
				}
			})
		}
	}
}

// TestOracleGrepMultiline is the same for patterns that span lines.
func TestOracleGrepMultiline(t *testing.T) {
	binary := rgBinary(t)
	rng := rand.New(rand.NewPCG(newSeed(t), 0))
	c := newCorpus(t, rng, 3)
	s := openBuilt(t, c.root, c.env)
	oracle := rg{binary, c.root, c.env}
	for i, pattern := range multilineByHand {
		for _, mode := range []searchMode{contentMode, filesMode, countMode} {
			q := withRG(question{Pattern: pattern, Multiline: true, Mode: mode})
			if mode == contentMode {
				q.Before, q.After = rng.IntN(3), rng.IntN(3)
			}
			t.Run(fmt.Sprintf("%d/%s", i, mode), func(t *testing.T) { c.compare(t, s, q, oracle.search(t, q)) })
		}
	}
}

func (c *corpus) compare(t *testing.T, s subject, q question, want []row) {
	t.Helper()
	if _, plain := s.(scanned); plain && rgKnows(q) {
		return // only rg knows
	}
	got, err := s.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	sameAsRG(t, q, got, want, c.late)
}
