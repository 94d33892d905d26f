package rpc

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// serve runs a job's handler and sends exactly one answer for a request, also
// when the handler panics or ends its goroutine.
func (c *Conn) serve(j *job) {
	var result any
	err := error(&Error{Code: CodeInternal, Message: "internal error in " + j.req.Method}) // when the handler does not return
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("handler panicked", "method", j.req.Method, "panic", p, "stack", string(debug.Stack()))
		}
		c.complete(j, result, err)
	}()
	result, err = c.dispatch.handler(j.ctx, c, j.req)
}

// complete answers a job that ran. The slot and the id are free before the
// answer can be read, and before this goroutine waits for the peer to read it.
func (c *Conn) complete(j *job, result any, err error) {
	if j.isNotification() {
		if err != nil && !errors.Is(err, context.Canceled) {
			c.log.Warn("notification failed", "method", j.req.Method, "reason", err)
		}
		c.dispatch.finished(j)
		c.dispatch.handlers.Done()
		return
	}
	answer := c.reply(j, result, err)
	c.dispatch.finished(j)
	j.cancel()
	start, err := c.stream.queue(answer)
	c.dispatch.handlers.Done()
	if err != nil {
		c.log.Debug("answer not sent", "method", j.req.Method, "id", j.req.ID, "reason", err)
	}
	if start {
		c.stream.drain()
	}
}

// reply makes the frame of the answer. What cannot be encoded becomes an error
// that can.
func (c *Conn) reply(j *job, result any, err error) packet {
	r := &response{id: j.idText, result: result}
	if err != nil {
		ended := j.ctx.Err() != nil && errors.Is(err, context.Canceled)
		r.err = errorOf(err, ended || j.cancelled.Load())
	}
	out, err := encodeSafely(r)
	if err == nil {
		return out
	}
	c.log.Error("answer replaced", "method", j.req.Method, "id", j.req.ID, "reason", err)
	if r.err == nil {
		r.err = &Error{Code: CodeInternal, Message: fmt.Sprintf("answer of %s: %v", j.req.Method, err)}
	}
	r.err.Data = nil
	out, _ = encodeSafely(r) // a code and a text always encode
	return out
}

// encodeSafely is encode for values whose MarshalJSON may panic.
func encodeSafely(r *response) (_ packet, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding panicked: %v", p)
		}
	}()
	return encode(r)
}
