//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// startJob starts a job in a session and returns the number of its process.
func (h *house) startJob(session string) (pid int) {
	h.t.Helper()
	dir := h.t.TempDir()
	tc := tools.Context{View: h.server.store.View(session), Sandbox: folder{dir}, Jobs: h.server.jobsOf(session)}
	out, err := h.server.toolbox.everything().Run(context.Background(), "bash", "", json.RawMessage(`{"command":"trap : TERM; echo $$ >pid.new; mv pid.new pid; while :; do sleep 1000; done","background":true}`), tc)
	if err != nil || out.IsError {
		h.t.Fatalf("%v %s", err, out.Structured)
	}
	end, tick := time.After(patience), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		text, _ := os.ReadFile(filepath.Join(dir, "pid"))
		if pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return pid
		}
		select {
		case <-end:
			h.t.Fatal("the job did not start")
		case <-tick.C:
		}
	}
}

func lives(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Jobs end with their session, others stay, and all end with the daemon.
func TestJobsEndWithTheirSession(t *testing.T) {
	h := newHouse(t, nil)
	join := func(label string) string {
		s, err := h.server.store.JoinSession(diffpreview.Session{Label: label})
		if err != nil {
			t.Fatal(err)
		}
		return s.ID
	}
	one, other := join("one"), join("other")
	first, second := h.startJob(one), h.startJob(other)
	h.connect(helloReviewer, nil).must(protocol.MethodSessionsClose, protocol.SessionsCloseParams{ID: one}, nil)
	if lives(first) || !lives(second) {
		t.Errorf("of the closed session: %v, of the other: %v", lives(first), lives(second))
	}
	tc := tools.Context{View: h.server.store.View(one), Sandbox: folder{t.TempDir()}, Jobs: h.server.jobsOf(one)}
	out, err := h.server.toolbox.everything().Run(context.Background(), "bash", "", json.RawMessage(`{"command":"true","background":true}`), tc)
	if err != nil || out.Code != "unavailable" {
		t.Errorf("a job in a closed session: %v %s", err, out.Structured)
	}
	h.server.endAllJobs()
	if lives(second) {
		t.Error("it outlives the daemon")
	}
	if h.server.jobsOf(other) != nil {
		t.Error("a closed daemon has jobs")
	}
}

// Without a sandbox a command says why it cannot run.
func TestBashWithoutASandbox(t *testing.T) {
	h := newHouse(t, nil)
	h.server.sandboxOf = func(diffpreview.Session) tools.Sandbox { return nil }
	var got protocol.ToolsCallResult
	_, got = h.connect(helloAgent, nil).tool("bash", `{"command":"true"}`)
	if !got.IsError || !strings.Contains(string(got.StructuredContent), `"code":"unavailable"`) {
		t.Errorf("%s", got.StructuredContent)
	}
}

// A cancelled command's output goes with the error.
func TestInterrupted(t *testing.T) {
	err := interrupted(tools.Outcome{Cancelled: true, Structured: json.RawMessage(`{"stdout":"begun\n"}`)})
	var wire *rpc.Error
	if !errors.As(err, &wire) || wire.Code != rpc.CodeRequestCancelled {
		t.Fatalf("%v", err)
	}
	data, err := json.Marshal(wire.Data)
	if err != nil || !strings.Contains(string(data), `"kind":"cancelled"`) || !strings.Contains(string(data), `"partial":{"stdout":"begun\n"}`) {
		t.Errorf("%s %v", data, err)
	}
}
