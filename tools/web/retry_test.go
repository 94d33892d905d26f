package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes are connections in memory, so that a test's clock may stand still while
// nobody works.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	close  func()
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accept:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accept <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inBubble runs a test with a clock of its own and a service that answers the
// n-th request, from 1, by handle.
func inBubble(t *testing.T, handle func(n int, w http.ResponseWriter, r *http.Request), test func(t *testing.T, r Request)) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan struct{})
		p := &pipes{accept: make(chan net.Conn), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
		n := 0
		server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			handle(n, w, r)
		})}
		go server.Serve(p)
		defer server.Close()
		test(t, Request{URL: "http://service.example/", Key: key, Timeout: time.Minute, MaxReply: 1 << 20, dial: p.dial})
	})
}

// within fails when a time is not between two bounds.
func within(t *testing.T, what string, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s took %v, want %v to %v", what, got, least, most)
	}
}

// Every status that may pass is tried again, each time after a longer wait, and
// at last given up.
func TestStatusesThatPass(t *testing.T) {
	for _, status := range []int{408, 425, 429, 500, 501, 502, 503, 504, 507, 529, 599} {
		inBubble(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			if n < 3 {
				w.WriteHeader(status)
			}
			fmt.Fprint(w, "done")
		}, func(t *testing.T, r Request) {
			start := time.Now()
			reply, err := Do(t.Context(), r)
			if err != nil || reply.Attempts != 3 || string(reply.Body) != "done" {
				t.Errorf("%d: %+v, %v", status, reply, err)
			}
			within(t, "two waits", time.Since(start), 750*time.Millisecond, 2250*time.Millisecond)
		})
		inBubble(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"message":"busy"}`)
		}, func(t *testing.T, r Request) {
			var waits []string
			r.Waiting = func(wait time.Duration, failure *Error) {
				waits = append(waits, failure.Text)
				within(t, "a wait", wait, 250*time.Millisecond, 3*time.Second)
			}
			start := time.Now()
			failure := fails(t, r)
			if failure.Status != status || failure.Attempts != maxTries || failure.Kind != Failed || len(waits) != maxTries-1 ||
				!strings.HasSuffix(failure.Error(), `: "busy" (4 attempts)`) {
				t.Errorf("%d: %v, waits %q", status, failure, waits)
			}
			within(t, "three waits", time.Since(start), 1750*time.Millisecond, 5250*time.Millisecond)
		})
	}
}

// The waits differ from call to call.
func TestWaitsAreDrawn(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 20 {
		p := newPauses()
		p.Reset()
		seen[p.NextBackOff()] = true
	}
	if len(seen) < 10 {
		t.Errorf("20 waits of %d lengths", len(seen))
	}
}

// A service is not asked before it says, and not at all when that is too late.
func TestRetryAfterIsHeeded(t *testing.T) {
	answer := func(value func() string) func(int, http.ResponseWriter, *http.Request) {
		return func(n int, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.Header().Set("Retry-After", value())
				w.WriteHeader(429)
			}
		}
	}
	for name, value := range map[string]func() string{
		"seconds": func() string { return "20" },
		"a date":  func() string { return time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		inBubble(t, answer(value), func(t *testing.T, r Request) {
			start := time.Now()
			reply, err := Do(t.Context(), r)
			if err != nil || reply.Attempts != 2 {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
			within(t, name, time.Since(start), 20*time.Second, 21*time.Second)
		})
	}
	inBubble(t, answer(func() string { return "3600" }), func(t *testing.T, r Request) {
		start := time.Now()
		failure := fails(t, r)
		if failure.Status != 429 || failure.Attempts != 1 || failure.RetryAfter != time.Hour || failure.Kind != Failed {
			t.Errorf("an hour: %+v", failure)
		}
		within(t, "an hour", time.Since(start), 0, time.Second)
	})
}

// Connections that fail are tried again, whatever they fail by and wherever.
func TestConnectionsThatFail(t *testing.T) {
	hijack := func(w http.ResponseWriter, text string) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0) // a reset, once the text is out
		}
		io.WriteString(conn, text)
		conn.Close()
	}
	for name, text := range map[string]string{
		"ended":      "",
		"no HTTP":    "220 smtp.example ESMTP\r\n\r\n",
		"broken off": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
		"half chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf",
		"headers":    "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 100),
	} {
		inBubble(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				hijack(w, text)
			}
		}, func(t *testing.T, r Request) {
			reply, err := Do(t.Context(), r)
			if err != nil || reply.Attempts != 2 {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
		})
	}
	// On real sockets: a reset, and nobody there.
	sent := 0
	r := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if sent++; sent == 1 {
			hijack(w, "")
		}
	})
	if reply, err := Do(context.Background(), r); err != nil || reply.Attempts != 2 {
		t.Errorf("reset: %+v, %v", reply, err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	r.URL, r.Timeout = gone.URL, time.Second
	if failure := fails(t, r); failure.Kind != Failed || !strings.Contains(failure.Text, "refused") {
		t.Errorf("nobody there: %+v", failure)
	}
}

// A name that nothing has is not asked for again.
func TestNoSuchHost(t *testing.T) {
	r := Request{URL: "https://nowhere.invalid/", Key: key, Timeout: patience, MaxReply: 1, dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}}
	}}
	if failure := fails(t, r); failure.Attempts != 1 || failure.Error() != "nowhere.invalid: there is no such host" {
		t.Errorf("%v", failure)
	}
}

// However slow a service is, and wherever, the call ends when its time is up, and
// an attempt when its own is.
func TestDeadlines(t *testing.T) {
	for name, slow := range map[string]func(w http.ResponseWriter, r *http.Request){
		"no headers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"no body": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"drop by drop": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, "x")
				w.(http.Flusher).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
				}
			}
		},
	} {
		always := func(_ int, w http.ResponseWriter, r *http.Request) { slow(w, r) }
		inBubble(t, always, func(t *testing.T, r Request) {
			start := time.Now()
			if failure := fails(t, r); failure.Kind != Timeout || failure.Attempts != 1 || !strings.Contains(failure.Error(), "no answer within 1m0s") {
				t.Errorf("%s: %+v", name, failure)
			}
			within(t, name, time.Since(start), time.Minute, time.Minute)
		})
		inBubble(t, always, func(t *testing.T, r Request) {
			r.Attempt = 5 * time.Second
			start := time.Now()
			if failure := fails(t, r); failure.Kind != Timeout || failure.Attempts != maxTries || !strings.Contains(failure.Error(), "no answer within 5s") {
				t.Errorf("%s: %+v", name, failure)
			}
			within(t, name, time.Since(start), 20*time.Second, 26*time.Second)
		})
	}
	inBubble(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			w.WriteHeader(503)
			return
		}
		<-r.Context().Done()
	}, func(t *testing.T, r Request) {
		failure := fails(t, r)
		if failure.Kind != Timeout || failure.Status != 503 || failure.Attempts != 2 || !strings.Contains(failure.Error(), "the attempt before: 503") {
			t.Errorf("first refused, then nothing: %+v", failure)
		}
	})
}

// A refusal that never ends is the refusal that it is.
func TestSlowRefusal(t *testing.T) {
	inBubble(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(404)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, func(t *testing.T, r Request) {
		r.Attempt = time.Second
		if failure := fails(t, r); failure.Status != 404 || failure.Attempts != 1 {
			t.Errorf("%+v", failure)
		}
	})
}

// A cancelled call ends at once: in an attempt, and in a wait.
func TestCancelled(t *testing.T) {
	inBubble(t, func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(t *testing.T, r Request) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		start := time.Now()
		if _, err := Do(ctx, r); !errors.Is(err, context.Canceled) {
			t.Errorf("in an attempt: %v", err)
		}
		within(t, "an attempt", time.Since(start), 3*time.Second, 3*time.Second)
	})
	inBubble(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(503)
	}, func(t *testing.T, r Request) {
		ctx, cancel := context.WithCancel(t.Context())
		r.Waiting = func(time.Duration, *Error) { time.AfterFunc(3*time.Second, cancel) }
		start := time.Now()
		if _, err := Do(ctx, r); !errors.Is(err, context.Canceled) {
			t.Errorf("in a wait: %v", err)
		}
		within(t, "a wait", time.Since(start), 3*time.Second, 3*time.Second)
	})
}
