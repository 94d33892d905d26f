package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/loomd/loomd/watch"
)

// Found is a file that a person may have meant.
type Found struct {
	Path  string
	Score int // higher is better
}

// Find returns the files that a person may mean by a few letters, the best
// first. The letters of each word of the query are in the path in this order;
// those in a file's name, at the beginnings of its words and next to each other
// count most. Case counts if the query has capitals. A query with letters beyond
// ASCII does not see where capitals begin words.
func (x *Index) Find(ctx context.Context, query string, limit int) ([]Found, error) {
	s, err := x.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Release()
	return s.Find(ctx, query, limit)
}

// Find is Index.Find in a snapshot.
func (s *Snapshot) Find(ctx context.Context, query string, limit int) ([]Found, error) {
	words := strings.Fields(query)
	fold := query == strings.ToLower(query)
	wide := fold && strings.ContainsFunc(query, func(r rune) bool { return r >= utf8.RuneSelf })
	var (
		all  sync.WaitGroup
		next atomic.Int64
		best = make([][]Found, maxWorkers())
	)
	for w := range best {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(s.views) {
					return
				}
				best[w] = s.views[i].rank(best[w], words, fold, wide, limit)
			}
		})
	}
	all.Wait()
	found := slices.Concat(best...)
	sortFound(found)
	return found[:min(len(found), limit)], ctx.Err()
}

func sortFound(found []Found) {
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(len(a.Path), len(b.Path)), cmp.Compare(a.Path, b.Path))
	})
}

// rank adds a view's files to found, and keeps about the best limit of them. wide:
// fold is of more letters than those of ASCII, for which the whole path is folded.
func (v *view) rank(found []Found, words []string, fold, wide bool, limit int) []Found {
	one := func(e entry) {
		if e.kind == watch.Dir {
			return
		}
		path := e.path
		if wide {
			path = strings.ToLower(path)
		}
		score := 0
		for _, w := range words {
			n := scoreOf(path, w, fold)
			if n < 0 {
				return
			}
			score += n
		}
		found = append(found, Found{e.path, score})
		if len(found) >= 4*limit+1024 {
			sortFound(found)
			found = found[:limit]
		}
	}
	v.each(func(i int) { one(v.part.entry(i)) }, func(f *file) { one(f.entry) })
	return found
}

// What a letter of the query counts.
const (
	scoreLetter = 4
	scoreNext   = 8  // it follows the one before
	scoreWord   = 10 // it begins a word of the path
	scoreName   = 6  // it is in the file's name
	scoreWhole  = 40 // the word is the file's name, with or without its extension
)

// scoreOf scores a path for a word; -1 if the letters are not all there. It is
// tried in the file's name first.
func scoreOf(path, word string, fold bool) int {
	base := strings.LastIndexByte(path, '/') + 1
	if n := scoreFrom(path, base, word, fold, scoreName); n >= 0 {
		name := path[base:]
		stem, _, _ := strings.Cut(name, ".")
		if equal(name, word, fold) || equal(stem, word, fold) {
			n += scoreWhole
		}
		return n
	}
	return scoreFrom(path, 0, word, fold, 0)
}

func equal(a, b string, fold bool) bool { return a == b || fold && strings.EqualFold(a, b) }

// scoreFrom scores the shortest run that ends where the letters first are all
// there.
func scoreFrom(path string, from int, word string, fold bool, bonus int) int {
	end := from
	for i := range len(word) {
		for ; end < len(path) && !sameLetter(path[end], word[i], fold); end++ {
		}
		if end == len(path) {
			return -1
		}
		end++
	}
	score, last := 0, end+1
	for i, at := len(word)-1, end-1; i >= 0; at-- {
		if !sameLetter(path[at], word[i], fold) {
			continue
		}
		score += scoreLetter + bonus
		if at+1 == last {
			score += scoreNext
		}
		if beginsWord(path, at) {
			score += scoreWord
		}
		last = at
		i--
	}
	return score
}

func sameLetter(have, want byte, fold bool) bool {
	return have == want || fold && lower[have] == want
}

// beginsWord reports whether a word of the path begins at a byte.
func beginsWord(path string, at int) bool {
	if at == 0 {
		return true
	}
	switch before := path[at-1]; {
	case strings.IndexByte("/_-. ", before) >= 0:
		return true
	default:
		return 'A' <= path[at] && path[at] <= 'Z' && !('A' <= before && before <= 'Z')
	}
}
