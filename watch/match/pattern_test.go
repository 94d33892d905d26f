package match

import (
	"slices"
	"testing"
)

// TestPattern: the lines and the spans of patterns where this package differs from
// rg or from Go's regexp, and of those named by the shared hard cases.
func TestPattern(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     Options
		text  string
		lines []int
		spans [][2]int // in the first line or run that is found
	}{
		{"a pattern may start with a dash", Options{Pattern: "--flag"}, "use --flag\n-w\n", []int{1}, [][2]int{{4, 10}}},
		{"a pattern may start with a dash", Options{Pattern: "-w"}, "use --flag\n-w\n", []int{2}, [][2]int{{0, 2}}},
		{"$ is before CRLF", Options{Pattern: "needle$"}, "needle\r\nneedles\r\n", []int{1}, [][2]int{{0, 6}}},
		{"^ and $ around", Options{Pattern: "^needle$"}, "needle\r\nneedles\r\n", []int{1}, [][2]int{{0, 6}}},
		{"$ is before CR at the end of the text", Options{Pattern: "needle$"}, "needle\r", []int{1}, [][2]int{{0, 6}}},
		{"$ is behind CR too", Options{Pattern: "needle\r$"}, "needle\r\nneedle\n", []int{1}, [][2]int{{0, 7}}},
		{"$ is not before a CR in the line", Options{Pattern: "needle$"}, "needle\rx\n", nil, nil},
		{"$ is not before two CRs", Options{Pattern: "needle$"}, "needle\r\r\n", nil, nil},
		{"an empty line of Windows", Options{Pattern: "^$"}, "a\r\n\r\nb\r\n", []int{2}, [][2]int{{0, 0}}},
		{"\\z is strict", Options{Pattern: `needle\z`}, "needle\r\nneedle\n", []int{2}, [][2]int{{0, 6}}},
		{"$ in an alternative", Options{Pattern: `x(,|$)`}, "x\r\nx,\r\nxy\r\n", []int{1, 2}, [][2]int{{0, 1}}},
		{"a text with CR alone is one line", Options{Pattern: "def"}, "abc\rdef", []int{1}, [][2]int{{4, 7}}},
		{"multi-line", Options{Pattern: `alpha\nbeta`, Multiline: true}, "alpha\nbeta\n", []int{1, 2}, [][2]int{{0, 10}}},
		{"\\n is LF alone", Options{Pattern: `alpha\nbeta`, Multiline: true}, "alpha\r\nbeta\r\n", nil, nil},
		{"\\r?\\n is either", Options{Pattern: `alpha\r?\nbeta`, Multiline: true}, "alpha\r\nbeta\r\n", []int{1, 2}, [][2]int{{0, 11}}},
		{"$ in a multi-line pattern", Options{Pattern: `alpha$\s+beta$`, Multiline: true}, "alpha\r\nbeta\r\n", []int{1, 2}, [][2]int{{0, 11}}},
		{"a run goes on where a match begins in its last line", Options{Pattern: `a\nb`, Multiline: true}, "a\nb a\nb\nb\n", []int{1, 2, 3}, [][2]int{{0, 3}, {4, 7}}},
		{"braces are text", Options{Pattern: "interface{}"}, "interface{}\n", []int{1}, [][2]int{{0, 11}}},
		{"braces are text", Options{Pattern: "func() {"}, "func\nx := func {\n", []int{2}, nil},
		{"braces are text", Options{Pattern: "a{,2}"}, "a{,2}\n", []int{1}, [][2]int{{0, 5}}},
		{"- beside a class", Options{Pattern: `[\w-.]+`}, "!a-b.c!\n", []int{1}, [][2]int{{1, 6}}},
		{"- beside a class", Options{Pattern: `[a-\d]+`}, "!a-1b\n", []int{1}, [][2]int{{1, 4}}},
		{"[ in a class", Options{Pattern: `[^[]+`}, "[a\n", []int{1}, [][2]int{{1, 2}}},
		{"[ in a class", Options{Pattern: `[[a]+`}, "b[a\n", []int{1}, [][2]int{{1, 3}}},
		{"\\Q", Options{Pattern: `\Qa+(\E+`}, "a+((\n", []int{1}, [][2]int{{0, 4}}},
		{"\\Q to the end", Options{Pattern: `\Qa+(`}, "a+(\n", []int{1}, [][2]int{{0, 3}}},
		{"octal", Options{Pattern: `a\0b\033`}, "a\x00b\x1b\n", []int{1}, [][2]int{{0, 4}}},
		{"characters in a class", Options{Pattern: `[éà]x`}, "éx\nàx\nax\n\xa9x\n", []int{1, 2}, [][2]int{{0, 3}}},
		{"characters in a class", Options{Pattern: `[à-ü]{2}`}, "ñé\nñ\n", []int{1}, [][2]int{{0, 4}}},
		{"characters in a class", Options{Pattern: `[一-龥]+`}, "x日本y\nкот\n", []int{1}, [][2]int{{1, 7}}},
		{"characters in a class", Options{Pattern: `[\u4e00-\u9fff]`}, "日\nx\n", []int{1}, [][2]int{{0, 3}}},
		{"characters not in a class", Options{Pattern: `^[^é]$`}, "é\nà\na\n\xff\n", []int{2, 3}, [][2]int{{0, 2}}},
		{"characters up to the last", Options{Pattern: `^[à-\x{10ffff}]$`}, "é\n\U0001F600\na\n\xed\xa0\x80\n", []int{1, 2}, [][2]int{{0, 2}}},
		{"no letter folds into ASCII or out of it", Options{Pattern: "K|ſ", IgnoreCase: true}, "k\ns\nS\nK\nſ\n\u212a\n", []int{1, 4, 5}, [][2]int{{0, 1}}},
		{"\\s has the vertical tab", Options{Pattern: `a\sb`}, "a\vb\n", []int{1}, [][2]int{{0, 3}}},
		{"the last line", Options{Pattern: "b$"}, "a\nb", []int{2}, [][2]int{{0, 1}}},
		{"no line behind the last", Options{Pattern: "^"}, "a\n\n", []int{1, 2}, [][2]int{{0, 0}}},
		{"nothing matches", Options{Pattern: `[a&&b]`}, "a\nb\n", nil, nil},
		{"nothing matches", Options{Pattern: `[a&&b]`, Invert: true}, "a\nb", []int{1, 2}, nil},
		{"everything matches", Options{Pattern: `a*`, Invert: true}, "a\nb\n", nil, nil},
		{"everything matches", Options{Pattern: `\n*`, Multiline: true}, "a\nb\n", []int{1, 2}, nil},
		{"a multi-line match may end a text", Options{Pattern: `b\s*\z`, Multiline: true}, "b\nb\n", []int{2}, [][2]int{{0, 2}}},
		{"an empty match behind the last line is none", Options{Pattern: `\z`, Multiline: true}, "b\nb\n", nil, nil},
		{"empty matches of a multi-line pattern", Options{Pattern: `\s*$`, Multiline: true}, "a\n\n b\n", []int{1, 2, 3}, [][2]int{{1, 2}}},
		{"empty matches of a multi-line pattern", Options{Pattern: `\n?^(?:b|$)`, Multiline: true}, "a\nb\n\na\n", []int{1, 2, 3, 4}, [][2]int{{1, 3}}},
		{"inverted runs", Options{Pattern: `b\nc`, Multiline: true, Invert: true}, "a\nb\nc\nd\nb\nc", []int{1, 4}, nil},
		{"words", Options{Pattern: "a|ab", Word: true}, "ab\nabc\n", []int{1}, [][2]int{{0, 2}}},
		{"words that are none", Options{Pattern: "-a", Word: true}, "x-a\n-a\n", []int{2}, [][2]int{{0, 2}}},
		{"the longer alternative first", Options{Pattern: "foobar|foo"}, "foobar\n", []int{1}, [][2]int{{0, 6}}},
		{"the shorter alternative first", Options{Pattern: "foo|foobar"}, "foobar\n", []int{1}, [][2]int{{0, 3}}},
		{"a NUL is a byte", Options{Pattern: `a.b`}, "a\x00b\n", []int{1}, [][2]int{{0, 3}}},
		{"folding keeps bytes apart from letters", Options{Pattern: "@[`{", Fixed: true, IgnoreCase: true}, "`{@[\n@[`{\n", []int{2}, [][2]int{{0, 4}}},
	} {
		p := compiled(t, c.o)
		if got := found(t, p, []byte(c.text)); !slices.Equal(got, c.lines) {
			t.Errorf("%s: %+v in %q: lines %v, want %v", c.name, c.o, c.text, got, c.lines)
			continue
		}
		if c.spans == nil {
			continue
		}
		start, end, _ := p.Find([]byte(c.text), 0)
		if got := spansOf(t, p, []byte(c.text[start:end])); !slices.Equal(got[:min(len(got), len(c.spans))], c.spans) {
			t.Errorf("%s: %+v in %q: spans %v, want %v", c.name, c.o, c.text, got, c.spans)
		}
	}
}

// TestNeed: what is known of the texts that have a match.
func TestNeed(t *testing.T) {
	for _, c := range []struct {
		pattern, need string
	}{
		{`foo`, `"foo"`},
		{`(?i)Foo_1`, `"foo_1"i`},
		{`\w+Unmarshaler\b`, `"Unmarshaler"`},
		{`func \(s \*Server\) [A-Z][a-z]+`, `"func (s *Server) "`},
		{`foo|bar`, `("foo" | "bar")`},
		{`(foo|bar)baz`, `("foobaz" | "barbaz")`},
		{`foo|foobar`, `"foo"`},
		{`https?://`, `("https://" | "http://")`},
		{`foo.*bar`, `("bar" & "foo")`},
		{`a+b`, `"ab"`},
		{`(?:abc)+d`, `"abcd"`},
		{`(?:\w+foo)+`, `"foo"`},
		{`foo|\w+`, `anything`},
		{`\w+foo\w|b[0-9]*c`, `("foo" | ("b" & "c"))`},
		{`x[abc]y`, `("xay" | "xby" | "xcy")`},
		{`x[^a]y`, `("y" & "x")`},
		{`.*`, `anything`},
		{`(foo)?`, `anything`},
		{`^$`, `anything`},
		{`é`, `"é"`},
		{`\bfoo\b`, `"foo"`},
		{`a(?i)b`, `"ab"i`},
		{`A(?i)b`, `"ab"i`},
		{`1(?i)b`, `"1b"i`},
	} {
		got := describe(compiled(t, Options{Pattern: c.pattern}).Need())
		if got != c.need {
			t.Errorf("%q needs %s, want %s", c.pattern, got, c.need)
		}
	}
	if n := compiled(t, Options{Pattern: "foo", Invert: true}).Need(); n != nil {
		t.Errorf("the lines without foo need %s", describe(n))
	}
}
