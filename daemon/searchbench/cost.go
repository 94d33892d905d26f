package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// costs measures what an index costs on a corpus.
func (s *settings) costs(ctx context.Context, c corpus) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "#### What it costs on %s\n\n| what | measured | goal |\n|---|---|---|\n", c.name)
	for _, part := range []func(context.Context, corpus, *strings.Builder) error{s.building, s.budget, s.writes, s.checkouts} {
		if err := part(ctx, c, &b); err != nil {
			return "", err
		}
	}
	b.WriteString("\n")
	return b.String(), nil
}

func costRow(b *strings.Builder, what, goal string, format string, args ...any) {
	measured := fmt.Sprintf(format, args...)
	fmt.Fprintf(b, "| %s | %s | %s |\n", what, measured, goal)
	fmt.Fprintf(os.Stderr, "%s: %s (goal: %s)\n", what, measured, goal)
}

// floor is what any index has to do: rg --files, and reading every file once
// into a buffer that is used again.
func floor(ctx context.Context, rg, dir string) (time.Duration, error) {
	start := time.Now()
	out, err := output(ctx, dir, nil, rg, "--files", "--hidden", "-g", "!.git", "--null")
	if err != nil {
		return 0, err
	}
	files := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	var (
		next   atomic.Int64
		wait   sync.WaitGroup
		failed atomic.Pointer[error]
	)
	for range 2 {
		wait.Go(func() {
			buf := make([]byte, 1<<20)
			for i := next.Add(1) - 1; int(i) < len(files); i = next.Add(1) - 1 {
				if err := readOnce(filepath.Join(dir, string(files[i])), buf); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return time.Since(start), nil
}

func readOnce(name string, buf []byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if _, err := f.Read(buf); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// building compares the time until everything is indexed with the floor and with
// fff, turn by turn, and measures memory and what an idle daemon uses.
func (s *settings) building(ctx context.Context, c corpus, b *strings.Builder) error {
	rg, err := s.rgBinary()
	if err != nil {
		return err
	}
	var floors, ours, theirs []time.Duration
	var perFloor, perFFF []float64
	for range 5 {
		least, err := floor(ctx, rg, c.dir)
		if err != nil {
			return err
		}
		took, err := s.build(ctx, c, b, len(ours) == 4)
		if err != nil {
			return err
		}
		f, err := startFFF(ctx, s.peers, c.dir, "build")
		if err != nil {
			return err
		}
		if err := f.stop(); err != nil {
			return err
		}
		floors, ours, theirs = append(floors, least), append(ours, took), append(theirs, f.ready)
		perFloor, perFFF = append(perFloor, float64(took)/float64(least)), append(perFFF, float64(took)/float64(f.ready))
	}
	costRow(b, "from the start of the process until all is indexed", "at most 6 times (aim 3)",
		"%s, %s times `rg --files` and reading every file once (%s)", shown(median(ours)), rounded(median(perFloor)), shown(median(floors)))
	costRow(b, "the same next to fff, which keeps no text", "at most 1 time", "%s times fff (%s)", rounded(median(perFFF)), shown(median(theirs)))
	return nil
}

// idleTime is how long an idle daemon is watched.
const idleTime = 5 * time.Second

// build starts a daemon and waits until everything is indexed; with details it
// writes what that needs.
func (s *settings) build(ctx context.Context, c corpus, b *strings.Builder, details bool) (time.Duration, error) {
	d, err := startServed(ctx, s.loomd, c.dir, "")
	if err != nil {
		return 0, err
	}
	defer d.stop()
	_, ferr := d.tool("grep", map[string]any{"pattern": "errServerClosedIdle"})
	answered := time.Since(d.started)
	st, err := d.live()
	took := time.Since(d.started)
	if err = errors.Join(err, ferr); err != nil || !details {
		return took, err
	}
	costRow(b, "the first answer after the start of the process", "from the disk meanwhile", "%s", shown(answered))
	now, most, err := memory(d.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	limit := 1.5*float64(st.Bytes) + 40e6
	costRow(b, "memory with all texts", fmt.Sprintf("at most 1.5 bytes a byte and 40 MB: %.0f MB", limit/1e6),
		"%.0f MB, %.2f bytes a byte of %.0f MB; at most %.0f MB", float64(now)/1e6, float64(now)/float64(st.Bytes), float64(st.Bytes)/1e6, float64(most)/1e6)
	idle, err := s.idle(ctx, d)
	if err != nil {
		return 0, err
	}
	costRow(b, "processor time of an idle daemon", "none", "%v in %v", idle, idleTime)
	return took, nil
}

func (s *settings) idle(ctx context.Context, d *served) (time.Duration, error) {
	if err := pause(ctx, idleTime); err != nil { // what the build left to be collected
		return 0, err
	}
	before, err := processorTime(d.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	if err := pause(ctx, idleTime); err != nil {
		return 0, err
	}
	after, err := processorTime(d.cmd.Process.Pid)
	return after - before, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// small is a budget that the texts of a corpus do not fit into.
const small = "64MiB"

// budget asks a daemon with little memory the same questions.
func (s *settings) budget(ctx context.Context, c corpus, b *strings.Builder) (err error) {
	d, err := startServed(ctx, s.loomd, c.dir, "[index]\nmemory = \""+small+"\"\n")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if _, err := d.live(); err != nil {
		return err
	}
	rg, err := s.rgBinary()
	if err != nil {
		return err
	}
	wrong, asked := 0, 0
	var took []time.Duration
	for _, t := range tasks {
		if t.kind != grepLines || t.heldOut {
			continue
		}
		start := time.Now()
		got, _, err := d.rowsOf(t)
		if err != nil {
			return err
		}
		took = append(took, time.Since(start))
		want, err := rgRows(ctx, rg, c.dir, t)
		if err != nil {
			return err
		}
		wrong, asked = wrong+unlike(got, want), asked+1
	}
	now, most, err := memory(d.cmd.Process.Pid)
	if err != nil {
		return err
	}
	costRow(b, "with a budget of "+small, "the same answers", "%d of %d searches' rows differ; p50 %s; memory %.0f MB, at most %.0f MB",
		wrong, asked, shown(median(took)), float64(now)/1e6, float64(most)/1e6)
	return nil
}
