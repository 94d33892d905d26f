package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// served is a running loomd with a connection to it.
type served struct {
	*wire
	cmd     *exec.Cmd
	scratch string
	started time.Time
}

// startServed starts a daemon for a folder, with all of its state in a scratch
// folder. config is the user's configuration, which may be empty.
func startServed(ctx context.Context, loomd, root, config string) (*served, error) {
	scratch, err := os.MkdirTemp("", "searchbench")
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(scratch, "state"), "XDG_CONFIG_HOME="+filepath.Join(scratch, "config"))
	settings := filepath.Join(scratch, "config", "loomd")
	if err := os.MkdirAll(settings, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(settings, "config.toml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	ready, told, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	socket := filepath.Join(scratch, "s")
	s := &served{cmd: exec.CommandContext(ctx, loomd, "serve", "--root", root, "--socket", socket, "--log-level", "warn"), scratch: scratch}
	s.cmd.Env = append(env, "LOOMD_READY_FD=3")
	s.cmd.ExtraFiles = []*os.File{told}
	s.cmd.Stderr = os.Stderr
	s.started = time.Now()
	err = s.cmd.Start()
	told.Close()
	if err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(ready).ReadString('\n'); line != "ready\n" {
		return nil, fmt.Errorf("starting %s: %q %w", loomd, line, err)
	}
	if s.wire, err = dial(socket); err != nil {
		return nil, err
	}
	return s, nil
}

// stop ends the daemon and removes its scratch folder.
func (s *served) stop() error {
	s.wire.Close()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("ending the daemon: %w", err)
	}
	return os.RemoveAll(s.scratch)
}

// indexStatus is what loom/index/status says.
type indexStatus struct {
	State      string `json:"state"`
	Generation uint64 `json:"generation"`
	Files      int    `json:"files"`
	Bytes      int64  `json:"bytes"`
}

func (s *served) status() (indexStatus, error) {
	body, err := s.call("loom/index/status", map[string]any{})
	if err != nil {
		return indexStatus{}, err
	}
	var answer struct{ Result indexStatus }
	if err := json.Unmarshal(body, &answer); err != nil {
		return indexStatus{}, fmt.Errorf("reading the index's status: %w", err)
	}
	return answer.Result, nil
}

// live waits until everything is indexed.
func (s *served) live() (indexStatus, error) {
	if _, err := s.call("loom/index/sync", map[string]any{"built": true}); err != nil {
		return indexStatus{}, err
	}
	return s.status()
}

// memory is the resident set of a process in bytes, now and at its largest.
func memory(pid int) (now, most int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "VmRSS:":
			now = kib << 10
		case "VmHWM:":
			most = kib << 10
		default:
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("reading memory of %d: %w", pid, err)
		}
	}
	return now, most, nil
}

// ticksPerSecond is the unit of processor time in /proc, the same on every
// Linux that Go runs on.
const ticksPerSecond = 100

// processorTime is what a process has used.
func processorTime(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("reading processor time of %d: %q", pid, data)
	}
	total := 0
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return time.Duration(total) * time.Second / ticksPerSecond, nil
}
