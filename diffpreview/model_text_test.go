package diffpreview

import (
	"slices"
	"strings"
)

// body is what a file or a buffer holds.
type body struct {
	exists bool
	text   string
}

func (b body) String() string {
	if !b.exists {
		return "(absent)"
	}
	return "[" + strings.Join(strings.Fields(b.text), " ") + "]"
}

func bodyOf(c Content) body { return body{c.Exists, string(c.Data)} }

// linesOf cuts a text after each "\n".
func linesOf(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// filler reports whether a line is one of those that stand in a file many
// times. All others are written once.
func filler(line string) bool {
	return unended(line) == "" || unended(line) == "}"
}

// unended is a line as it is without its end, which it gets or loses with what
// comes behind it.
func unended(line string) string { return strings.TrimRight(line, "\r\n") }

// strip puts text in the place of lines [start, start+count).
type strip struct {
	start, count int
	text         string
}

// overlay is a text with the pieces, sorted and disjoint, in it.
func overlay(text string, pieces []strip) string {
	lines := linesOf(text)
	var out strings.Builder
	at := 0
	for _, p := range pieces {
		out.WriteString(strings.Join(lines[at:p.start], ""))
		out.WriteString(p.text)
		at = p.start + p.count
	}
	out.WriteString(strings.Join(lines[at:], ""))
	return out.String()
}

// lineSet is a set of lines, by their bytes.
type lineSet map[string]bool

// add puts the lines of a text in.
func (s lineSet) add(text string) {
	for _, l := range linesOf(text) {
		s[l] = true
	}
}

func setOf(texts ...string) lineSet {
	s := lineSet{}
	for _, t := range texts {
		s.add(t)
	}
	return s
}

// minus returns the lines of s that no other set has.
func (s lineSet) minus(others ...lineSet) []string {
	var out []string
	for l := range s {
		if !slices.ContainsFunc(others, func(o lineSet) bool { return o[l] }) {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

// asks puts into two sets what a hunk takes out and what it puts in. What a
// conflict has on both sides it only has around it.
func (h *Hunk) asks(old, new lineSet) {
	more := map[string]int{}
	for _, l := range linesOf(string(h.Old)) {
		more[l]--
	}
	for _, l := range linesOf(string(h.New)) {
		more[l]++
	}
	for l, n := range more {
		switch {
		case n < 0:
			old[l] = true
		case n > 0:
			new[l] = true
		}
	}
}

// repeated returns the lines that a text has twice.
func repeated(text string) []string {
	seen := lineSet{}
	var out []string
	for _, l := range linesOf(text) {
		if seen[l] {
			out = append(out, l)
		}
		seen[l] = true
	}
	return out
}

// common returns the lines that both texts have, in the order of each.
func common(a, b string) (inA, inB []string) {
	as, bs := setOf(a), setOf(b)
	for _, l := range linesOf(a) {
		if bs[l] {
			inA = append(inA, l)
		}
	}
	for _, l := range linesOf(b) {
		if as[l] {
			inB = append(inB, l)
		}
	}
	return inA, inB
}

// reordered returns the lines of both texts that may count as moved: all
// between the first and the last place where their orders differ.
func reordered(a, b string) []string {
	inA, inB := common(a, b)
	for len(inA) > 0 && len(inB) > 0 && inA[0] == inB[0] {
		inA, inB = inA[1:], inB[1:]
	}
	for len(inA) > 0 && len(inB) > 0 && inA[len(inA)-1] == inB[len(inB)-1] {
		inA, inB = inA[:len(inA)-1], inB[:len(inB)-1]
	}
	return append(inA, inB...)
}

// comparable reports whether it is plain, without a diff, which lines of two
// texts are the same ones: none stands in one of them twice, and the order is
// kept.
func comparableLines(a, b string) bool {
	return len(repeated(a)) == 0 && len(repeated(b)) == 0 && len(reordered(a, b)) == 0
}
