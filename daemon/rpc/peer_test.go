package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen. It is no measure of
// speed: only a broken program gets there.
const patience = 20 * time.Second

// peer is the other side of a Conn, byte by byte.
type peer struct {
	t    testing.TB
	nc   net.Conn
	in   *bufio.Reader
	conn *Conn
	end  chan error // Run's result
}

// wire is any message as it is on the wire.
type wire struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// serve runs a Conn on one end of a socket pair and gives the test the other.
func serve(t testing.TB, opts Options, h Handler) *peer {
	t.Helper()
	near, far := socketPair(t)
	return serveOn(t, near, far, opts, h)
}

func serveOn(t testing.TB, near io.ReadWriteCloser, far net.Conn, opts Options, h Handler) *peer {
	t.Helper()
	if opts.FlushWait == 0 {
		opts.FlushWait = patience
	}
	p := &peer{t: t, nc: far, in: bufio.NewReader(far), conn: NewConn(near, opts), end: make(chan error, 1)}
	if err := far.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { p.end <- p.conn.Run(ctx, h) }()
	t.Cleanup(func() {
		far.Close()
		cancel()
		p.ended()
	})
	return p
}

// socketPair gives two ends with buffers in the kernel, as in real life.
func socketPair(t testing.TB) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return near, far
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func request(id, method, params string) string {
	return frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
}

func notice(method, params string) string {
	return frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

func cancelOf(id string) string { return notice(cancelMethod, `{"id":`+id+`}`) }

func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.nc, text); err != nil {
		p.t.Fatalf("sending: %v", err)
	}
}

// recv returns the next message.
func (p *peer) recv() wire {
	p.t.Helper()
	body, err := readFrame(p.in)
	if err != nil {
		p.t.Fatalf("receiving: %v", err)
	}
	var m wire
	if err := json.Unmarshal(body, &m); err != nil {
		p.t.Fatalf("receiving %q: %v", body, err)
	}
	return m
}

// readFrame is an independent reader of what a Conn writes: strict, so that
// what it accepts every client accepts.
func readFrame(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(line, "Content-Length: "), "\r\n"))
	if err != nil {
		return nil, fmt.Errorf("header line %q", line)
	}
	if line, err = in.ReadString('\n'); err != nil || line != "\r\n" {
		return nil, fmt.Errorf("second header line %q, %v", line, err)
	}
	body := make([]byte, n)
	_, err = io.ReadFull(in, body)
	return body, err
}

// wantResult receives the answer to id with that result.
func (p *peer) wantResult(id, result string) {
	p.t.Helper()
	if m := p.recv(); string(m.ID) != id || m.Error != nil || string(m.Result) != result {
		p.t.Fatalf("got %s, want id %s result %s", m, id, result)
	}
}

// wantError receives the error answer to id with that code and text in it.
func (p *peer) wantError(id string, code int64, text string) *Error {
	p.t.Helper()
	m := p.recv()
	if string(m.ID) != id || m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, text) || m.Result != nil {
		p.t.Fatalf("got %s, want id %s code %d with %q", m, id, code, text)
	}
	return m.Error
}

func (m wire) String() string {
	s := fmt.Sprintf("id %s method %q result %.200s", m.ID, m.Method, m.Result)
	if m.Error != nil {
		s += fmt.Sprintf(" error %d %q", m.Error.Code, m.Error.Message)
	}
	return s
}

// usable checks that the connection answers.
func (p *peer) usable() {
	p.t.Helper()
	p.send(request(`"usable?"`, "echo", `["yes"]`))
	p.wantResult(`"usable?"`, `["yes"]`)
}

// ended waits for Run and returns what it returned; it can be asked twice.
func (p *peer) ended() error {
	p.t.Helper()
	err := await(p.t, p.end, "Run to return")
	p.end <- err
	return err
}

// closedByConn checks that nothing but the end comes.
func (p *peer) closedByConn() {
	p.t.Helper()
	if rest, err := io.ReadAll(p.in); len(rest) > 0 || err != nil && !peerGone(err) {
		p.t.Fatalf("after the last answer came %.200q, %v", rest, err)
	}
}

func await[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// bench is the handler of most tests: a set of methods that do one thing.
type bench struct {
	started chan string // gets the id of each "hold"
	release chan struct{}
}

func newBench() *bench {
	return &bench{started: make(chan string, 1000), release: make(chan struct{})}
}

func (b *bench) handle(ctx context.Context, c *Conn, req *Request) (any, error) {
	switch req.Method {
	case "echo":
		return req.Params, nil
	case "hold": // until released or cancelled
		b.started <- req.ID
		select {
		case <-b.release:
			return "released", nil
		case <-ctx.Done():
			return nil, fmt.Errorf("holding: %w", ctx.Err())
		}
	case "fail":
		return nil, errors.New("disk on fire")
	case "panic":
		panic("deliberate")
	}
	return nil, &Error{Code: CodeMethodNotFound, Message: "no method " + req.Method}
}

// onceBuffer is a pipe end whose input is fixed and whose output is kept.
type onceBuffer struct {
	in  io.Reader
	out bytes.Buffer // written by one goroutine at a time; read after Run returned
}

func (o *onceBuffer) Read(b []byte) (int, error)  { return o.in.Read(b) }
func (o *onceBuffer) Write(b []byte) (int, error) { return o.out.Write(b) }
func (o *onceBuffer) Close() error                { return nil }
