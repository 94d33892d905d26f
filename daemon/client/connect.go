package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/loomd/loomd/daemon/place"
	loom "github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// startTime bounds how long Connect tries: a daemon that reads back a large
// journal is ready within seconds.
const startTime = 20 * time.Second

// retryPause is the wait between two attempts while another process starts or
// ends a daemon for the same roots.
const retryPause = 10 * time.Millisecond

// Options say which daemon is meant and who asks.
type Options struct {
	Roots  []string // existing directories; may be empty when Socket is given
	Socket string   // "": the private one of the roots
	Who    Identity
	Logger *slog.Logger
	// Starter starts a daemon when none runs; nil: that is an error. It is not
	// used when Socket is given.
	Starter Starter
	// DidChange is called for each proposal that the daemon announces.
	DidChange func(loom.Proposal)
}

// Connect finds the daemon, starts one when there is none and opts say how, and
// greets it. Several processes that do so at once all reach the same daemon.
// The error is a *[NoDaemonError] when there is none to speak to; that one is
// [ErrNotRunning] when none runs and none was to be started.
func Connect(ctx context.Context, opts Options) (*Client, error) {
	if opts.Socket != "" {
		conn, err := dial(ctx, opts.Socket, false)
		if err != nil {
			return nil, &NoDaemonError{Socket: opts.Socket, Err: err}
		}
		return greet(ctx, conn, opts.Socket, opts)
	}
	p, err := place.For(opts.Roots)
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(startTime)
	for {
		c, err := attempt(ctx, p, opts)
		var retry *retryError
		if !errors.As(err, &retry) {
			return c, err
		}
		if time.Now().After(end) {
			return nil, &NoDaemonError{Socket: p.Socket, Log: logOf(p), Tried: true, Err: retry.err}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(retryPause):
		}
	}
}

// retryError is a failure that passes by itself.
type retryError struct{ err error }

func (e *retryError) Error() string { return e.err.Error() }

// attempt connects once, starting a daemon at most once. A *retryError says
// that another process is starting or ending one at this moment.
func attempt(ctx context.Context, p place.Place, opts Options) (*Client, error) {
	conn, err := DialPlace(ctx, p)
	if errors.Is(err, ErrNotRunning) && opts.Starter != nil {
		if err := opts.Starter(ctx, p); err != nil {
			if errors.Is(err, ErrBusy) {
				return nil, &retryError{err}
			}
			return nil, &NoDaemonError{Socket: p.Socket, Log: logOf(p), Tried: true, Err: err}
		}
		conn, err = DialPlace(ctx, p)
		if errors.Is(err, ErrNotRunning) {
			return nil, &retryError{errors.New("it ended at once")}
		}
	}
	if err != nil {
		return nil, &NoDaemonError{Socket: p.Socket, Err: err}
	}
	c, err := greet(ctx, conn, p.Socket, opts)
	if errors.Is(err, rpc.ErrClosed) && ctx.Err() == nil {
		return nil, &retryError{errors.New("it closes every connection")} // it was about to end
	}
	return c, err
}

// logOf is the place's log when there is one: a state directory that cannot be
// made has none.
func logOf(p place.Place) string {
	if _, err := os.Lstat(p.LogFile); err != nil {
		return ""
	}
	return p.LogFile
}

// greet makes a client of a connection. A daemon that speaks another version of
// the protocol is none to speak to.
func greet(ctx context.Context, conn net.Conn, socket string, opts Options) (*Client, error) {
	c, err := New(ctx, conn, opts.Who, opts.DidChange, opts.Logger)
	var answer *Error
	if errors.As(err, &answer) && len(answer.Data.Supported) > 0 {
		return nil, &NoDaemonError{Socket: socket, Err: err}
	}
	return c, err
}

// DialPlace connects to the daemon that serves p's roots: on p's own socket, or
// where the holder of a root's lock says that it listens. The error is
// [ErrNotRunning] when nobody answers.
func DialPlace(ctx context.Context, p place.Place) (net.Conn, error) {
	conn, err := dial(ctx, p.Socket, true)
	if !errors.Is(err, ErrNotRunning) {
		return conn, err
	}
	for _, lock := range p.Locks {
		h, err := place.WhoHolds(lock)
		if err != nil || h.Socket == "" || h.Socket == p.Socket {
			continue
		}
		if conn, err := dial(ctx, h.Socket, false); !errors.Is(err, ErrNotRunning) {
			return conn, err
		}
	}
	return nil, ErrNotRunning
}

// dial turns every way of nobody being there into [ErrNotRunning].
func dial(ctx context.Context, socket string, private bool) (net.Conn, error) {
	conn, err := place.Dial(ctx, socket, private)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, errors.ErrUnsupported):
		return nil, ErrNotRunning
	}
	return nil, fmt.Errorf("connecting: %w", err)
}
