package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/loomd/loomd/daemon/place"
)

// ErrBusy says that a daemon that was started found another one serving a root.
var ErrBusy = errors.New("another daemon serves the root but does not answer")

// A Starter starts a daemon that serves p's roots and returns when it listens.
// The error is [ErrBusy] when another one has the roots already.
type Starter func(ctx context.Context, p place.Place) error

// ReadyEnv names the variable that holds the number of the file descriptor on
// which a daemon started in the background says that it listens.
const ReadyEnv = "LOOMD_READY_FD"

// What a starting daemon says on that descriptor, one line: that it listens,
// that another one serves the root, or else why it cannot.
const (
	ReadyLine = "ready"
	BusyLine  = "busy"
)

// Background returns a Starter that runs "executable serve" in a session of its
// own, so that it outlives the caller and its terminal, and that ends when
// nobody has used it for idle. It prints into the place's log. Windows lacks
// what this needs; there the error is [errors.ErrUnsupported].
func Background(executable string, idle time.Duration) Starter {
	return func(ctx context.Context, p place.Place) error {
		log, err := place.OpenLog(p.LogFile)
		if err != nil {
			return err
		}
		defer log.Close()
		ready, told, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("making a pipe: %w", err)
		}
		defer ready.Close()

		args := []string{"serve", "--idle", idle.String()}
		for _, root := range p.Roots {
			args = append(args, "--root", root)
		}
		cmd := exec.Command(executable, args...)
		cmd.Dir = string(os.PathSeparator) // it must not hold the caller's directory
		cmd.Stdout, cmd.Stderr = log, log
		cmd.ExtraFiles = []*os.File{told}
		cmd.Env = append(os.Environ(), ReadyEnv+"="+strconv.Itoa(firstExtraFile))
		err = detach(cmd)
		if err == nil {
			err = cmd.Start()
		}
		told.Close()
		if err != nil {
			return err
		}
		return awaitReady(ctx, cmd, ready)
	}
}

// firstExtraFile is the descriptor that a child sees ExtraFiles[0] as.
const firstExtraFile = 3

// awaitReady returns when the daemon has said how its start went. One that said
// nothing in time is ended.
func awaitReady(ctx context.Context, cmd *exec.Cmd, ready *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { ready.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()

	line, rerr := bufio.NewReader(ready).ReadString('\n')
	if line = strings.TrimSuffix(line, "\n"); line == ReadyLine {
		return cmd.Process.Release()
	}
	if ctx.Err() != nil {
		cmd.Process.Kill()
	}
	werr := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("it was not ready in time: %w", context.Cause(ctx))
	case line == BusyLine:
		return ErrBusy
	case line != "":
		return errors.New(line)
	case werr != nil:
		return fmt.Errorf("it ended without a word: %w", werr)
	}
	return fmt.Errorf("it ended without a word: %w", rerr)
}
