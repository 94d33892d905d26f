package daemon

import (
	"unicode/utf8"

	lsp "go.lsp.dev/protocol"

	"github.com/loomd/loomd/daemon/protocol"
)

// offsetOf is the byte at which a position of a text lies. LSP ends lines at
// \n, \r\n and \r. A position behind a line's end means the line's end, and one
// behind the text the text's, as the protocol asks.
func offsetOf(text string, pos lsp.Position, enc protocol.PositionEncoding) int {
	at := 0
	for line := uint32(0); line < pos.Line; line++ {
		next := nextLine(text, at)
		if next < 0 {
			return len(text)
		}
		at = next
	}
	for units := uint32(0); at < len(text) && text[at] != '\n' && text[at] != '\r'; {
		r, size := utf8.DecodeRuneInString(text[at:])
		width := widthOf(r, size, enc)
		if units+width > pos.Character {
			break
		}
		units += width
		at += size
	}
	return at
}

// positionOf is the position of the byte at offset.
func positionOf(text string, offset int, enc protocol.PositionEncoding) lsp.Position {
	var pos lsp.Position
	start := 0
	for {
		next := nextLine(text, start)
		if next < 0 || next > offset {
			break
		}
		start = next
		pos.Line++
	}
	for at := start; at < offset; {
		r, size := utf8.DecodeRuneInString(text[at:])
		pos.Character += widthOf(r, size, enc)
		at += size
	}
	return pos
}

// nextLine is where the line after the one at byte from begins; -1 when that
// is the last one.
func nextLine(text string, from int) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '\n':
			return i + 1
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				return i + 2
			}
			return i + 1
		}
	}
	return -1
}

// widthOf is how many units a rune takes.
func widthOf(r rune, size int, enc protocol.PositionEncoding) uint32 {
	switch {
	case enc == protocol.UTF8:
		return uint32(size)
	case r > 0xFFFF:
		return 2
	}
	return 1
}
