package match

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// errWide and errOpen start the reading of a class over: with characters in place
// of bytes, and with "[" as a character.
var (
	errWide = errors.New("a class of characters")
	errOpen = errors.New("a class that is not closed")
)

// classReader reads one pair of brackets, with those in it.
type classReader struct {
	*parser
	wide    bool // its members are characters, not bytes
	literal bool // "[" in it is a character
	raw     bool // it has a byte from 0x80 on
	depth   int
}

// class reads "[...]".
func (p *parser) class() (*node, error) {
	at := p.pos
	read := func(wide, literal bool) (ranges, *classReader, error) {
		p.pos = at
		c := &classReader{parser: p, wide: wide, literal: literal}
		r, err := c.brackets()
		if errors.Is(err, errWide) {
			p.pos = at
			c = &classReader{parser: p, wide: true, literal: literal}
			r, err = c.brackets()
		}
		return r, c, err
	}
	r, c, err := read(false, false)
	if errors.Is(err, errOpen) {
		r, c, err = read(false, true)
	}
	switch {
	case errors.Is(err, errOpen):
		return nil, p.syntaxError(at, "missing closing ]: this class is not closed", `write \[ for the character`)
	case err != nil:
		return nil, err
	case !c.wide:
		return r.bytesNode(at), nil
	case c.raw:
		return nil, p.syntaxError(at, `a class cannot have both bytes such as \xff and characters beyond ASCII`, `write the bytes beside it: (?:[é]|\xff)`)
	}
	return r.utf8Node(at), nil
}

func (c *classReader) last() rune {
	if c.wide {
		return utf8.MaxRune
	}
	return 0xff
}

// brackets reads from "[" to its "]".
func (c *classReader) brackets() (ranges, error) {
	if c.depth++; c.depth > maxNesting {
		return nil, c.syntaxError(c.pos, "classes are nested too deeply", "write all characters into one class")
	}
	defer func() { c.depth-- }()
	c.pos++
	negated := c.take("^")
	var set ranges
	for c.skipSpace(); c.take("-"); c.skipSpace() {
		set = append(set, span{'-', '-'})
	}
	if len(set) == 0 && c.take("]") {
		set = append(set, span{']', ']'})
	}
	set, err := c.members(set)
	if err != nil {
		return nil, err
	}
	if negated {
		set = set.negate(c.last())
	}
	return set, nil
}

// members reads up to "]". Operators bind weaker than what stands side by side,
// and all alike, from left to right.
func (c *classReader) members(now ranges) (ranges, error) {
	var left ranges
	operator := ""
	apply := func() {
		if now = now.normal(); c.flags.fold {
			now = now.fold()
		}
		switch operator {
		case "&&":
			now = left.intersect(now)
		case "--":
			now = left.intersect(now.negate(c.last()))
		case "~~":
			now = left.union(now).intersect(left.intersect(now).negate(c.last()))
		}
		left, now = now, nil
	}
	for {
		c.skipSpace()
		if c.pos == len(c.src) {
			return nil, errOpen
		}
		if c.take("]") {
			apply()
			return left, nil
		}
		found := false
		for _, next := range []string{"&&", "--", "~~"} {
			if found = c.take(next); found {
				apply()
				operator = next
				break
			}
		}
		if found {
			continue
		}
		more, err := c.member()
		if err != nil {
			return nil, err
		}
		now = append(now, more...)
	}
}

// member reads a character, a range, or a class in the class.
func (c *classReader) member() (ranges, error) {
	at := c.pos
	if c.src[at] == '[' && !c.literal {
		if r, ok, err := c.posix(); ok || err != nil {
			return r, err
		}
		return c.brackets()
	}
	if r, ok := c.perl(); ok {
		return r, nil
	}
	lo, err := c.char()
	if err != nil {
		return nil, err
	}
	c.skipSpace()
	rest := c.src[c.pos:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == '-' || rest[1] == ']' {
		return ranges{{lo, lo}}, nil
	}
	c.pos++
	c.skipSpace()
	if r, ok := c.perl(); ok { // "-" beside a class is a character
		return append(r, span{lo, lo}, span{'-', '-'}), nil
	}
	if c.pos == len(c.src) {
		return nil, errOpen
	}
	hi, err := c.char()
	if err != nil {
		return nil, err
	}
	if hi < lo {
		return nil, c.syntaxError(at, "bad character class range: the range's start is over its end", `write the lower one first, or \- for the character`)
	}
	return ranges{{lo, hi}}, nil
}

// perl reads "\d" and its like.
func (c *classReader) perl() (ranges, bool) {
	rest := c.src[c.pos:]
	if len(rest) < 2 || rest[0] != '\\' || strings.IndexByte("dDsSwW", rest[1]) < 0 {
		return nil, false
	}
	c.pos += 2
	if !c.wide {
		return rangesOf(perlClass(rest[1]), 0x100), true
	}
	r := rangesOf(perlClass(rest[1]|0x20), utf8.RuneSelf)
	if rest[1] < 'a' {
		r = r.negate(c.last())
	}
	return r, true
}

var posixClasses = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "ascii": "\x00\x7f", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f",
	"digit": "09", "graph": "!~", "lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\r  ",
	"upper": "AZ", "word": "09AZ__az", "xdigit": "09AFaf",
}

// posix reads "[:name:]" or "[:^name:]".
func (c *classReader) posix() (r ranges, ok bool, err error) {
	rest := c.src[c.pos:]
	end := strings.Index(rest, ":]")
	if !strings.HasPrefix(rest, "[:") || end < 2 {
		return nil, false, nil
	}
	name, negated := strings.CutPrefix(rest[2:end], "^")
	for i := range len(name) {
		if name[i]-'a' >= 26 {
			return nil, false, nil
		}
	}
	pairs, known := posixClasses[name]
	if !known {
		return nil, false, c.syntaxError(c.pos, "bad character class: there is no class [:"+name+":]", "there are "+strings.Join(slices.Sorted(maps.Keys(posixClasses)), ", "))
	}
	for i := 0; i < len(pairs); i += 2 {
		r = append(r, span{rune(pairs[i]), rune(pairs[i+1])})
	}
	if c.flags.fold {
		r = r.normal().fold()
	}
	if negated {
		r = r.normal().negate(c.last())
	}
	c.pos += end + 2
	return r, true, nil
}

// char reads one member: a byte, or a character in a wide class.
func (c *classReader) char() (rune, error) {
	at := c.pos
	r, size := utf8.DecodeRuneInString(c.src[at:])
	raw := r == utf8.RuneError && size == 1
	if c.src[at] == '\\' {
		var err error
		if r, raw, err = c.escapedChar(); err != nil {
			return 0, err
		}
		raw = raw && r >= utf8.RuneSelf
	} else {
		c.pos += size
		if raw {
			r = rune(c.src[at])
		}
	}
	c.raw = c.raw || raw
	if r >= utf8.RuneSelf && !raw && !c.wide {
		return 0, errWide
	}
	return r, nil
}
