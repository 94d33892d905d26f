package watch

import (
	"context"
	"fmt"
	"io/fs"
	"time"
)

// Sync waits until everything that was finished before the call is in the tree,
// whoever did it, and returns what changed since generation since; 0 asks for
// everything. While the first scan runs it waits for that.
//
// Of two things no event tells: writes through a shared mapping, and writes through a
// name of the file that is outside of the tree or ignored. They are seen when the file
// is looked at the next time: by a sweep, about a minute after somebody has asked, or
// in a large tree later.
func (t *Tree) Sync(ctx context.Context, since uint64) (Changes, error) {
	if err := t.catchUp(ctx); err != nil {
		return Changes{}, fmt.Errorf("catching up with %s: %w", t.root, err)
	}
	return t.changes(since), nil
}

// catchUp is the freshness barrier.
func (t *Tree) catchUp(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.wantSweep()
	before := t.outside.Load()
	var rootChanged bool
	var owners []string
	blind := t.watches.dead()
	if !blind {
		b := t.cookies.join(t)
		rootChanged, owners = before.look(t.root, false) // while the cookie's event is on its way
		if err := t.await(ctx, b); err != nil {
			return err
		}
	}
	if now := t.outside.Load(); blind || now != before {
		// What was looked at is not what the tree was made of meanwhile.
		rootChanged, owners = now.look(t.root, blind)
	}
	if !blind && !rootChanged && len(owners) == 0 && !t.eventsMiss() {
		return nil
	}
	b := newBarrier()
	t.queue.put(b, func(w *work) {
		w.polls = true
		w.looks = append(w.looks, looksAt(rootChanged, owners)...)
	})
	return t.await(ctx, b)
}

// eventsMiss reports whether something has to be looked at because events do not
// tell of all that happens to it.
func (t *Tree) eventsMiss() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.polled) > 0 || len(t.linked) > 0
}

// cookiePatience is after what time a cookie that was not seen is given up: its
// event takes microseconds, and under load milliseconds. It is there for a
// folder of cookies that somebody moved away.
const cookiePatience = 10 * time.Second

// await waits for a barrier.
func (t *Tree) await(ctx context.Context, b *barrier) error {
	patience := time.NewTimer(cookiePatience)
	defer patience.Stop()
	for {
		select {
		case <-b.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-t.closing:
			return fs.ErrClosed
		case <-patience.C:
			t.giveUp(b)
		}
	}
}
