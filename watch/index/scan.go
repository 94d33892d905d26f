package index

import (
	"context"

	"github.com/loomd/loomd/watch"
)

// result is what a piece of work found.
type result struct {
	lines    []Line
	matches  int // matching lines, or files, in lines
	binary   int
	warnings []Warning
}

// scanner does pieces of work, one at a time.
type scanner struct {
	*search
	reader *reader
	buf    []byte // for texts from the disk; nil while lines point into it
	out    *result
	pieces []piece
	runs   []piece // of the part at hand, gathered to be looked through at once
}

// piece is a run of whole lines of a text.
type piece struct {
	lo, hi int
	line   int // of lo, from 1
}

func newScanner(se *search) *scanner {
	return &scanner{search: se, reader: newReader(se.snapshot.index.root)}
}

func (sc *scanner) close() { sc.reader.close() }

// enough reports whether what was found is as much as anybody wants to see.
func (sc *scanner) enough() bool { return sc.most > 0 && sc.out.matches >= sc.most }

func (sc *scanner) do(ctx context.Context, spans []span, out *result) {
	sc.out = out
	for i := range spans {
		if sc.span(ctx, &spans[i]); sc.enough() || ctx.Err() != nil {
			return
		}
	}
}

// span does a run of files in path order: those of the part that may match,
// and the extra ones between them. Files of a part that follow each other are
// looked through at once: most are short.
func (sc *scanner) span(ctx context.Context, s *span) {
	part := s.view.part
	together := part.kept && !sc.joined && !sc.verify
	files := candidates{span: s, at: s.lo}
	if part.signed {
		files.block = part.blockAt(s.lo)
	}
	next := s.extraLo
	for ctx.Err() == nil {
		i := files.next()
		for next < s.extraHi && (i >= s.hi || s.view.extra[next].path < part.path(i)) {
			sc.flush(ctx, part)
			sc.extra(s.view.extra[next])
			if next++; sc.enough() || ctx.Err() != nil {
				return
			}
		}
		if i >= s.hi {
			sc.flush(ctx, part)
			return
		}
		if s.view.dead.has(i) || !sc.scope.accepts(part.path(i), part.flags[i]) {
			continue
		}
		if together && part.flags[i]&flagUnread == 0 && !part.isLate(i) {
			sc.runs = files.runsOf(i, sc.runs)
			continue
		}
		sc.flush(ctx, part)
		if sc.base(&files, i); sc.enough() {
			return
		}
	}
}

// candidates goes through the entries of a span that have to be looked at.
type candidates struct {
	*span
	at     int // the next entry
	block  int // that its text begins in, or one before
	unread int // of the part's unread entries, those done
}

// next returns the next entry to look at, or one that is not below hi.
func (c *candidates) next() int {
	p := c.view.part
	if !p.signed {
		for c.at < c.hi && p.flags[c.at]&flagUnread == 0 {
			c.at++
		}
		c.at++
		return c.at - 1
	}
	for c.unread < len(p.unread) && p.unread[c.unread] < c.at {
		c.unread++
	}
	found := c.signed()
	if c.unread < len(p.unread) {
		found = min(found, p.unread[c.unread])
	}
	c.at = found + 1
	return found
}

// signed returns the next entry with a block that may match.
func (c *candidates) signed() int {
	p := c.view.part
	for c.at < c.hi {
		for c.block < len(p.blocks) && p.blockEnd(c.block) <= p.start[c.at] {
			c.block++
		}
		b := c.blocks.next(c.block, len(p.blocks))
		if b == len(p.blocks) {
			return c.hi
		}
		if b > c.block {
			c.block = b
			c.at = int(p.blocks[b].file)
		}
		for end := p.blockEnd(b); c.at < c.hi && p.start[c.at] < end; c.at++ {
			if p.start[c.at+1] > p.start[c.at] {
				return c.at
			}
		}
	}
	return c.hi
}

func (p *part) isLate(i int) bool {
	_, late := p.late[i]
	return late
}

// piecesOf returns what has to be looked at in entry i, which next returned.
func (c *candidates) piecesOf(i int, pieces []piece) []piece {
	p := c.view.part
	start, end := p.start[i], p.textEnd(i)
	for b := c.block; b < len(p.blocks) && p.blocks[b].lo < end; b++ {
		if !c.blocks.has(b) {
			continue
		}
		n := piece{int(max(p.blocks[b].lo, start) - start), int(min(p.blockEnd(b), end) - start), 1}
		if n.lo > 0 {
			n.line = int(p.blocks[b].line)
		}
		if last := len(pieces) - 1; last >= 0 && pieces[last].hi == n.lo {
			pieces[last].hi = n.hi
			continue
		}
		pieces = append(pieces, n)
	}
	return pieces
}

// base looks at an entry of a part.
func (sc *scanner) base(c *candidates, i int) {
	p := c.view.part
	e := p.entry(i)
	if !p.kept || e.flags&flagUnread != 0 {
		sc.fromDisk(e)
		return
	}
	mark := *sc.out
	text := p.contentOf(i)
	if sc.joined {
		sc.pieces = append(sc.pieces[:0], piece{0, len(text.text), 1})
	} else {
		sc.pieces = c.piecesOf(i, sc.pieces[:0])
	}
	if sc.file(e.path, text, sc.pieces) && sc.verify {
		if size, stamp, err := sc.reader.stamp(e.path); err == nil && (size != e.size || stamp != e.stamp) {
			mark.lines = sc.out.lines[:len(mark.lines)]
			*sc.out = mark
			e.size = size
			sc.fromDisk(e)
		}
	}
}

func (sc *scanner) extra(f *file) {
	switch {
	case f.kind != watch.File || f.flags&flagBinary != 0 || !sc.scope.accepts(f.path, f.flags):
	case f.flags&flagUnread != 0:
		sc.fromDisk(f.entry)
	default:
		sc.whole(f.path, f.content)
	}
}

func (sc *scanner) whole(path string, c content) bool {
	sc.pieces = append(sc.pieces[:0], piece{0, len(c.text), 1})
	return sc.file(path, c, sc.pieces)
}

// fromDisk reads a file and looks at it.
func (sc *scanner) fromDisk(e entry) {
	if e.kind != watch.File {
		return
	}
	c, buf, err := sc.reader.load(e.path, e.size, sc.buf[:0])
	sc.buf = buf
	switch {
	case err != nil:
		if why := unreadable(err); why != "" {
			sc.out.warnings = append(sc.out.warnings, Warning{e.path, why})
		}
	case c.binary:
		sc.out.binary++
	default:
		if sc.whole(e.path, c) && sc.query.Mode == Content {
			sc.buf = nil // lines point into it
		}
	}
}
