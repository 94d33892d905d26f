package tools

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// An appender writes its own JSON: a result of many rows is made without
// reflection and without a second copy. What it appends is valid JSON in valid
// UTF-8, as encoding/json makes it without its escapes for HTML.
type appender interface {
	appendJSON(dst []byte) []byte
}

const hexDigits = "0123456789abcdef"

// appendText appends s as a JSON string, byte for byte as encoding/json does
// without its escapes for HTML: bytes that are not UTF-8 become \ufffd.
func appendText(dst, s []byte) []byte {
	dst = append(dst, '"')
	return append(appendEscaped(dst, s), '"')
}

// appendString is appendText for a string.
func appendString(dst []byte, s string) []byte { return appendText(dst, []byte(s)) }

// appendEscaped is appendText without the quotation marks.
func appendEscaped(dst, s []byte) []byte {
	done := 0
	for i := 0; i < len(s); {
		if i = plainRun(s, i); i == len(s) {
			break
		}
		c := s[i]
		if c < utf8.RuneSelf {
			dst = append(dst, s[done:i]...)
			dst = appendControl(dst, c)
			i++
			done = i
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r != utf8.RuneError && r != '\u2028' && r != '\u2029' || r == utf8.RuneError && size > 1 {
			i += size
			continue
		}
		dst = append(dst, s[done:i]...)
		switch r {
		case utf8.RuneError:
			dst = append(dst, `\ufffd`...)
		default: // line ends to JavaScript, not to JSON
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xF])
		}
		i += size
		done = i
	}
	return append(dst, s[done:]...)
}

// plainRun is the first place from i on where s has a byte that is not copied as
// it is: a control character, a quotation mark, a backslash, or one that is not
// ASCII; len(s) when there is none.
func plainRun(s []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// The lowest marked byte is marked rightly: a borrow only goes upwards.
		marked := (w | (w - 0x20*ones) | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if marked != 0 {
			return i + bits.TrailingZeros64(marked)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}
