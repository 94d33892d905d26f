package process

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"unicode/utf8"
)

// Cleaner makes of what a command writes for a terminal the text that a reader of
// that terminal would have in the end: valid UTF-8 without escape sequences and
// without control characters other than line feeds and tabs, with progress that is
// overwritten within its line reduced to what remains. It is a stream: how what is
// written is cut into chunks makes no difference.
//
// A character counts as one column. What moves the cursor to another line ends the
// line; no earlier line is ever changed. What goes back in a line of more than
// maxLine bytes reaches back to the last multiple of that.
type Cleaner struct {
	out  io.Writer
	done []byte // for out, kept between writes
	err  error  // of out

	line    line
	cr      bool   // a carriage return that may be half of a line end
	partial []byte // a character of which the rest is to come

	state  state
	params []byte // of a control sequence
	length int    // of a string so far, in bytes
}

// NewCleaner returns a Cleaner that writes to out, whole lines unless they are long.
func NewCleaner(out io.Writer) *Cleaner { return &Cleaner{out: out} }

// state is where in an escape sequence the stream is (ECMA-48, section 5).
type state uint8

const (
	ground       state = iota
	escape             // after ESC
	intermediate       // after ESC and 0x20 to 0x2f
	control            // in a control sequence: CSI
	osc                // in an operating system command, which ends with its line
	text               // in a device control or application string, which may have lines
	oscEscape          // after an ESC within osc
	textEscape         // likewise within text
)

const (
	// maxString bounds a string in bytes: one without an end must not swallow all that
	// comes. Images in such strings are larger; what is left of these is shown.
	maxString = 4 << 20
	maxParams = 32
	maxMove   = 512 // columns that one control sequence moves at most
)

const (
	bel = 0x07
	bs  = 0x08
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
)

// Write takes the next bytes of the stream. The error is that of the writer below.
func (c *Cleaner) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := 0
		if c.state == ground && !c.cr && !c.line.overwriting() && len(c.partial) == 0 {
			if n = plain(rest); n > 0 {
				c.pass(rest[:n])
			}
		}
		if n == 0 {
			n = c.step(rest)
		}
		rest = rest[n:]
	}
	c.flush()
	return len(p), c.err
}

// Close writes what the last line is without its end. An escape sequence without
// its end is nothing.
func (c *Cleaner) Close() error {
	for range c.partial {
		c.put(utf8.RuneError)
	}
	c.partial, c.state, c.cr = nil, ground, false
	c.done = c.line.end(c.done)
	c.flush()
	return c.err
}

// Pending is the last line as far as it is there, and not written yet.
func (c *Cleaner) Pending() []byte {
	line := c.line
	return line.end(nil)
}

// pass takes bytes that mean just themselves.
func (c *Cleaner) pass(p []byte) {
	if end := bytes.LastIndexByte(p, '\n') + 1; end > 0 {
		c.done = c.line.end(c.done)
		c.flush()
		c.write(p[:end])
		p = p[end:]
	}
	for len(p) > 0 {
		n := min(len(p), maxLine-len(c.line.text))
		c.line.text = append(c.line.text, p[:n]...)
		c.done = c.line.shorten(c.done)
		p = p[n:]
	}
}

func (c *Cleaner) flush() {
	c.write(c.done)
	c.done = c.done[:0]
}

func (c *Cleaner) write(p []byte) {
	if len(p) > 0 && c.err == nil {
		_, c.err = c.out.Write(p)
	}
}

// plain is how many bytes p has before the first that is more than itself: what is
// not printable ASCII, a tab or a line feed.
func plain(p []byte) int {
	n := 0
	for ; n+8 <= len(p); n += 8 {
		if bad := special(binary.LittleEndian.Uint64(p[n:])); bad != 0 {
			return n + bits.TrailingZeros64(bad)/8
		}
	}
	for n < len(p) && special(uint64(p[n])|filler) == 0 {
		n++
	}
	return n
}

const (
	ones   = 0x0101010101010101
	high   = ones << 7
	low    = high - ones // 0x7f in each byte
	filler = ' ' * (ones - 1)
)

// special has the high bit of each byte of x set that is more than itself. No sum in
// it carries into the next byte.
func special(x uint64) uint64 {
	printable := (x & low) + (0x80-0x20)*ones
	notFeed := ((x ^ '\n'*ones) & low) + low
	notTab := ((x ^ '\t'*ones) & low) + low
	notDel := ((x ^ del*ones) & low) + low
	fine := notDel & (printable | ^notFeed | ^notTab)
	return (^fine | x) & high
}
