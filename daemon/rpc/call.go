package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

const cancelMethod = "$/cancelRequest"

// cancelParams is what $/cancelRequest carries.
type cancelParams struct {
	ID json.RawMessage `json:"id"`
}

// calls are our own requests that wait for the peer's answer.
type calls struct {
	mu      sync.Mutex                     // guards the fields below
	last    int32                          // the last id given out
	pending map[jsonrpc2.ID]chan *response // each has room for its one answer
}

// open gives out a free id.
func (cs *calls) open() (jsonrpc2.ID, int32, chan *response) {
	answer := make(chan *response, 1)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for {
		if cs.last++; cs.last <= 0 {
			cs.last = 1
		}
		id := jsonrpc2.NewNumberID(cs.last)
		if _, taken := cs.pending[id]; !taken {
			cs.pending[id] = answer
			return id, cs.last, answer
		}
	}
}

func (cs *calls) forget(id jsonrpc2.ID) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.pending, id)
}

// settle hands an answer to the call that waits for it. Answers nobody waits
// for (of a call given up) are dropped.
func (cs *calls) settle(r *response) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if answer, ok := cs.pending[r.ID()]; ok {
		delete(cs.pending, r.ID())
		answer <- r
	}
}

// Call sends a request and waits for its answer, which it decodes into result
// (nil: dropped; a *json.RawMessage gets the bytes). It returns an *Error for
// an error answer, ErrClosed when the connection ends meanwhile, and when ctx
// ends it sends $/cancelRequest and returns ctx's error without waiting for the
// answer. params nil means no params.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	id, number, answer := c.calls.open()
	defer c.calls.forget(id)
	request, err := jsonrpc2.NewCall(id, method, nil)
	if err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	text := strconv.AppendInt(nil, int64(number), 10)
	if err := c.send(ctx, &call{Call: request, id: text, params: params}); err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	select {
	case r := <-answer:
		return r.into(method, result)
	case <-ctx.Done():
	case <-c.done:
	}
	select {
	case r := <-answer: // it came just before the end
		return r.into(method, result)
	default:
	}
	if ctx.Err() == nil {
		return fmt.Errorf("calling %s: %w", method, ErrClosed)
	}
	if err := c.Notify(cancelMethod, cancelParams{ID: text}); err != nil {
		c.log.Debug("cancel not sent", "method", method, "reason", err)
	}
	return fmt.Errorf("calling %s: %w", method, ctx.Err())
}

// into decodes an answer.
func (r *response) into(method string, result any) error {
	if r.err != nil {
		return r.err
	}
	raw, _ := r.result.(json.RawMessage)
	switch result := result.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		*result = raw
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("result of %s: %w", method, err)
	}
	return nil
}

// Notify queues a notification and returns; notifications and answers are sent
// in the order they were queued. It never waits for the peer. It returns
// ErrClosed after the end and ErrSlow when this message was one too many.
func (c *Conn) Notify(method string, params any) error {
	n, err := jsonrpc2.NewNotification(method, nil)
	if err != nil {
		return fmt.Errorf("notifying %s: %w", method, err)
	}
	if err := c.send(context.Background(), &notification{Notification: n, params: params}); err != nil {
		return fmt.Errorf("notifying %s: %w", method, err)
	}
	return nil
}

// send queues a message unless the connection has ended.
func (c *Conn) send(ctx context.Context, msg jsonrpc2.Message) error {
	select {
	case <-c.done:
		return ErrClosed
	default:
	}
	_, err := c.stream.Write(ctx, msg)
	if err != nil && peerGone(err) {
		return ErrClosed
	}
	return err
}
