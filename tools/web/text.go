package web

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
)

// Text makes a line of what others wrote: control characters and white space are
// one space, invisible characters that can reorder or hide text are left out, what
// is no UTF-8 is U+FFFD. It has at most that many characters, the last of which is
// then "…", and cut is true.
func Text(s string, most int) (line string, cut bool) {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		switch {
		case unicode.IsControl(r) || unicode.IsSpace(r):
			space = n > 0
			continue
		case isHidden(r):
			continue
		}
		need := 1
		if space {
			need = 2
		}
		if n+need > most {
			return cutTo(b.String(), most), true
		}
		if space {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		n, space = n+need, false
	}
	return b.String(), false
}

// Prose is Text that keeps its lines: line ends (as \n), tabs and white space stay,
// other control characters are left out.
func Prose(s string, most int) (text string, cut bool) {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || isHidden(r) {
			continue
		}
		if n == most {
			return cutTo(b.String(), most), true
		}
		b.WriteRune(r)
		n++
	}
	return b.String(), false
}

// isHidden are format characters, but for the joiners that Persian and emoji are
// written with.
func isHidden(r rune) bool {
	return unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
}

// cutTo is s, of which more follows, in at most that many characters.
func cutTo(s string, most int) string {
	if runes := []rune(s); len(runes) >= most {
		s = string(runes[:max(most-1, 0)])
	}
	return s + "…"
}

// minKey is how many bytes a key has that is worth hiding: what is shorter is in
// many texts by chance.
const minKey = 8

// redactor replaces a key by a mark, also as it stands in JSON, in a URL and in
// base64.
func redactor(key string) func(string) string {
	if len(key) < minKey {
		return func(s string) string { return s }
	}
	const mark = "[key]"
	forms := []string{key, url.QueryEscape(key), url.PathEscape(key), base64.StdEncoding.EncodeToString([]byte(key)), base64.RawURLEncoding.EncodeToString([]byte(key))}
	if quoted, err := json.Marshal(key); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	var pairs []string
	for _, form := range forms {
		pairs = append(pairs, form, mark)
	}
	return strings.NewReplacer(pairs...).Replace
}
