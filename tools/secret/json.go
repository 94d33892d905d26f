package secret

import (
	"bytes"
	"encoding/json"
)

// JSON is a JSON text with marks in the place of secrets in its strings, names of
// members included; numbers are as they are. The text may be cut anywhere into
// pieces. changed is false when it holds no secret: then the pieces are as they
// were. What is not JSON is redacted as a text.
func (r *Redactor) JSON(pieces ...[]byte) (text []byte, changed bool) {
	m := r.matcher()
	if m == nil || !m.suspects(pieces) {
		return nil, false
	}
	whole := bytes.Join(pieces, nil)
	out := make([]byte, 0, len(whole))
	rest, marks := whole, 0
	for {
		open := bytes.IndexByte(rest, '"')
		if open < 0 {
			return append(out, rest...), changed
		}
		size := stringSize(rest[open:])
		if size < 0 {
			return r.Bytes(whole), true
		}
		out = append(out, rest[:open]...)
		literal := rest[open : open+size]
		fresh, other := m.literal(literal, &marks)
		out, changed = append(out, fresh...), changed || other
		rest = rest[open+size:]
	}
}

// suspects reports whether JSON may hold a secret: the forms that are looked for
// have those of encoding/json among them, so that only other escapes need a look
// at each string.
func (m *matcher) suspects(pieces [][]byte) bool {
	s, e := scanner{m: m}, escapes{}
	for _, p := range pieces {
		if s.sees(p) || e.foreign(p) {
			return true
		}
	}
	return false
}

// escapes looks at the escapes of a JSON text that comes in pieces.
type escapes struct {
	seen int // bytes of the escape at hand
	hex  [4]byte
}

// foreign reports whether a piece ends an escape that encoding/json does not make
// without its escapes for HTML: then the forms of its needles say nothing.
func (e *escapes) foreign(p []byte) bool {
	for at := 0; at < len(p); {
		switch {
		case e.seen == 0:
			i := bytes.IndexByte(p[at:], '\\')
			if i < 0 {
				return false
			}
			at, e.seen = at+i+1, 1
		case e.seen == 1:
			e.seen = 0
			switch p[at] {
			case '/':
				return true
			case 'u':
				e.seen = 2
			}
			at++
		default:
			e.hex[e.seen-2] = p[at]
			at++
			if e.seen++; e.seen == 2+len(e.hex) {
				e.seen = 0
				switch hex := string(e.hex[:]); {
				case hex[:3] == "000", hex[:3] == "001", hex == "fffd", hex == "2028", hex == "2029":
				default:
					return true
				}
			}
		}
	}
	return false
}

// stringSize is the length of the string literal at the beginning of text with its
// quotation marks, -1 when it does not end.
func stringSize(text []byte) int {
	for at := 1; at < len(text); at++ {
		i := bytes.IndexAny(text[at:], `"\`)
		if i < 0 {
			return -1
		}
		if at += i; text[at] == '"' {
			return at + 1
		}
		at++ // what is escaped
	}
	return -1
}

// literal is a string literal without secrets, and whether it held one.
func (m *matcher) literal(literal []byte, marks *int) ([]byte, bool) {
	if bytes.IndexByte(literal, '\\') < 0 {
		spans := m.find(literal[1 : len(literal)-1])
		if len(spans) == 0 {
			return literal, false
		}
		inner := m.replaced(literal[1:len(literal)-1], spans, 0, len(literal)-2, marks)
		return append(append([]byte{'"'}, inner...), '"'), true
	}
	var text string
	if json.Unmarshal(literal, &text) != nil {
		return literal, false
	}
	spans := m.find([]byte(text))
	if len(spans) == 0 {
		return literal, false
	}
	return []byte(`"` + quoted(string(m.replaced([]byte(text), spans, 0, len(text), marks)), false) + `"`), true
}
