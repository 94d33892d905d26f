package index_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
)

// finder says which lines of a text match, with the standard library alone. Its
// patterns are of the part of the syntax that means the same to Go and to rg;
// texts are taken byte by byte, as Latin-1, so that "." is one byte.
type finder struct {
	re        *regexp.Regexp
	multiline bool
	invert    bool
}

func newFinder(q question) (*finder, error) {
	pattern := q.Pattern
	if q.Fixed {
		pattern = regexp.QuoteMeta(pattern)
	}
	pattern = latin(pattern)
	if q.Word {
		return nil, errors.New("the plain scan knows no words: ask rg")
	}
	if !q.Fixed {
		pattern = beforeCR(pattern)
		pattern = strings.ReplaceAll(pattern, `\s`, `[\t\n\v\f\r ]`)
		pattern = strings.ReplaceAll(pattern, `\S`, `[^\t\n\v\f\r ]`)
	}
	flags := "(?m"
	if q.Fold {
		flags += "i"
	}
	re, err := regexp.Compile(flags + ":" + pattern + ")")
	if err != nil {
		return nil, err
	}
	return &finder{re: re, multiline: q.Multiline, invert: q.Invert}, nil
}

// latin makes a character of each byte.
func latin(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// lines marks the lines that match.
func (f *finder) lines(text []byte, lines [][]byte) []bool {
	marked := make([]bool, len(lines))
	if f.multiline {
		f.spans(text, lines, marked)
	} else {
		for i, line := range lines {
			marked[i] = f.re.MatchString(latin(string(bytes.TrimSuffix(line, []byte("\n")))))
		}
	}
	if f.invert {
		for i := range marked {
			marked[i] = !marked[i]
		}
	}
	return marked
}

// spans marks every line that a match of the whole text touches. Only ASCII
// texts get here with the same offsets, which is what the multi-line corpus is.
func (f *finder) spans(text []byte, lines [][]byte, marked []bool) {
	starts := make([]int, len(lines)+1)
	for i, line := range lines {
		starts[i+1] = starts[i] + len(line)
	}
	for _, m := range f.re.FindAllIndex(text, -1) {
		for i := range lines {
			touches := m[0] < starts[i+1] && m[1] > starts[i]
			empty := m[0] == m[1] && m[0] >= starts[i] && m[0] < starts[i+1]
			if touches || empty {
				marked[i] = true
			}
		}
	}
}
