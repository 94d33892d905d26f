package daemon

import (
	"context"
	"io"
	"net"
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
	case <-h.server.idle:
		t.Fatal("the daemon ends although a client is connected")
	default:
	}
	h.server.count(-1)
	h.server.endIdle()
	h.server.endIdle() // a second timer must do no harm
	select {
	case <-h.server.idle:
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
