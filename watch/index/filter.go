package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/loomd/loomd/watch/match"
)

// rowCounts counts for each row in how many blocks it is set, over all parts
// that were ever built: which rows are rare, and so tell most. It is a hint.
type rowCounts struct{ of [allRows]atomic.Uint32 }

func (c *rowCounts) add(p *part) {
	if p.stride == 0 {
		return
	}
	for row := range uint32(allRows) {
		n := 0
		for w := range p.stride {
			n += bits.OnesCount64(p.row(row, w))
		}
		if n > 0 {
			c.of[row].Add(uint32(n))
		}
	}
}

// filter tells which blocks of a part may hold what a pattern needs. One of
// rows, all and anyOf is set. A nil filter lets everything through.
type filter struct {
	rows  []uint32 // all of these, the rarest first
	all   []*filter
	anyOf []*filter
}

// maxRows bounds the rows that are read for one literal. More than the rarest of
// them sort hardly anything out.
const maxRows = 24

func newFilter(n *match.Need, common *rowCounts) *filter {
	switch {
	case n == nil:
		return nil
	case len(n.All) > 0:
		var f filter
		for _, kid := range n.All {
			if k := newFilter(kid, common); k != nil {
				f.all = append(f.all, k)
			}
		}
		if len(f.all) == 0 {
			return nil
		}
		return &f
	case len(n.Any) > 0:
		var f filter
		for _, kid := range n.Any {
			k := newFilter(kid, common)
			if k == nil {
				return nil
			}
			f.anyOf = append(f.anyOf, k)
		}
		return &f
	case len(n.Literal) < gramLen:
		return nil
	}
	return &filter{rows: rowsOf(n.Literal, n.Fold, common)}
}

func rowsOf(literal []byte, fold bool, common *rowCounts) []uint32 {
	var rows []uint32
	literal = literal[:min(len(literal), literalLen)]
	folded := bytes.Clone(literal)
	for i, c := range folded {
		folded[i] = lower[c]
	}
	for i := range len(literal) - gramLen + 1 {
		if !fold {
			rows = append(rows, exactRow(binary.LittleEndian.Uint32(literal[i:])))
		}
		rows = append(rows, exactRows+foldedRow(binary.LittleEndian.Uint32(folded[i:])))
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	slices.SortStableFunc(rows, func(a, b uint32) int { return cmp.Compare(common.of[a].Load(), common.of[b].Load()) })
	return rows[:min(len(rows), maxRows)]
}

// blocks sets in out the blocks of p that may hold what is needed. joined means
// that it may be spread over all blocks of a file.
func (f *filter) blocks(p *part, joined bool, out bitmap) {
	switch {
	case f == nil:
		for i := range out {
			out[i] = ^uint64(0)
		}
	case f.rows != nil:
		f.rowsOf(p, joined, out)
	case f.all != nil:
		f.all[0].blocks(p, joined, out)
		other := make(bitmap, len(out))
		for _, kid := range f.all[1:] {
			if out.empty() {
				return
			}
			kid.blocks(p, joined, other)
			for i := range out {
				out[i] &= other[i]
			}
		}
	default:
		clear(out)
		other := make(bitmap, len(out))
		for _, kid := range f.anyOf {
			kid.blocks(p, joined, other)
			for i := range out {
				out[i] |= other[i]
			}
		}
	}
}

func (f *filter) rowsOf(p *part, joined bool, out bitmap) {
	for w := range out {
		out[w] = ^uint64(0)
	}
	row := make(bitmap, 0, 8)
	for _, r := range f.rows {
		if joined {
			row = row[:0]
			for w := range out {
				row = append(row, p.row(r, w))
			}
			p.spread(row, func(b *block) bool { return b.lo > p.start[b.file] })
			for w := range out {
				out[w] &= row[w]
			}
		} else {
			at := int(r) * p.stride * 8
			words := p.rows.bytes[at : at+len(out)*8]
			for w := range out {
				out[w] &= binary.LittleEndian.Uint64(words[w*8:])
			}
		}
		if out.empty() {
			return
		}
	}
	if p.cut && !joined {
		p.spread(out, func(b *block) bool { return b.goes })
	}
}

func (b bitmap) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

// spread sets all blocks that belong together with one that is set. goes tells
// of a block that it goes on what the one before ends with.
func (p *part) spread(row bitmap, goes func(*block) bool) {
	for b := 0; b < len(p.blocks); {
		end, found := b, row.has(b)
		for end+1 < len(p.blocks) && goes(&p.blocks[end+1]) {
			end++
			found = found || row.has(end)
		}
		if found {
			for ; b <= end; b++ {
				row.set(b)
			}
		}
		b = end + 1
	}
}
