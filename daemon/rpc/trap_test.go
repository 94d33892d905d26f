package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
)

func TestTrapHandlerErrorIsAnAnswer(t *testing.T) {
	p := serve(t, Options{}, newBench().handle)
	p.send(request("1", "fail", "{}"))
	p.wantError("1", CodeInternal, "disk on fire")
	p.send(notice("fail", "{}"))
	p.send(request("2", "nope", "{}"))
	p.wantError("2", CodeMethodNotFound, "no method nope")
	p.usable()
}

func TestTrapHandlerPanicIsAnAnswer(t *testing.T) {
	p := serve(t, Options{}, newBench().handle)
	p.send(notice("panic", "{}"))
	p.send(request("1", "panic", "{}"))
	if e := p.wantError("1", CodeInternal, "internal error in panic"); strings.Contains(e.Message, "deliberate") {
		t.Errorf("the panic's value is in the answer: %q", e.Message)
	}
	p.usable()
}

func TestTrapHandlerThatEndsItsGoroutineIsAnswered(t *testing.T) {
	b := newBench()
	p := serve(t, Options{MaxConcurrent: 1}, func(ctx context.Context, c *Conn, req *Request) (any, error) {
		if req.Method == "exit" {
			runtime.Goexit()
		}
		return b.handle(ctx, c, req)
	})
	p.send(request("1", "exit", "{}"))
	p.wantError("1", CodeInternal, "internal error in exit")
	p.usable()
}

func TestTrapRequestsRunSideBySideAndEndInAnyOrder(t *testing.T) {
	b := newBench()
	p := serve(t, Options{}, b.handle)
	for i := range 50 {
		p.send(request(fmt.Sprint(i), "hold", "{}"))
	}
	for range 50 {
		await(t, b.started, "a request to start")
	}
	p.usable() // the last sent is the first answered
	close(b.release)
	seen := map[string]bool{}
	for range 50 {
		m := p.recv()
		if string(m.Result) != `"released"` || seen[string(m.ID)] {
			t.Fatalf("got %s", m)
		}
		seen[string(m.ID)] = true
	}
}

func TestTrapConcurrencyIsBoundedAndCancelStillWorks(t *testing.T) {
	b := newBench()
	p := serve(t, Options{MaxConcurrent: 2}, b.handle)
	for _, id := range []string{"1", "2", "3", `"four"`} {
		p.send(request(id, "hold", "{}"))
	}
	await(t, b.started, "the first")
	await(t, b.started, "the second")
	p.send(cancelOf(`"four"`)) // waits for a slot
	p.wantError(`"four"`, CodeRequestCancelled, "cancelled")
	select {
	case id := <-b.started:
		t.Fatalf("%s started as the third of two", id)
	default:
	}
	p.send(cancelOf("1")) // runs
	p.wantError("1", CodeRequestCancelled, "cancelled")
	if id := await(t, b.started, "the third"); id != "3" {
		t.Fatalf("%s started, want 3", id)
	}
	close(b.release)
	for range 2 {
		if m := p.recv(); string(m.Result) != `"released"` {
			t.Fatalf("got %s", m)
		}
	}
	p.usable()
}

func TestTrapCancelByNumberAndByString(t *testing.T) {
	for _, id := range []string{"7", "0", "-3", `"7"`, `"a \"quoted\" 你"`} {
		t.Run(id, func(t *testing.T) {
			b := newBench()
			p := serve(t, Options{}, b.handle)
			p.send(request(id, "hold", "{}"))
			await(t, b.started, "the request to start")
			p.send(cancelOf(id))
			p.wantError(id, CodeRequestCancelled, "cancelled")
			p.usable()
		})
	}
	t.Run("a string is not the number", func(t *testing.T) {
		b := newBench()
		p := serve(t, Options{}, b.handle)
		p.send(request("7", "hold", "{}"))
		await(t, b.started, "the request to start")
		p.send(cancelOf(`"7"`))
		p.usable()
		close(b.release)
		p.wantResult("7", `"released"`)
	})
	t.Run("escapes do not matter", func(t *testing.T) {
		b := newBench()
		p := serve(t, Options{}, b.handle)
		p.send(request(`"\u0061b"`, "hold", "{}"))
		await(t, b.started, "the request to start")
		p.send(cancelOf(`"ab"`))
		p.wantError(`"\u0061b"`, CodeRequestCancelled, "cancelled")
	})
}

func TestTrapAnswerOfCancelledRequestIsDelivered(t *testing.T) {
	started := make(chan struct{})
	p := serve(t, Options{}, func(ctx context.Context, _ *Conn, req *Request) (any, error) {
		close(started)
		<-ctx.Done()
		if req.Method == "finish" {
			return "done anyway", nil
		}
		return nil, &Error{Code: CodeRequestCancelled, Message: "stopped", Data: map[string]string{"partial": "half"}}
	})
	p.send(request("1", "finish", "{}"))
	await(t, started, "the request to start")
	p.send(cancelOf("1"))
	p.wantResult("1", `"done anyway"`)

	started = make(chan struct{})
	p.send(request("1", "partial", "{}"))
	await(t, started, "the request to start")
	p.send(cancelOf("1"))
	var data struct{ Partial string }
	if err := p.wantError("1", CodeRequestCancelled, "stopped").DecodeData(&data); err != nil || data.Partial != "half" {
		t.Fatalf("data %+v, %v", data, err)
	}
}

func TestTrapEveryCancelIsAnsweredOnce(t *testing.T) {
	b := newBench()
	p := serve(t, Options{MaxConcurrent: 8}, b.handle)
	const n = 2000
	go func() {
		for i := range n {
			if _, err := io.WriteString(p.nc, request(fmt.Sprint(i), "hold", "{}")+cancelOf(fmt.Sprint(i))); err != nil {
				t.Errorf("sending %d: %v", i, err)
				return
			}
			select {
			case <-b.started: // keeps room
			default:
			}
		}
	}()
	seen := map[string]bool{}
	for range n {
		m := p.recv()
		if m.Error == nil || m.Error.Code != CodeRequestCancelled || seen[string(m.ID)] {
			t.Fatalf("got %s", m)
		}
		seen[string(m.ID)] = true
	}
	p.usable()
}

func TestTrapPendingCallEndsWhenPeerVanishes(t *testing.T) {
	p := serve(t, Options{}, newBench().handle)
	result := make(chan error, 1)
	go func() { result <- p.conn.Call(context.Background(), "ask", nil, nil) }()
	if m := p.recv(); m.Method != "ask" || m.Params != nil {
		t.Fatalf("got %s", m)
	}
	p.nc.Close()
	if err := await(t, result, "the call to end"); !errors.Is(err, ErrClosed) {
		t.Fatalf("call ended with %v", err)
	}
	await(t, p.conn.Done(), "Done")
	if err := p.ended(); err != nil {
		t.Fatalf("Run returned %v", err)
	}
	if err := p.conn.Call(context.Background(), "ask", nil, nil); !errors.Is(err, ErrClosed) {
		t.Fatalf("a later call ended with %v", err)
	}
	if err := p.conn.Notify("tell", nil); !errors.Is(err, ErrClosed) {
		t.Fatalf("a later notification gave %v", err)
	}
}

func TestTrapHandlersAreCancelledWhenPeerVanishes(t *testing.T) {
	for _, last := range []string{"", "Content-Len", "Content-Length: 50\r\n\r\n", "Content-Length: 50\r\n\r\n{\"jsonrpc\""} {
		t.Run(fmt.Sprintf("after %q", last), func(t *testing.T) {
			started, stopped := make(chan struct{}, 2), make(chan error, 2)
			p := serve(t, Options{}, func(ctx context.Context, _ *Conn, _ *Request) (any, error) {
				started <- struct{}{}
				<-ctx.Done()
				stopped <- ctx.Err()
				return nil, ctx.Err()
			})
			p.send(request("1", "hold", "{}") + notice("hold", "{}"))
			await(t, started, "the request to start")
			await(t, started, "the notification to start")
			p.send(request("2", "behind the notification", "{}") + last)
			if err := p.nc.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			await(t, stopped, "a handler to stop")
			await(t, stopped, "a handler to stop")
			if err := p.ended(); err != nil {
				t.Fatalf("Run returned %v", err)
			}
			answered := map[string]bool{}
			for range 2 { // who only closed its sending side is still told
				m := p.recv()
				if m.Error == nil || m.Error.Code != CodeRequestCancelled {
					t.Fatalf("got %s", m)
				}
				answered[string(m.ID)] = true
			}
			if !answered["1"] || !answered["2"] {
				t.Fatalf("answered: %v", answered)
			}
			p.closedByConn()
		})
	}
}

func TestTrapUnencodableResultIsAnAnswer(t *testing.T) {
	p := serve(t, Options{}, func(_ context.Context, _ *Conn, req *Request) (any, error) {
		switch req.Method {
		case "channel":
			return make(chan int), nil
		case "panics":
			return panics{}, nil
		case "raw":
			return json.RawMessage(`{"cut":`), nil
		case "error data":
			return nil, &Error{Code: 7, Message: "seven", Data: func() {}}
		case "invalid UTF-8":
			return struct {
				A string
				B json.RawMessage
			}{"\xff", json.RawMessage("\"\xfe\"")}, nil
		case "nothing":
			return nil, nil
		case "html":
			return "<a> & 你", nil
		}
		return req.Params, nil
	})
	for method, text := range map[string]string{"channel": "unsupported type", "panics": "panicked", "raw": "not JSON"} {
		p.send(request("1", method, "{}"))
		p.wantError("1", CodeInternal, text)
	}
	p.send(request("1", "error data", "{}"))
	p.wantError("1", 7, "seven")
	p.send(request("1", "invalid UTF-8", "{}"))
	p.wantResult("1", "{\"A\":\"\\ufffd\",\"B\":\"\uFFFD\"}")
	p.send(request("1", "nothing", "{}"))
	p.wantResult("1", "null")
	p.send(request("1", "html", "{}"))
	p.wantResult("1", `"<a> & 你"`)
	p.usable()
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("deliberate") }

func TestTrapWrappedErrorKeepsCodeAndText(t *testing.T) {
	inner := &Error{Code: CodeContentModified, Message: "version 3 is old", Data: map[string]int{"version": 4}}
	for name, c := range map[string]struct {
		err  error
		code int64
		text string
	}{
		"itself":       {inner, CodeContentModified, "version 3 is old"},
		"wrapped":      {fmt.Errorf("deciding p1: %w", inner), CodeContentModified, "deciding p1: version 3 is old"},
		"joined":       {errors.Join(errors.New("first"), inner), CodeContentModified, "first\nversion 3 is old"},
		"without code": {&Error{Message: "no code"}, CodeInternal, "no code"},
		"plain":        {errors.New("plain"), CodeInternal, "plain"},
		"context":      {context.Canceled, CodeInternal, "context canceled"}, // nobody cancelled this request
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, Options{}, func(context.Context, *Conn, *Request) (any, error) { return nil, c.err })
			p.send(request("1", "any", "{}"))
			e := p.wantError("1", c.code, c.text)
			if e.Message != c.text {
				t.Fatalf("message %q, want %q", e.Message, c.text)
			}
			var data struct{ Version int }
			if err := e.DecodeData(&data); err != nil || c.code == CodeContentModified && data.Version != 4 {
				t.Fatalf("data %+v, %v", data, err)
			}
		})
	}
}

func TestTrapDuplicateIDInFlightIsRefused(t *testing.T) {
	b := newBench()
	p := serve(t, Options{}, b.handle)
	p.send(request("1", "hold", "{}"))
	await(t, b.started, "the request to start")
	p.send(request("1", "echo", "[]"))
	p.wantError("1", CodeInvalidRequest, "still running")
	p.send(request(`"1"`, "echo", "[]")) // another id
	p.wantResult(`"1"`, "[]")
	close(b.release)
	p.wantResult("1", `"released"`)
	p.send(request("1", "echo", "[]")) // free again
	p.wantResult("1", "[]")
}
