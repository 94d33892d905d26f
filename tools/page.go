package tools

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
)

// page is a part of a file as text.
type page struct {
	text  string
	raw   int // bytes of the file that it shows
	lines int // lines that it shows whole, a last one without a line end included
	cut   int // 0, or the bytes of an unfinished line that it ends with
	lossy bool
}

// cutPage decodes data from its start: whole lines while they are within
// maxLines and together within maxBytes of UTF-8. When not even the first one is
// within maxBytes it is cut at a character border, and not between CR and LF; at
// least one character is shown, even if it is longer than maxBytes. atEnd says
// that the file ends where data does; else data must hold more than maxBytes of
// text.
func cutPage(data []byte, enc diffpreview.Encoding, atEnd bool, maxLines, maxBytes int) page {
	if atEnd && maxLines == math.MaxInt && len(data) <= maxBytes && !isWide(enc) && utf8.Valid(data) {
		return page{text: string(data), raw: len(data), lines: countLines(data)}
	}
	var p page
	var text strings.Builder
	for p.lines < maxLines && p.raw < len(data) {
		end, ended := nextLine(data, p.raw, enc)
		if !ended && !atEnd {
			break
		}
		line, lossy, fits := decodeWithin(data[p.raw:end], enc, maxBytes-text.Len())
		if !fits {
			break
		}
		text.WriteString(line)
		p.lossy = p.lossy || lossy
		p.lines++
		p.raw = end
	}
	if text.Len() == 0 && p.lines < maxLines && p.raw < len(data) {
		p.raw = cutLine(data, enc, maxBytes)
		p.cut = p.raw
		var line string
		line, p.lossy = decode(data[:p.raw], enc)
		text.WriteString(line)
	}
	p.text = text.String()
	return p
}

// cutLine returns how many bytes of a long line are shown.
func cutLine(data []byte, enc diffpreview.Encoding, maxBytes int) int {
	at, size := 0, 0
	for at < len(data) {
		n, width := character(data[at:], enc)
		if at > 0 && size+width > maxBytes {
			break
		}
		at += n
		size += width
	}
	unit := 1
	if isWide(enc) {
		unit = 2
	}
	if at > unit && at < len(data) && unitAt(data, at-unit, enc) == '\r' && unitAt(data, at, enc) == '\n' {
		at -= unit
	}
	return at
}

// character returns the length of the first character in the file and in UTF-8.
func character(data []byte, enc diffpreview.Encoding) (n, width int) {
	if !isWide(enc) {
		r, n := utf8.DecodeRune(data)
		return n, utf8.RuneLen(r)
	}
	if len(data) < 2 {
		return len(data), utf8.RuneLen(utf8.RuneError)
	}
	first := rune(codeUnit(data, 0, enc))
	if !utf16.IsSurrogate(first) {
		return 2, utf8.RuneLen(first)
	}
	if len(data) >= 4 && utf16.DecodeRune(first, rune(codeUnit(data, 2, enc))) != utf8.RuneError {
		return 4, 4
	}
	return 2, utf8.RuneLen(utf8.RuneError)
}

func unitAt(data []byte, at int, enc diffpreview.Encoding) uint16 {
	if isWide(enc) {
		return codeUnit(data, at, enc)
	}
	return uint16(data[at])
}

func isWide(enc diffpreview.Encoding) bool {
	return enc == diffpreview.UTF16LE || enc == diffpreview.UTF16BE
}

// decodeWithin decodes a line that takes at most max bytes in UTF-8.
func decodeWithin(line []byte, enc diffpreview.Encoding, max int) (text string, lossy, fits bool) {
	if least := len(line) / 2; least > max || !isWide(enc) && len(line) > max {
		return "", false, false
	}
	text, lossy = decode(line, enc)
	return text, lossy, len(text) <= max
}

// decode is diffpreview.Decode for a part of a file that has no mark: what looks
// like one there is text.
func decode(part []byte, enc diffpreview.Encoding) (text string, lossy bool) {
	return diffpreview.Decode(withMark(part, enc), enc)
}

// withMark puts a byte order mark before a part that begins like one.
func withMark(part []byte, enc diffpreview.Encoding) []byte {
	if _, n := diffpreview.BOMOf(part); n == 2 && isWide(enc) || n == 3 && !isWide(enc) {
		return append(part[:n:n], part...)
	}
	return part
}

// nextLine returns the end of the line that begins at from, and whether a line
// feed ends it.
func nextLine(data []byte, from int, enc diffpreview.Encoding) (end int, ended bool) {
	for at := from; ; at++ {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data), false
		}
		at += i
		if !isWide(enc) {
			return at + 1, true
		}
		start := at &^ 1 // lines begin at even offsets of data
		if start+1 < len(data) && codeUnit(data, start, enc) == '\n' {
			return start + 2, true
		}
	}
}

// countLines counts the lines of text whose line ends are single bytes.
func countLines(data []byte) int {
	n := bytes.Count(data, lf)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// align moves at, which lies in data, on to where a character begins.
func align(data []byte, at int, enc diffpreview.Encoding) int {
	if isWide(enc) {
		at += at & 1
		if at >= 2 && at+1 < len(data) && codeUnit(data, at, enc)>>10 == 0xdc00>>10 && codeUnit(data, at-2, enc)>>10 == 0xd800>>10 {
			at += 2
		}
		return at
	}
	for back := 1; back < utf8.UTFMax && back <= at && at < len(data); back++ {
		if start := at - back; utf8.RuneStart(data[start]) {
			if _, n := utf8.DecodeRune(data[start:]); n > back {
				return start + n
			}
			break
		}
	}
	return at
}
