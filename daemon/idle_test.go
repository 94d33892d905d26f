package daemon

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"
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
