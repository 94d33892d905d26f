package config

import (
	"cmp"
	"fmt"
	"maps"
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
	shape *shape // notes what is asked for; nil when a file is read
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
	p := Problem{File: s.file.path, Line: s.line(key), Key: cut(full), Text: text}
	if from := s.doc.from[full]; from != "" {
		p.File, p.Line = from, 0
	}
	return p
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

// source names the place of a key for people: where it stands in the file, or the
// environment variable or flag that stands above the file.
func (s *section) source(key string) string {
	if from := s.doc.from[join(s.key, key)]; from != "" && key != "" {
		return from
	}
	return at(s.file.path, s.line(key))
}

// get is the value of a key. While the shape is noted every key is there, with a
// value of no kind, so that what is asked only of a key that is there is asked.
func (s *section) get(key string) (any, bool) {
	if s.shape != nil {
		return nil, true
	}
	s.known = append(s.known, key)
	v, ok := s.table[key]
	return v, ok
}

// text reads a string of one line.
func (s *section) text(key string) (value string, ok bool) {
	s.shape.text(key)
	return s.written(key, maxText, plainText)
}

// long reads a text of one or more lines, of at most so many bytes.
func (s *section) long(key string, most int) (value string, ok bool) {
	s.shape.long(key, int64(most))
	return s.written(key, most, func(value string) bool {
		return len(value) <= most && utf8.ValidString(value) &&
			!strings.ContainsFunc(value, func(r rune) bool { return r != '\n' && r != '\t' && hiddenRune(r) })
	})
}

// written reads a string that is not blank and fits, which one of more than most
// bytes does not.
func (s *section) written(key string, most int, fits func(string) bool) (value string, ok bool) {
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
	case !fits(value):
		s.problem(key, "longer than %d bytes, or with control characters", most)
		return "", false
	}
	return value, ok
}

// free reads a table that may have any keys.
func (s *section) free(key string) map[string]any {
	s.shape.any(key)
	v, there := s.get(key)
	if !there || s.shape != nil {
		return nil
	}
	table, ok := v.(map[string]any)
	if !ok {
		s.problem(key, "%s: write [%s]", kindOf(v), join(s.key, key))
	}
	return table
}

// plainText reports whether a text is one for a line of a table.
func plainText(s string) bool {
	return strings.TrimSpace(s) != "" && len(s) <= maxText && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, hiddenRune)
}

func hiddenRune(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// choice reads one of a few words.
func (s *section) choice(key string, words []string) (string, bool) {
	defer s.shape.choice(key, words)
	value, ok := s.text(key)
	if ok && !slices.Contains(words, value) {
		s.problem(key, "%q is not one of %s%s", cut(value), strings.Join(words, ", "), didYouMean(value, words))
		return "", false
	}
	return value, ok
}

// number reads a whole number within bounds.
func (s *section) number(key string, least, most int64) (int, bool) {
	s.shape.number(key, least, most)
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
	s.shape.truth(key)
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
	s.shape.list(key)
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

// choices reads a list of some of a few words.
func (s *section) choices(key string, words []string) (values []string, ok bool) {
	defer s.shape.choices(key, words)
	return s.list(key, func(value string) error {
		if slices.Contains(words, value) {
			return nil
		}
		return fmt.Errorf("not one of %s%s", strings.Join(words, ", "), didYouMean(value, words))
	})
}

// require complains, in these words, when a key is not there at all.
func (s *section) require(key, text string) {
	s.shape.require(key)
	if s.table[key] == nil {
		s.problem("", "%s", text)
	}
}

// tables reads [[key]] tables.
func (s *section) tables(key string) []*section {
	if s.shape != nil {
		return []*section{s.within(key+"[]", s.shape.tables(key))}
	}
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
	if s.shape != nil {
		return s.within(key, s.shape.table(key))
	}
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

// named reads the tables [KEY.NAME] in the order in which they stand. Each name
// must pass check.
func (s *section) named(key string, check func(name string) error) (names []string, tables []*section) {
	whole := s.sub(key)
	if whole == nil {
		return nil, nil
	}
	all := slices.SortedFunc(maps.Keys(whole.table), func(a, b string) int {
		return cmp.Or(cmp.Compare(whole.line(a), whole.line(b)), cmp.Compare(a, b))
	})
	for i, name := range all {
		if i == maxNamed {
			whole.problem("", "more than %d of them", maxNamed)
			break
		}
		if err := check(name); err != nil {
			whole.problem(name, "%v", err)
			whole.known = append(whole.known, name)
			continue
		}
		if table := whole.sub(name); table != nil {
			names, tables = append(names, name), append(tables, table)
		}
	}
	return names, tables
}

// within is the section below, while its shape is noted.
func (s *section) within(key string, noted *shape) *section {
	return &section{file: s.file, doc: s.doc, key: join(s.key, key), shape: noted, table: map[string]any{placeholder: map[string]any{}}}
}

// done complains of keys that nobody asked for.
func (s *section) done() {
	if s.shape != nil {
		return
	}
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
