package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// peer is a program that does the same work.
type peer struct {
	name string
	// command is how it does a task in a folder; nil: it cannot.
	command func(t task) []string
	env     []string
	// ask is what it does instead of running a command, and how long it took; it
	// reports false for what it cannot do.
	ask func(t task) (time.Duration, bool, error)
}

// commandPeers are those that run as a process for each question. csearch asks
// an index that was made before and is not refreshed.
func commandPeers(rg, csearchIndex string) []*peer {
	peers := []*peer{
		{name: "rg", command: func(t task) []string { return rgCommand(rg, t) }},
		{name: "git", command: gitCommand},
	}
	if fd, err := lookAny("fdfind", "fd"); err == nil {
		peers = append(peers, &peer{name: "fd", command: func(t task) []string { return fdCommand(fd, t) }})
	}
	if _, err := exec.LookPath("csearch"); err == nil && csearchIndex != "" {
		peers = append(peers, &peer{name: "csearch", command: csearchCommand, env: []string{"CSEARCHINDEX=" + csearchIndex}})
	}
	return peers
}

func lookAny(names ...string) (string, error) {
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}

func rgCommand(rg string, t task) []string {
	command := []string{rg, "--hidden", "-g", "!.git", "--no-unicode", "--no-messages"}
	switch t.kind {
	case listFiles:
		return append(command, "--files")
	case globFiles:
		return append(command, "--files", "-g", t.pattern)
	case grepCount:
		command = append(command, "-c")
	case grepFiles:
		command = append(command, "-l")
	case grepFirst: // the first ones in the order of paths, as the others give them
		command = append(command, "-n", "--sort", "path")
	default:
		command = append(command, "-n")
	}
	if t.fold {
		command = append(command, "-i")
	}
	return append(command, "-e", t.pattern, ".")
}

func gitCommand(t task) []string {
	switch t.kind {
	case listFiles:
		return []string{"git", "ls-files"}
	case globFiles:
		return []string{"git", "ls-files", ":(glob)" + t.pattern}
	}
	command := []string{"git", "-c", "core.quotePath=false", "grep", "-I", "-P"}
	switch t.kind {
	case grepCount:
		command = append(command, "-c")
	case grepFiles:
		command = append(command, "-l")
	default:
		command = append(command, "-n")
	}
	if t.fold {
		command = append(command, "-i")
	}
	return append(command, "-e", t.pattern)
}

func fdCommand(fd string, t task) []string {
	switch t.kind {
	case listFiles:
		return []string{fd, "--hidden", "--exclude", ".git", "--type", "f", "--type", "l", ""}
	case globFiles:
		return []string{fd, "--hidden", "--exclude", ".git", "--type", "f", "--type", "l", "--full-path", "--glob", t.pattern}
	}
	return nil
}

func csearchCommand(t task) []string {
	command := []string{"csearch"}
	switch t.kind {
	case grepCount:
		command = append(command, "-c")
	case grepFiles:
		command = append(command, "-l")
	case grepLines, grepFirst:
		command = append(command, "-n")
	default:
		return nil
	}
	if t.fold {
		command = append(command, "-i")
	}
	return append(command, t.pattern)
}

// measure is how long one answer takes; false: the peer cannot do the task.
func (p *peer) measure(ctx context.Context, dir string, t task) (time.Duration, bool, error) {
	if p.ask != nil {
		return p.ask(t)
	}
	command := p.command(t)
	if command == nil {
		return 0, false, nil
	}
	start := time.Now()
	err := stream(ctx, dir, p.env, command, func(out io.Reader) error {
		if t.kind == grepFirst {
			return skipLines(out, first)
		}
		_, err := io.Copy(io.Discard, onlyReader{out})
		return err
	})
	return time.Since(start), true, err
}

// onlyReader keeps io.Copy from splicing a pipe away unread.
type onlyReader struct{ io.Reader }

// errEnough ends a process of which enough was read.
var errEnough = errors.New("enough")

func skipLines(out io.Reader, n int) error {
	buf := make([]byte, 64<<10)
	for n > 0 {
		k, err := out.Read(buf)
		n -= bytes.Count(buf[:k], []byte("\n"))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return errEnough
}

// stream runs a command and hands its output over. Status 1 means that nothing
// was found.
func stream(ctx context.Context, dir string, env, command []string, take func(io.Reader) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	terr := take(out)
	if errors.Is(terr, errEnough) {
		stop()
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.Is(terr, errEnough), errors.As(err, &exit) && exit.ExitCode() == 1:
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w: %.300s", filepath.Base(command[0]), err, stderr.Bytes())
	}
	return terr
}

// output is all that a command prints.
func output(ctx context.Context, dir string, env []string, command ...string) ([]byte, error) {
	var all []byte
	err := stream(ctx, dir, env, command, func(out io.Reader) (err error) {
		all, err = io.ReadAll(out)
		return err
	})
	return all, err
}
