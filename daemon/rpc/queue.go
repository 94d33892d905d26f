package rpc

import (
	"io"
	"sync"
	"time"
)

// joinLimit is up to how many bytes waiting pieces are joined into one write:
// below it a system call costs more than the copy.
const joinLimit = 32 << 10

// queue holds the frames that the peer has not read yet. Nobody who adds to it
// waits for the peer: one goroutine at a time writes, and it is started, or is
// the adding one at its own wish, only when there is something to write.
type queue struct {
	w     io.Writer
	limit int64 // bytes that may wait before a further frame fails

	mu      sync.Mutex // guards the fields below
	pieces  []piece    // of messages, in order
	size    int64      // bytes of pieces, without the write in progress: that may have been read already
	writing bool
	idle    chan struct{} // made when writing starts, closed by the writer when it ends
	err     error         // set once: nothing is written any more
}

// add appends a frame. start says that the caller must see to drain being run,
// by itself or by a goroutine. The frame belongs to the queue.
func (q *queue) add(f packet) (start bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil && q.size > q.limit {
		q.stop(ErrSlow)
	}
	if q.err != nil {
		return false, q.err
	}
	q.pieces = append(q.pieces, f...)
	q.size += f.size()
	if q.writing {
		return false, nil
	}
	q.writing = true
	q.idle = make(chan struct{})
	return true, nil
}

// drain writes until nothing waits and returns the error that ended the queue,
// if one did.
func (q *queue) drain() error {
	var err error
	for {
		q.mu.Lock()
		if err != nil {
			q.stop(err)
		}
		if q.err != nil || len(q.pieces) == 0 {
			q.writing = false
			close(q.idle)
			err = q.err
			q.mu.Unlock()
			return err
		}
		next := q.take()
		q.mu.Unlock()
		if _, err = q.w.Write(next.data); err == nil && next.written != nil {
			next.written()
		}
	}
}

// take removes the next piece, or as many as fit into one joined write. q.mu is
// held.
func (q *queue) take() piece {
	count, size := 0, 0
	for i := range q.pieces {
		n := len(q.pieces[i].data)
		if count > 0 && size+n > joinLimit {
			break
		}
		count, size = count+1, size+n
	}
	next := q.pieces[0]
	if count > 1 {
		next = join(q.pieces[:count], size)
	}
	q.size -= int64(size)
	clear(q.pieces[:count])
	if q.pieces = q.pieces[count:]; len(q.pieces) == 0 {
		q.pieces = nil
	}
	return next
}

// join makes one piece of several.
func join(pieces []piece, size int) piece {
	var all []func()
	data := make([]byte, 0, size)
	for _, p := range pieces {
		data = append(data, p.data...)
		if p.written != nil {
			all = append(all, p.written)
		}
	}
	if len(all) == 0 {
		return piece{data: data}
	}
	return piece{data, func() {
		for _, written := range all {
			written()
		}
	}}
}

// stop drops what waits and lets every later add fail with err. q.mu is held.
func (q *queue) stop(err error) {
	if q.err != nil {
		return
	}
	q.err, q.pieces, q.size = err, nil, 0
}

// close ends the queue with ErrClosed. A write in progress is not touched.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop(ErrClosed)
}

// wait returns when no write is in progress and none waits, or after limit; it
// says which.
func (q *queue) wait(limit time.Duration) bool {
	q.mu.Lock()
	writing, idle := q.writing, q.idle
	q.mu.Unlock()
	if !writing {
		return true
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-timer.C:
		return false
	}
}
