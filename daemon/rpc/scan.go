package rpc

import (
	"encoding/json"
	"fmt"
)

// maxDepth is how deep arrays and objects of a message may nest, the message
// itself included. Parsers recurse per level (encoding/json stops at 10 000,
// others overflow their stack); the deepest real LSP message is under 50.
const maxDepth = 1000

// syntaxError says where a text stops being JSON.
type syntaxError struct {
	offset int // in bytes, from 0
	want   string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: expected %s", e.offset, e.want)
}

// scanner checks JSON text (RFC 8259) in one pass without recursion. Depth
// costs one bit per level.
type scanner struct {
	data    []byte
	pos     int
	objects []uint64 // bit i: level i is an object, else an array
	depth   int      // open arrays and objects
	deepest int
}

func (s *scanner) fail(want string) error { return &syntaxError{s.pos, want} }

// peek skips white space and returns the next byte without taking it, 0 at the
// end (which no rule accepts).
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.data) {
		return s.fail("end of message")
	}
	return nil
}

func (s *scanner) push(object bool) {
	if s.depth/64 == len(s.objects) {
		s.objects = append(s.objects, 0)
	}
	bit := uint64(1) << (s.depth % 64)
	if object {
		s.objects[s.depth/64] |= bit
	} else {
		s.objects[s.depth/64] &^= bit
	}
	s.depth++
	s.deepest = max(s.deepest, s.depth)
}

func (s *scanner) inObject() bool {
	level := s.depth - 1
	return s.objects[level/64]&(1<<(level%64)) != 0
}

// value takes one value with everything in it.
func (s *scanner) value() error {
	for outer := s.depth; ; {
		ended, err := s.begin()
		if err != nil {
			return err
		}
		for ended {
			if s.depth == outer {
				return nil
			}
			if ended, err = s.proceed(); err != nil {
				return err
			}
		}
	}
}

// begin takes a scalar or an empty array or object (ended), or the start of a
// filled one up to where its first value must be.
func (s *scanner) begin() (ended bool, err error) {
	switch c := s.peek(); c {
	case '{':
		s.pos++
		s.push(true)
		if s.peek() == '}' {
			s.pos++
			s.depth--
			return true, nil
		}
		_, err = s.key()
		return false, err
	case '[':
		s.pos++
		s.push(false)
		if s.peek() == ']' {
			s.pos++
			s.depth--
			return true, nil
		}
		return false, nil
	case '"':
		return true, s.str()
	case 't':
		return true, s.literal("true")
	case 'f':
		return true, s.literal("false")
	case 'n':
		return true, s.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return true, s.number()
	default:
		return false, s.fail("a value")
	}
}

// proceed takes what follows a value inside an array or object: its end, or a
// comma (and the next key) after which a value must follow.
func (s *scanner) proceed() (ended bool, err error) {
	object := s.inObject()
	switch c := s.peek(); {
	case c == ',' && object:
		s.pos++
		_, err = s.key()
		return false, err
	case c == ',':
		s.pos++
		return false, nil
	case c == '}' && object, c == ']' && !object:
		s.pos++
		s.depth--
		return true, nil
	default:
		return false, s.fail("',' or the closing bracket")
	}
}

// key takes a member's name and its colon and returns the name's JSON text.
func (s *scanner) key() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fail("a member name")
	}
	start := s.pos
	if err := s.str(); err != nil {
		return nil, err
	}
	name := s.data[start:s.pos]
	if s.peek() != ':' {
		return nil, s.fail("':'")
	}
	s.pos++
	return name, nil
}

func (s *scanner) literal(word string) error {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return s.fail(word)
	}
	s.pos += len(word)
	return nil
}

// plain marks the bytes that stand for themselves in a string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 256; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// escapes marks what may follow a backslash besides u.
var escapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

func (s *scanner) str() error {
	data, i := s.data, s.pos+1
	for i < len(data) {
		c := data[i]
		if plain[c] {
			i++
			continue
		}
		if c == '\\' && i+1 < len(data) && escapes[data[i+1]] {
			i += 2
			continue
		}
		s.pos = i
		switch c {
		case '"':
			s.pos++
			return nil
		case '\\':
			if err := s.unicode(); err != nil {
				return err
			}
			i = s.pos
		default:
			return s.fail("no control character in a string")
		}
	}
	s.pos = len(data)
	return s.fail("the end of a string")
}

// unicode takes \u and its four digits, the one escape that is longer than two
// bytes.
func (s *scanner) unicode() error {
	if s.pos+1 >= len(s.data) || s.data[s.pos+1] != 'u' {
		return s.fail("an escape")
	}
	s.pos += 2
	for end := s.pos + 4; s.pos < end; s.pos++ {
		if s.pos >= len(s.data) || !isHex(s.data[s.pos]) {
			return s.fail("four hexadecimal digits")
		}
	}
	return nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (s *scanner) number() error {
	if s.data[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.data) && s.data[s.pos] == '0' {
		s.pos++
	} else if !s.digits() {
		return s.fail("a digit")
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	if s.pos < len(s.data) && s.data[s.pos]|0x20 == 'e' {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// unquote returns the text of a checked JSON string.
func unquote(quoted []byte) string {
	for _, c := range quoted {
		if c == '\\' {
			var text string
			if json.Unmarshal(quoted, &text) != nil {
				return ""
			}
			return text
		}
	}
	return string(quoted[1 : len(quoted)-1])
}
