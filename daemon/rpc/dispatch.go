package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
)

// jobCost is what a waiting message counts beside its text, in bytes: about
// what its bookkeeping takes.
const jobCost = 512

// job is one message of the peer from its arrival to its answer.
type job struct {
	req    *Request
	id     jsonrpc2.ID     // of a request
	idText []byte          // the same as JSON text; nil for a notification
	ctx    context.Context // kept while the job waits; the handler gets it
	cancel context.CancelFunc

	cancelled atomic.Bool // by the peer

	started  bool // guarded by dispatch.mu
	answered bool // guarded by dispatch.mu: answered before it started
}

func (j *job) isNotification() bool { return j.idText == nil }

// cost is what a waiting job counts against Options.MaxQueued, in bytes.
func (j *job) cost() int64 { return int64(len(j.req.Params)) + jobCost }

// dispatch decides when a message runs: notifications one at a time in the
// order they came, a request after the notifications before it and when one of
// MaxConcurrent slots is free. A notification does not wait for requests that
// only lack a slot, so that calls waiting for a person hold up no document.
type dispatch struct {
	conn    *Conn
	handler Handler // set by Run before reading starts

	room     chan struct{} // holds a token when fewer notifications wait; for the reader
	handlers sync.WaitGroup

	mu        sync.Mutex // guards the fields below and the state of jobs
	inFlight  map[jsonrpc2.ID]*job
	inbox     []*job // arrived, behind a notification that runs or waits
	ready     []*job // requests that wait for a slot only
	notifying bool   // a notification runs
	running   int    // requests that run
	calls     int64  // cost of the requests in inbox and ready
	notes     int64  // cost of the notifications in inbox
	ended     bool   // nothing starts any more
}

func (d *dispatch) init(c *Conn) {
	d.conn = c
	d.room = make(chan struct{}, 1)
	d.inFlight = make(map[jsonrpc2.ID]*job)
}

// call takes a request. It runs on the reading goroutine and does not wait.
func (d *dispatch) call(ctx context.Context, m *call) {
	params, _ := m.params.(json.RawMessage)
	j := &job{
		req: &Request{Method: m.Method(), Params: params, ID: string(m.id)},
		id:  m.ID(), idText: m.id,
	}
	if failure := d.admit(ctx, j); failure != nil {
		d.conn.stream.answer(j.idText, failure)
	}
}

// admit queues a request, or says why it is refused.
func (d *dispatch) admit(ctx context.Context, j *job) *Error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ended:
		return cancelledError()
	case d.inFlight[j.id] != nil:
		return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("id %s belongs to a request that is still running", j.req.ID)}
	case d.calls > d.conn.opts.MaxQueued:
		return &Error{Code: CodeRequestFailed, Message: "too many requests are waiting", Data: map[string]string{
			"kind": "busy", "hint": "wait for answers before sending more requests",
		}}
	}
	j.ctx, j.cancel = context.WithCancel(ctx)
	d.inFlight[j.id] = j
	d.calls += j.cost()
	d.enqueue(j)
	return nil
}

// notify takes a notification. When too many wait already the reader waits
// here, which holds the peer's writes back.
func (d *dispatch) notify(ctx context.Context, m *notification) {
	params, _ := m.params.(json.RawMessage)
	if m.Method() == cancelMethod {
		d.cancel(params)
		return
	}
	j := &job{req: &Request{Method: m.Method(), Params: params}, ctx: ctx, cancel: func() {}}
	d.mu.Lock()
	for d.notes > d.conn.opts.MaxQueued && ctx.Err() == nil {
		d.mu.Unlock()
		select {
		case <-d.room:
		case <-ctx.Done():
		}
		d.mu.Lock()
	}
	defer d.mu.Unlock()
	if !d.ended {
		d.notes += j.cost()
		d.enqueue(j)
	}
}

// enqueue puts a job in line. d.mu is held.
func (d *dispatch) enqueue(j *job) {
	d.inbox = append(d.inbox, j)
	d.pump()
}

// pump starts what may start. d.mu is held.
func (d *dispatch) pump() {
	for len(d.inbox) > 0 && !d.notifying {
		j := shift(&d.inbox)
		if !j.isNotification() {
			d.ready = append(d.ready, j)
			continue
		}
		d.notifying = true
		d.notes -= j.cost()
		d.wake()
		d.start(j)
	}
	for len(d.ready) > 0 && d.running < d.conn.opts.MaxConcurrent {
		j := shift(&d.ready)
		d.calls -= j.cost()
		if j.answered {
			continue
		}
		d.running++
		d.start(j)
	}
}

func (d *dispatch) start(j *job) {
	j.started = true
	d.handlers.Add(1)
	go d.conn.serve(j)
}

// wake tells the reader that fewer notifications wait.
func (d *dispatch) wake() {
	select {
	case d.room <- struct{}{}:
	default:
	}
}

// finished ends a job that ran: its id is free again, the next may start.
func (d *dispatch) finished(j *job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if j.isNotification() {
		d.notifying = false
	} else {
		delete(d.inFlight, j.id)
		d.running--
	}
	if !d.ended {
		d.pump()
	}
}

// cancel handles $/cancelRequest on the reading goroutine: a running request's
// context ends, one that waits is answered. Unknown and finished ids are
// nobody's fault.
func (d *dispatch) cancel(params json.RawMessage) {
	var p cancelParams
	if err := json.Unmarshal(params, &p); err != nil {
		d.conn.log.Warn("cancel ignored", "reason", "params without an id")
		return
	}
	id, ok := parseID(p.ID)
	if !ok {
		d.conn.log.Warn("cancel ignored", "reason", "not an id")
		return
	}
	d.mu.Lock()
	j := d.inFlight[id]
	if j == nil {
		d.mu.Unlock()
		return
	}
	j.cancelled.Store(true)
	waits := !j.started
	if waits {
		d.drop(j)
	}
	d.mu.Unlock()
	j.cancel()
	if waits {
		d.conn.stream.answer(j.idText, cancelledError())
	}
}

// drop takes a waiting request out of the count and lets its text go; what is
// left of it in the line is skipped by pump. d.mu is held.
func (d *dispatch) drop(j *job) {
	delete(d.inFlight, j.id)
	d.calls -= j.cost() - jobCost
	j.req.Params = nil
	j.answered = true
}

// end stops everything: nothing starts any more, requests that wait are
// answered as cancelled, and it returns when the last handler has. The handlers'
// contexts must have ended.
func (d *dispatch) end() {
	d.mu.Lock()
	d.ended = true
	var dropped []*job
	for _, j := range d.inFlight {
		if !j.started {
			d.drop(j)
			dropped = append(dropped, j)
		}
	}
	d.inbox, d.ready = nil, nil
	d.mu.Unlock()
	for _, j := range dropped {
		j.cancel()
		d.conn.stream.answer(j.idText, cancelledError())
	}
	d.handlers.Wait()
}

func shift(line *[]*job) *job {
	j := (*line)[0]
	(*line)[0] = nil
	*line = (*line)[1:]
	return j
}
