package match

import "strings"

// foreignGroups are the groups of other dialects, by what stands behind "(".
var foreignGroups = []struct{ mark, feature, instead string }{
	{"?=", "look-ahead", "match what follows as part of the pattern, or search for both and compare the lines"},
	{"?!", "negative look-ahead", "search for the pattern without it, and leave out the lines that a second search finds"},
	{"?<=", "look-behind", "match what stands before as part of the pattern"},
	{"?<!", "negative look-behind", `use \b, or a class such as [^x] in front of the pattern`},
	{"?>", "an atomic group", "write (?:...): nothing here backtracks"},
	{"?|", "a branch reset", "write (?:...)"},
	{"?#", "a comment", "leave it out, or use the flag x"},
	{"?(", "a conditional group", "write both cases as alternatives: (?:a|b)"},
	{"?&", "a subroutine call", "write the group's pattern again"},
	{"?P>", "a subroutine call", "write the group's pattern again"},
	{"?P=", "a back-reference", "write out what may repeat as alternatives: (?:aa|bb)"},
	{"?'", "a group named in quotes", "write (?P<name>...)"},
	{"*", "a control verb", "leave it out"},
}

// How names and flags are written.
const (
	nameForm  = "write (?P<name>...) with letters and digits, or (...) without a name"
	flagForms = `write (?i), (?i:...) or (?:...); \(\? for the characters themselves`
)

func (p *parser) group() (*node, error) {
	at := p.pos
	p.pos++
	for _, g := range foreignGroups {
		if strings.HasPrefix(p.src[p.pos:], g.mark) {
			return nil, p.unsupported(at, g.feature, g.instead)
		}
	}
	outer := p.flags
	switch {
	case p.take("?P<"), p.take("?<"):
		if err := p.groupName(); err != nil {
			return nil, err
		}
	case p.take("?"):
		ends, err := p.readFlags(at)
		if err != nil || ends {
			return nil, err
		}
	}
	if p.depth++; p.depth > maxNesting {
		return nil, p.syntaxError(at, "groups are nested too deeply", "leave out those that only group")
	}
	n, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, p.syntaxError(at, "missing closing ): this group is not closed", `write \( for the character`)
	}
	p.depth--
	p.flags = outer
	return n, nil
}

func (p *parser) groupName() error {
	name, _, closed := strings.Cut(p.src[p.pos:], ">")
	if !closed || name == "" {
		return p.syntaxError(p.pos, "bad group name: it is empty or not closed", nameForm)
	}
	for i := range len(name) {
		if !isWord(name[i]) && name[i] < 0x80 && strings.IndexByte(".[]", name[i]) < 0 {
			return p.syntaxError(p.pos+i, "bad group name: it has a character that names cannot have", nameForm)
		}
	}
	p.pos += len(name) + 1
	return nil
}

// readFlags reads what is behind "(?". ends says that it was flags alone.
func (p *parser) readFlags(at int) (ends bool, err error) {
	set, on, any := p.flags, true, false
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		p.pos++
		switch c {
		case ')', ':':
			if c == ')' && !any || !on && !any {
				return false, p.syntaxError(at, "bad group syntax: flags are missing", flagForms)
			}
			p.flags = set
			return c == ')', nil
		case '-':
			if !on {
				return false, p.syntaxError(p.pos-1, "bad group syntax: flags are negated twice", flagForms)
			}
			on, any = false, false
			continue
		case 'i':
			set.fold = on
		case 'm':
			set.lines = on
		case 's':
			set.dotAll = on
		case 'U':
			set.swapLazy = on
		case 'x':
			set.spaced = on
		case 'R': // "\r\n" always ends a line
		case 'u':
			if on {
				return false, p.unsupported(at, "the flag u", `classes are ASCII; name the characters in a class: [a-zà-ÿ]`)
			}
		default:
			if c >= '0' && c <= '9' {
				return false, p.unsupported(at, "a subroutine call", "write the group's pattern again")
			}
			return false, p.syntaxError(p.pos-1, "bad group syntax: there is no such flag; there are i, m, s, U, x", flagForms)
		}
		any = true
	}
	return false, p.syntaxError(at, "missing closing ): this group is not closed", `write \( for the character`)
}
