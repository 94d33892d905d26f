package tools

import (
	"sync"
	"unicode/utf8"
)

// chunkSize is what a rowWriter writes into at once, in bytes. A row is far
// shorter; a few of them hold what one system call moves.
const chunkSize = 256 << 10

// chunks are buffers of chunkSize that nobody uses: a result of megabytes costs
// the time to write it, not the time to have memory cleared for it.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// rowWriter is a long JSON text in the making, in chunks of which each is
// written once and never moved.
type rowWriter struct {
	full []*[chunkSize]byte
	ends []int // how much of each of full is used
	now  *[chunkSize]byte
	buf  []byte // the used part of now, or what replaced it
	size int    // bytes of full
}

func newRowWriter() *rowWriter {
	w := &rowWriter{now: chunks.Get().(*[chunkSize]byte)}
	w.buf = w.now[:0]
	return w
}

// room makes buf have room for n more bytes, which an append to buf then fills
// without moving it. n is at most chunkSize.
func (w *rowWriter) room(n int) {
	if cap(w.buf)-len(w.buf) >= n {
		return
	}
	w.full, w.ends = append(w.full, w.now), append(w.ends, len(w.buf))
	w.size += len(w.buf)
	w.now = chunks.Get().(*[chunkSize]byte)
	w.buf = w.now[:0]
}

// len is how many bytes were written.
func (w *rowWriter) len() int { return w.size + len(w.buf) }

// members writes the members of v, a struct that JSON makes an object of, and
// the object's closing bracket.
func (w *rowWriter) members(v any, first bool) {
	text, err := encode(v)
	if err != nil {
		panic(err) // plain structs of this package always encode
	}
	for text = appendMembers(nil, text, first); len(text) > 0; {
		n := min(len(text), chunkSize)
		w.room(n)
		w.buf = append(w.buf, text[:n]...)
		text = text[n:]
	}
}

// appendMembers appends what follows the opening bracket of an object's JSON.
func appendMembers(dst, object []byte, first bool) []byte {
	if !first && string(object) != "{}" {
		dst = append(dst, ',')
	}
	return append(dst, object[1:]...)
}

// escaped writes JSON as JSON has it between quotation marks.
func (w *rowWriter) escaped(text []byte) {
	const step = 32 << 10
	for len(text) > 0 {
		n := min(len(text), step)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		w.room(2*n + 32) // JSON has no control characters: nothing takes more than two bytes
		w.buf = appendEscaped(w.buf, text[:n])
		text = text[n:]
	}
}

// pieces is the whole in pieces, which are good until release.
func (w *rowWriter) pieces() [][]byte {
	out := make([][]byte, 0, len(w.full)+1)
	for i, c := range w.full {
		out = append(out, c[:w.ends[i]])
	}
	return append(out, w.buf)
}

// release gives the chunks back.
func (w *rowWriter) release() {
	for _, c := range append(w.full, w.now) {
		chunks.Put(c)
	}
	*w = rowWriter{}
}
