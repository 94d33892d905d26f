package tools

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// A renderer writes its own JSON: a result of many rows is made without
// reflection and without copies. What it writes is valid JSON in valid UTF-8, as
// encoding/json makes it without its escapes for HTML.
type renderer interface {
	render() *rowWriter
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

// maxEscape is the most bytes that one byte of a text takes in JSON: \u0001.
const maxEscape = 6

// appendEscaped is appendText without the quotation marks. It reads, checks and
// writes eight bytes at a time; what it writes past the end counts for nothing.
func appendEscaped(dst, s []byte) []byte {
	const word = 8
	n := len(dst)
	out := grown(dst, n, len(s)+word)
	i := 0
	for i < len(s) {
		if len(s) >= word {
			var w uint64
			if rest := len(s) - i; rest >= word {
				w = binary.LittleEndian.Uint64(s[i:])
			} else { // what is behind the end is 0, which is special
				w = binary.LittleEndian.Uint64(s[len(s)-word:]) >> (8 * (word - rest))
			}
			binary.LittleEndian.PutUint64(out[n:], w)
			marked := special(w)
			if marked == 0 { // most often; the next word need not wait for this one
				i, n = i+word, n+word
				continue
			}
			plain := bits.TrailingZeros64(marked) / 8
			if i, n = i+plain, n+plain; i == len(s) {
				break
			}
		}
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			out[n] = c
			i, n = i+1, n+1
			continue
		}
		out = grown(out[:n], n, maxEscape+utf8.UTFMax+len(s)-i+word)
		if c < utf8.RuneSelf {
			n = len(appendControl(out[:n], c))
			i++
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			n += copy(out[n:], `\ufffd`)
		case r == '\u2028' || r == '\u2029': // line ends to JavaScript, not to JSON
			n += copy(out[n:], `\u202`)
			out[n] = hexDigits[r&0xF]
			n++
		default:
			n += copy(out[n:], s[i:i+size])
		}
		i += size
	}
	return out[:n]
}

// grown is buf with its first n bytes and room for more behind them, as a slice
// of all of its capacity.
func grown(buf []byte, n, more int) []byte {
	if cap(buf)-n < more {
		buf = slices.Grow(buf[:n], more)
	}
	return buf[:cap(buf)]
}

// special marks the bytes of a little-endian word that are not copied as they
// are: control characters, quotation marks, backslashes, and what is not ASCII.
// The lowest mark is right; those above it need not be.
func special(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^('"'*ones), w^('\\'*ones)
	return (w | (w - ' '*ones) | (quote-ones)&^quote | (slash-ones)&^slash) & highs
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
