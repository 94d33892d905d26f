package watch

import "strings"

// parseBracket reads a bracket expression whose "[" stands before p[i]. next is
// the index behind its "]". ok is false when it is unclosed or names an unknown
// class: such a pattern matches nothing.
func parseBracket(p string, i int, fold bool) (set *byteSet, next int, ok bool) {
	b := bracket{set: &byteSet{}, fold: fold}
	negated := false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		negated = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0, false
		}
		if p[i] == ']' && !first {
			break
		}
		if i, ok = b.item(p, i); !ok {
			return nil, 0, false
		}
	}
	if negated {
		b.set.invert()
	}
	return b.set, i + 1, true
}

// bracket collects the members of one bracket expression. With fold the set is
// asked with lower case bytes only.
type bracket struct {
	set  *byteSet
	fold bool
	prev byte // what a following "-" would start its range with; 0: nothing
}

// item adds the member at p[i] and returns the index behind it.
func (b *bracket) item(p string, i int) (next int, ok bool) {
	switch c := p[i]; {
	case c == '\\':
		if i++; i == len(p) {
			return 0, false
		}
		b.single(p[i])
		return i + 1, true
	case c == '-' && b.prev != 0 && i+1 < len(p) && p[i+1] != ']':
		i++
		if p[i] == '\\' {
			if i++; i == len(p) {
				return 0, false
			}
		}
		b.span(b.prev, p[i])
		b.prev = 0
		return i + 1, true
	case c == '[' && i+1 < len(p) && p[i+1] == ':':
		end := strings.IndexByte(p[i+2:], ']')
		if end < 0 {
			return 0, false
		}
		name := p[i+2 : i+2+end]
		if !strings.HasSuffix(name, ":") {
			b.single('[')
			return i + 1, true
		}
		if !b.class(name[:len(name)-1]) {
			return 0, false
		}
		b.prev = 0
		return i + 2 + end + 1, true
	default:
		b.single(c)
		return i + 1, true
	}
}

func (b *bracket) single(c byte) {
	b.set.add(c)
	b.prev = c
}

func (b *bracket) span(lo, hi byte) {
	b.set.addRange(lo, hi)
	if !b.fold {
		return
	}
	for c := byte('A'); c <= 'Z'; c++ {
		if lo <= c && c <= hi {
			b.set.add(lower(c))
		}
	}
}

// class adds a POSIX class as git defines it: ASCII only, and with no vertical
// tab or form feed among the spaces. It reports whether the name is known.
func (b *bracket) class(name string) bool {
	s := b.set
	switch name {
	case "alnum":
		s.addRange('0', '9')
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "alpha":
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "blank":
		s.add(' ')
		s.add('\t')
	case "cntrl":
		s.addRange(0, 0x1f)
		s.add(0x7f)
	case "digit":
		s.addRange('0', '9')
	case "graph":
		s.addRange('!', '~')
	case "lower":
		s.addRange('a', 'z')
	case "print":
		s.addRange(' ', '~')
	case "punct":
		s.addRange('!', '/')
		s.addRange(':', '@')
		s.addRange('[', '`')
		s.addRange('{', '~')
	case "space":
		for _, c := range []byte(" \t\n\r") {
			s.add(c)
		}
	case "upper":
		s.addRange('A', 'Z')
		if b.fold {
			s.addRange('a', 'z')
		}
	case "xdigit":
		s.addRange('0', '9')
		s.addRange('A', 'F')
		s.addRange('a', 'f')
	default:
		return false
	}
	return true
}
