package index

import (
	"bytes"
	"strings"

	"github.com/loomd/loomd/watch"
)

// builder makes parts of entries that are added in path order. Texts are
// gathered in memory that is used again, signed while they are in the cache, and
// copied once their size is known: fresh memory costs more than the copy. A
// builder is for one goroutine.
type builder struct {
	memory *memory
	limits limits
	credit int64 // bytes of texts that will be given back once the parts are in use
	signer signer
	done   []*part

	part  *part
	names strings.Builder
	text  []byte // of the part at hand
	open  bool   // the last block goes on
}

func (b *builder) begin() {
	b.part = &part{owner: b.memory}
	b.names.Reset()
	if b.text == nil {
		b.text = make([]byte, 0, b.limits.text+b.limits.text/4) // growing to this costs a tenth of a build
	}
	b.text = b.text[:0]
	b.signer.reset()
	b.open = false
}

func (b *builder) addEntry(e entry) {
	p := b.part
	if p == nil || p.len() == b.limits.entries || p.len() > 0 && len(b.text) >= b.limits.text {
		b.end()
		b.begin()
		p = b.part
	}
	b.names.WriteString(e.path)
	p.ends = append(p.ends, uint32(b.names.Len()))
	p.size = append(p.size, e.size)
	p.stamp = append(p.stamp, e.stamp)
	p.kind = append(p.kind, e.kind)
	p.flags = append(p.flags, e.flags&flagsOfPath)
}

// addFile adds an entry whose text is c.
func (b *builder) addFile(e entry, c content, failed string) {
	b.addEntry(e)
	b.settle(len(b.text), c, failed)
}

// loadFile adds an entry and reads its text from the disk.
func (b *builder) loadFile(e entry, r *reader) {
	b.addEntry(e)
	if e.kind != watch.File || e.size == 0 {
		b.settle(len(b.text), content{late: -1}, "")
		return
	}
	begin := len(b.text)
	if e.size > maxKept {
		b.leaveUnread()
		return
	}
	c, raw, err := r.load(e.path, e.size, b.text)
	b.text = raw[:begin]
	failed := unreadable(err)
	if err != nil && failed == "" || len(c.text) > maxKept || !r.still(e) {
		b.leaveUnread()
		return
	}
	b.settle(begin, c, failed)
}

// leaveUnread makes searches read the last entry.
func (b *builder) leaveUnread() {
	p := b.part
	p.flags[p.len()-1] |= flagUnread
	p.unread = append(p.unread, p.len()-1)
	p.start = append(p.start, uint32(len(b.text)))
}

// settle puts the last entry's text where it belongs, at begin, and signs it.
func (b *builder) settle(begin int, c content, failed string) {
	p := b.part
	i := p.len() - 1
	p.start = append(p.start, uint32(begin))
	if room := b.text[begin:cap(b.text)]; len(c.text) > 0 && len(room) > 0 && &room[0] == &c.text[0] {
		b.text = b.text[:begin+len(c.text)] // it was read to where it belongs
	} else {
		b.text = append(b.text[:begin], c.text...)
	}
	if n := len(c.text); n > 0 && c.text[n-1] != '\n' {
		b.text = append(b.text, '\n')
		p.flags[i] |= flagOpen
	}
	switch {
	case failed != "":
		p.failed = put(p.failed, i, failed)
	case c.binary:
		p.flags[i] |= flagBinary
		p.binaries = append(p.binaries, i)
	case c.late >= 0:
		p.late = put(p.late, i, c.late)
	}
	b.cut(begin, uint32(i))
}

func put[V any](m map[int]V, k int, v V) map[int]V {
	if m == nil {
		m = map[int]V{}
	}
	m[k] = v
	return m
}

// A line that goes on for so many blocks beyond the place where its block should
// end is cut. What begins in a part of it is looked for in the next bytes, too, as
// far as a literal is looked at.
const (
	longLine   = 2
	literalLen = 256
)

// Four times in a block it is looked whether so many of the exact rows are set
// that it had better end: text such as base64 sets nearly all, and would be
// looked through by every search.
const (
	steps = 4
	dense = exactRows * 45 / 100
)

// cut lays blocks over the text from begin to the end, which is one file's. A
// block ends at the first line end that makes it long enough, or in a long line.
func (b *builder) cut(begin int, file uint32) {
	p := b.part
	text := b.text[begin:]
	step := b.limits.block / steps
	line, counted, goes := uint32(1), 0, false
	for at := 0; at < len(text); {
		if !b.open {
			line += uint32(bytes.Count(text[counted:at], newline))
			counted = at
			p.blocks = append(p.blocks, block{uint32(begin + at), file, line, goes})
			b.open = true
		}
		lo := int(p.blocks[len(p.blocks)-1].lo)
		used := begin + at - lo
		tooMany := longLine * b.limits.block
		if goes {
			tooMany = step // it is known to be long
		}
		end, midLine := stepEnd(text, at, step-used%step, tooMany)
		b.signer.add(text, at, end)
		at = end
		size := begin + at - lo
		if size < b.limits.block && (size/step == used/step || b.signer.fill() < dense) {
			continue
		}
		if midLine {
			b.signer.add(text, at, at+literalLen)
		}
		b.signer.endBlock()
		b.open, goes = false, midLine
		p.cut = p.cut || goes
	}
}

// stepEnd returns the end of the line in which text[at:] has had n bytes, or, if
// that line goes on for too many, just the place.
func stepEnd(text []byte, at, n, tooMany int) (end int, midLine bool) {
	if n > len(text)-at {
		return len(text), false
	}
	from := at + n - 1
	most := min(from+tooMany, len(text))
	if i := bytes.IndexByte(text[from:most], '\n'); i >= 0 {
		return from + i + 1, false
	}
	if most < len(text) {
		return from + 1, true
	}
	return len(text), false
}

var newline = []byte("\n")

// end finishes the part at hand.
func (b *builder) end() {
	p := b.part
	if p == nil {
		return
	}
	b.part = nil
	if b.open {
		b.signer.endBlock()
	}
	p.names = b.names.String()
	p.start = append(p.start, uint32(len(b.text)))
	p.signed = true
	if len(p.blocks) > 0 {
		p.rows, p.stride = b.signer.rows()
		b.memory.rows.Add(int64(len(p.rows.bytes)))
	}
	if n := len(b.text); b.memory.reserve(int64(n), b.credit) {
		p.text, p.kept = newRegion(n), true
		copy(p.text.bytes, b.text)
	}
	b.done = append(b.done, p)
	if cap(b.text) > 4*b.limits.text {
		b.text = nil // one huge file shall not cost its size for ever
	}
}

// parts ends the building and returns what was made.
func (b *builder) parts() []*part {
	b.end()
	done := b.done
	b.done = nil
	return done
}
