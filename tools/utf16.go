package tools

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
)

// widen turns UTF-16 without its mark into UTF-8, in which a lone surrogate is
// written in three bytes as UTF-8 would if it were allowed to. So nothing is
// lost: narrow gives back the same bytes, and no valid string matches a lone
// surrogate. data has an even length.
func widen(data []byte, enc diffpreview.Encoding) []byte {
	out := make([]byte, 0, len(data)/2+len(data)/8)
	for i := 0; i+1 < len(data); i += 2 {
		r := rune(codeUnit(data, i, enc))
		if utf16.IsSurrogate(r) && i+3 < len(data) {
			if pair := utf16.DecodeRune(r, rune(codeUnit(data, i+2, enc))); pair != utf8.RuneError {
				out = utf8.AppendRune(out, pair)
				i += 2
				continue
			}
		}
		if utf16.IsSurrogate(r) {
			out = append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// narrow appends text that widen made, or valid UTF-8, to out in UTF-16.
func narrow(out, text []byte, enc diffpreview.Encoding) []byte {
	var units [2]uint16
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 { // a lone surrogate
			r = rune(text[i]&0x0F)<<12 | rune(text[i+1]&0x3F)<<6 | rune(text[i+2]&0x3F)
			n = 3
			units[0] = uint16(r)
			out = appendUnits(out, units[:1], enc)
		} else {
			out = appendUnits(out, utf16.AppendRune(units[:0], r), enc)
		}
		i += n
	}
	return out
}

func appendUnits(out []byte, units []uint16, enc diffpreview.Encoding) []byte {
	for _, u := range units {
		if enc == diffpreview.UTF16BE {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

func codeUnit(data []byte, i int, enc diffpreview.Encoding) uint16 {
	if enc == diffpreview.UTF16BE {
		return uint16(data[i])<<8 | uint16(data[i+1])
	}
	return uint16(data[i+1])<<8 | uint16(data[i])
}
