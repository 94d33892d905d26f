package tools

import (
	"slices"
	"strings"
)

// maxSuggestions is how many names a "did you mean" lists: more are no help.
const maxSuggestions = 3

// didYouMean is a hint naming the candidates that name could have been meant
// for, "" when none is near.
func didYouMean(name string, candidates []string) string {
	return asQuestion(nearest(name, candidates))
}

func asQuestion(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(names, " or ") + "?"
}

// nearest returns up to maxSuggestions candidates, the likeliest first: those
// that differ in case and separators only, then those few typing errors away,
// then those that hold name or are held by it.
func nearest(name string, candidates []string) []string {
	type scored struct {
		name string
		cost int
	}
	var found []scored
	plain := fold(name)
	limit := 1 + len([]rune(plain))/4
	for _, c := range candidates {
		other := fold(c)
		cost := distance(plain, other, limit)
		if cost > limit {
			short, long := min(len(plain), len(other)), max(len(plain), len(other))
			if short < 3 || !strings.Contains(plain, other) && !strings.Contains(other, plain) {
				continue
			}
			cost = limit + long - short
		}
		found = append(found, scored{c, cost})
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		if a.cost != b.cost {
			return a.cost - b.cost
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, f := range found[:min(len(found), maxSuggestions)] {
		names = append(names, f.name)
	}
	return names
}

// fold drops what names are often confused in.
func fold(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// distance is how many insertions, deletions, replacements and swaps of
// neighbours lead from a to b, or limit+1 when it is more than limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if diff := len(x) - len(y); diff > limit || -diff > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(y)], limit+1)
}
