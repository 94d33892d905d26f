package match

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// soak tells that the long forms of tests were asked for.
var soak = os.Getenv("LOOMD_SOAK") != ""

// goSource is the directory of Go's own source.
func goSource() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "src"), err
}

func compiled(t testing.TB, o Options) *Pattern {
	t.Helper()
	p, err := Compile(o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return p
}

// found lists the numbers of the lines that Find finds, from 1.
func found(t testing.TB, p *Pattern, text []byte) []int {
	t.Helper()
	var list []int
	for i := 0; i < len(text); {
		start, end, ok := p.Find(text, i)
		if !ok {
			break
		}
		if start < i || end <= start || end > len(text) ||
			start > 0 && text[start-1] != '\n' || end < len(text) && text[end-1] != '\n' {
			t.Fatalf("Find(%q, %d) = %d, %d: no lines", text, i, start, end)
		}
		first := bytes.Count(text[:start], []byte("\n")) + 1
		for k := range lines(text[start:end]) {
			list = append(list, first+k)
		}
		i = end
	}
	if n := p.Count(text); n != len(list) {
		t.Fatalf("%d lines found, Count says %d", len(list), n)
	}
	return list
}

// spansOf lists all matches in a line that do not overlap, from left to right, the
// first of which Span finds, too.
func spansOf(t testing.TB, p *Pattern, line []byte) [][2]int {
	t.Helper()
	var list [][2]int
	last, ended := lastStart(line), -1 // where the match before ended
	k := newPike(p.spans)
	for i := 0; i <= last; {
		start, end, ok := k.find(line, i, last)
		if !ok {
			break
		}
		if i = end; start == end {
			i++
		}
		if start == end && start == ended {
			continue // an empty match right behind another is none
		}
		list = append(list, [2]int{start, end})
		ended = end
	}
	start, end, ok := p.Span(line)
	if ok != (len(list) > 0) || ok && list[0] != [2]int{start, end} {
		t.Fatalf("Span(%q) = %d, %d, %v, of %v", line, start, end, ok, list)
	}
	return list
}

// meets reports whether a text holds what a pattern needs.
func (n *Need) meets(text []byte) bool {
	switch {
	case n == nil:
		return true
	case n.Literal != nil && n.Fold:
		return bytes.Contains(lower(bytes.Clone(text)), n.Literal)
	case n.Literal != nil:
		return bytes.Contains(text, n.Literal)
	case n.All != nil:
		for _, m := range n.All {
			if !m.meets(text) {
				return false
			}
		}
		return true
	}
	for _, m := range n.Any {
		if m.meets(text) {
			return true
		}
	}
	return false
}
