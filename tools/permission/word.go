package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// readWord tells what is known of a word. text is the script it stands in.
func readWord(w *syntax.Word, text string) Word {
	var out strings.Builder
	is := literal
	if written := source(w, text); braces(w) && (strings.Contains(written, ",") || strings.Contains(written, "..")) {
		return Word{written, unknowns} // several words
	}
	for i, part := range w.Parts {
		value, certain := readPart(part)
		if certain == unknowns {
			return Word{source(w, text), unknowns}
		}
		if certain == pattern {
			// What a pattern expands to begins as it does. It may be an option when
			// nothing certain stands before the first sign of the pattern.
			begin := out.String() + value[:strings.IndexAny(value, "*?[")]
			if is != pattern && (begin == "" || begin[0] == '-') {
				return Word{source(w, text), unknowns}
			}
			is = pattern
		}
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && is == literal && strings.HasPrefix(lit.Value, "~") {
			is = home
		}
		out.WriteString(value)
	}
	if is == pattern {
		return Word{source(w, text), pattern}
	}
	return Word{out.String(), is}
}

// braces reports whether a word has a { that is not quoted.
func braces(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.Contains(strings.ReplaceAll(strings.ReplaceAll(lit.Value, `\\`, ""), `\{`, ""), "{") {
			return true
		}
	}
	return false
}

// source is a node as it is written.
func source(n syntax.Node, text string) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(text) || from > to {
		return "…"
	}
	return text[from:to]
}

// readPart is the text of a part of a word without its quotation.
func readPart(part syntax.WordPart) (value string, is certainty) {
	switch p := part.(type) {
	case *syntax.Lit:
		return unquoted(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar && strings.ContainsRune(p.Value, '\\') {
			return "", unknowns
		}
		return p.Value, literal
	case *syntax.DblQuoted:
		if p.Dollar {
			return "", unknowns // translated
		}
		var out strings.Builder
		for _, inner := range p.Parts {
			lit, ok := inner.(*syntax.Lit)
			if !ok {
				return "", unknowns
			}
			out.WriteString(unescape(lit.Value, "$`\"\\"))
		}
		return out.String(), literal
	}
	return "", unknowns
}

// unquoted reads text that stands without quotation marks.
func unquoted(s string) (string, certainty) {
	is := literal
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[':
			is = pattern
		}
	}
	if is == pattern && strings.ContainsRune(s, '\\') {
		return "", unknowns
	}
	return unescape(s, ""), is
}

// unescape takes out the backslashes before the characters of special, before all
// when there are none, and with it the line end after one.
func unescape(s, special string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		switch next := s[i+1]; {
		case next == '\n':
			i++
		case special == "" || strings.IndexByte(special, next) >= 0:
			out.WriteByte(next)
			i++
		default:
			out.WriteByte('\\')
		}
	}
	return out.String()
}
