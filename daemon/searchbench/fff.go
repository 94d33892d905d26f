package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// fff is @ff-labs/fff-node in a process that stays: its times are taken within
// it, without a pipe or a process start.
type fff struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	scan  time.Duration // until it knew all files
	ready time.Duration // until its index of contents was complete
	rows  int           // of the last answer
}

// millis are of JavaScript.
type millis float64

func (m millis) duration() time.Duration {
	return time.Duration(float64(m) * float64(time.Millisecond))
}

func startFFF(ctx context.Context, peers, root string, args ...string) (*fff, error) {
	script, err := filepath.Abs(filepath.Join(peers, "fff.mjs"))
	if err != nil {
		return nil, err
	}
	f := &fff{cmd: exec.CommandContext(ctx, "node", append([]string{script, root}, args...)...)}
	f.cmd.Stderr = os.Stderr
	if f.in, err = f.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := f.cmd.Start(); err != nil {
		return nil, err
	}
	f.out = bufio.NewReader(out)
	var times struct{ Scan, Ready millis }
	if err := f.read(&times); err != nil {
		return nil, err
	}
	f.scan, f.ready = times.Scan.duration(), times.Ready.duration()
	return f, nil
}

func (f *fff) read(into any) error {
	line, err := f.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading fff's answer: %w", err)
	}
	return json.Unmarshal(line, into)
}

func (f *fff) ask(t task) (time.Duration, bool, error) {
	if t.kind == grepCount || t.kind == grepFiles {
		return 0, false, nil
	}
	question, err := json.Marshal(map[string]any{"kind": t.kind, "pattern": t.pattern, "fold": t.fold})
	if err != nil {
		return 0, false, err
	}
	if _, err := f.in.Write(append(question, '\n')); err != nil {
		return 0, false, err
	}
	var answer struct {
		Millis millis
		Rows   int
	}
	if err := f.read(&answer); err != nil {
		return 0, false, err
	}
	f.rows = answer.Rows
	return answer.Millis.duration(), true, nil
}

func (f *fff) stop() error {
	f.in.Close()
	return f.cmd.Wait()
}
