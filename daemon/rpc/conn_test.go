package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

func TestNotificationsRunInOrderBeforeLaterRequests(t *testing.T) {
	var mu sync.Mutex // guards log
	var log []string
	gate := make(chan struct{})
	p := serve(t, Options{}, func(_ context.Context, _ *Conn, req *Request) (any, error) {
		if req.Method == "first" {
			<-gate
		}
		mu.Lock()
		defer mu.Unlock()
		log = append(log, req.Method)
		return slices.Clone(log), nil
	})
	p.send(request("1", "early", "{}"))
	p.wantResult("1", `["early"]`)
	p.send(notice("first", "{}") + notice("second", "{}") + request("2", "late", "{}") + notice("third", "{}") + request("3", "later", "{}"))
	close(gate)
	var answers [2][]string
	for range answers {
		m := p.recv()
		if err := json.Unmarshal(m.Result, &answers[m.ID[0]-'2']); err != nil {
			t.Fatalf("%s: %v", m, err)
		}
	}
	if a := answers[0]; len(a) < 4 || !slices.Equal(a[:3], []string{"early", "first", "second"}) {
		t.Errorf("request 2 saw %v", a)
	}
	if a := answers[1]; !slices.Contains(a, "third") {
		t.Errorf("request 3 saw %v", a)
	}
}

func TestNotificationPassesRequestsThatLackASlot(t *testing.T) {
	b := newBench()
	told := make(chan struct{})
	p := serve(t, Options{MaxConcurrent: 1}, func(ctx context.Context, c *Conn, req *Request) (any, error) {
		if req.Method == "told" {
			close(told)
			return nil, nil
		}
		return b.handle(ctx, c, req)
	})
	p.send(request("1", "hold", "{}") + request("2", "hold", "{}") + notice("told", "{}"))
	await(t, told, "the notification")
	close(b.release)
	for range 2 { // in any order
		if m := p.recv(); string(m.Result) != `"released"` {
			t.Fatalf("got %s", m)
		}
	}
}

func TestCallBothWays(t *testing.T) {
	left, right := net.Pipe()
	double := func(ctx context.Context, c *Conn, req *Request) (any, error) {
		var n int
		if err := json.Unmarshal(req.Params, &[]any{&n}); err != nil {
			return nil, &Error{Code: CodeInvalidParams, Message: err.Error()}
		}
		if n > 0 { // the answer needs the other side
			var below int
			err := c.Call(ctx, "count", []int{n - 1}, &below)
			return below + 1, err
		}
		return 0, nil
	}
	slots := Options{MaxConcurrent: 200} // 20 calls of depth 10 hold 100 on each side
	a, b := NewConn(left, slots), NewConn(right, slots)
	end := make(chan error, 2)
	go func() { end <- a.Run(context.Background(), double) }()
	go func() { end <- b.Run(context.Background(), double) }()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			var n int
			if err := a.Call(context.Background(), "count", []int{9}, &n); err != nil || n != 9 {
				t.Errorf("got %d, %v", n, err)
			}
			var raw json.RawMessage
			if err := b.Call(context.Background(), "count", []int{2}, &raw); err != nil || string(raw) != "2" {
				t.Errorf("got %s, %v", raw, err)
			}
		})
	}
	wg.Wait()
	var text string
	if err := a.Call(context.Background(), "count", []int{1}, &text); err == nil || !strings.Contains(err.Error(), "result of count") {
		t.Errorf("a number into a string: %v", err)
	}
	var own *Error
	if err := a.Call(context.Background(), "count", "text", nil); !errors.As(err, &own) || own.Code != CodeInvalidRequest {
		t.Errorf("scalar params: %v", err)
	}
	if err := a.Call(context.Background(), "count", make(chan int), nil); err == nil || !strings.Contains(err.Error(), "encoding params of count") {
		t.Errorf("params that cannot be encoded: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := await(t, end, "Run to return"); err != nil {
			t.Error(err)
		}
	}
}

func TestCallGivenUpIsCancelledAtThePeer(t *testing.T) {
	p := serve(t, Options{}, newBench().handle)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- p.conn.Call(ctx, "ask", map[string]int{"n": 1}, nil) }()
	asked := p.recv()
	cancel()
	if err := await(t, result, "the call to end"); !errors.Is(err, context.Canceled) {
		t.Fatalf("call ended with %v", err)
	}
	if m := p.recv(); m.Method != cancelMethod || string(m.Params) != `{"id":`+string(asked.ID)+`}` {
		t.Fatalf("got %s params %s", m, m.Params)
	}
	p.send(frame(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":"late"}`))
	p.usable()
}

func TestNotificationsArriveInOrder(t *testing.T) {
	p := serve(t, Options{}, func(_ context.Context, c *Conn, _ *Request) (any, error) {
		for i := range 500 {
			if err := c.Notify("count", []int{i}); err != nil {
				return nil, err
			}
		}
		return "counted", nil
	})
	p.send(request("1", "count", "{}"))
	for i := range 500 {
		if m := p.recv(); string(m.Params) != fmt.Sprintf("[%d]", i) {
			t.Fatalf("notification %d was %s %s", i, m, m.Params)
		}
	}
	p.wantResult("1", `"counted"`)
}

func TestCloseSendsWhatIsQueued(t *testing.T) {
	p := serve(t, Options{}, func(_ context.Context, c *Conn, _ *Request) (any, error) {
		for i := range 1000 {
			if err := c.Notify("last", []string{fmt.Sprint(i), strings.Repeat("x", 1000)}); err != nil {
				return nil, err
			}
		}
		return nil, c.Close() // by a handler, as on LSP's exit
	})
	p.send(notice("exit", "{}"))
	for i := range 1000 {
		if m := p.recv(); m.Method != "last" || !strings.HasPrefix(string(m.Params), fmt.Sprintf(`["%d"`, i)) {
			t.Fatalf("message %d was %s", i, m)
		}
	}
	p.closedByConn()
	if err := p.ended(); err != nil {
		t.Fatalf("Run returned %v", err)
	}
	if err := p.conn.Close(); err != nil {
		t.Fatalf("closing again: %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	near, far := socketPair(t)
	defer far.Close()
	c := NewConn(near, Options{})
	ctx, cancel := context.WithCancelCause(context.Background())
	started := make(chan struct{})
	end := make(chan error, 1)
	go func() {
		end <- c.Run(ctx, func(ctx context.Context, _ *Conn, _ *Request) (any, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}()
	io.WriteString(far, request("1", "hold", "{}"))
	await(t, started, "the request to start")
	stop := errors.New("daemon stops")
	cancel(stop)
	if err := await(t, end, "Run to return"); !errors.Is(err, stop) {
		t.Fatalf("Run returned %v", err)
	}
	rest, err := io.ReadAll(far)
	if err != nil || !strings.Contains(string(rest), `"id":1,"error":{"code":-32800`) {
		t.Fatalf("the request was answered with %q, %v", rest, err)
	}
}

func TestCloseBeforeRun(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	c := NewConn(near, Options{})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(context.Background(), newBench().handle); err != nil {
		t.Fatalf("Run returned %v", err)
	}
	await(t, c.Done(), "Done")
}

// TestLibraryAsPeer lets the library's own connection and stream talk to a Conn
// in both directions: what we write is what it reads.
func TestLibraryAsPeer(t *testing.T) {
	near, far := net.Pipe()
	c := NewConn(near, Options{})
	end := make(chan error, 1)
	go func() { end <- c.Run(context.Background(), newBench().handle) }()
	lib := jsonrpc2.NewConn(jsonrpc2.NewStream(far))
	lib.Go(context.Background(), func(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
		return reply(ctx, req.Params(), nil)
	})
	var got []string
	if _, err := lib.Call(context.Background(), "echo", []string{"<你>", "b"}, &got); err != nil || !slices.Equal(got, []string{"<你>", "b"}) {
		t.Errorf("library's call: %q, %v", got, err)
	}
	var failure *jsonrpc2.Error
	if _, err := lib.Call(context.Background(), "nope", nil, nil); !errors.As(err, &failure) || failure.Code != jsonrpc2.MethodNotFound {
		t.Errorf("library's call of an unknown method: %v", err)
	}
	got = nil
	if err := c.Call(context.Background(), "any", []string{"<你>"}, &got); err != nil || !slices.Equal(got, []string{"<你>"}) {
		t.Errorf("our call: %q, %v", got, err)
	}
	if err := lib.Close(); err != nil {
		t.Error(err)
	}
	await(t, lib.Done(), "the library's end")
	if err := await(t, end, "Run to return"); err != nil {
		t.Error(err)
	}
}
