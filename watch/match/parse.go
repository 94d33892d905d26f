package match

import (
	"strings"
	"unicode/utf8"
)

// Limits of a pattern. Deeper and longer ones are errors, so that whatever is
// asked for is compiled and searched in bounded time and memory.
const (
	maxNesting = 250     // groups in groups; rg's own limit
	maxRepeat  = 1000    // counts in braces; Go's own limit
	maxPattern = 1 << 16 // bytes
)

// flags are those of "(?ims)".
type flags struct {
	fold, lines, dotAll, swapLazy, spaced bool
}

type parser struct {
	options Options
	src     string
	pos     int
	flags   flags
	depth   int
}

// parse reads a pattern. Without Multiline nothing in the tree matches "\n".
func parse(o Options) (tree *node, err error) {
	p := &parser{options: o, src: o.Pattern, flags: flags{fold: o.IgnoreCase, lines: true}}
	switch {
	case len(o.Pattern) > maxPattern:
		return nil, p.syntaxError(0, "it is longer than 64 KiB", "search for a part of it")
	case o.Fixed:
		tree = literalNode(o.Pattern, o.IgnoreCase, 0)
	default:
		if tree, err = p.alternatives(); err != nil {
			return nil, err
		}
		if p.pos < len(p.src) {
			return nil, p.syntaxError(p.pos, "unexpected ): there is no group that this ) closes", `write \) for the character`)
		}
	}
	if !o.Multiline {
		if tree, err = p.keepToLine(tree); err != nil {
			return nil, err
		}
	}
	if o.Word {
		tree = concat([]*node{lookNode(lookStartHalf), tree, lookNode(lookEndHalf)})
	}
	return tree, nil
}

func (p *parser) syntaxError(at int, reason, instead string) error {
	return &SyntaxError{Pattern: p.src, Offset: at, Reason: reason, Instead: instead}
}

func (p *parser) unsupported(at int, feature, instead string) error {
	return &UnsupportedError{Pattern: p.src, Offset: at, Feature: feature, Instead: instead}
}

// keepToLine takes "\n" out of all sets, and refuses a set of nothing else.
func (p *parser) keepToLine(n *node) (*node, error) {
	if n.op == opSet && n.set.has('\n') {
		kept := *n
		if kept.set.remove('\n'); n.set.count() == 1 {
			return nil, p.syntaxError(n.pos, `\n can match only when multiline is on, since lines are searched one by one`, "set multiline: true")
		}
		return &kept, nil
	}
	if len(n.subs) == 0 {
		return n, nil
	}
	kept := *n
	kept.subs = make([]*node, len(n.subs))
	for i, sub := range n.subs {
		var err error
		if kept.subs[i], err = p.keepToLine(sub); err != nil {
			return nil, err
		}
	}
	return &kept, nil
}

// alternatives reads up to the end of the group or of the pattern.
func (p *parser) alternatives() (*node, error) {
	var list []*node
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if !p.take("|") {
			return alternate(list), nil
		}
	}
}

func (p *parser) take(s string) bool {
	if !strings.HasPrefix(p.src[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

// skipSpace skips what does not count under the flag x.
func (p *parser) skipSpace() {
	for p.flags.spaced && p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case strings.IndexByte("\t\n\v\f\r ", c) >= 0:
			p.pos++
		case c == '#':
			if end := strings.IndexByte(p.src[p.pos:], '\n'); end >= 0 {
				p.pos += end
			} else {
				p.pos = len(p.src)
			}
		default:
			return
		}
	}
}

func (p *parser) sequence() (*node, error) {
	var list []*node
	for {
		p.skipSpace()
		if p.pos == len(p.src) || p.src[p.pos] == '|' || p.src[p.pos] == ')' {
			return concat(list), nil
		}
		var n *node
		var err error
		if at := p.pos; p.take(`\Q`) {
			var before *node
			before, n = p.quoted(at)
			list = append(list, before)
		} else if n, err = p.atom(); err != nil {
			return nil, err
		}
		if n == nil {
			continue // flags
		}
		if n, err = p.repeated(n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
}

// atom reads one piece without its repetition; nil for flags alone.
func (p *parser) atom() (*node, error) {
	at := p.pos
	switch c := p.src[at]; c {
	case '(':
		return p.group()
	case '[':
		return p.class()
	case '\\':
		return p.escape()
	case '*', '+', '?':
		return nil, p.syntaxError(at, "missing argument to repetition operator: there is nothing that "+string(c)+" could repeat",
			`write \`+string(c)+" for the character, .* for any text")
	case '{':
		if _, _, ok, err := p.counts(); err != nil {
			return nil, err
		} else if ok {
			return nil, p.syntaxError(at, "missing argument to repetition operator: there is nothing that the count could repeat", `write \{ for the character`)
		}
	case '.':
		p.pos++
		var all byteSet
		all.addRange(0, 0xff)
		if !p.flags.dotAll {
			all.remove('\n')
		}
		return setNode(all, at), nil
	case '^':
		p.pos++
		return p.border(lookLineStart, lookTextStart), nil
	case '$':
		p.pos++
		return p.border(lookLineEnd, lookTextEnd), nil
	}
	_, size := utf8.DecodeRuneInString(p.src[at:])
	p.pos += size
	return literalNode(p.src[at:p.pos], p.flags.fold, at), nil
}

func (p *parser) border(line, text look) *node {
	if p.flags.lines || !p.options.Multiline {
		return lookNode(line)
	}
	return lookNode(text)
}

// repeated reads the repetition behind n.
func (p *parser) repeated(n *node) (*node, error) {
	p.skipSpace()
	at := p.pos
	low, high, ok, err := p.repetition()
	if err != nil || !ok {
		return n, err
	}
	lazy := p.flags.swapLazy
	if p.take("?") {
		lazy = !lazy
	} else if p.take("+") {
		return nil, p.unsupported(at, "a possessive repetition", "leave out its second +: nothing here backtracks")
	}
	p.skipSpace()
	again := p.pos
	if _, _, more, err := p.repetition(); err != nil {
		return nil, err
	} else if more {
		return nil, p.syntaxError(again, "bad repetition operator: a repetition of a repetition", "put the first one into (?:...)")
	}
	return &node{op: opRepeat, subs: []*node{n}, min: low, max: high, lazy: lazy, pos: at}, nil
}

// repetition reads an operator with its counts, if there is one.
func (p *parser) repetition() (low, high int, ok bool, err error) {
	switch {
	case p.take("*"):
		return 0, -1, true, nil
	case p.take("+"):
		return 1, -1, true, nil
	case p.take("?"):
		return 0, 1, true, nil
	case p.pos < len(p.src) && p.src[p.pos] == '{':
		return p.counts()
	}
	return 0, 0, false, nil
}

// counts reads "{2}", "{2,}" or "{2,3}". Any other brace is a character.
func (p *parser) counts() (low, high int, ok bool, err error) {
	at := p.pos
	rest := p.src[at+1:]
	end := strings.IndexByte(rest, '}')
	if end < 0 {
		return 0, 0, false, nil
	}
	first, second, two := strings.Cut(rest[:end], ",")
	low, lowOK := number(first)
	high, highOK := number(second)
	switch {
	case !lowOK || two && second != "" && !highOK:
		return 0, 0, false, nil
	case !two:
		high = low
	case second == "":
		high = -1
	}
	if low > maxRepeat || high > maxRepeat {
		return 0, 0, false, p.syntaxError(at, "bad repetition count: it is over 1000", "put a smaller count around another: (?:a{100}){20}")
	}
	if high >= 0 && low > high {
		return 0, 0, false, p.syntaxError(at, "bad repetition count: the first count is over the second", "write the lower one first: {2,3}")
	}
	p.pos = at + 1 + end + 1
	return low, high, true, nil
}

// number reads a count; all that are over the limit are alike.
func number(s string) (n int, ok bool) {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return 0, false
		}
		n = min(n*10+int(s[i]-'0'), maxRepeat+1)
	}
	return n, s != ""
}
