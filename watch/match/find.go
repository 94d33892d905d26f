package match

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
)

// cache is what a search needs to itself.
type cache struct {
	p       *Pattern
	lazy    *dfa
	whole   *dfa
	threads *pike
	streams streams
}

// dfa and pike make what a search for a literal can do without.
func (c *cache) dfa() *dfa {
	if c.lazy == nil {
		c.lazy = newDFA(c.p.exists, c.p.multiline)
	}
	return c.lazy
}

// starts is the automaton that tells where a match has begun.
func (c *cache) starts() *dfa {
	switch {
	case c.p.multiline: // for which nothing is dropped at a pattern's ends
		return c.dfa()
	case c.whole == nil:
		c.whole = newDFA(c.p.spans, true)
	}
	return c.whole
}

func (c *cache) pike() *pike {
	if c.threads == nil {
		c.threads = newPike(c.p.spans)
	}
	return c.threads
}

// Find returns the first line that matches, of those that start at or behind from,
// which is the start of a line; ok is false when there is none. start and end are
// offsets in text; the line's "\n" is between them. The text is one or more whole
// lines.
//
// With Multiline it is a run of lines that one match, or several that share lines,
// touch; and with Invert too, the run of lines up to the next match.
func (p *Pattern) Find(text []byte, from int) (start, end int, ok bool) {
	if from >= len(text) {
		return 0, 0, false
	}
	c := p.caches.Get().(*cache)
	defer p.caches.Put(c)
	switch {
	case p.multiline && p.invert:
		return p.findNoRun(c, text, from)
	case p.multiline:
		return p.findRun(c, text, from)
	case p.invert:
		return p.findNoLine(c, text, from)
	}
	return p.findLine(c, text, from)
}

// Lines returns the lines, or runs of lines, that Find finds one after the other. It
// is faster than Find where there are many.
func (p *Pattern) Lines(text []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		c := p.caches.Get().(*cache)
		defer p.caches.Put(c)
		p.each(c, text, yield)
	}
}

func (p *Pattern) each(c *cache, text []byte, yield func(start, end int) bool) {
	find := p.findLine
	switch {
	case p.multiline && p.invert:
		find = p.findNoRun
	case p.multiline:
		find = p.findRun
	case p.invert:
		find = p.findNoLine
	case !p.plan.all && !p.plan.none && !p.plan.literal():
		c.dfa().eachLine(&c.streams, text, 0, yield)
		return
	}
	for i := 0; i < len(text); {
		start, end, ok := find(c, text, i)
		if !ok || !yield(start, end) {
			return
		}
		i = end
	}
}

// Count returns how many lines Find finds.
func (p *Pattern) Count(text []byte) int {
	if p.plan.all && !p.invert {
		return lines(text)
	}
	n := 0
	for start, end := range p.Lines(text) {
		n += p.linesIn(text[start:end])
	}
	return n
}

func (p *Pattern) linesIn(run []byte) int {
	if !p.multiline {
		return 1
	}
	return lines(run)
}

// lines counts the lines of a text, the last one without its "\n" too.
func lines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

func (p *Pattern) findLine(c *cache, text []byte, from int) (start, end int, ok bool) {
	switch {
	case p.plan.none:
		return 0, 0, false
	case p.plan.all:
		return from, lineEnd(text, from), true
	case !p.plan.literal():
		at := c.dfa().findLine(&c.streams, text, from)
		if at < 0 {
			return 0, 0, false
		}
		return lineStart(text, from, at), lineEnd(text, at), true
	}
	for i := from; i < len(text); {
		at := p.plan.find(text, i)
		if at < 0 {
			break
		}
		start, end := lineStart(text, i, at), lineEnd(text, at)
		if p.plan.sure || c.dfa().line(text, start, end) {
			return start, end, true
		}
		i = end
	}
	return 0, 0, false
}

// line reports whether the line text[start:end] has a match.
func (d *dfa) line(text []byte, start, end int) bool {
	at, _ := d.run(text, start, end, d.startAt(beforeLine))
	return at >= 0
}

// findNoLine looks at each line, so that a search for all of them looks at each once.
func (p *Pattern) findNoLine(c *cache, text []byte, from int) (start, end int, ok bool) {
	for i := from; i < len(text) && !p.plan.all; i = end {
		end = lineEnd(text, i)
		// A line by itself is searched as it is in its text: all that an assertion sees
		// beyond it is that it ends, and "\n" is in it.
		if _, _, found := p.findLine(c, text[:end], i); !found {
			return i, end, true
		}
	}
	return 0, 0, false
}

// lineStart returns where the line of text[i] starts, which is not before from.
func lineStart(text []byte, from, i int) int {
	const lines = '\n' * lowBits
	for i-from >= 8 {
		x := binary.LittleEndian.Uint64(text[i-8:]) ^ lines
		// Of a zero byte and what is above it, only the zero byte is sure; so look again
		// from the top with a test that is exact.
		if z := ^((x&^highBits + ^uint64(highBits)) | x | ^uint64(highBits)); z != 0 {
			return i - bits.LeadingZeros64(z)/8
		}
		i -= 8
	}
	for i > from && text[i-1] != '\n' {
		i--
	}
	return i
}

// lineEnd returns where the line of text[i] ends, behind its "\n".
func lineEnd(text []byte, i int) int {
	if i >= len(text) {
		return len(text)
	}
	if j := bytes.IndexByte(text[i:], '\n'); j >= 0 {
		return i + j + 1
	}
	return len(text)
}
