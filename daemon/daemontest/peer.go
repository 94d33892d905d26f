// Package daemontest plays the clients of a daemon in tests: an agent, an
// editor, a reviewer, or somebody who sends bytes that no client would.
//
// A [Peer] reads the wire for itself, strictly, and waits for what shall come;
// it never sleeps. At the end of the test it fails when the daemon sent
// something that the test neither asked about nor said it would ignore.
package daemontest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/loomd/loomd/daemon/protocol"
)

// Patience is how long a Peer waits for what must happen. It is no measure of
// speed: only a broken daemon gets there.
const Patience = 30 * time.Second

// Message is one message of the daemon.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Failure        `json:"error"`
}

// Failure is an error answer.
type Failure struct {
	Code    int64              `json:"code"`
	Message string             `json:"message"`
	Data    protocol.ErrorData `json:"data"`
}

func (f *Failure) String() string {
	if f == nil {
		return "no error"
	}
	return fmt.Sprintf("error %d (%s) %q", f.Code, f.Data.Kind, f.Message)
}

func (m Message) String() string {
	s := fmt.Sprintf("id %s method %q result %.300s params %.300s", m.ID, m.Method, m.Result, m.Params)
	if m.Error != nil {
		s += " " + m.Error.String()
	}
	return s
}

// Peer is one connection to a daemon, seen from outside. Its methods belong to
// the test's goroutine; what shall be under way at once is sent first and
// awaited then.
type Peer struct {
	t  testing.TB
	nc net.Conn

	writing sync.Mutex // held over one frame's bytes

	mu      sync.Mutex // guards the fields below
	inbox   []Message  // what nobody has taken yet, in order
	changed chan struct{}
	ended   bool
	ignored map[string]bool
	asked   map[string]bool // ids: true while no answer has come
	answers map[string]Answerer
	nextID  int
	parted  bool // the end of the connection is the test's own doing
}

// Answerer answers a request of the daemon. It runs on the Peer's reading
// goroutine.
type Answerer func(params json.RawMessage) (result any)

// New speaks over nc, which then belongs to the Peer. Nothing is sent yet. At
// the end of the test the Peer parts and checks what was left over.
func New(t testing.TB, nc net.Conn) *Peer {
	t.Helper()
	p := &Peer{
		t: t, nc: nc, changed: make(chan struct{}), ignored: map[string]bool{},
		asked: map[string]bool{}, answers: map[string]Answerer{},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.read()
	}()
	t.Cleanup(func() {
		p.part()
		nc.Close()
		<-done
		p.wantNothingLeft()
	})
	return p
}

// Frame is a body as it goes over the wire.
func Frame(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// Write sends raw bytes.
func (p *Peer) Write(raw string) {
	p.t.Helper()
	if err := p.write(raw); err != nil {
		p.t.Fatalf("sending: %v", err)
	}
}

func (p *Peer) write(raw string) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	if err := p.nc.SetWriteDeadline(time.Now().Add(Patience)); err != nil {
		return err
	}
	_, err := io.WriteString(p.nc, raw)
	return err
}

// Request is the frame of a request with a new id, not sent yet.
func (p *Peer) Request(method string, params any) (id, frame string) {
	p.t.Helper()
	p.mu.Lock()
	p.nextID++
	id = strconv.Itoa(p.nextID)
	p.asked[id] = true
	p.mu.Unlock()
	return id, Frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, p.encode(params)))
}

// Expect makes an answer to an id that the test sends itself.
func (p *Peer) Expect(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[id] = true
}

// Send sends a request and returns its id.
func (p *Peer) Send(method string, params any) (id string) {
	p.t.Helper()
	id, frame := p.Request(method, params)
	p.Write(frame)
	return id
}

// Notify sends a notification.
func (p *Peer) Notify(method string, params any) {
	p.t.Helper()
	p.Write(Frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, p.encode(params))))
}

// Cancel asks the daemon to give a request up.
func (p *Peer) Cancel(id string) {
	p.t.Helper()
	p.Notify("$/cancelRequest", json.RawMessage(`{"id":`+id+`}`))
}

func (p *Peer) encode(v any) []byte {
	p.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// Ignore says that messages of these methods do not matter to the test. The
// empty method stands for error answers without an id.
func (p *Peer) Ignore(methods ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range methods {
		p.ignored[m] = true
	}
}

// Answer has requests of the daemon for a method answered by f.
func (p *Peer) Answer(method string, f Answerer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[method] = f
}

// Result waits for the answer to a request.
func (p *Peer) Result(id string) Message {
	p.t.Helper()
	return p.take("the answer to "+id, func(m *Message) bool { return m.Method == "" && string(m.ID) == id })
}

// Next waits for the next notification of a method whose parameters fit; nil
// fits all.
func (p *Peer) Next(method string, fits func(params json.RawMessage) bool) json.RawMessage {
	p.t.Helper()
	m := p.take(method, func(m *Message) bool { return m.Method == method && (fits == nil || fits(m.Params)) })
	return m.Params
}

// Complaint waits for an error answer that names no request.
func (p *Peer) Complaint() *Failure {
	p.t.Helper()
	m := p.take("an error without an id", func(m *Message) bool { return m.Error != nil && string(m.ID) == "null" })
	return m.Error
}

func (p *Peer) take(what string, fits func(m *Message) bool) Message {
	p.t.Helper()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	for {
		p.mu.Lock()
		for i := range p.inbox {
			if m := p.inbox[i]; fits(&m) {
				p.inbox = append(p.inbox[:i:i], p.inbox[i+1:]...)
				p.mu.Unlock()
				return m
			}
		}
		changed, ended, left := p.changed, p.ended, fmt.Sprint(p.inbox)
		p.mu.Unlock()
		if ended {
			p.t.Fatalf("the connection ended before %s came; there is %.2000s", what, left)
		}
		select {
		case <-changed:
		case <-deadline.C:
			p.t.Fatalf("waited in vain for %s; there is %.2000s", what, left)
		}
	}
}

// read takes frames until the connection ends.
func (p *Peer) read() {
	in := bufio.NewReader(p.nc)
	for {
		body, err := readFrame(in)
		if err == nil {
			err = p.receive(body)
		}
		if err != nil {
			p.mu.Lock()
			if !p.parted && !gone(err) {
				p.t.Errorf("reading what the daemon sent: %v", err)
			}
			p.ended = true
			close(p.changed)
			p.changed = make(chan struct{})
			p.mu.Unlock()
			return
		}
	}
}

func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.ECONNRESET)
}

func (p *Peer) receive(body []byte) error {
	if !utf8.Valid(body) {
		return fmt.Errorf("not UTF-8: %q", body)
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Errorf("%w in %.300s", err, body)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := string(m.ID)
	if f := p.answers[m.Method]; f != nil && id != "" {
		// The lock stays free meanwhile: f may send.
		p.mu.Unlock()
		err := p.write(Frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, p.encode(f(m.Params)))))
		p.mu.Lock()
		return err
	}
	if m.Method == "" && id != "null" {
		open, known := p.asked[id]
		if !known || !open {
			p.t.Errorf("an answer that nobody waits for: %s", m)
		}
		p.asked[id] = false
	}
	if m.Method != "" && p.ignored[m.Method] || m.Method == "" && id == "null" && p.ignored[""] {
		return nil
	}
	p.inbox = append(p.inbox, m)
	close(p.changed)
	p.changed = make(chan struct{})
	return nil
}

// readFrame is strict, so that what it takes every client takes.
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
		return nil, fmt.Errorf("second header line %q, %w", line, err)
	}
	body := make([]byte, n)
	_, err = io.ReadFull(in, body)
	return body, err
}

// Ended waits until the daemon has ended the connection.
func (p *Peer) Ended() {
	p.t.Helper()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	for {
		p.mu.Lock()
		changed, ended := p.changed, p.ended
		p.mu.Unlock()
		if ended {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			p.t.Fatal("the daemon does not end the connection")
		}
	}
}

// Vanish ends the connection without a word, as a killed client does. What is
// not answered by then need not be.
func (p *Peer) Vanish() {
	p.mu.Lock()
	p.parted = true
	p.ended = true
	clear(p.asked)
	p.inbox = nil
	p.mu.Unlock()
	p.nc.Close()
}

// part ends the connection in LSP's order, so that everything that the daemon
// sent before has come.
func (p *Peer) part() {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended || p.t.Failed() {
		return
	}
	p.Result(p.Send("shutdown", nil))
	p.mu.Lock()
	p.parted = true
	p.mu.Unlock()
	p.Notify("exit", nil)
	p.Ended()
}

func (p *Peer) wantNothingLeft() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.t.Failed() {
		return
	}
	for _, m := range p.inbox {
		p.t.Errorf("nobody asked about %s", m)
	}
	for id, open := range p.asked {
		if open {
			p.t.Errorf("request %s was never answered", id)
		}
	}
}
