package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"sync/atomic"
)

// farewell looks at what a client sends for how it takes its leave, which is
// the exit code of serve --stdio: 0 after shutdown, as LSP has it, else 1, so that
// an editor starts its server anew. One goroutine writes to it.
type farewell struct {
	shutdown, exit, ended atomic.Bool

	line   []byte // of a header, as far as it came
	length int    // that the header announced
	left   int    // bytes of the body that are to come
	body   []byte // when it is short enough
}

// longestFarewell bounds what is kept of a stream: a farewell has no parameters.
const longestFarewell = 4 << 10

func (f *farewell) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if f.left == 0 {
			rest = f.header(rest)
			continue
		}
		part := rest[:min(f.left, len(rest))]
		rest = rest[len(part):]
		f.left -= len(part)
		if f.length <= longestFarewell {
			f.body = append(f.body, part...)
		}
		if f.left == 0 {
			f.look()
			f.length, f.body = 0, f.body[:0]
		}
	}
	return len(p), nil
}

// header takes bytes up to the end of a line and returns what follows. Lines
// that it does not know it passes over.
func (f *farewell) header(p []byte) []byte {
	const name = "content-length:"
	line, rest, whole := bytes.Cut(p, []byte{'\n'})
	f.line = append(f.line, line...)
	if !whole {
		f.line = f.line[max(0, len(f.line)-longestFarewell):]
		return nil
	}
	text := bytes.ToLower(bytes.TrimSpace(f.line))
	f.line = f.line[:0]
	if len(text) == 0 {
		f.left = f.length
		return rest
	}
	if at := bytes.LastIndex(text, []byte(name)); at >= 0 {
		if n, err := strconv.Atoi(string(bytes.TrimSpace(text[at+len(name):]))); err == nil && n > 0 {
			f.length = n
		}
	}
	return rest
}

// look notes a farewell. The body of a longer message is empty here.
func (f *farewell) look() {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(f.body, &message) != nil {
		return
	}
	switch {
	case message.Method == "shutdown" && len(message.ID) > 0:
		f.shutdown.Store(true)
	case message.Method == "exit":
		f.exit.Store(true)
	}
}

// verdict is the error with which the process ends when the connection has
// ended in order: none after shutdown.
func (f *farewell) verdict() error {
	switch {
	case f.shutdown.Load():
		return nil
	case f.exit.Load():
		return errors.New("the client said exit without shutdown")
	case f.ended.Load():
		return errors.New("the client has gone without shutdown")
	}
	return errors.New("the daemon has ended")
}
