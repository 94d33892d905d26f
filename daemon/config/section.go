package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// section is one table being read. What its reader asks for are the keys that
// it may have.
type section struct {
	file  *file
	doc   *document
	key   string // "" is the whole file
	table map[string]any
	known []string
}

// problem notes one of the section's keys, or of the section itself ("").
func (s *section) problem(key, format string, args ...any) {
	s.file.problems = append(s.file.problems, s.describe(key, fmt.Sprintf(format, args...)))
}

// ignore notes a setting that does not count here.
func (s *section) ignore(key, format string, args ...any) {
	p := s.describe(key, fmt.Sprintf(format, args...))
	p.Ignored = true
	s.file.problems = append(s.file.problems, p)
}

func (s *section) describe(key, text string) Problem {
	full := s.key
	if key != "" {
		full = join(s.key, key)
	}
	return Problem{File: s.file.path, Line: s.line(key), Key: cut(full), Text: text}
}

// line is where a key of the section stands, or the section ("").
func (s *section) line(key string) int {
	full := s.key
	if key != "" {
		full = join(s.key, key)
	}
	if n := s.doc.lines[full]; n > 0 {
		return n
	}
	return s.doc.lines[s.key]
}

// source names the place of a key for people.
func (s *section) source(key string) string { return at(s.file.path, s.line(key)) }

func (s *section) get(key string) (any, bool) {
	s.known = append(s.known, key)
	v, ok := s.table[key]
	return v, ok
}

// text reads a string of one line.
func (s *section) text(key string) (value string, ok bool) {
	v, there := s.get(key)
	if !there {
		return "", false
	}
	value, ok = v.(string)
	switch {
	case !ok:
		s.problem(key, "%s, not a text", kindOf(v))
	case strings.TrimSpace(value) == "":
		s.problem(key, "empty")
		return "", false
	case !plainText(value):
		s.problem(key, "longer than %d bytes, or with control characters", maxText)
		return "", false
	}
	return value, ok
}

// plainText reports whether a text is one for a line of a table.
func plainText(s string) bool {
	return strings.TrimSpace(s) != "" && len(s) <= maxText && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

// choice reads one of a few words.
func (s *section) choice(key string, words []string) (string, bool) {
	value, ok := s.text(key)
	if ok && !slices.Contains(words, value) {
		s.problem(key, "%q is not one of %s%s", cut(value), strings.Join(words, ", "), didYouMean(value, words))
		return "", false
	}
	return value, ok
}

// number reads a whole number within bounds.
func (s *section) number(key string, least, most int64) (int, bool) {
	v, there := s.get(key)
	if !there {
		return 0, false
	}
	n, ok := v.(int64)
	switch {
	case !ok:
		s.problem(key, "%s, not a whole number", kindOf(v))
	case n < least || n > most:
		s.problem(key, "%d: must be from %d to %d", n, least, most)
		return 0, false
	}
	return int(n), ok
}

func (s *section) truth(key string) (value, ok bool) {
	v, there := s.get(key)
	if !there {
		return false, false
	}
	if value, ok = v.(bool); !ok {
		s.problem(key, "%s, not true or false", kindOf(v))
	}
	return value, ok
}

// list reads texts, each of which must pass check; ok is false when one does
// not.
func (s *section) list(key string, check func(string) error) (values []string, ok bool) {
	v, there := s.get(key)
	if !there {
		return nil, false
	}
	array, ok := v.([]any)
	switch {
	case !ok:
		s.problem(key, `%s, not a list of texts, as in ["a", "b"]`, kindOf(v))
		return nil, false
	case len(array) == 0:
		s.problem(key, "empty, which nothing matches: leave it out for everything")
		return nil, false
	case len(array) > maxList:
		s.problem(key, "more than %d entries", maxList)
		return nil, false
	}
	for i, v := range array {
		text, isText := v.(string)
		if !isText {
			s.problem(element(key, i), "%s, not a text", kindOf(v))
			ok = false
		} else if err := check(text); err != nil {
			s.problem(element(key, i), "%q: %v", cut(text), err)
			ok = false
		} else {
			values = append(values, text)
		}
	}
	return values, ok
}

// tables reads [[key]] tables.
func (s *section) tables(key string) []*section {
	v, there := s.get(key)
	if !there {
		return nil
	}
	array, ok := v.([]any)
	if !ok {
		s.problem(key, "%s: write [[%s]]", kindOf(v), join(s.key, key))
		return nil
	}
	var out []*section
	for i, v := range array {
		at := element(join(s.key, key), i)
		if table, ok := v.(map[string]any); ok {
			out = append(out, &section{file: s.file, doc: s.doc, key: at, table: table})
		} else {
			s.problem(element(key, i), "%s: write [[%s]]", kindOf(v), join(s.key, key))
		}
	}
	return out
}

// sub reads a [key] table; nil when there is none.
func (s *section) sub(key string) *section {
	v, there := s.get(key)
	if !there {
		return nil
	}
	table, ok := v.(map[string]any)
	if !ok {
		s.problem(key, "%s: write [%s]", kindOf(v), join(s.key, key))
		return nil
	}
	return &section{file: s.file, doc: s.doc, key: join(s.key, key), table: table}
}

// done complains of keys that nobody asked for.
func (s *section) done() {
	for key := range s.table {
		if !slices.Contains(s.known, key) {
			s.problem(key, "there is no such setting%s", didYouMean(key, s.known))
		}
	}
}

// kindOf names a TOML value's type.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case int64:
		return "a whole number"
	case float64:
		return "a fraction"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a time"
}
