package diffpreview

import (
	"strings"
	"unicode/utf8"
)

// appendQuoted prints a file name as git does: as it is, or in double quotes with C's escapes when it holds a control
// character, a double quote or a backslash. In a name that is not valid UTF-8 the bytes from 0x80 on are escaped too, so
// that what is printed is valid. quote asks for the quotes in any case.
func appendQuoted(out []byte, name string, quote bool) []byte {
	valid := utf8.ValidString(name)
	plain := func(c byte) bool {
		return c >= ' ' && c != '"' && c != '\\' && c != 0x7F && (c < utf8.RuneSelf || valid)
	}
	for i := range len(name) {
		quote = quote || !plain(name[i])
	}
	if !quote {
		return append(out, name...)
	}
	out = append(out, '"')
	for i := range len(name) {
		c := name[i]
		letter := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c)
		switch {
		case plain(c):
			out = append(out, c)
		case letter >= 0:
			out = append(out, '\\', `abtnvfr"\`[letter])
		default:
			out = append(out, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		}
	}
	return append(out, '"')
}
