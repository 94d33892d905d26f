package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// peakMemory is the most that a process has had in memory, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var kilobytes int64
	_, after, ok := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(after, &kilobytes); !ok || err != nil {
		t.Fatalf("VmHWM: %v", err)
	}
	return kilobytes << 10
}

// An edit of one line, and another one after it, take at most three times a
// large file, on top of what the daemon has anyway and of what its index says that it
// keeps.
func TestPeakMemoryOfALargeEdit(t *testing.T) {
	if os.Getenv("LOOMD_SOAK") == "" {
		t.Skip("in the long form: a file of 100 MB")
	}
	root, state := t.TempDir(), t.TempDir()
	var text bytes.Buffer
	for i := 0; text.Len() < 100<<20; i++ {
		fmt.Fprintf(&text, "line %d of a file that is far too long\n", i)
	}
	size := int64(text.Len())
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	loomd := filepath.Join(t.TempDir(), "loomd")
	if out, err := exec.Command("go", "build", "-o", loomd, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(args ...string) []byte {
		cmd := exec.Command(loomd, args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "XDG_RUNTIME_DIR="+state)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out
	}
	run("call", "list_files", "{}")
	var daemon struct {
		PID   int
		Index protocol.IndexStatusResult
	}
	status := func() {
		if err := json.Unmarshal(run("status", "--json"), &daemon); err != nil {
			t.Fatal(err)
		}
	}
	status()
	t.Cleanup(func() {
		if p, err := os.FindProcess(daemon.PID); err == nil {
			p.Signal(os.Interrupt)
		}
	})
	before := peakMemory(t, daemon.PID)
	if err := os.WriteFile(filepath.Join(root, "f"), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for daemon.Index.Memory < size || peakMemory(t, daemon.PID) > before+daemon.Index.Memory+size/2 {
		status()
		// While the file was read into the index there was more: the peak begins anew (5: see
		// proc(5), clear_refs).
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", daemon.PID), []byte("5"), 0); err != nil {
			t.Fatal(err)
		}
	}
	before += daemon.Index.Memory
	for _, n := range []string{"1000000", "1000001"} {
		run("call", "edit_file", fmt.Sprintf(`{"path":"f","edits":[{"old_str":"line %s of","new_str":"line number %s of"}]}`, n, n))
		grown := peakMemory(t, daemon.PID) - before
		t.Logf("%.2f times the file", float64(grown)/float64(size))
		if grown > 3*size+size/20 { // with the answer, the stacks, what the allocator rounds up
			t.Errorf("%d bytes for a file of %d", grown, size)
		}
	}
}
