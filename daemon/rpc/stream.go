package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// stream is the guarded stream: what it returns is checked, what it refuses it
// has answered, what it is given it queues.
type stream struct {
	rwc io.ReadWriteCloser
	in  *frameReader
	out queue
	log *slog.Logger

	// broken is called once, by whoever finds that the peer does not read or
	// that a write failed. It must not block.
	broken func(error)

	once     sync.Once // guards closing rwc
	closeErr error     // what that gave; read after once
}

var _ jsonrpc2.Stream = (*stream)(nil)

func newStream(rwc io.ReadWriteCloser, opts Options, broken func(error)) *stream {
	return &stream{
		rwc:    rwc,
		in:     newFrameReader(rwc, opts.MaxFrame),
		out:    queue{w: rwc, limit: opts.MaxQueued},
		log:    opts.Logger,
		broken: broken,
	}
}

// Read returns the next message that is worth handling: a *call, *notification
// or *response. The context is looked at between frames only; Close ends a read
// in progress. The count of bytes is that of the body.
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for ctx.Err() == nil {
		body, err := s.in.next()
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			s.refuse(refused)
			if refused.fatal {
				return nil, 0, refused
			}
			continue
		case err != nil:
			return nil, 0, err
		}
		msg, refused := decode(body)
		if refused == nil {
			return msg, int64(len(body)), nil
		}
		s.refuse(refused)
	}
	return nil, 0, ctx.Err()
}

// refuse answers a message that was not taken.
func (s *stream) refuse(r *refusal) {
	if r.silent {
		s.log.Warn("answer of the peer ignored", "reason", r.message)
		return
	}
	s.log.Debug("message refused", "code", r.code, "reason", r.message)
	s.answer(r.id, &Error{Code: r.code, Message: r.message})
}

// answer sends an error for an id given as JSON text, nil for null.
func (s *stream) answer(id []byte, failure *Error) {
	if _, err := s.Write(context.Background(), &response{id: id, err: failure}); err != nil {
		s.log.Debug("answer not sent", "reason", err)
	}
}

// Write encodes a message and queues it; a goroutine writes it. Messages are
// written in the order of their Writes. The context is not used: Write does not
// wait. The count is the frame's length in bytes.
func (s *stream) Write(_ context.Context, msg jsonrpc2.Message) (int64, error) {
	out, err := encode(msg)
	if err != nil {
		return 0, err
	}
	start, err := s.queue(out)
	if start {
		go s.drain()
	}
	if err != nil {
		return 0, err
	}
	return out.size(), nil
}

// queue adds a frame; after a true start the caller owes a drain.
func (s *stream) queue(f packet) (start bool, err error) {
	start, err = s.out.add(f)
	if errors.Is(err, ErrSlow) {
		s.broken(err)
	}
	return start, err
}

func (s *stream) drain() {
	if err := s.out.drain(); err != nil {
		s.broken(err)
	}
}

// Close closes the pipe or socket, which ends a Read and a write in progress.
// What is still queued is dropped.
func (s *stream) Close() error {
	s.out.close()
	s.once.Do(func() { s.closeErr = s.rwc.Close() })
	return s.closeErr
}
