package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// stuckPipe takes input and never lets a write end before it is closed: a
// client that does not read, whatever the system buffers.
type stuckPipe struct {
	in     io.Reader
	closed chan struct{}
	once   sync.Once
	writes chan int // lengths of the writes that began
}

func newStuckPipe(in io.Reader) *stuckPipe {
	return &stuckPipe{in: in, closed: make(chan struct{}), writes: make(chan int, 1000)}
}

func (s *stuckPipe) Read(b []byte) (int, error) {
	if n, err := s.in.Read(b); err == nil {
		return n, nil
	}
	<-s.closed
	return 0, io.ErrClosedPipe
}

func (s *stuckPipe) Write(b []byte) (int, error) {
	s.writes <- len(b)
	<-s.closed
	return 0, io.ErrClosedPipe
}

func (s *stuckPipe) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func TestTrapPeerThatDoesNotReadIsDisconnected(t *testing.T) {
	handled := make(chan string, 10)
	pipe := newStuckPipe(strings.NewReader(request("1", "a", "{}") + notice("b", "{}") + request("2", "c", "{}")))
	c := NewConn(pipe, Options{MaxQueued: 100_000, MaxConcurrent: 1, FlushWait: time.Hour})
	end := make(chan error, 1)
	go func() {
		end <- c.Run(context.Background(), func(_ context.Context, _ *Conn, req *Request) (any, error) {
			handled <- req.Method
			return nil, nil
		})
	}()
	for range 3 { // the first answer is stuck, yet all are handled
		await(t, handled, "a message to be handled")
	}
	text := strings.Repeat("x", 10_000)
	sent := 0
	var err error
	for ; err == nil && sent < 100; sent++ { // none of these waits
		err = c.Notify("tell", []string{text})
	}
	if !errors.Is(err, ErrSlow) || sent < 10 || sent > 15 {
		t.Fatalf("after %d messages of 10 kB with a limit of 100 kB: %v", sent, err)
	}
	if err := await(t, end, "Run to return"); !errors.Is(err, ErrSlow) {
		t.Fatalf("Run returned %v", err)
	}
	await(t, pipe.closed, "the pipe to be closed")
	await(t, c.Done(), "Done")
}

func TestTrapOneFrameMayBeLongerThanTheQueue(t *testing.T) {
	p := serve(t, Options{MaxQueued: 1000}, newBench().handle)
	for range 5 {
		long := `["` + strings.Repeat("x", 5000) + `"]`
		p.send(request("1", "echo", long))
		p.wantResult("1", long)
	}
}

func TestTrapSlowPeerDoesNotHoldUpOthers(t *testing.T) {
	pipe := newStuckPipe(strings.NewReader(""))
	slow := NewConn(pipe, Options{FlushWait: time.Millisecond})
	end := make(chan error, 1)
	go func() { end <- slow.Run(context.Background(), newBench().handle) }()
	p := serve(t, Options{}, func(_ context.Context, _ *Conn, req *Request) (any, error) {
		return nil, slow.Notify("tell", req.Params) // as the daemon does: one client's call tells all
	})
	for i := range 100 {
		p.send(request(fmt.Sprint(i), "any", "{}"))
		p.wantResult(fmt.Sprint(i), "null")
	}
	call, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- slow.Call(call, "ask", nil, nil) }()
	cancel()
	if err := await(t, result, "the call to end"); !errors.Is(err, context.Canceled) {
		t.Fatalf("a call to the slow peer ended with %v", err)
	}
	if err := slow.Close(); err != nil { // bounded, though nothing can be flushed
		t.Fatal(err)
	}
	if err := await(t, end, "Run to return"); err != nil {
		t.Fatalf("Run returned %v", err)
	}
}

func TestTrapFloodOfWaitingRequestsIsRefused(t *testing.T) {
	b := newBench()
	p := serve(t, Options{MaxConcurrent: 1, MaxQueued: 21_000}, b.handle)
	p.send(request("0", "hold", "{}"))
	await(t, b.started, "the request to start")
	params := `["` + strings.Repeat("x", 6000) + `"]`
	for i := range 5 {
		p.send(request(fmt.Sprint(i+1), "echo", params))
	}
	var data struct{ Kind string }
	if err := p.wantError("5", CodeRequestFailed, "too many").DecodeData(&data); err != nil || data.Kind != "busy" {
		t.Fatalf("data %+v, %v", data, err)
	}
	p.send(cancelOf("2")) // makes room, and is read
	p.wantError("2", CodeRequestCancelled, "cancelled")
	p.send(request("6", "echo", "[]"))
	p.send(cancelOf("0"))
	answers := map[string]string{}
	for range 5 {
		m := p.recv()
		answers[string(m.ID)] = m.String()
	}
	for id, want := range map[string]string{"0": "-32800", "1": params[:50], "3": params[:50], "4": params[:50], "6": "[]"} {
		if !strings.Contains(answers[id], want) {
			t.Errorf("answer to %s: %q", id, answers[id])
		}
	}
}

func TestTrapFloodOfNotificationsIsHeldBack(t *testing.T) {
	const total = 200
	release := make(chan struct{})
	var got []string // by the handler, one at a time
	p := serve(t, Options{MaxQueued: 10_000}, func(_ context.Context, _ *Conn, req *Request) (any, error) {
		if req.Method == "got" {
			return len(got), nil
		}
		<-release
		got = append(got, req.Method)
		return nil, nil
	})
	params := `["` + strings.Repeat("x", 1000) + `"]`
	go func() {
		for i := range total {
			io.WriteString(p.nc, notice(fmt.Sprint(i), params))
		}
		io.WriteString(p.nc, request("1", "got", "{}"))
	}()
	release <- struct{}{}
	d := &p.conn.dispatch
	d.mu.Lock()
	if d.notes > 10_000+int64(len(params))+jobCost {
		t.Errorf("%d bytes wait with a limit of 10 000", d.notes)
	}
	d.mu.Unlock()
	close(release)
	p.wantResult("1", fmt.Sprint(total))
	for i, name := range got {
		if name != fmt.Sprint(i) {
			t.Fatalf("notification %d was %s", i, name)
		}
	}
}
