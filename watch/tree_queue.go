package watch

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// barrier is what a Sync waits for. done is closed, once, when the tree holds
// everything that was finished before the barrier was set up.
type barrier struct{ done chan struct{} }

func newBarrier() *barrier { return &barrier{done: make(chan struct{})} }

// work is what the worker has to do. Taken as a whole it is one pass.
type work struct {
	events []fsnotify.Event
	looks  []look // what is to be looked at, besides

	lost   bool // events were lost: look at everything and trust no watch
	audit  bool
	polls  bool       // look at what gives no events
	served []*barrier // to be released when all of the above is done
}

// look names something that may be another than the tree has it: the root, the
// surroundings of the rules, or a path.
type look struct {
	what lookAt
	path string
}

type lookAt uint8

const (
	lookAtRoot lookAt = iota
	lookAtSurroundings
	lookAtRules // of directory path
	lookAtEntry // path may be another entry now
)

func (w *work) empty() bool {
	return len(w.events) == 0 && len(w.looks) == 0 && !w.lost && !w.audit && !w.polls && len(w.served) == 0
}

// treeQueue is between those who tell that something happened and the worker.
type treeQueue struct {
	wake   chan struct{} // holds one token when there is work
	urgent chan struct{} // holds one token when somebody waits for it

	mu      sync.Mutex // guards all below
	work    work
	busy    bool                // a pass is running
	cookies map[string]*barrier // by name: created, and not seen yet
}

func poke(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// put adds work; a barrier is released when it is done.
func (q *treeQueue) put(b *barrier, change func(w *work)) {
	q.mu.Lock()
	change(&q.work)
	if b != nil {
		q.work.served = append(q.work.served, b)
	}
	q.mu.Unlock()
	if b != nil {
		poke(q.urgent)
	}
	poke(q.wake)
}

// take returns all work and marks the worker busy.
func (q *treeQueue) take() work {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.work
	q.work = work{}
	q.busy = !w.empty()
	return w
}

// rest marks the worker idle.
func (q *treeQueue) rest() {
	q.mu.Lock()
	q.busy = false
	q.mu.Unlock()
}

// await registers a cookie that is about to be made.
func (q *treeQueue) await(name string, b *barrier) {
	q.mu.Lock()
	q.cookies[name] = b
	q.mu.Unlock()
}

// withdraw takes back the cookie of a barrier, and reports whether it was not seen.
func (q *treeQueue) withdraw(b *barrier) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name := range q.cookies {
		if q.cookies[name] == b {
			delete(q.cookies, name)
			return true
		}
	}
	return false
}

// giveUp serves a barrier whose cookie will not be seen, by a look at everything.
func (t *Tree) giveUp(b *barrier) {
	t.cookies.lose()
	if t.queue.withdraw(b) {
		t.queue.put(b, func(w *work) { w.lost = true })
	}
}

// lose notes that events were lost, and cookies perhaps with them.
func (q *treeQueue) lose() {
	q.mu.Lock()
	q.work.lost = true
	q.work.served = append(q.work.served, slices.Collect(maps.Values(q.cookies))...)
	clear(q.cookies)
	q.mu.Unlock()
	poke(q.wake)
	poke(q.urgent)
}

// seen releases a cookie's barrier when all events before it are dealt with:
// at once, or with the pass that has them.
func (q *treeQueue) seen(name string) {
	q.mu.Lock()
	b := q.cookies[name]
	delete(q.cookies, name)
	idle := !q.busy && q.work.empty()
	if b != nil && !idle {
		q.work.served = append(q.work.served, b)
	}
	q.mu.Unlock()
	switch {
	case b == nil:
	case idle:
		close(b.done)
	default:
		poke(q.urgent)
		poke(q.wake)
	}
}

// stale reports whether the worker knows that events were lost.
func (q *treeQueue) stale() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.work.lost
}

// drain empties both channels of a notifier into the queue and does nothing else
// that could wait, so that the system's queue does not fill behind it.
func (t *Tree) drain(n notifier) {
	for {
		select {
		case event, open := <-n.Events():
			if !open {
				t.ended(n)
				return
			}
			t.note(event)
		case err, open := <-n.Errors():
			if !open {
				t.ended(n)
				return
			}
			t.failed(err)
		}
	}
}

func (t *Tree) note(event fsnotify.Event) {
	if rest, ok := strings.CutPrefix(event.Name, t.cookieDir); ok && (rest == "" || rest[0] == filepath.Separator) {
		switch {
		case rest == "" && event.Has(fsnotify.Remove|fsnotify.Rename):
			t.lose() // from now on no cookie comes
		case rest != "":
			t.cookies.event(rest[1:], event.Has(fsnotify.Create), event.Has(fsnotify.Write), t.queue.seen)
		}
		return
	}
	holds := t.watches.holds(event.Name)
	if t.guard.concerns(event) || !holds && t.guard.other(t.mostOthers) {
		t.queue.put(nil, func(w *work) { w.looks = append(w.looks, look{what: lookAtSurroundings}) })
	}
	if !holds {
		return
	}
	t.queue.mu.Lock()
	first := len(t.queue.work.events) == 0
	t.queue.work.events = append(t.queue.work.events, event)
	t.queue.mu.Unlock()
	if first {
		poke(t.queue.wake)
	}
}

func (t *Tree) lose() {
	t.cookies.lose()
	t.queue.lose()
}

func (t *Tree) failed(err error) {
	switch {
	case errors.Is(err, fsnotify.ErrEventOverflow):
		t.logger.Info("file events were lost, looking at everything", "root", t.root)
	case errors.Is(err, syscall.EINVAL):
		return // a watch was to be removed that went with its directory
	default:
		t.logger.Warn("file watcher", "error", err)
	}
	t.lose()
}

// ended notes that a notifier's channels were closed: by Close, or it died.
func (t *Tree) ended(n notifier) {
	if t.isClosing() || !t.watches.die(n, errDead) {
		return
	}
	t.logger.Error("file watcher ended, polling", "root", t.root)
	t.lose()
}
