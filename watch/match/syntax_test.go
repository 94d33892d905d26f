package match

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestRefused: what the pattern's error is, where it is, and what is said of it.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		pattern string
		offset  int
		reason  string // of a SyntaxError
		feature string // of an UnsupportedError
	}{
		{"(", 0, "missing closing ): this group is not closed", ""},
		{"a(b(c)", 1, "not closed", ""},
		{"a)", 1, "no group that this ) closes", ""},
		{"[z-a]", 1, "the range's start is over its end", ""},
		{"[a", 0, "missing closing ]: this class is not closed", ""},
		{"[", 0, "class is not closed", ""},
		{"[]", 0, "class is not closed", ""},
		{"[a&&", 0, "class is not closed", ""},
		{`[\`, 1, `a \ stands at the end`, ""},
		{`a\`, 1, `a \ stands at the end`, ""},
		{"a**", 2, "a repetition of a repetition", ""},
		{"a{2}{3}", 4, "a repetition of a repetition", ""},
		{"a+*", 2, "a repetition of a repetition", ""},
		{"*a", 0, "nothing that * could repeat", ""},
		{"(+)", 1, "nothing that + could repeat", ""},
		{"{2}", 0, "nothing that the count could repeat", ""},
		{"a{3,2}", 1, "the first count is over the second", ""},
		{"a{1001}", 1, "it is over 1000", ""},
		{"a{99999999999999999999}", 1, "it is over 1000", ""},
		{`\i`, 0, `no escape \i`, ""},
		{`\é`, 0, `no escape \é`, ""},
		{`[\b]`, 1, `no escape \b`, ""},
		{`\x4`, 0, "too short", ""},
		{`\xg0`, 0, "not hexadecimal", ""},
		{`\x{}`, 0, "empty or not closed", ""},
		{`\x{110000}`, 0, "no character of this number", ""},
		{`\x{ffffffffffffffff1}`, 0, "no character of this number", ""},
		{`\ud800`, 0, "no character of this number", ""},
		{"(?)", 0, "flags are missing", ""},
		{"(?i-)", 0, "flags are missing", ""},
		{"(?--i)", 3, "negated twice", ""},
		{"(?q)", 2, "no such flag", ""},
		{"(?i", 0, "not closed", ""},
		{"(?P<>a)", 4, "bad group name: it is empty", ""},
		{"(?P<a", 4, "it is empty or not closed", ""},
		{"(?P<a b>c)", 5, "it has a character", ""},
		{"[[:foo:]]", 1, "there is no class [:foo:]", ""},
		{`[é\xff]`, 0, "both bytes", ""},
		{`a\nb`, 1, "multiline", ""},
		{"a\nb", 1, "multiline", ""},
		{`[\n]`, 0, "multiline", ""},
		{`a(\n|bc)`, 2, "multiline", ""},
		{`(?:\w{1000}){1000}`, 0, "too large", ""},
		{strings.Repeat("(", 300) + strings.Repeat(")", 300), 250, "nested too deeply", ""},
		{strings.Repeat("[", 300), 250, "nested too deeply", ""},
		{strings.Repeat("a", maxPattern+1), 0, "longer than 64 KiB", ""},
		{"(?=a)", 0, "", "look-ahead"},
		{"a(?!b)", 1, "", "negative look-ahead"},
		{"(?<=a)b", 0, "", "look-behind"},
		{"(?<!a)b", 0, "", "negative look-behind"},
		{"(?>a)", 0, "", "an atomic group"},
		{"a++", 1, "", "a possessive repetition"},
		{"a{2}+", 1, "", "a possessive repetition"},
		{`(a)\1`, 3, "", "a back-reference"},
		{`\k<x>`, 0, "", "a back-reference"},
		{`\g1`, 0, "", "a back-reference"},
		{"(?P=x)", 0, "", "a back-reference"},
		{"(?P>x)", 0, "", "a subroutine call"},
		{"(?1)", 0, "", "a subroutine call"},
		{"(?&x)", 0, "", "a subroutine call"},
		{"(?(1)a|b)", 0, "", "a conditional group"},
		{"(?|a|b)", 0, "", "a branch reset"},
		{"(?#c)", 0, "", "a comment"},
		{"(*UTF8)a", 0, "", "a control verb"},
		{`\p{L}`, 0, "", "a Unicode class"},
		{`[\pL]`, 1, "", "a Unicode class"},
		{`(?u)a`, 0, "", "the flag u"},
		{`a\Z`, 1, "", `\Z`},
		{`\h`, 0, "", `\h`},
		{`\K`, 0, "", `\K`},
		{`\R`, 0, "", `\R`},
	} {
		_, err := Compile(Options{Pattern: c.pattern})
		var syntax *SyntaxError
		var unsupported *UnsupportedError
		switch {
		case errors.As(err, &syntax) && c.reason != "":
			if syntax.Offset != c.offset || !strings.Contains(syntax.Reason, c.reason) || syntax.Instead == "" {
				t.Errorf("%.40q: %v; want %q at %d", c.pattern, syntax, c.reason, c.offset)
			}
		case errors.As(err, &unsupported) && c.feature != "":
			if unsupported.Offset != c.offset || unsupported.Feature != c.feature || unsupported.Instead == "" {
				t.Errorf("%q: %v; want %q at %d", c.pattern, unsupported, c.feature, c.offset)
			}
		default:
			t.Errorf("%.40q: error %v; want %q%q", c.pattern, err, c.reason, c.feature)
		}
	}
}

// TestFixedIsNoPattern: nothing in a fixed text means anything.
func TestFixedIsNoPattern(t *testing.T) {
	for _, text := range []string{"(", "[z-a]", `\`, "a**", "(?=a)", "--flag", "$1", "\xff\xfe", "a{2"} {
		p := compiled(t, Options{Pattern: text, Fixed: true})
		if got := found(t, p, []byte("x\n-"+text+"-\n")); len(got) != 1 || got[0] != 2 {
			t.Errorf("%q: lines %v", text, got)
		}
	}
	if _, err := Compile(Options{Pattern: "a\nb", Fixed: true}); err == nil {
		t.Error("a fixed text with a line feed is no error without multiline")
	}
}

// FuzzCompile: no pattern makes the reading of it, or a search, panic or hang, and
// searching a text in one block or line by line comes to the same.
func FuzzCompile(f *testing.F) {
	for _, p := range oraclePatterns {
		f.Add(p, "foo bar\n\xff\xc3\xa9\n\nFOO_1\n", uint8(len(p)))
	}
	f.Add("[[a]", "[a\r\n", uint8(4))
	f.Add(strings.Repeat("(a|b)?", 30), "ab", uint8(1))
	f.Fuzz(func(t *testing.T, pattern, text string, flags uint8) {
		o := Options{
			Pattern: pattern, Word: flags&1 != 0, IgnoreCase: flags&2 != 0, Multiline: flags&4 != 0,
			Invert: flags&8 != 0, Fixed: flags&16 != 0,
		}
		if len(pattern) > 200 || len(text) > 2000 {
			return
		}
		begun := time.Now()
		defer func() {
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("%+v in %d bytes took %v", o, len(text), took)
			}
		}()
		p, err := Compile(o)
		if err != nil {
			return
		}
		list := found(t, p, []byte(text))
		p.Span([]byte(text))
		if p.Multiline() {
			return
		}
		n := 0
		for _, line := range splitLines([]byte(text)) {
			_, _, ok := p.Find(line, 0)
			if ok {
				n++
			}
			if ok != o.Invert && !p.Need().meets(line) {
				t.Errorf("%+v matches %q, which lacks %s", o, line, describe(p.Need()))
			}
		}
		if n != len(list) {
			t.Errorf("%+v in %q: lines %v, one by one %d", o, text, list, n)
		}
	})
}
