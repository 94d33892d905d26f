package diffpreview

import (
	"bytes"
	"unicode/utf8"
)

// Encoding says how the bytes of a file are read as text.
type Encoding string

// The encodings. UTF-16 is recognised by its byte order mark alone.
const (
	UTF8    Encoding = "utf-8"
	UTF16LE Encoding = "utf-16le"
	UTF16BE Encoding = "utf-16be"
	Bytes   Encoding = "bytes"  // text in some other encoding, or invalid UTF-8
	Binary  Encoding = "binary" // no text
)

// The values of Info.EOL.
const (
	eolLF    = "lf"
	eolCRLF  = "crlf"
	eolMixed = "mixed"
	eolNone  = "none"
)

// SniffLen is the number of leading bytes that decide whether data is binary: 8000, as git counts.
const SniffLen = 8000

// Info is what the bytes of a file say about its text.
type Info struct {
	Encoding     Encoding
	BOM          bool
	EOL          string // "lf", "crlf", "mixed" or "none"; a CR that no LF follows is data
	FinalNewline bool   // the last line is ended; false for no bytes
	Lines        int    // len(SplitLines(data, Encoding))
}

// Inspect reads data and says what text it is. It allocates nothing of data's size.
func Inspect(data []byte) Info {
	enc, bom := encodingOf(data)
	info := Info{Encoding: enc, BOM: bom > 0, EOL: eolNone}
	switch enc {
	case UTF16LE, UTF16BE:
		info.inspectUTF16(data)
	default:
		info.inspectBytes(data)
	}
	return info
}

// encodingOf returns data's encoding and the length of its byte order mark.
func encodingOf(data []byte) (Encoding, int) {
	enc, bom := BOMOf(data)
	switch {
	case IsBinary(data):
		if bom == 2 {
			bom = 0 // of binary data the two bytes are no mark
		}
		return Binary, bom
	case bom == 2 && len(data)%2 == 0:
		return enc, bom
	case utf8.Valid(data):
		return UTF8, bom
	case bom == 2: // half a code unit is left over
		return Bytes, 0
	}
	return Bytes, bom
}

// BOMOf returns the encoding that a byte order mark at the start of data names, and the mark's length in bytes.
// Without a mark it returns "" and 0.
func BOMOf(data []byte) (Encoding, int) {
	switch {
	case len(data) >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF:
		return UTF8, 3
	case len(data) >= 2 && data[0] == 0xFF && data[1] == 0xFE:
		return UTF16LE, 2
	case len(data) >= 2 && data[0] == 0xFE && data[1] == 0xFF:
		return UTF16BE, 2
	}
	return "", 0
}

// IsBinary reports whether data is no text: a NUL among the first SniffLen bytes. In UTF-16 (by its mark, and of an
// even length) a NUL is a whole code unit. A NUL further on is text. Every tool asks here, so all give one verdict.
func IsBinary(data []byte) bool {
	return HeadIsBinary(data[:min(len(data), SniffLen)], int64(len(data)))
}

// HeadIsBinary is IsBinary for a file of which only the head is at hand: its first SniffLen bytes (all of them, when it
// has fewer). size is the file's length in bytes, or negative when it is not known; then it is taken to be even.
func HeadIsBinary(head []byte, size int64) bool {
	head = head[:min(len(head), SniffLen)]
	_, bom := BOMOf(head)
	if bom != 2 || size >= 0 && size%2 != 0 {
		return bytes.IndexByte(head, 0) >= 0
	}
	for i := bom; i+1 < len(head); i += 2 {
		if head[i] == 0 && head[i+1] == 0 {
			return true
		}
	}
	return false
}

// inspectBytes fills in the line fields of text whose line ends are single bytes.
func (info *Info) inspectBytes(data []byte) {
	newlines := bytes.Count(data, []byte{'\n'})
	info.FinalNewline = len(data) > 0 && data[len(data)-1] == '\n'
	info.Lines = newlines
	if len(data) > 0 && !info.FinalNewline {
		info.Lines++
	}
	switch {
	case newlines == 0:
		return
	case bytes.IndexByte(data, '\r') < 0:
		info.EOL = eolLF
		return
	}
	for at := 0; info.EOL != eolMixed; at++ {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return
		}
		at += i
		info.addEOL(at > 0 && data[at-1] == '\r')
	}
}

// inspectUTF16 fills in the line fields of UTF-16 text.
func (info *Info) inspectUTF16(data []byte) {
	for at := 0; at < len(data); {
		end, ended := lineEnd(data, at, info.Encoding)
		info.Lines++
		info.FinalNewline = ended
		if ended {
			info.addEOL(end-at >= 4 && codeUnit(data, end-4, info.Encoding) == '\r')
		}
		at = end
	}
}

// addEOL counts one more line end.
func (info *Info) addEOL(crlf bool) {
	eol := eolLF
	if crlf {
		eol = eolCRLF
	}
	if info.EOL != eolNone && info.EOL != eol {
		eol = eolMixed
	}
	info.EOL = eol
}

// SplitLines cuts data into its lines, each with its terminator: concatenated they are data again. Only a line feed ends
// a line (in UTF-16 the code unit U+000A at an even offset), so a lone CR, a form feed or U+2028 is data. A byte order
// mark is part of the first line. No bytes are no lines. The lines are subslices of data.
func SplitLines(data []byte, enc Encoding) [][]byte {
	if len(data) == 0 {
		return nil
	}
	lines := make([][]byte, 0, bytes.Count(data, []byte{'\n'})+1)
	if enc != UTF16LE && enc != UTF16BE {
		for len(data) > 0 {
			end := bytes.IndexByte(data, '\n') + 1
			if end == 0 {
				end = len(data)
			}
			lines = append(lines, data[:end:end])
			data = data[end:]
		}
		return lines
	}
	for at := 0; at < len(data); {
		end, _ := lineEnd(data, at, enc)
		lines = append(lines, data[at:end:end])
		at = end
	}
	return lines
}

// lineEnd returns the end of the line that starts at from, and whether a line feed ends it.
func lineEnd(data []byte, from int, enc Encoding) (end int, ended bool) {
	for at := from; ; {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data), false
		}
		at += i
		switch {
		case enc == UTF16LE && (at%2 != 0 || at+1 >= len(data) || data[at+1] != 0):
		case enc == UTF16BE && (at%2 != 1 || data[at-1] != 0):
		case enc == UTF16LE:
			return at + 2, true
		default:
			return at + 1, true
		}
		at++
	}
}

// codeUnit is the UTF-16 code unit at offset i.
func codeUnit(data []byte, i int, enc Encoding) uint16 {
	if enc == UTF16BE {
		return uint16(data[i])<<8 | uint16(data[i+1])
	}
	return uint16(data[i+1])<<8 | uint16(data[i])
}
