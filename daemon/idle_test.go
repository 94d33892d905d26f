package daemon

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
)

// Whoever connects while the daemon ends for want of clients is turned away
// before anything was answered, so that it can start another daemon.
func TestIdleEnd(t *testing.T) {
	h := newHouse(t, nil)
	h.server.opts.Idle = time.Hour
	h.server.count(0)
	h.connect(helloReviewer, nil)
	h.server.endIdle() // the timer went off as the client came in
	select {
	case <-h.server.over:
		t.Fatal("the daemon ends although a client is connected")
	default:
	}
	h.server.count(-1)
	h.server.endIdle()
	h.server.endIdle() // a second timer must do no harm
	select {
	case <-h.server.over:
	default:
		t.Fatal("the daemon does not end")
	}
	ours, theirs := net.Pipe()
	defer ours.Close()
	if err := h.server.ServeConn(context.Background(), theirs); err != nil {
		t.Fatal(err)
	}
	if n, err := ours.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("the late client got %d bytes, %v", n, err)
	}
}

// A folder that was deleted and made again is another folder. The daemon of the
// first one must not go on as if it were this one.
func TestReplacedRoot(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\n"})
	agent := h.connect(helloAgent, nil)
	agent.tool("edit_file", `{"path":"f","edits":[{"old_str":"one","new_str":"two"}]}`)
	if err := os.Rename(h.root, h.root+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.root, 0o755); err != nil {
		t.Fatal(err)
	}
	got, outcome := agent.tool("read_file", `{"path":"f"}`)
	if !outcome.IsError || got["code"] != "unavailable" {
		t.Errorf("a client from before got %v", got)
	}
	ours, theirs := net.Pipe()
	defer ours.Close()
	if err := h.server.ServeConn(context.Background(), theirs); err != nil {
		t.Fatal(err)
	}
	if n, err := ours.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("a new client got %d bytes, %v", n, err)
	}
	select {
	case <-h.server.over:
	default:
		t.Error("the daemon goes on")
	}
}

// Of two folders one is missing: what is asked of the other works, on connections
// from before and on new ones; the missing one is told of, and nothing is written
// to where it is now. When it is back all is as it was.
func TestMissingRootOfTwo(t *testing.T) {
	top := t.TempDir()
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	for _, dir := range []string{one, two} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("text\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := newHouseAt(t, one, two)
	before := h.connect(helloAgent, nil)
	proposed, _ := before.tool("edit_file", `{"path":"two/f","edits":[{"old_str":"text","new_str":"new text"}]}`)
	if err := os.Rename(two, two+".away"); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []*guest{before, h.connect(helloAgent, nil)} {
		if got, outcome := agent.tool("read_file", `{"path":"one/f"}`); outcome.IsError {
			t.Errorf("the other root: %v", got)
		}
		agent.wantGrep("text", "one/f:1")
		for name, args := range map[string]string{"grep": `{"pattern":"text"}`, "glob": `{"pattern":"f"}`, "list_files": `{}`} {
			got, outcome := agent.tool(name, args)
			if outcome.IsError || !strings.Contains(fmt.Sprint(got["warnings"]), "two: the folder was removed or moved") {
				t.Errorf("%s of all: %v", name, got)
			}
			got, outcome = agent.tool(name, strings.Replace(args, "{", `{"path":"two"`+map[bool]string{true: ",", false: ""}[len(args) > 2], 1))
			if !outcome.IsError || got["code"] != "unavailable" || !strings.Contains(got["hint"].(string), "put it back where it was; meanwhile paths below the other roots can be used: one") {
				t.Errorf("%s of the missing root: %v", name, got)
			}
		}
	}
	person := h.connect(helloReviewer, nil)
	accept := protocol.DecideParams{ID: proposed["proposal"].(string), Version: 1, Decision: "accept"}
	if err := person.call(protocol.MethodProposalsDecide, accept, nil); err == nil || !strings.Contains(err.Error(), "removed or moved") {
		t.Errorf("accepted: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(two+".away", "f")); err != nil || string(text) != "text\n" {
		t.Errorf("what was moved away is %q, %v", text, err)
	}
	if err := os.Rename(two+".away", two); err != nil {
		t.Fatal(err)
	}
	before.wantGrep("text", "one/f:1 two/f:1")
	person.must(protocol.MethodProposalsDecide, accept, nil)
	if text, err := os.ReadFile(filepath.Join(two, "f")); err != nil || string(text) != "new text\n" {
		t.Errorf("accepted: %q, %v", text, err)
	}
}
