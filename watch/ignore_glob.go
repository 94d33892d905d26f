package watch

// glob is a compiled pattern of gitignore(5) without its prefix "!", its
// literal head and its trailing "/". It works on bytes: git's "?" and "[...]"
// match one byte, also inside a multibyte character.
type glob struct {
	tokens []globToken
	fold   bool // ASCII letters match in either case
}

type globOp uint8

const (
	opByte    globOp = iota // exactly lit
	opClass                 // one byte of set
	opStar                  // any bytes but "/"; in a base name there is no "/"
	opAny                   // "**": any bytes
	opAnyDirs               // "**/": nothing, or any bytes up to and with a "/"
)

type globToken struct {
	op  globOp
	lit byte
	set *byteSet
}

// byteSet is a set of bytes, one bit each.
type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) drop(c byte)     { s[c>>6] &^= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

func (s *byteSet) addRange(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		s.add(byte(c))
	}
}

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// compileGlob compiles pattern. path says that "/" separates: then "*", "?" and
// "[...]" do not match it and "**" between separators does. ok is false for a
// pattern that can never match, such as one with an unclosed bracket or a
// backslash at its end.
func compileGlob(pattern string, path, fold bool) (g *glob, ok bool) {
	g = &glob{fold: fold}
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; c {
		case '*':
			n := 1
			for i+n < len(pattern) && pattern[i+n] == '*' {
				n++
			}
			i += g.addStars(pattern, i, n, path)
		case '?':
			set := &byteSet{}
			set.invert()
			g.addClass(set, path)
			i++
		case '[':
			set, next, ok := parseBracket(pattern, i+1, fold)
			if !ok {
				return nil, false
			}
			g.addClass(set, path)
			i = next
		case '\\':
			if i+1 == len(pattern) {
				return nil, false
			}
			// As in git a quoted capital matches nothing when case is folded.
			g.tokens = append(g.tokens, globToken{op: opByte, lit: pattern[i+1]})
			i += 2
		default:
			if fold {
				c = lower(c)
			}
			g.tokens = append(g.tokens, globToken{op: opByte, lit: c})
			i++
		}
	}
	return g, true
}

// addStars adds the token for the n stars at pattern[i:] and returns how many
// bytes it stands for. Two or more stars span directories only as a whole
// segment; the start of the pattern counts as a segment's start.
func (g *glob) addStars(pattern string, i, n int, path bool) int {
	end := i + n
	switch {
	case !path:
		g.tokens = append(g.tokens, globToken{op: opStar})
		return n
	case n == 1 || i > 0 && pattern[i-1] != '/':
	case end == len(pattern):
		g.tokens = append(g.tokens, globToken{op: opAny})
		return n
	case pattern[end] == '/':
		g.tokens = append(g.tokens, globToken{op: opAnyDirs})
		return n + 1
	case end+1 < len(pattern) && pattern[end] == '\\' && pattern[end+1] == '/':
		// An escaped separator still ends the segment, but git does not let
		// "**" and the separator stand for no directory at all then.
		g.tokens = append(g.tokens, globToken{op: opAny})
		return n
	}
	g.tokens = append(g.tokens, globToken{op: opStar})
	return n
}

func (g *glob) addClass(set *byteSet, path bool) {
	if path {
		set.drop('/')
	}
	g.tokens = append(g.tokens, globToken{op: opClass, set: set})
}

// literal returns the only text the glob matches, when there is only one.
func (g *glob) literal() (string, bool) {
	text := make([]byte, 0, len(g.tokens))
	for _, t := range g.tokens {
		if t.op != opByte {
			return "", false
		}
		text = append(text, t.lit)
	}
	return string(text), true
}

// match reports whether the glob matches all of text. A failed attempt goes
// back to the latest star, and when that cannot grow past a "/" to the latest
// "**": an earlier one need not be tried again, because what the later one can
// reach from its first place contains what it can reach from any other. So the
// time is bounded by (segments of text) × len(text) × len(tokens).
func (g *glob) match(text string) bool {
	t, p := 0, 0
	starT, starP := -1, -1 // where the latest star's rest is to be tried next
	anyT, anyP := -1, -1   // the same for the latest "**"
	for {
		if p < len(g.tokens) {
			switch tok := g.tokens[p]; tok.op {
			case opStar:
				p++
				starT, starP = t, p
				continue
			case opAny, opAnyDirs:
				p++
				anyT, anyP = t, p
				starP = -1
				continue
			case opByte, opClass:
				if t < len(text) && g.one(tok, text[t]) {
					t++
					p++
					continue
				}
			}
		} else if t == len(text) {
			return true
		}
		switch {
		case starP >= 0 && starT < len(text) && text[starT] != '/':
			starT++
			t, p = starT, starP
		case anyP >= 0:
			if anyT = g.nextAny(text, anyT, anyP); anyT < 0 {
				return false
			}
			t, p, starP = anyT, anyP, -1
		default:
			return false
		}
	}
}

// nextAny returns the next place after from where the rest behind a "**" may
// start, or -1.
func (g *glob) nextAny(text string, from, p int) int {
	if g.tokens[p-1].op == opAny {
		if from == len(text) {
			return -1
		}
		return from + 1
	}
	for from < len(text) {
		from++
		if text[from-1] == '/' {
			return from
		}
	}
	return -1
}

func (g *glob) one(tok globToken, c byte) bool {
	if g.fold {
		c = lower(c)
	}
	if tok.op == opByte {
		return c == tok.lit
	}
	return tok.set.has(c)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
