package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/match"
)

// tiny makes many parts and blocks of few files.
var tiny = limits{block: 1 << 10, text: 24 << 10, entries: 12}

// TestPropertyAnswersAreThoseOfAPlainScan edits a random tree and compares
// answers with those of reading every file: while the first build runs, after it,
// with changes beside the parts, and with parts made anew.
func TestPropertyAnswersAreThoseOfAPlainScan(t *testing.T) {
	rounds := 8
	if soak {
		rounds = 400
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			f := newForest(t)
			for range r.IntN(40) {
				edit(t, r, f)
			}
			o := Options{limits: tiny}
			if r.IntN(3) == 0 {
				o.Memory = 20 << 10 // most texts are read on demand
			}
			x := f.open(t, o)
			for range 8 {
				s := snapshot(t, x)
				for range 4 {
					q, m := randomQuery(r)
					compare(t, f, s, q, m)
				}
				s.Release()
				for range []int{1, 5, 40}[r.IntN(3)] {
					edit(t, r, f)
				}
				if r.IntN(2) == 0 {
					settle(t, x)
				}
				f.tellAll(r.IntN(4) == 0)
			}
		})
	}
}

var sizes = []int{0, 0, 30, 30, 30, 900, 900, 900, 900, 900, 900, 5000, 5000, 5000, 5000, 9000, 9000, 9000, 9000, 80_000}

var places = []string{"", "a/", "a/b/", "a-b/", "a.d/", ".hidden/", "a/.h/x/", "z/y/x/w/"}

func randomPath(r *rand.Rand) string {
	return places[r.IntN(len(places))] + []string{"f.go", "f_test.go", "g", ".dot", "a", "Makefile", "é.txt", "h.go"}[r.IntN(8)] + []string{"", "1", ".go"}[r.IntN(3)]
}

func edit(t *testing.T, r *rand.Rand, f *forest) {
	t.Helper()
	path := randomPath(r)
	switch n := r.IntN(20); {
	case n == 0:
		dir := strings.TrimSuffix(places[1+r.IntN(len(places)-1)], "/")
		if _, err := f.entry(dir); err == nil {
			f.remove(t, dir)
		}
	case n < 4:
		if _, err := f.entry(path); err == nil {
			f.remove(t, path)
		}
	default:
		for i := range path {
			if path[i] == '/' {
				if e, err := f.entry(path[:i]); err == nil && e.Kind == watch.File {
					f.remove(t, path[:i])
				}
			}
		}
		if e, err := f.entry(path); err == nil && e.Kind == watch.Dir {
			f.remove(t, path)
		}
		f.write(t, path, randomText(r, sizes[r.IntN(len(sizes))]))
	}
}

func randomQuery(r *rand.Rand) (Query, match.Options) {
	patterns := []string{
		"return", "needle of all", "Server", "server", "absent_word", "MARK_[0-9]", "[a-z]+le of", "x", "^func", "hay.$|tail.?$",
		"(needle|Server).*return", "", "needle|absent_one|MARK", "[0-9]{2}", "long", "é", `\bx\b`,
	}
	m := match.Options{Pattern: patterns[r.IntN(len(patterns))], IgnoreCase: r.IntN(4) == 0, Invert: r.IntN(8) == 0}
	if r.IntN(8) == 0 {
		m.Pattern, m.Word = patterns[r.IntN(4)], true
	}
	if r.IntN(6) == 0 {
		m = match.Options{Pattern: []string{`needle\s+[a-z]+`, `return.*\n.*Server`, `needle of all needles\r?\n`}[r.IntN(3)], Multiline: true}
	}
	q := Query{Hidden: r.IntN(3) > 0, Mode: []Mode{Content, Content, Files, Count}[r.IntN(4)]}
	if r.IntN(3) == 0 {
		q.Limit, q.Offset = 1+r.IntN(20), r.IntN(3)*r.IntN(10)
	}
	if q.Mode == Content && r.IntN(2) == 0 {
		q.Before, q.After = r.IntN(4), r.IntN(4)
	}
	if r.IntN(3) == 0 {
		q.Under = strings.TrimSuffix(places[r.IntN(len(places))], "/")
		if r.IntN(4) == 0 {
			q.Under = randomPath(r)
		}
	}
	if r.IntN(3) == 0 {
		q.Glob = [][]string{{"*.go"}, {"**/*_test.go"}, {"!*.go"}, {"a/**"}, {"**/{f,g}*", "!a/**"}, {"Makefile*"}}[r.IntN(6)]
	}
	for range r.IntN(3) * r.IntN(4) {
		o := Overlay{Path: randomPath(r), Exists: r.IntN(3) > 0}
		if o.Exists {
			o.Text = []byte(randomText(r, 2000))
		}
		q.Overlay = append(q.Overlay, o)
	}
	q.Overlay = sortOverlay(q.Overlay)
	return q, m
}

// sortOverlay puts an overlay in order, each path once.
func sortOverlay(overlay []Overlay) []Overlay {
	slices.SortStableFunc(overlay, func(a, b Overlay) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(overlay, func(a, b Overlay) bool { return a.Path == b.Path })
}
