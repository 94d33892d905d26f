package index

import (
	"errors"
	"fmt"
)

// ErrGlob is what a pattern's error wraps.
var ErrGlob = errors.New("glob pattern")

// GlobError says why a pattern means nothing.
type GlobError struct {
	Pattern string
	Offset  int    // bytes into Pattern where it went wrong; -1: it is the whole of it
	Reason  string // of what stands at Offset: "[ is not closed"
	Instead string // what to write in its place
}

func (e *GlobError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%v %q: %s", ErrGlob, e.Pattern, e.Reason)
	}
	return fmt.Sprintf("%v %q, byte %d: %s", ErrGlob, e.Pattern, e.Offset, e.Reason)
}

func (e *GlobError) Unwrap() error { return ErrGlob }

// in is the error of a pattern that ends with the one of e.
func (e *GlobError) in(pattern string) error {
	if e.Offset >= 0 {
		e.Offset += len(pattern) - len(e.Pattern)
	}
	e.Pattern = pattern
	return e
}

// malformed finds what doublestar refuses a pattern for; nil for nothing.
func malformed(pattern string) *GlobError {
	bad := func(at int, reason, instead string) *GlobError {
		return &GlobError{Pattern: pattern, Offset: at, Reason: reason, Instead: instead}
	}
	var open []int // the braces that are not closed yet
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if i++; i == len(pattern) {
				return bad(i-1, `\ has no character behind it`, `leave it out, or write \\ for the character`)
			}
		case '[':
			end, empty := classEnd(pattern, i)
			switch {
			case empty:
				return bad(i, "[ has no characters before its ]", `write \[ for the character, or name what may stand there: [abc]`)
			case end < 0:
				return bad(i, "[ is not closed", `write \[ for the character, or close the class with ]`)
			}
			i = end
		case '{':
			open = append(open, i)
		case '}':
			if len(open) == 0 {
				return bad(i, "} closes nothing", `write \} for the character`)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return bad(open[len(open)-1], "{ is not closed", `write \{ for the character, or close the alternatives with }`)
	}
	return nil
}

// classEnd returns where the "]" of the class that begins at a byte stands, -1 if
// nowhere. A class without members is empty.
func classEnd(pattern string, at int) (end int, empty bool) {
	i := at + 1
	if i < len(pattern) && (pattern[i] == '^' || pattern[i] == '!') {
		i++
	}
	if i < len(pattern) && pattern[i] == ']' {
		return -1, true
	}
	for ; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case ']':
			return i, false
		}
	}
	return -1, false
}
