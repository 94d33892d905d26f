package match

import (
	"strings"
	"unicode/utf8"
)

// foreignEscapes are those of other dialects, by the character behind "\".
var foreignEscapes = map[byte][2]string{
	'Z': {`\Z`, `use $ or \z`},
	'G': {`\G`, "leave it out"},
	'K': {`\K`, "leave it out: whole lines are found"},
	'R': {`\R`, `use \r?\n with multiline, or $`},
	'X': {`\X`, "use . for each byte"},
	'C': {`\C`, "use . for one byte"},
	'N': {`\N`, "use ."},
	'h': {`\h`, `use [ \t]`},
	'H': {`\H`, `use [^ \t]`},
	'V': {`\V`, `use .`},
	'e': {`\e`, `use \x1b`},
	'c': {`\c`, `use \x and two digits`},
	'k': {"a back-reference", "write out what may repeat as alternatives: (?:aa|bb)"},
	'g': {"a back-reference", "write out what may repeat as alternatives: (?:aa|bb)"},
	'p': {`a Unicode class`, `name the characters: [a-zà-ÿ], [一-龥]`},
	'P': {`a Unicode class`, `name the characters: [^a-zà-ÿ], [^一-龥]`},
}

// escaped are the bytes that a letter behind "\" stands for.
var escaped = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'f': '\f', 'v': '\v', 'a': '\a'}

// looks are the assertions that are an escape.
var looks = map[byte]look{
	'A': lookTextStart, 'z': lookTextEnd, 'b': lookWord, 'B': lookNotWord, '<': lookWordStart, '>': lookWordEnd,
}

var borders = []struct {
	name string
	look look
}{
	{"{start}", lookWordStart}, {"{end}", lookWordEnd}, {"{start-half}", lookStartHalf}, {"{end-half}", lookEndHalf},
}

// escape reads an escape outside of brackets.
func (p *parser) escape() (*node, error) {
	at := p.pos
	if at+1 == len(p.src) {
		return nil, p.syntaxError(at, `trailing backslash: a \ stands at the end`, `write \\ for the character`)
	}
	c := p.src[at+1]
	if l, ok := looks[c]; ok {
		p.pos += 2
		if c == 'b' {
			for _, b := range borders {
				if p.take(b.name) {
					l = b.look
					break
				}
			}
		}
		return lookNode(p.toLine(l)), nil
	}
	switch c {
	case 'd', 'D', 's', 'S', 'w', 'W':
		p.pos += 2
		return setNode(perlClass(c), at), nil
	}
	r, raw, err := p.escapedChar()
	if err != nil {
		return nil, err
	}
	if raw {
		s := oneByte(byte(r))
		if p.flags.fold {
			s.fold()
		}
		return setNode(s, at), nil
	}
	return literalNode(string(r), p.flags.fold, at), nil
}

// quoted reads what is behind "\Q", up to "\E". All but its last character are put
// before what follows: a repetition is of that one alone.
func (p *parser) quoted(at int) (before, last *node) {
	text, _, _ := strings.Cut(p.src[p.pos:], `\E`)
	_, size := utf8.DecodeLastRuneInString(text)
	head := text[:len(text)-size]
	p.pos = min(p.pos+len(text)+2, len(p.src))
	return literalNode(head, p.flags.fold, at+2), literalNode(text[len(head):], p.flags.fold, at+2+len(head))
}

// toLine makes borders of the text those of the line where lines are searched one
// by one. The end of a text is stricter than that of a line: "\r" stays before it.
func (p *parser) toLine(l look) look {
	if l == lookTextStart && !p.options.Multiline {
		return lookLineStart
	}
	return l
}

// escapedChar reads an escape that is one character, or one byte when raw is set.
func (p *parser) escapedChar() (r rune, raw bool, err error) {
	at := p.pos
	if at+1 >= len(p.src) {
		return 0, false, p.syntaxError(at, `trailing backslash: a \ stands at the end`, `write \\ for the character`)
	}
	c := p.src[at+1]
	p.pos += 2
	if b, ok := escaped[c]; ok {
		return rune(b), true, nil
	}
	switch {
	case c == 'x', c == 'u', c == 'U':
		return p.hex(at, c)
	case c == '0':
		n := 0
		for digits := 0; digits < 2 && p.pos < len(p.src) && p.src[p.pos]-'0' < 8; digits++ {
			n = n*8 + int(p.src[p.pos]-'0')
			p.pos++
		}
		return rune(n), true, nil
	case c >= '1' && c <= '9':
		return 0, false, p.unsupported(at, "a back-reference", "write out what may repeat as alternatives: (?:aa|bb)")
	case c < 0x80 && (!isWord(c) || c == '_'):
		return rune(c), true, nil
	}
	if f, ok := foreignEscapes[c]; ok {
		return 0, false, p.unsupported(at, f[0], f[1])
	}
	_, size := utf8.DecodeRuneInString(p.src[at+1:])
	return 0, false, p.syntaxError(at, `bad escape sequence: there is no escape \`+p.src[at+1:at+1+size],
		`leave out the \, or write \\ for the character`)
}

// hexForms is how a character's number is written.
const hexForms = `write \x41 for a byte, \x{1f600} for a character, \\x for the text \x itself`

// hex reads what is behind "\x", "\u" and "\U". Two digits behind "\x" are a byte.
func (p *parser) hex(at int, kind byte) (r rune, raw bool, err error) {
	digits := ""
	if p.take("{") {
		text, _, closed := strings.Cut(p.src[p.pos:], "}")
		if !closed || text == "" {
			return 0, false, p.syntaxError(at, "bad escape sequence: the character's number is empty or not closed", hexForms)
		}
		digits = text
		p.pos += len(text) + 1
	} else {
		size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[kind]
		digits = p.src[p.pos:min(p.pos+size, len(p.src))]
		if len(digits) < size {
			return 0, false, p.syntaxError(at, "bad escape sequence: the character's number is too short", hexForms)
		}
		p.pos += size
		raw = kind == 'x'
	}
	for i := range len(digits) {
		d := strings.IndexByte("0123456789abcdef", digits[i]|0x20)
		if d < 0 || digits[i] < '0' {
			return 0, false, p.syntaxError(at, "bad escape sequence: the character's number is not hexadecimal", hexForms)
		}
		if r = r*16 + rune(d); r > utf8.MaxRune {
			break
		}
	}
	if !raw && !utf8.ValidRune(r) {
		return 0, false, p.syntaxError(at, "bad escape sequence: there is no character of this number", hexForms)
	}
	return r, raw, nil
}

// perlClass is the set of "\d" and its like.
func perlClass(c byte) (s byteSet) {
	switch c | 0x20 {
	case 'd':
		s.addRange('0', '9')
	case 's':
		s.addRange('\t', '\r')
		s.add(' ')
	case 'w':
		for b := range 256 {
			if isWord(byte(b)) {
				s.add(byte(b))
			}
		}
	}
	if c < 'a' {
		for i := range s {
			s[i] = ^s[i]
		}
	}
	return s
}
