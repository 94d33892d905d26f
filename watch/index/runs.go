package index

import (
	"context"
	"sort"
)

// runsOf adds to runs what has to be looked at in entry i, which next returned. Runs are of the part's
// text, where one file follows the other.
func (c *candidates) runsOf(i int, runs []piece) []piece {
	p := c.view.part
	start, end := p.start[i], p.start[i+1]
	for b := c.block; b < len(p.blocks) && p.blocks[b].lo < end; b++ {
		if !c.blocks.has(b) {
			continue
		}
		lo, hi := int(max(p.blocks[b].lo, start)), int(min(p.blockEnd(b), end))
		if last := len(runs) - 1; last >= 0 && runs[last].hi == lo {
			runs[last].hi = hi
			continue
		}
		runs = append(runs, piece{lo: lo, hi: hi})
	}
	return runs
}

// flush looks through the runs that were gathered.
func (sc *scanner) flush(ctx context.Context, p *part) {
	if len(sc.runs) == 0 {
		return
	}
	t := together{scanner: sc, part: p, file: -1}
	for _, r := range sc.runs {
		if ctx.Err() != nil || !t.run(r.lo, r.hi) {
			break
		}
	}
	t.endFile()
	sc.runs = sc.runs[:0]
}

// together looks through the texts of many files at once, and tells them apart
// where something is found.
type together struct {
	*scanner
	part  *part
	file  int // with the last match; -1 before the first
	count int // of matches in it, in the mode Count
	lines lineWriter
}

func (t *together) run(lo, hi int) bool {
	text := t.part.text.bytes[:hi]
	if t.query.Mode == Files {
		return t.files(text, lo)
	}
	for start, end := range t.query.Pattern.Lines(text[lo:]) {
		if !t.match(lo+start, lo+end) {
			return false
		}
	}
	return true
}

// files finds the files with a match, one match of each.
func (t *together) files(text []byte, from int) bool {
	for from < len(text) {
		start, _, ok := t.query.Pattern.Find(text, from)
		if !ok {
			break
		}
		if i := t.fileAt(start); i != t.file {
			t.file = i
			t.out.lines = append(t.out.lines, Line{Path: t.part.path(i), Match: true})
			if t.out.matches++; t.enough() {
				return false
			}
		}
		from = int(t.part.start[t.file+1])
	}
	return true
}

// fileAt returns the entry whose text has a byte.
func (t *together) fileAt(at int) int {
	p := t.part
	if t.file >= 0 && at >= int(p.start[t.file]) && at < int(p.start[t.file+1]) {
		return t.file
	}
	return sort.Search(p.len(), func(i int) bool { return int(p.start[i+1]) > at })
}

func (t *together) match(start, end int) bool {
	p := t.part
	if i := t.fileAt(start); i != t.file {
		t.endFile()
		if t.enough() {
			return false
		}
		t.file = i
		if t.query.Mode == Content {
			t.lines = lineWriter{scanner: t.scanner, path: p.path(i), text: p.text.bytes[p.start[i]:p.textEnd(i)], line: 1}
		}
	}
	if t.query.Mode == Count {
		t.count++
		return true
	}
	base := int(p.start[t.file])
	t.skip(start, base)
	return t.lines.match(start-base, min(end-base, len(t.lines.text)))
}

// skip spares the counting of lines up to a match, where a block says how many
// there are.
func (t *together) skip(start, base int) {
	const far = 4 << 10 // bytes that are counted sooner than a block is found
	if start-base-t.lines.at < far {
		return
	}
	p := t.part
	b := sort.Search(len(p.blocks), func(i int) bool { return int(p.blocks[i].lo) > start }) - 1
	if at := int(p.blocks[b].lo) - base; at > t.lines.at {
		t.lines.at, t.lines.line = at, int(p.blocks[b].line)
	}
}

// endFile finishes the file at hand.
func (t *together) endFile() {
	switch {
	case t.file < 0:
	case t.query.Mode == Content && !t.enough():
		t.lines.after(len(t.lines.text))
	case t.query.Mode == Count && t.count > 0:
		t.out.lines = append(t.out.lines, Line{Path: t.part.path(t.file), Number: t.count, Match: true})
		t.out.matches++
		t.count = 0
	}
}
