package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loomd/loomd/daemon"
	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/place"
)

type serveCmd struct {
	Root      []string      `sep:"none" placeholder:"DIR" help:"Folder to serve; may be given several times (default: the nearest one upwards that holds .git or .loom, else this one)."`
	Stdio     bool          `xor:"where" help:"Serve the client on stdin and stdout, too, and end with it: with status 0 after its shutdown or by a signal, else 1. When another daemon serves the folder already, pass everything on to that one."`
	Socket    string        `xor:"where" placeholder:"PATH" help:"Listen here instead of on the private socket of this user and folder."`
	Idle      time.Duration `placeholder:"DUR" help:"End when there was no client for this long (default: never)."`
	MaxFrame  int64         `placeholder:"BYTES" help:"Longest message that is taken (default: 64 MiB)."`
	LogLevel  string        `placeholder:"LEVEL" help:"What is logged to stderr: debug, info, warn or error (default: what is configured, else info)."`
	LogFormat string        `placeholder:"FORMAT" help:"How it is written: text or json (default: what is configured, else text)."`
	settings
}

func (serveCmd) Help() string {
	return `Speaks JSON-RPC with LSP framing. Editors start "loomd serve --stdio" as a language server; agents and reviewers find the daemon by its private socket. Commands that need a daemon start one by themselves, so you rarely type this.`
}

func (c *serveCmd) Run(e *env) error {
	// Without this a client that no longer reads our stdout ends the process at
	// once. The signal is caught, not ignored: children do not inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ready := inheritedReady()
	defer ready.close()
	err := c.serve(e, ready)
	if err != nil {
		ready.tell(err)
	}
	return err
}

func (c *serveCmd) serve(e *env, ready *readyPipe) error {
	roots, err := target{Root: c.Root}.roots()
	switch {
	case err != nil:
		return err
	case c.Idle < 0:
		return usagef("--idle %v: must not be negative", c.Idle)
	case c.MaxFrame < 0:
		return usagef("--max-frame %d: must not be negative", c.MaxFrame)
	}
	opts := daemon.Options{Roots: roots, Socket: c.Socket, Idle: c.Idle, MaxFrame: c.MaxFrame, Version: version()}
	if err := c.configure(e, &opts); err != nil {
		return err
	}
	if c.Stdio {
		return c.stdio(e, opts)
	}
	srv, err := daemon.New(opts)
	if err != nil {
		return fmt.Errorf("serving %s: %w", roots[0], err)
	}
	defer srv.Close()
	return ended(e.ctx, srv.Serve(e.ctx, func() { ready.tell(nil) }))
}

// configure gives the daemon its configuration, and the log that it asks for.
func (c *serveCmd) configure(e *env, opts *daemon.Options) error {
	for key, word := range map[string]string{"log.level": c.LogLevel, "log.format": c.LogFormat} {
		if word != "" {
			c.Set = append(c.Set, key+"="+strings.ToLower(word))
		}
	}
	p, err := place.For(opts.Roots)
	if err != nil {
		return err
	}
	user, homeless := config.UserPath() // without a home there is none
	origin, err := c.origin(p, user)
	if err != nil {
		return err
	}
	set, _ := origin.Load()
	opts.UserConfig, opts.Overrides = user, origin.Overrides
	opts.Logger = newLogger(place.BoundedLog(e.stderr, p.LogFile), set)
	if homeless != nil {
		opts.Logger.Warn("Serving without the user's configuration", "error", homeless)
	}
	return nil
}

// ended makes an orderly end by a signal no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// stdio serves the client on stdin and stdout, or is its way to the daemon that
// serves the roots already.
func (c *serveCmd) stdio(e *env, opts daemon.Options) error {
	for end := time.Now().Add(bridgeTime); ; {
		srv, err := daemon.New(opts)
		var other *daemon.AlreadyRunning
		if !errors.As(err, &other) {
			if err != nil {
				return fmt.Errorf("serving %s: %w", opts.Roots[0], err)
			}
			return c.stdioServe(e, srv)
		}
		conn, derr := dialOther(e.ctx, opts.Roots, other)
		if derr == nil {
			opts.Logger.Info("Passing everything on", "pid", other.PID)
			near := newStdio(e.stdin, e.stdout)
			if err := bridge(e.ctx, near, conn); err != nil || e.ctx.Err() != nil {
				return err
			}
			return near.farewell.verdict()
		}
		if !errors.Is(derr, client.ErrNotRunning) || time.Now().After(end) {
			return fmt.Errorf("%w, and cannot be reached: %w", err, derr)
		}
		select { // it is starting or ending
		case <-e.ctx.Done():
			return nil
		case <-time.After(bridgePause):
		}
	}
}

func (c *serveCmd) stdioServe(e *env, srv *daemon.Server) error {
	defer srv.Close()
	ctx, stop := context.WithCancel(e.ctx)
	defer stop()
	socket := make(chan error, 1)
	go func() { socket <- srv.Serve(ctx, nil) }()
	client := newStdio(e.stdin, e.stdout)
	err := srv.ServeConn(ctx, client)
	if err == nil && e.ctx.Err() == nil {
		err = client.farewell.verdict()
	}
	stop()
	return errors.Join(ended(ctx, err), ended(ctx, <-socket))
}

// stdio is a connection over the process's own streams.
type stdio struct {
	*io.PipeReader // Close ends a Read that waits
	io.Writer
	farewell *farewell // of who writes to the process
}

// newStdio reads in from a goroutine: closing a pipe or terminal does not end a
// read of it. The goroutine ends with in, or is left behind until the process
// ends.
func newStdio(in io.Reader, out io.Writer) stdio {
	read, fill := io.Pipe()
	s := stdio{read, out, &farewell{}}
	go func() {
		_, err := io.Copy(fill, io.TeeReader(in, s.farewell))
		s.farewell.ended.Store(true)
		fill.CloseWithError(err) // nil: the end
	}()
	return s
}

// readyPipe is where whoever started this process in the background hears how
// the start went; nil when nobody listens.
type readyPipe struct{ f *os.File }

// inheritedReady takes the descriptor over, so that no child gets it.
func inheritedReady() *readyPipe {
	fd, err := strconv.ParseUint(os.Getenv(client.ReadyEnv), 10, 31)
	os.Unsetenv(client.ReadyEnv)
	if err != nil {
		return nil
	}
	closeOnExec(uintptr(fd))
	return &readyPipe{os.NewFile(uintptr(fd), "ready")}
}

// tell says that the daemon listens, or why it does not, once.
func (r *readyPipe) tell(err error) {
	if r == nil || r.f == nil {
		return
	}
	line := client.ReadyLine
	var other *daemon.AlreadyRunning
	switch {
	case errors.As(err, &other), errors.Is(err, place.ErrAnswered):
		line = client.BusyLine
	case err != nil:
		line = oneLine(err.Error())
	}
	fmt.Fprintln(r.f, line)
	r.close()
}

func (r *readyPipe) close() {
	if r != nil && r.f != nil {
		r.f.Close()
		r.f = nil
	}
}
