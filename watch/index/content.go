package index

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// How a file becomes the text that is searched. The rules are ripgrep's for
// files that it finds in directories:
//
//   - A UTF-8 byte order mark is left out. A UTF-16 one makes the file UTF-16:
//     it is searched as UTF-8, what does not decode as U+FFFD. Anything else is
//     searched as the bytes it is.
//   - A text with a NUL is binary. It is read in steps of 64 KiB and reading ends
//     at the step with the NUL: what was found before is reported, with a
//     warning, except in counts, which leave the file out. (With lines of context
//     ripgrep's steps are a little shorter, and in UTF-16 much; here they are not.)
//   - A search over several lines at once does the first 64 KiB, and then only
//     what it matches.

// binaryStep is the size of ripgrep's buffer.
const binaryStep = 64 << 10

// content is a file's text.
type content struct {
	text   []byte
	binary bool // nothing of it is searched; text is empty
	late   int  // of a text whose first NUL comes late: how much of it is searched line by line; else -1
}

// decode makes a text of a whole file's bytes. The text may be part of raw.
func decode(raw []byte) content {
	switch {
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		raw = raw[3:]
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		raw = decodeUTF16(raw[2:], binary.LittleEndian)
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		raw = decodeUTF16(raw[2:], binary.BigEndian)
	}
	nul := bytes.IndexByte(raw, 0)
	switch {
	case nul < 0:
		return content{text: raw, late: -1}
	case nul < binaryStep:
		return content{binary: true, late: -1}
	}
	return content{text: raw, late: readBefore(raw, nul)}
}

// binaryStart reports whether a file that begins with these bytes and goes on
// is binary whatever follows. It spares reading it.
func binaryStart(head []byte) bool {
	marked := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
	return !marked && bytes.IndexByte(head[:min(len(head), binaryStep)], 0) >= 0
}

// readBefore returns how much of a text is searched before the step of reading
// that meets the NUL. A step fills a buffer behind the line that the one before
// left unfinished; a buffer without a line end grows to three times its size.
func readBefore(text []byte, nul int) int {
	start, end, size := 0, 0, binaryStep
	for {
		if start+size == end {
			size *= 3
		}
		from := end
		end = min(start+size, len(text))
		if nul < end {
			return start
		}
		if i := bytes.LastIndexByte(text[from:end], '\n'); i >= 0 {
			start = from + i + 1
		}
	}
}

func decodeUTF16(raw []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 0, len(raw)+len(raw)/2)
	for len(raw) >= 2 {
		r := rune(order.Uint16(raw))
		raw = raw[2:]
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if len(raw) >= 2 {
				pair = utf16.DecodeRune(r, rune(order.Uint16(raw)))
			}
			if r = pair; r != utf8.RuneError {
				raw = raw[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	if len(raw) > 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}
