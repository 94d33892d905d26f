package diffpreview

import (
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrUnsupportedEncoding says that a text cannot be written in a file's encoding.
var ErrUnsupportedEncoding = errors.New("the text cannot be written in the file's encoding")

// Decode returns data as valid UTF-8 without the byte order mark. What cannot be decoded becomes U+FFFD, one for each
// bad byte (in UTF-16 for each bad code unit), and lossy is true: such a text must not be encoded back.
func Decode(data []byte, enc Encoding) (text string, lossy bool) {
	_, bom := BOMOf(data)
	switch {
	case enc == UTF16LE || enc == UTF16BE:
		if bom == 2 {
			data = data[bom:]
		}
		return decodeUTF16(data, enc)
	case bom == 3:
		data = data[bom:]
	}
	if utf8.Valid(data) {
		return string(data), false
	}
	var b strings.Builder
	b.Grow(len(data) + len(data)/8)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		b.WriteRune(r)
		data = data[size:]
	}
	return b.String(), true
}

func decodeUTF16(data []byte, enc Encoding) (text string, lossy bool) {
	var b strings.Builder
	b.Grow(len(data)/2 + len(data)/8)
	i := 0
	for ; i+1 < len(data); i += 2 {
		r := rune(codeUnit(data, i, enc))
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if i+3 < len(data) {
				pair = utf16.DecodeRune(r, rune(codeUnit(data, i+2, enc)))
			}
			if r = pair; r == utf8.RuneError {
				lossy = true
			} else {
				i += 2
			}
		}
		b.WriteRune(r)
	}
	if i < len(data) {
		b.WriteRune(utf8.RuneError)
		lossy = true
	}
	return b.String(), lossy
}

// Encode returns text in the encoding of the file like, with like's byte order mark; no bytes ask for UTF-8 without a
// mark. It adds nothing else and takes nothing away, so Encode(Decode(data)) is data when that was not lossy. The error
// is ErrUnsupportedEncoding: like is binary, or text is not valid UTF-8, or like is Bytes and text is not ASCII.
func Encode(text string, like []byte) ([]byte, error) {
	enc, bom := encodingOf(like)
	out := make([]byte, 0, bom+2*len(text))
	out = append(out, like[:bom]...)
	switch enc {
	case UTF8:
		if !utf8.ValidString(text) {
			return nil, ErrUnsupportedEncoding
		}
		return append(out, text...), nil
	case Bytes:
		if !isASCII(text) {
			return nil, ErrUnsupportedEncoding
		}
		return append(out, text...), nil
	case UTF16LE, UTF16BE:
		if !utf8.ValidString(text) {
			return nil, ErrUnsupportedEncoding
		}
		return appendUTF16(out, text, enc), nil
	}
	return nil, ErrUnsupportedEncoding
}

func appendUTF16(out []byte, text string, enc Encoding) []byte {
	var units [2]uint16
	for _, r := range text {
		for _, u := range utf16.AppendRune(units[:0], r) {
			if enc == UTF16BE {
				out = append(out, byte(u>>8), byte(u))
			} else {
				out = append(out, byte(u), byte(u>>8))
			}
		}
	}
	return out
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
