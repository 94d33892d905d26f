package watch

import (
	"bytes"
	"strings"
)

// pattern is one line of an ignore file.
type pattern struct {
	negated bool // "!": what matches is not ignored
	dirOnly bool // a "/" at the end: directories only
	base    bool // no "/" elsewhere: matched against the last name alone
	kind    patternKind
	text    string // the literal, the suffix, or the literal head of a glob
	glob    *glob  // what follows text; set for patternGlob only

	// The bytes that can be the first and the last of a name that matches; nil:
	// any, or none. starts is set for base patterns only.
	starts, ends *byteSet
}

type patternKind uint8

const (
	patternLiteral patternKind = iota
	patternSuffix              // "*" and a literal, on base names
	patternGlob
)

// patternList is one ignore file: its patterns, and where they count from.
type patternList struct {
	patterns []pattern
	base     int // length of the directory's path with its "/"; 0 for the top
	fold     bool
}

// parsePatterns reads an ignore file. Nothing in it is an error: a line that
// cannot match is left out. A byte order mark at the start, a CR before a line
// end, spaces at a line's end (but "\ ") and all from a NUL on do not count.
func parsePatterns(data []byte, fold bool) []pattern {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var list []pattern
	for len(data) > 0 {
		line := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if i := bytes.IndexByte(line, 0); i >= 0 {
			line = line[:i]
		}
		if p, ok := parsePattern(trimSpaces(string(line)), fold); ok {
			p.setEnds(fold)
			list = append(list, p)
		}
	}
	return list
}

// trimSpaces cuts the spaces at the end of line that no backslash quotes.
func trimSpaces(line string) string {
	end := 0 // behind the last byte that stays
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}

// parsePattern reads one line. ok is false when it can never match.
func parsePattern(line string, fold bool) (p pattern, ok bool) {
	if strings.HasPrefix(line, "!") {
		p.negated = true
		line = line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.dirOnly = true
		line = line[:len(line)-1]
	}
	p.base = !strings.Contains(line, "/")
	if !p.base {
		line = strings.TrimPrefix(line, "/")
	}
	if line == "" {
		return pattern{}, false
	}
	head := strings.IndexAny(line, `*?[\`)
	if head < 0 {
		p.text = line
		return p, true
	}
	if p.base && line[0] == '*' && !strings.ContainsAny(line[1:], `*?[\`) {
		p.kind, p.text = patternSuffix, line[1:]
		return p, true
	}
	// What stands before the first special byte is compared as it is, and the
	// rest is a pattern of its own: so "foo**/bar" spans directories, as it
	// does in git (where gitignore(5) would have it be one "*").
	if p.base {
		head = 0
	}
	p.text = line[:head]
	if p.glob, ok = compileGlob(line[head:], !p.base, fold); !ok {
		return pattern{}, false
	}
	if rest, literal := p.glob.literal(); literal && !fold {
		p.text, p.glob = p.text+rest, nil
		return p, true
	}
	p.kind = patternGlob
	return p, true
}

// match returns the last pattern that matches, or nil. The entry is name in the
// directory dir, a path from the top that base counts from with a "/" at its
// end. Most patterns fail at a look at their length and last byte; only for the
// others the path is put together.
func (l *patternList) match(dir, name string, isDir bool) *pattern {
	var rel string
	for i := len(l.patterns) - 1; i >= 0; i-- {
		p := &l.patterns[i]
		if p.dirOnly && !isDir || p.ends != nil && !p.ends.has(name[len(name)-1]) {
			continue
		}
		if p.base {
			if (p.starts == nil || p.starts.has(name[0])) && p.match(name, l.fold) {
				return p
			}
			continue
		}
		if n := len(dir) - l.base + len(name); n < len(p.text) || p.kind == patternLiteral && n != len(p.text) {
			continue
		}
		if rel == "" {
			rel = dir[l.base:] + name
		}
		if p.match(rel, l.fold) {
			return p
		}
	}
	return nil
}

// setEnds finds out which bytes can be the first and the last of a match.
func (p *pattern) setEnds(fold bool) {
	last := ""
	if n := len(p.text); n > 0 {
		last = p.text[n-1:]
	}
	if p.kind == patternGlob && len(p.glob.tokens) > 0 {
		p.ends = p.glob.tokens[len(p.glob.tokens)-1].bytes(fold)
		if p.base { // then text is empty
			p.starts = p.glob.tokens[0].bytes(fold)
		}
	} else if last != "" {
		p.ends = (&globToken{op: opByte, lit: last[0]}).bytes(fold)
	}
}

// bytes are those that the token matches when it matches one, else nil.
func (t *globToken) bytes(fold bool) *byteSet {
	set := &byteSet{}
	switch t.op {
	case opByte:
		set.add(t.lit)
	case opClass:
		*set = *t.set
	default:
		return nil
	}
	for c := byte('A'); fold && c <= 'Z'; c++ {
		if set.has(c) || set.has(lower(c)) {
			set.add(c)
			set.add(lower(c))
		}
	}
	return set
}

func (p *pattern) match(text string, fold bool) bool {
	switch p.kind {
	case patternLiteral:
		return equalBytes(text, p.text, fold)
	case patternSuffix:
		return len(text) >= len(p.text) && equalBytes(text[len(text)-len(p.text):], p.text, fold)
	default:
		return len(text) >= len(p.text) && equalBytes(text[:len(p.text)], p.text, fold) &&
			p.glob.match(text[len(p.text):])
	}
}

// equalBytes compares two texts; with fold ASCII letters match in either case.
func equalBytes(a, b string, fold bool) bool {
	if !fold {
		return a == b
	}
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}
