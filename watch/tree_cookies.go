package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// cookies are files that are made so that their events be seen: the system keeps
// the order, so when one is, all events from before it was made have been. Those
// who ask at the same time share one if it was made after they all asked.
type cookies struct {
	mu     sync.Mutex // guards what follows
	next   *barrier   // of a cookie that nobody began to make; nil: there is none
	name   string
	serial uint64

	making sync.Mutex // held while a cookie is made; taken before mu
	seed   string     // the file that cookies are links of; "": none, each is a file. Guarded by making
}

// join returns the barrier of a cookie that is made after the call began.
func (c *cookies) join(t *Tree) (name string, b *barrier) {
	c.mu.Lock()
	lead := c.next == nil
	if lead {
		c.serial++
		c.next, c.name = newBarrier(), t.cookiePrefix+strconv.FormatUint(c.serial, 36)
	}
	name, b = c.name, c.next
	c.mu.Unlock()
	if !lead {
		return name, b
	}
	c.making.Lock()
	defer c.making.Unlock()
	c.mu.Lock()
	c.next = nil
	c.mu.Unlock()
	t.queue.await(name, b)
	if err := c.make(filepath.Join(t.cookieDir, name)); err != nil {
		t.logger.Warn("no cookie can be made, looking at everything", "error", err)
		t.queue.giveUp(name)
	}
	return name, b
}

// plant makes the file of which cookies are made as links: that takes a third of
// the time of a new file. Not every file system has links.
func (c *cookies) plant(path string) {
	c.making.Lock()
	defer c.making.Unlock()
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		f.Close()
		c.seed = path
	}
}

// make makes a cookie and removes it.
func (c *cookies) make(path string) error {
	if c.seed != "" {
		if err := os.Link(c.seed, path); err == nil {
			return os.Remove(path)
		}
		_ = os.Remove(c.seed)
		c.seed = ""
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(path)
}

// clear removes what is left in the folder of cookies.
func (c *cookies) clear() {
	c.making.Lock()
	defer c.making.Unlock()
	if c.seed != "" {
		_ = os.Remove(c.seed)
		c.seed = ""
	}
}
