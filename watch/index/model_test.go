package index

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/match"
)

// model answers a query the plain way: every file is read, every line is matched
// with Go's regexp.
type model struct {
	texts map[string][]byte // of all regular files
	query Query
	match match.Options
	re    *regexp.Regexp
}

func modelOf(t testing.TB, f *forest, q Query, o match.Options) *model {
	t.Helper()
	m := &model{texts: map[string][]byte{}, query: q, match: o}
	for _, e := range f.list() {
		if e.Kind != watch.File {
			continue
		}
		raw, err := os.ReadFile(f.abs(e.Path))
		if err != nil {
			t.Fatal(err)
		}
		m.texts[e.Path] = raw
	}
	for _, o := range q.Overlay {
		delete(m.texts, o.Path)
		for p := range m.texts {
			if o.Exists && strings.HasPrefix(p, o.Path+"/") {
				delete(m.texts, p) // a file takes a directory's place
			}
		}
	}
	for _, o := range q.Overlay {
		if o.Exists && (o.Kind == 0 || o.Kind == watch.File) {
			m.texts[o.Path] = o.Text
		}
	}
	source := o.Pattern
	if o.Fixed {
		source = regexp.QuoteMeta(source)
	}
	if o.Word {
		source = `\b(?:` + source + `)\b`
	}
	if o.IgnoreCase {
		source = "(?i:" + source + ")"
	}
	m.re = regexp.MustCompile("(?m)" + source)
	return m
}

// answer returns what Search should emit, and the number of matching lines or
// files in all.
func (m *model) answer(t testing.TB) (lines []string, total int) {
	t.Helper()
	globs, err := CompileGlobs(m.query.Glob)
	if err != nil {
		t.Fatal(err)
	}
	paths := make([]string, 0, len(m.texts))
	for p := range m.texts {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		rel, below := p, true
		if u := m.query.Under; u != "" && u != "." && u != p {
			rel, below = strings.CutPrefix(p, u+"/")
		} else if u == p {
			rel = ""
		}
		hidden := strings.HasPrefix(rel, ".") || strings.Contains(rel, "/.")
		if !below || hidden && !m.query.Hidden || !globs.Match(p) {
			continue
		}
		c := decode(m.texts[p])
		if c.binary {
			continue
		}
		total = m.file(p, c, &lines, total)
	}
	return lines, total
}

func (m *model) file(path string, c content, out *[]string, total int) int {
	text := c.text
	if c.late >= 0 && !m.match.Multiline {
		text = text[:c.late]
	}
	lines := bytes.SplitAfter(text, newline)
	if n := len(lines); len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	matching := m.matching(text, lines)
	shown := make([]bool, len(lines)) // as a match
	count, wanted := 0, map[int]bool{}
	for i := range lines {
		if !matching[i] {
			continue
		}
		count++
		if m.query.Mode != Content {
			continue
		}
		total++
		if n := total - m.query.Offset; n >= 1 && (m.query.Limit == 0 || n <= m.query.Limit) {
			shown[i] = true
			wanted[i] = true
			for k := i - 1; k >= max(i-m.query.Before, 0) && !(matching[k] && !shown[k]); k-- {
				wanted[k] = true
			}
		}
	}
	if m.query.Mode != Content {
		if count == 0 || c.late >= 0 && m.query.Mode == Count {
			return total
		}
		total++
		if n := total - m.query.Offset; n >= 1 && (m.query.Limit == 0 || n <= m.query.Limit) {
			if m.query.Mode == Files {
				count = 0
			}
			*out = append(*out, fmt.Sprintf("%s:%d:", path, count))
		}
		return total
	}
	for i := range lines {
		for k := i + 1; shown[i] && k <= min(i+m.query.After, len(lines)-1) && (shown[k] || !matching[k]); k++ {
			wanted[k] = true
		}
	}
	for i, l := range lines {
		mark := '-'
		if shown[i] {
			mark = ':'
		}
		if wanted[i] {
			*out = append(*out, fmt.Sprintf("%s%c%d%c%s", path, mark, i+1, mark, trimEnd(l)))
		}
	}
	return total
}

// matching tells which lines match.
func (m *model) matching(text []byte, lines [][]byte) []bool {
	matching := make([]bool, len(lines))
	if m.match.Multiline {
		for _, loc := range m.re.FindAllIndex(text, -1) {
			first := bytes.Count(text[:loc[0]], newline)
			last := bytes.Count(text[:max(loc[0], loc[1]-1)], newline)
			for i := first; i <= last && i < len(lines); i++ {
				matching[i] = true
			}
		}
		m.endAtNUL(lines, matching)
	} else {
		for i, l := range lines {
			matching[i] = m.re.Match(trimEnd(l))
		}
	}
	if m.match.Invert {
		for i := range matching {
			matching[i] = !matching[i]
		}
	}
	return matching
}

// ask searches and returns the lines as text.
func ask(t testing.TB, s *Snapshot, q Query) ([]string, Summary) {
	t.Helper()
	var lines []string
	summary, err := s.Search(t.Context(), q, func(l Line) bool {
		lines = append(lines, l.String())
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, summary
}

// compare searches and compares to the model.
func compare(t testing.TB, f *forest, s *Snapshot, q Query, o match.Options) {
	t.Helper()
	p, err := match.Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	q.Pattern = p
	got, summary := ask(t, s, q)
	want, total := modelOf(t, f, q, o).answer(t)
	about := fmt.Sprintf("%+v, under %q, glob %q, mode %d, limit %d, offset %d, context %d %d", o, q.Under, q.Glob, q.Mode, q.Limit, q.Offset, q.Before, q.After)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			from := max(i-2, 0)
			t.Fatalf("%s: %d lines, want %d; from %d:\n%q\nwant\n%q", about, len(got), len(want), i, clipped(got, from), clipped(want, from))
		}
	}
	exact := q.Limit == 0 || total <= q.Offset+q.Limit
	seen := summary.Lines
	if q.Mode != Content {
		seen = summary.Files
	}
	if exact && seen != total || !exact && seen < q.Offset+q.Limit || summary.Exact != exact {
		t.Fatalf("%s: summary %+v, want %d, exact %v", about, summary, total, exact)
	}
}

func clipped(lines []string, from int) []string {
	lines = slices.Clone(lines[min(from, len(lines)):min(from+6, len(lines))])
	for i := range lines {
		lines[i] = lines[i][:min(len(lines[i]), 120)]
	}
	return lines
}

// endAtNUL forgets what is found from the first run of matching lines on that
// holds a NUL.
func (m *model) endAtNUL(lines [][]byte, matching []bool) {
	for i := range lines {
		if !matching[i] || bytes.IndexByte(lines[i], 0) < 0 {
			continue
		}
		for i > 0 && matching[i-1] {
			i--
		}
		clear(matching[i:])
		return
	}
}
