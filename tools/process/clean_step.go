package process

import (
	"bytes"
	"unicode/utf8"
)

// step takes one character, or one byte of an escape sequence, and returns how many
// bytes that were. p is not empty.
func (c *Cleaner) step(p []byte) int {
	b := p[0]
	switch c.state {
	case ground:
		return c.character(p)
	case escape:
		if c.state = ground; b < 0x20 || b >= del {
			return 0 // it stands for itself
		}
		c.afterEscape(b)
	case intermediate:
		switch {
		case b >= 0x20 && b <= 0x2f:
		case b < 0x20 || b >= del: // no part of a sequence
			c.state = ground
			return 0
		default:
			c.state = ground
		}
	case control:
		return c.inControl(b)
	case osc, text:
		return c.inString(p)
	case oscEscape, textEscape:
		c.state = ground
		if b != '\\' {
			c.state = escape
			return 0 // it begins another sequence
		}
	}
	return 1
}

// character takes one in the ground state.
func (c *Cleaner) character(p []byte) int {
	if b := p[0]; b < utf8.RuneSelf && len(c.partial) == 0 {
		c.ascii(b)
		return 1
	}
	known := len(c.partial)
	n := min(len(p), utf8.UTFMax-known)
	all := append(c.partial, p[:n]...)
	if !utf8.FullRune(all) {
		c.partial = all
		return n
	}
	r, size := utf8.DecodeRune(all)
	c.partial = c.partial[:0]
	if size <= known { // what was there before is no character
		rest := append([]byte(nil), all[size:known]...)
		c.put(r)
		c.anew(rest)
		return 0
	}
	if r >= 0x80 && r < 0xa0 {
		c.control8(r)
	} else {
		c.put(r)
	}
	return size - known
}

// anew takes bytes anew that stood behind one that is no character.
func (c *Cleaner) anew(p []byte) {
	for len(p) > 0 {
		p = p[c.step(p):]
	}
}

// control8 takes a control character of ECMA-48's second set, which stands for ESC
// and a letter.
func (c *Cleaner) control8(r rune) { c.afterEscape(byte(r - 0x40)) }

func (c *Cleaner) ascii(b byte) {
	switch {
	case b == '\n':
		c.feed()
	case b == '\r':
		c.cr = true
	case b == esc:
		c.state = escape
	case b == bs:
		c.settle()
		c.moveTo(c.line.at() - 1)
	case b == '\t' || b >= 0x20 && b < del:
		c.put(rune(b))
	}
}

// feed ends the line.
func (c *Cleaner) feed() {
	c.cr = false
	c.done = append(c.line.end(c.done), '\n')
}

// put writes a character at the cursor.
func (c *Cleaner) put(r rune) {
	c.settle()
	c.done = c.line.put(c.done, r)
}

// settle carries out a carriage return that was no half of a line end. What is
// written of a long line cannot be written over.
func (c *Cleaner) settle() {
	switch {
	case c.cr && c.line.begun:
		c.feed()
	case c.cr:
		c.cr = false
		c.line.goTo(0)
	}
}

// moveTo moves the cursor to a column of what is not written yet.
func (c *Cleaner) moveTo(col int) {
	if c.line.begun && col < 0 {
		c.feed()
	}
	c.line.goTo(col)
}

// afterEscape takes the byte after an ESC, in the ground state.
func (c *Cleaner) afterEscape(b byte) {
	switch {
	case b == '[':
		c.state, c.params = control, c.params[:0]
	case b == ']':
		c.state, c.length = osc, 0
	case b == 'P' || b == 'X' || b == '^' || b == '_':
		c.state, c.length = text, 0
	case b >= 0x20 && b <= 0x2f:
		c.state = intermediate
	case b == 'D' || b == 'E' || b == 'M':
		c.leave()
	}
}

// leave ends a line that the cursor goes away from, if there is something in it.
func (c *Cleaner) leave() {
	c.cr = false
	if !c.line.empty() {
		c.feed()
	}
}

// inControl takes a byte of a control sequence.
func (c *Cleaner) inControl(b byte) int {
	switch {
	case b >= 0x20 && b < 0x40:
		if len(c.params) < maxParams {
			c.params = append(c.params, b)
		}
		return 1
	case b >= 0x40 && b < del:
		c.state = ground
		c.carryOut(b)
		return 1
	case b == can || b == sub:
		c.state = ground
		return 1
	}
	c.state = ground
	return 0 // no byte of a sequence: it stands for itself
}

// carryOut does what a control sequence says within the line.
func (c *Cleaner) carryOut(final byte) {
	n, ok := c.param()
	if !ok {
		return
	}
	switch final {
	case 'C':
		c.settle()
		c.moveTo(c.line.at() + min(max(1, n), maxMove))
	case 'D':
		c.settle()
		c.moveTo(c.line.at() - max(1, n))
	case 'G', '`':
		c.cr = true // to the first column, and from there on
		c.settle()
		c.moveTo(min(max(1, n)-1, maxMove))
	case 'K', 'J':
		c.settle()
		if !c.line.begun || n == 0 {
			c.line.erase(n)
		}
	case 'A', 'B', 'E', 'F', 'H', 'd', 'f':
		c.leave()
	}
}

// param is the first parameter of a control sequence, 0 where there is none. ok is
// false for a sequence that is a terminal's own.
func (c *Cleaner) param() (n int, ok bool) {
	first, _, _ := bytes.Cut(c.params, []byte{';'})
	for _, b := range first {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = min(n*10+int(b-'0'), 1<<20)
	}
	return n, true
}

// inString takes bytes of a string up to one that may end it.
func (c *Cleaner) inString(p []byte) int {
	n := bytes.IndexAny(p, "\x1b\x07\x18\x1a\n")
	if n < 0 {
		n = len(p)
	}
	if n = min(n, maxString-c.length); n > 0 {
		c.length += n
		return n
	}
	b := p[0]
	switch {
	case c.length >= maxString, b == '\n' && c.state == osc:
		c.state = ground
		return 0
	case b == esc && c.state == osc:
		c.state = oscEscape
	case b == esc:
		c.state = textEscape
	case b == can || b == sub || b == bel && c.state == osc:
		c.state = ground
	default: // a line feed, or a bell that is part of it
		c.length++
	}
	return 1
}
