package main

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/loomd/loomd/daemon"
	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/place"
)

// bridgeTime bounds how long serve --stdio tries to reach a daemon that holds
// the roots and does not answer: one that is starting or ending.
const (
	bridgeTime  = 5 * time.Second
	bridgePause = 20 * time.Millisecond
)

// dialOther connects to the daemon that serves the roots.
func dialOther(ctx context.Context, roots []string, other *daemon.AlreadyRunning) (net.Conn, error) {
	p, err := place.For(roots)
	if err != nil {
		return nil, err
	}
	conn, err := client.DialPlace(ctx, p)
	if errors.Is(err, client.ErrNotRunning) && other.Socket != "" && other.Socket != p.Socket {
		if c, derr := place.Dial(ctx, other.Socket, false); derr == nil {
			return c, nil
		}
	}
	return conn, err
}

// bridge copies bytes both ways until the far end has closed, or until ctx ends.
// It closes conn.
func bridge(ctx context.Context, near io.ReadWriter, conn net.Conn) error {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	go func() {
		// Ends with the near side's end; when the far side ended first, with
		// the process.
		io.Copy(conn, near)
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		} else {
			conn.Close()
		}
	}()
	_, err := io.Copy(near, conn)
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}
