package diffpreview

import "bytes"

// lineCursor finds the lines of a text by number, without cutting the text into lines: it costs a pass over the text
// between the line last asked for and the next, at the speed of memory where line ends are single bytes. Lines are those
// of SplitLines; in binary data there is one.
type lineCursor struct {
	data     []byte
	enc      Encoding
	line, at int // line begins at byte at
}

// cursorBlock is the stretch of a text, in bytes, whose line ends are counted at once. Counting is many times faster
// than stepping from line to line, until the block is small.
const cursorBlock = 4096

// offset is the byte at which a line begins, numbered from 0; the length of the text for one behind the last.
func (c *lineCursor) offset(line int) int {
	if line < c.line {
		c.back(line)
	}
	if c.enc == Binary {
		if line > 0 {
			return len(c.data)
		}
		return 0
	}
	if c.enc != UTF16LE && c.enc != UTF16BE {
		c.skipBlocks(line)
	}
	for c.line < line && c.at < len(c.data) {
		c.at, _ = lineEnd(c.data, c.at, c.enc)
		c.line++
	}
	if c.line < line { // the text is at its end
		return len(c.data)
	}
	return c.at
}

// back goes back to a line.
func (c *lineCursor) back(line int) {
	if line < c.line/2 || c.enc == Binary {
		c.line, c.at = 0, 0
		return
	}
	for c.line > line {
		if c.enc != UTF16LE && c.enc != UTF16BE && c.line-line > 1 && c.at > cursorBlock {
			block := c.data[c.at-cursorBlock : c.at-1] // without the end of the line before
			if begins := bytes.Count(block, []byte{'\n'}); begins > 0 && c.line-begins >= line {
				c.line, c.at = c.line-begins, c.at-cursorBlock+bytes.IndexByte(block, '\n')+1
				continue
			}
		}
		c.line, c.at = c.line-1, wholeLines(c.data[:c.at-1], c.enc)
	}
}

// skipBlocks goes forward by whole blocks, smaller and smaller ones, to a line that is not behind the one asked for.
func (c *lineCursor) skipBlocks(line int) {
	for size := cursorBlock; size >= cursorBlock/16; size /= 4 {
		for c.line < line && len(c.data)-c.at > size {
			block := c.data[c.at : c.at+size]
			ends := bytes.Count(block, []byte{'\n'})
			if c.line+ends > line {
				break
			}
			if ends == 0 { // one long line: go to its end
				end, _ := lineEnd(c.data, c.at+size, c.enc)
				c.line, c.at = c.line+1, end
				continue
			}
			c.line, c.at = c.line+ends, c.at+bytes.LastIndexByte(block, '\n')+1
		}
	}
}

// text is the lines [from, to); what lies behind the last line is left out.
func (c *lineCursor) text(from, to int) []byte {
	start := c.offset(from)
	end := c.offset(to)
	return c.data[start:end:end]
}

// countLines is len(SplitLines(data, enc)); binary data is one line.
func countLines(data []byte, enc Encoding) int {
	switch {
	case len(data) == 0:
		return 0
	case enc == Binary:
		return 1
	case enc != UTF16LE && enc != UTF16BE:
		n := bytes.Count(data, []byte{'\n'})
		if data[len(data)-1] != '\n' {
			n++
		}
		return n
	}
	n := 0
	for at := 0; at < len(data); n++ {
		at, _ = lineEnd(data, at, enc)
	}
	return n
}
