package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// cookies are things done to files so that their events be seen: the system keeps
// the order, so when one is, all events from before it have been. Those who ask at
// the same time share one if it was made after they all asked.
type cookies struct {
	mu     sync.Mutex // guards next
	next   *barrier   // of a cookie that nobody began to make; nil: there is none
	making sync.Mutex // held while a cookie is made; taken before mu
	serial uint64     // guarded by making
	seed   atomic.Pointer[seed]
}

// seed is a file that is written to, which is the cheapest cookie. One write must be
// seen before the next, for they look alike; meanwhile cookies are links of it, which
// take a third of the time of new files.
type seed struct {
	file *os.File
	name string
	out  atomic.Bool // it was written to, and that was not seen
	lost atomic.Bool // what is out may never be seen
}

// writesTell is whether each write to an open file is told of at once, and once.
const writesTell = runtime.GOOS == "linux"

// join returns the barrier of a cookie that is made after the call began.
func (c *cookies) join(t *Tree) *barrier {
	c.mu.Lock()
	lead := c.next == nil
	if lead {
		c.next = newBarrier()
	}
	b := c.next
	c.mu.Unlock()
	if !lead {
		return b
	}
	c.making.Lock()
	defer c.making.Unlock()
	c.mu.Lock()
	c.next = nil
	c.mu.Unlock()
	if err := c.make(t, b); err != nil {
		t.logger.Warn("no cookie can be made, looking at everything", "error", err)
		t.giveUp(b)
	}
	return b
}

// make makes a cookie for b: it writes to the seed, or makes a file and removes it.
func (c *cookies) make(t *Tree, b *barrier) error {
	s := c.seed.Load()
	if s == nil || s.lost.Load() {
		s = c.plant(t)
	}
	if s != nil && writesTell && !s.out.Load() {
		s.out.Store(true)
		t.queue.await(s.name, b)
		if _, err := s.file.WriteAt([]byte{0}, 0); err == nil {
			return nil
		}
		s.lost.Store(true)
	}
	name := c.newName(t)
	path := filepath.Join(t.cookieDir, name)
	t.queue.await(name, b)
	if s == nil || os.Link(s.file.Name(), path) != nil { // not every file system has links
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return os.Remove(path)
}

func (c *cookies) newName(t *Tree) string {
	c.serial++
	return t.cookiePrefix + strconv.FormatUint(c.serial, 36)
}

// plant makes a seed in the place of the one there was. Without one there are cookies
// all the same.
func (c *cookies) plant(t *Tree) *seed {
	c.pull()
	name := c.newName(t)
	f, err := os.OpenFile(filepath.Join(t.cookieDir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil
	}
	s := &seed{file: f, name: name}
	c.seed.Store(s)
	return s
}

// pull removes the seed.
func (c *cookies) pull() {
	if s := c.seed.Swap(nil); s != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}

// lose notes that what is out may never be seen.
func (c *cookies) lose() {
	if s := c.seed.Load(); s != nil {
		s.lost.Store(true)
	}
}

// event tells of what happened to a file in the folder of cookies, and calls seen if
// it is a cookie.
func (c *cookies) event(name string, created, written bool, seen func(name string)) {
	s := c.seed.Load()
	switch {
	case s == nil || s.name != name:
		if created {
			seen(name)
		}
	case written:
		seen(name)
		s.out.Store(false) // the next write's barrier must not be there yet when this one is seen
	}
}

// close removes what is left in the folder of cookies.
func (c *cookies) close() {
	c.making.Lock()
	defer c.making.Unlock()
	c.pull()
}
