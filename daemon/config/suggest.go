package config

import "strings"

// isReserved tells names that only loomd gives to rules.
func isReserved(name string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(name)), "built-in")
}

// didYouMean is the end of a problem that names the candidate which is nearest
// to word, "" when none is near.
func didYouMean(word string, candidates []string) string {
	best, cost := "", 1+len(word)/3
	for _, c := range candidates {
		if d := distance(fold(word), fold(c)); d <= cost && (best == "" || d < cost) {
			best, cost = c, d
		}
	}
	if best == "" || len(word) > maxText {
		return ""
	}
	return "; did you mean " + best + "?"
}

// fold drops what names are often confused in.
func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

// distance is how many bytes must be inserted, deleted or replaced to make b of
// a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, change)
		}
	}
	return row[len(b)]
}
