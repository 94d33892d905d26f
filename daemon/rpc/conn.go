package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// Request is one message of the peer that wants handling.
type Request struct {
	Method string
	Params json.RawMessage // checked JSON, an object or array; nil when absent. Handlers may keep it
	ID     string          // the id's JSON text: decimal or quoted; "" for a notification
}

// IsNotification reports whether nobody waits for an answer.
func (r *Request) IsNotification() bool { return r.ID == "" }

// Handler answers one message. Its ctx ends with $/cancelRequest of that id,
// with the connection, and with Run's ctx. The result is encoded with
// encoding/json, except that a json.RawMessage is sent as it is. An error
// becomes an error answer: an *Error in its chain gives code and data, any
// other is CodeInternal, or CodeRequestCancelled when the request was
// cancelled. For a notification the result is dropped and an error logged.
//
// Handlers may call the Conn. One of a notification holds up all later messages
// until it returns, so it should not wait for the peer.
type Handler func(ctx context.Context, c *Conn, req *Request) (result any, err error)

// Options bounds a connection. The zero value means the defaults.
type Options struct {
	// MaxFrame is the longest message body taken, in bytes. Default 64 MiB: a
	// write_file of the largest text anybody reviews, with room.
	MaxFrame int64
	// MaxConcurrent is how many requests run at once; more wait. Default 64.
	MaxConcurrent int
	// MaxQueued is how many bytes may wait for a peer that does not read; a
	// frame added beyond it ends the connection with ErrSlow. As many bytes of
	// the peer's requests, and of its notifications, may wait to be handled:
	// beyond it requests are refused with CodeRequestFailed, and after
	// notifications reading pauses. Default 64 MiB.
	MaxQueued int64
	// FlushWait is how long Close and the end of Run wait for queued frames to
	// be read. Default 2 s: a busy editor empties its pipe in that time, and a
	// stopped one delays the daemon's end no longer.
	FlushWait time.Duration
	// Logger gets methods, ids, codes and sizes, never contents. Default: none.
	Logger *slog.Logger
	// Name tells connections apart in the log.
	Name string
}

func (o Options) withDefaults() Options {
	if o.MaxFrame <= 0 {
		o.MaxFrame = 64 << 20
	}
	if o.MaxConcurrent <= 0 {
		o.MaxConcurrent = 64
	}
	if o.MaxQueued <= 0 {
		o.MaxQueued = 64 << 20
	}
	if o.FlushWait <= 0 {
		o.FlushWait = 2 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("conn", o.Name)
	return o
}

// Conn is one connection, the same for both sides. It works while Run runs.
type Conn struct {
	opts   Options
	log    *slog.Logger
	stream *stream

	closing   chan struct{} // closed by shut: the connection is to end
	closeOnce sync.Once     // guards cause and the closing of closing
	cause     error         // why, nil for Close; read after closing is closed
	done      chan struct{} // closed by Run or Close: no answer will come any more
	doneOnce  sync.Once

	calls    calls
	dispatch dispatch
}

// NewConn wraps a pipe or socket, which then belongs to the Conn. Closing rwc
// must end reads and writes in progress, else Run leaves them behind.
func NewConn(rwc io.ReadWriteCloser, opts Options) *Conn {
	c := &Conn{
		opts:    opts.withDefaults(),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
		calls:   calls{pending: make(map[jsonrpc2.ID]chan *response)},
	}
	c.log = c.opts.Logger
	c.stream = newStream(rwc, c.opts, c.shut)
	c.dispatch.init(c)
	return c
}

// Run reads and handles messages until the peer is gone, Close is called or ctx
// ends. Then it ends the handlers' contexts, answers what had not started as
// cancelled, waits for the handlers, sends what is queued (bounded by
// Options.FlushWait) and closes the pipe. It returns nil when the peer went
// away or Close was called, the cause of ctx's end, ErrSlow, or what broke the
// connection. It must be called once.
func (c *Conn) Run(ctx context.Context, h Handler) error {
	base, cancel := context.WithCancel(ctx)
	defer cancel()
	c.dispatch.handler = h

	var readErr error
	readEnd := make(chan struct{})
	go func() {
		defer close(readEnd)
		readErr = c.read(base)
	}()

	var err error
	select {
	case <-readEnd:
		if !peerGone(readErr) {
			err = fmt.Errorf("reading message: %w", readErr)
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-c.closing:
		err = c.cause
		if err != nil { // the peer does not read: do not wait for it
			c.closePipe()
		}
	}

	c.finish()
	cancel()
	c.dispatch.end()
	c.stream.out.wait(c.opts.FlushWait)
	c.closePipe()
	c.stream.out.wait(c.opts.FlushWait)
	c.await(readEnd)
	return err
}

// read hands messages over until the stream ends.
func (c *Conn) read(ctx context.Context) error {
	for {
		msg, _, err := c.stream.Read(ctx)
		if err != nil {
			return err
		}
		switch m := msg.(type) {
		case *call:
			c.dispatch.call(ctx, m)
		case *notification:
			c.dispatch.notify(ctx, m)
		case *response:
			c.calls.settle(m)
		}
	}
}

// await waits for the reader to see that the pipe is closed. Reads of some
// pipes (a blocking stdin) cannot be interrupted; those are left behind.
func (c *Conn) await(readEnd <-chan struct{}) {
	timer := time.NewTimer(c.opts.FlushWait)
	defer timer.Stop()
	select {
	case <-readEnd:
	case <-timer.C:
		c.log.Warn("closing the pipe did not end a read")
	}
}

// Done is closed when the connection has ended: the peer is gone, Close was
// called, or Run's ctx ended. Handlers may still be returning; Run waits for
// them.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the connection: it waits until what is queued has been written,
// at most Options.FlushWait, and closes the pipe. It does not wait for handlers
// (so they may call it); Run does. Later calls do nothing.
func (c *Conn) Close() error {
	c.shut(nil)
	c.finish()
	c.stream.out.wait(c.opts.FlushWait)
	if err := c.stream.Close(); err != nil && !peerGone(err) {
		return fmt.Errorf("closing connection: %w", err)
	}
	return nil
}

// shut asks Run to end, with the cause it returns. Only the first call counts.
func (c *Conn) shut(cause error) {
	c.closeOnce.Do(func() {
		if cause != nil && !errors.Is(cause, ErrSlow) {
			if peerGone(cause) || errors.Is(cause, ErrClosed) {
				cause = nil
			} else {
				cause = fmt.Errorf("writing message: %w", cause)
			}
		}
		c.cause = cause
		close(c.closing)
	})
}

func (c *Conn) finish() { c.doneOnce.Do(func() { close(c.done) }) }

func (c *Conn) closePipe() {
	if err := c.stream.Close(); err != nil && !peerGone(err) {
		c.log.Debug("closing pipe", "reason", err)
	}
}

// peerGone reports whether err is one of the ways a pipe or socket says that
// there is no other side any more.
func peerGone(err error) bool {
	for _, gone := range []error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, os.ErrClosed,
		syscall.EPIPE, syscall.ECONNRESET,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}
