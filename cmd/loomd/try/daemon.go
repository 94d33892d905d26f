package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/place"
	"github.com/loomd/loomd/daemon/protocol"
)

// idle is how long the daemon outlives a trial that was killed, and endTime
// bounds the wait for it to end when it is told to: it has nothing to finish.
const (
	idle    = 10 * time.Minute
	endTime = 10 * time.Second
)

// daemon is the one that serves the copy, with a connection that may decide.
type daemon struct {
	options  client.Options
	place    place.Place
	reviewer *client.Client
	pid      int
}

// startDaemon starts loomd for the copy, with all of its state in the scratch
// folder. This process and what it runs find it there by the environment.
func startDaemon(ctx context.Context, loomd string, t *tree) (*daemon, error) {
	for variable, name := range map[string]string{"XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run"} {
		dir := filepath.Join(t.scratch, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
		if err := os.Setenv(variable, dir); err != nil {
			return nil, err
		}
	}
	where, err := place.For([]string{t.dir})
	if err != nil {
		return nil, err
	}
	opts := client.Options{
		Roots: []string{t.dir}, Starter: client.Background(loomd, idle),
		Who: client.Identity{Name: "try", Role: protocol.RoleReviewer},
	}
	c, err := client.Connect(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("starting the daemon: %w", err)
	}
	d := &daemon{options: opts, place: where, reviewer: c}
	status, err := c.Status(ctx)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	d.pid = status.PID
	return d, nil
}

// stop ends the daemon and waits until it has given the folder back.
func (d *daemon) stop() error {
	d.reviewer.Close()
	process, err := os.FindProcess(d.pid)
	if err == nil {
		err = process.Signal(syscall.SIGTERM)
	}
	if err != nil {
		return fmt.Errorf("ending the daemon: %w", err)
	}
	for end := time.Now().Add(endTime); ; time.Sleep(10 * time.Millisecond) {
		claim, err := place.TakeClaim(d.place)
		if err == nil {
			return claim.Release()
		}
		var busy *place.BusyError
		if !errors.As(err, &busy) || time.Now().After(end) {
			return fmt.Errorf("the daemon (pid %d) did not end: %w", d.pid, err)
		}
	}
}
