package process

import (
	"bytes"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Stream is one of the two outputs of a command.
type Stream int

// The streams, by the numbers of their descriptors.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

func (s Stream) String() string {
	if s == Stdout {
		return "stdout"
	}
	return "stderr"
}

// Limits is how much of each stream is kept, in bytes.
type Limits struct{ Head, Tail int }

// DefaultLimits are those of a command that has none.
var DefaultLimits = Limits{Head: 128 << 10, Tail: 128 << 10}

// Captured is what was kept of a stream: how it begins, and if that is not all, how
// it ends. Dropped bytes lie in between.
type Captured struct {
	Head, Tail     []byte
	Total, Dropped int64
}

// Lines is c without the lines, and at its borders the characters, that are only
// there in part: where something was dropped, the head ends after a line feed and the
// tail begins after one, unless that would leave nothing of it.
func (c Captured) Lines() Captured {
	if c.Dropped == 0 {
		return c
	}
	if end := bytes.LastIndexByte(c.Head, '\n') + 1; end > 0 {
		c.Head = c.Head[:end]
	} else {
		c.Head = c.Head[:len(c.Head)-halfAtEnd(c.Head)]
	}
	if i := bytes.IndexByte(c.Tail, '\n'); i >= 0 && i+1 < len(c.Tail) {
		c.Tail = c.Tail[i+1:]
	} else {
		for len(c.Tail) > 0 && !utf8.RuneStart(c.Tail[0]) {
			c.Tail = c.Tail[1:]
		}
	}
	c.Dropped = c.Total - int64(len(c.Head)) - int64(len(c.Tail))
	return c
}

// halfAtEnd is how many bytes a character has at the end of p that goes on after it.
func halfAtEnd(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax); n++ {
		if at := len(p) - n; utf8.RuneStart(p[at]) {
			if !utf8.FullRune(p[at:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// ring keeps the head and the tail of what is written to it.
type ring struct {
	limits Limits
	head   []byte
	tail   []byte // of limits.Tail bytes when it is full; then it begins at start
	start  int
	total  int64
}

func (r *ring) Write(p []byte) (int, error) {
	written := len(p)
	r.total += int64(written)
	if n := min(len(p), r.limits.Head-len(r.head)); n > 0 {
		r.head = append(r.head, p[:n]...)
		p = p[n:]
	}
	if over := len(p) - r.limits.Tail; over > 0 {
		p = p[over:]
		r.tail, r.start = r.tail[:0], 0
	}
	if n := min(len(p), r.limits.Tail-len(r.tail)); n > 0 { // start is 0 until the tail is full
		r.tail = append(r.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(r.tail[r.start:], p)
		p = p[n:]
		if r.start += n; r.start == len(r.tail) {
			r.start = 0
		}
	}
	return written, nil
}

// take is a copy of what is kept.
func (r *ring) take() Captured {
	c := Captured{Head: bytes.Clone(r.head), Total: r.total}
	c.Tail = append(append(c.Tail, r.tail[r.start:]...), r.tail[:r.start]...)
	c.Dropped = c.Total - int64(len(c.Head)) - int64(len(c.Tail))
	return c
}

func (r *ring) reset() { *r = ring{limits: r.limits, head: r.head[:0], tail: r.tail[:0]} }

// Chunk is a part of one stream, and its place in both together.
type Chunk struct {
	Stream Stream
	Bytes  int64
}

// maxChunks bounds the chunks of which the order is kept. Neighbours of one stream
// are one chunk.
const maxChunks = 4096

// capture is what is kept of a command's output.
type capture struct {
	mu      sync.Mutex // guards the fields below; each stream's own comes before it
	rings   [3]ring    // by stream
	order   []Chunk    // in the order of arrival, the first maxChunks of them
	changed chan struct{}
}

func newCapture(limits Limits) *capture {
	c := &capture{changed: make(chan struct{})}
	for i := range c.rings {
		c.rings[i].limits = limits
	}
	return c
}

// kept is where the bytes of a stream end up.
type kept struct {
	*capture
	stream Stream
}

func (k kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := len(k.order) - 1; last >= 0 && k.order[last].Stream == k.stream {
		k.order[last].Bytes += int64(len(p))
	} else if len(k.order) < maxChunks {
		k.order = append(k.order, Chunk{k.stream, int64(len(p))})
	}
	return k.rings[k.stream].Write(p)
}

// tell wakes whoever waits for new output.
func (c *capture) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// stream carries one output from its pipe to where it is kept: it passes the filter,
// is shown, is cleaned, and passes the filter again, since what was apart before may
// have come together.
type stream struct {
	mu    sync.Mutex // guards the fields below, held while a chunk passes
	way   io.Writer
	ends  []io.Closer // in the order in which they are closed
	clean *Cleaner    // nil: none

	filter  func(io.Writer) io.WriteCloser
	capture *capture

	waiting atomic.Int64 // since when the reader waits, in nanoseconds of Unix time; 0: it does not
	rest    atomic.Int64 // bytes that are read at most
}

func newStream(s Stream, c *Command, to *capture) *stream {
	st := &stream{filter: c.Filter, capture: to, way: kept{to, s}}
	st.rest.Store(math.MaxInt64)
	filtered := func() {
		if c.Filter != nil {
			f := c.Filter(st.way)
			st.way, st.ends = f, append([]io.Closer{f}, st.ends...)
		}
	}
	if c.Clean {
		filtered()
		st.clean = NewCleaner(st.way)
		st.way, st.ends = st.clean, append([]io.Closer{st.clean}, st.ends...)
	}
	if c.Output != nil {
		st.way = shown{st.way, s, c.Output}
	}
	filtered()
	return st
}

// shown shows what it passes on.
type shown struct {
	io.Writer
	stream Stream
	show   func(Stream, []byte)
}

func (s shown) Write(p []byte) (int, error) {
	s.show(s.stream, p)
	return s.Writer.Write(p)
}

// write takes the next bytes from the pipe. What goes wrong on the way is no reason
// to block the command.
func (s *stream) write(p []byte) {
	s.mu.Lock()
	_, _ = s.way.Write(p)
	s.mu.Unlock()
	s.capture.tell()
}

func (s *stream) close() {
	s.mu.Lock()
	for _, e := range s.ends {
		_ = e.Close()
	}
	s.clean = nil
	s.mu.Unlock()
	s.capture.tell()
}

// pending is the unfinished last line, filtered.
func (s *stream) pending() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clean == nil {
		return nil
	}
	line := s.clean.Pending()
	if s.filter == nil || len(line) == 0 {
		return line
	}
	var out bytes.Buffer
	f := s.filter(&out)
	_, _ = f.Write(line)
	_ = f.Close()
	return out.Bytes()
}

// lastLine is that of the stream that came last.
func (c *capture) lastLine(most int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	newest := Stdout
	if n := len(c.order); n > 0 {
		newest = c.order[n-1].Stream
	}
	return lastLine(c.rings[newest].last(4*most), most)
}

// last is at most the n last bytes of what is kept.
func (r *ring) last(n int) []byte {
	switch {
	case r.total == int64(len(r.head)):
		return r.head[max(0, len(r.head)-n):]
	case r.start == 0:
		return r.tail[max(0, len(r.tail)-n):]
	}
	return r.tail[max(0, r.start-n):r.start]
}

// lastLine is the last line of p that has something in it, cut to so many bytes at the
// border of a character.
func lastLine(p []byte, most int) string {
	p = bytes.TrimSpace(p)
	p = bytes.TrimSpace(p[bytes.LastIndexByte(p, '\n')+1:])
	if len(p) > most {
		p = p[:most]
		p = p[:len(p)-halfAtEnd(p)]
	}
	return string(bytes.ToValidUTF8(p, nil))
}
