package match

// after is what stands behind a place.
type after struct {
	lineEnd bool
	textEnd bool
	word    bool
}

// holds reports whether an assertion is true between b and a.
func (l look) holds(b before, a after) bool {
	switch l {
	case lookLineStart:
		return b >= beforeLine
	case lookLineEnd:
		return a.lineEnd
	case lookTextStart:
		return b == beforeText
	case lookTextEnd:
		return a.textEnd
	case lookWord:
		return (b == beforeWord) != a.word
	case lookNotWord:
		return (b == beforeWord) == a.word
	case lookWordStart:
		return b != beforeWord && a.word
	case lookWordEnd:
		return b == beforeWord && !a.word
	case lookStartHalf:
		return b != beforeWord
	}
	return !a.word // lookEndHalf
}

// beforeAt tells what stands before text[i].
func (p *program) beforeAt(text []byte, i int) before {
	switch {
	case i > 0:
		return p.kinds[text[i-1]]
	case p.textual:
		return beforeText
	}
	return beforeLine
}

// afterAt tells what stands at text[i], which may be the text's end.
func (p *program) afterAt(text []byte, i int) after {
	if i == len(text) {
		return after{lineEnd: true, textEnd: true}
	}
	b := text[i]
	return p.afterByte(b, b == '\r' && (i+1 == len(text) || text[i+1] == '\n'))
}

// afterByte is afterAt for a byte; lineEnd says that it is the "\r" at a line's end.
func (p *program) afterByte(b byte, lineEnd bool) after {
	return after{
		lineEnd: lineEnd || b == '\n',
		textEnd: b == '\n' && !p.multiline,
		word:    isWord(b),
	}
}
