package index

import (
	"encoding/binary"
	"math/bits"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/loomd/loomd/watch"
)

// limits bound blocks and parts. Tests have smaller ones.
type limits struct {
	block   int // bytes of text after which a block ends with the line
	text    int // bytes of text in a part
	entries int // in a part
}

// A part is what is made anew when enough of it has changed, so it is small; it
// has 512 blocks, so that a row of its signatures is one cache line.
var usualLimits = limits{block: 16 << 10, text: 511 * 16 << 10, entries: 4096}

// maxKept is the largest file whose text is kept and signed, in bytes. Larger
// ones are read by each search.
const maxKept = 256 << 20

// What is known of an entry besides its kind.
const (
	flagHidden byte = 1 << iota // a name on the way, or its own, begins with a dot
	flagBinary                  // its text is empty because it is binary
	flagUnread                  // its text is not here: read it
	flagOpen                    // its text's last line has no end; the part has one there
	flagPlain                   // its path is printable ASCII without quotation marks and backslashes

	// flagsOfPath are those that an entry has by its path.
	flagsOfPath = flagHidden | flagPlain
)

// entry is one file, directory, link or special file.
type entry struct {
	path  string
	size  int64
	stamp uint64
	kind  watch.Kind
	flags byte
}

func entryOf(e watch.Entry) entry {
	n := entry{path: e.Path, size: e.Size, kind: e.Kind, stamp: stampOf(e.Size, e.ModTime, e.ChangeTime, e.Inode)}
	n.flags = pathFlags(e.Path)
	if e.Kind == watch.File && e.Size > 0 {
		n.flags |= flagUnread
	}
	return n
}

func pathFlags(path string) (flags byte) {
	if hiddenBelow(path, 0) {
		flags |= flagHidden
	}
	for i := range len(path) {
		if c := path[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return flags
		}
	}
	return flags | flagPlain
}

// hiddenBelow reports whether a name of path begins with a dot, from byte from on.
func hiddenBelow(path string, from int) bool {
	rest := path[from:]
	return strings.HasPrefix(rest, ".") || strings.Contains(rest, "/.")
}

// part is a run of entries in path order with what is known of their texts. It
// does not change, but for its count of holders.
type part struct {
	names string   // all paths, one behind the other
	ends  []uint32 // where each ends
	size  []int64
	stamp []uint64
	kind  []watch.Kind
	flags []byte

	signed   bool     // blocks and rows are there
	start    []uint32 // where each text starts in the part's, and where the last ends
	blocks   []block  // in order, without gaps
	rows     region   // signatures
	stride   int
	cut      bool   // a line goes over several blocks
	text     region // all texts; empty if they are read on demand
	kept     bool   // text is there
	late     map[int]int
	failed   map[int]string // why a text could not be read
	unread   []int          // entries whose text is not here although the part is signed
	binaries []int

	holders atomic.Int64 // snapshots that have it; at 0 its memory is gone
	owner   *memory
}

// block is a run of lines of about as many bytes as the limits say: pieces of
// texts that follow each other. It ends where the next one starts. Only a very
// long line is cut: then the blocks with its parts belong together.
type block struct {
	lo   uint32 // in the part's text
	file uint32 // the entry whose text has the first byte
	line uint32 // that byte's line, from 1
	goes bool   // it goes on the line that the block before ends with
}

func (p *part) len() int { return len(p.ends) }

func (p *part) path(i int) string {
	if i == 0 {
		return p.names[:p.ends[0]]
	}
	return p.names[p.ends[i-1]:p.ends[i]]
}

func (p *part) entry(i int) entry {
	return entry{p.path(i), p.size[i], p.stamp[i], p.kind[i], p.flags[i]}
}

// find returns the index of the first entry whose path is not below the one
// given, and whether it is that one.
func (p *part) find(path string) (int, bool) {
	i := sort.Search(p.len(), func(i int) bool { return p.path(i) >= path })
	return i, i < p.len() && p.path(i) == path
}

func (p *part) textLen() int {
	if !p.signed {
		return 0
	}
	return int(p.start[len(p.start)-1])
}

// textEnd returns where the text of entry i ends. The next one may start one
// byte behind, so that no line has parts of two files.
func (p *part) textEnd(i int) uint32 {
	end := p.start[i+1]
	if p.flags[i]&flagOpen != 0 {
		end--
	}
	return end
}

func (p *part) blockEnd(b int) uint32 {
	if b+1 < len(p.blocks) {
		return p.blocks[b+1].lo
	}
	return p.start[len(p.start)-1]
}

// row returns word w of a row of the signatures.
func (p *part) row(row uint32, w int) uint64 {
	return binary.LittleEndian.Uint64(p.rows.bytes[(int(row)*p.stride+w)*8:])
}

// hold and release count the snapshots that have the part.
func (p *part) hold() { p.holders.Add(1) }

func (p *part) release() {
	if p.holders.Add(-1) == 0 {
		p.owner.texts.Add(-int64(len(p.text.bytes)))
		p.owner.rows.Add(-int64(len(p.rows.bytes)))
		p.text.free()
		p.rows.free()
	}
}

// memory counts the bytes that parts hold.
type memory struct {
	budget      int64 // for texts
	texts, rows atomic.Int64
}

// reserve takes n bytes of the budget if they are left, or will be when credit
// bytes have been given back.
func (m *memory) reserve(n, credit int64) bool {
	if m.texts.Add(n)-credit <= m.budget {
		return true
	}
	m.texts.Add(-n)
	return false
}

// bitmap is a set of small numbers.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(i int) bool { return b != nil && b[i/64]>>(i%64)&1 == 1 }
func (b bitmap) set(i int)      { b[i/64] |= 1 << (i % 64) }

// next returns the first member from i on, or limit.
func (b bitmap) next(i, limit int) int {
	for i < limit {
		if word := b[i/64] >> (i % 64); word != 0 {
			return min(i+bits.TrailingZeros64(word), limit)
		}
		i = (i/64 + 1) * 64
	}
	return limit
}

func (b bitmap) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}
