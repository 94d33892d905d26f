package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// maxHeader bounds the header lines of one frame together, and what is
	// skipped while looking for the next frame, in bytes. LSP knows two headers
	// of under 100 bytes; 8 KiB is what HTTP servers allow.
	maxHeader = 8 << 10

	// readBuffer holds a header block whole and saves system calls for the
	// small messages that are most of the traffic.
	readBuffer = 16 << 10

	// firstChunk is what is allocated for a body before any of it arrived.
	firstChunk = 64 << 10
)

// refusal is a frame or message that is answered with an error instead of being
// handled. The connection goes on.
type refusal struct {
	code    int64
	message string
	id      []byte // JSON text of the id to answer, nil: null
	fatal   bool   // the border of the next frame is lost: end after answering
	silent  bool   // a broken answer of the peer: log it, never answer an answer
}

func (r *refusal) Error() string { return r.message }

// frameReader cuts a byte stream into message bodies.
type frameReader struct {
	in   *bufio.Reader
	max  int64 // longest body, in bytes
	skip int64 // bytes of a refused body still to be thrown away
	lost bool  // looking for the next header after garbage
}

func newFrameReader(r io.Reader, limit int64) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(r, readBuffer), max: limit}
}

// next returns the body of the next frame, freshly allocated. A *refusal is to
// be answered and, unless fatal, followed by another next. io.EOF means an end
// between frames, io.ErrUnexpectedEOF an end inside of one.
func (r *frameReader) next() ([]byte, error) {
	for r.skip > 0 {
		n, err := r.in.Discard(int(min(r.skip, 1<<30)))
		r.skip -= int64(n)
		if err != nil {
			return nil, unexpected(err)
		}
	}
	length, err := r.header()
	if err != nil {
		return nil, err
	}
	if length > r.max {
		r.skip = length
		return nil, &refusal{code: CodeInvalidRequest, message: fmt.Sprintf(
			"message of %d bytes is over the limit of %d bytes", length, r.max)}
	}
	return r.body(length)
}

// header reads one header block and returns the length of the body after it.
func (r *frameReader) header() (int64, error) {
	length := int64(-1)
	var bad *refusal // answered once the body is known to be skipped
	used, lines := 0, 0
	for {
		line, err := r.line(maxHeader - used)
		if err != nil {
			if errors.Is(err, io.EOF) && (used > 0 || len(line) > 0) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		used += len(line)
		line = bytes.TrimSpace(line)
		if r.lost {
			if line = headerIn(line); line == nil {
				continue
			}
			r.lost = false
		}
		if len(line) == 0 {
			switch {
			case lines == 0:
				continue // a stray empty line between frames
			case length < 0:
				return 0, r.lose("header block without Content-Length")
			case bad != nil:
				r.skip = length
				return 0, bad
			}
			return length, nil
		}
		lines++
		n, err := contentLength(line)
		switch {
		case err != nil && length < 0:
			return 0, r.lose(err.Error())
		case err != nil:
			bad = &refusal{code: CodeParse, message: err.Error()}
		case n >= 0 && length >= 0 && n != length:
			return 0, r.lose("two different Content-Length headers")
		case n >= 0:
			length = n
		}
	}
}

// lose starts the search for the next frame.
func (r *frameReader) lose(why string) *refusal {
	r.lost = true
	return &refusal{code: CodeParse, message: why + "; every message starts with a Content-Length header, as in LSP"}
}

// line returns the next line with its end, at most budget bytes. The slice is
// good until the next read. At the end of the stream it returns what is left.
func (r *frameReader) line(budget int) ([]byte, error) {
	for seen := 0; ; {
		have, _ := r.in.Peek(min(r.in.Buffered(), budget))
		if i := bytes.IndexByte(have[seen:], '\n'); i >= 0 {
			line := have[:seen+i+1]
			_, err := r.in.Discard(len(line))
			return line, err
		}
		seen = len(have)
		if seen >= budget {
			return nil, &refusal{code: CodeParse, fatal: true, message: fmt.Sprintf("header lines are over %d bytes", maxHeader)}
		}
		if more, err := r.in.Peek(seen + 1); err != nil {
			return more, err
		}
	}
}

// contentLength returns the value of a Content-Length line, -1 for any other
// header, and an error for what is no header at all.
func contentLength(line []byte) (int64, error) {
	name, value, ok := bytes.Cut(line, []byte{':'})
	if !ok || !isToken(name) {
		return 0, errors.New("not a header line")
	}
	if !bytes.EqualFold(name, []byte("content-length")) {
		return -1, nil
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
	if err != nil {
		return 0, errors.New("Content-Length is not a number of bytes")
	}
	return int64(n), nil
}

// isToken reports whether name is a header name: letters, digits and the marks
// that RFC 9110 section 5.6.2 allows.
func isToken(name []byte) bool {
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0:
		default:
			return false
		}
	}
	return len(name) > 0
}

// headerIn finds a Content-Length header at the end of a line of garbage, nil
// when there is none. A body whose length was not known runs into the header
// after it; inside a JSON text no line can end in a bare header, since a string
// holds no line feed.
func headerIn(line []byte) []byte {
	const name = "content-length:"
	for i := len(line) - len(name); i >= 0; i-- {
		if !bytes.EqualFold(line[i:i+len(name)], []byte(name)) {
			continue
		}
		if n, err := contentLength(line[i:]); err == nil && n >= 0 {
			return line[i:]
		}
		return nil
	}
	return nil
}

// body reads length bytes. Memory grows with what arrived, never with what was
// claimed: at most twice of it, or firstChunk.
func (r *frameReader) body(length int64) ([]byte, error) {
	body := make([]byte, 0, min(length, firstChunk))
	for int64(len(body)) < length {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), min(length, 2*int64(cap(body))))
			copy(grown, body)
			body = grown
		}
		n, err := r.in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err != nil && int64(len(body)) < length {
			return nil, unexpected(err)
		}
	}
	return body, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
