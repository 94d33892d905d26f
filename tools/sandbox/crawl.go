package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

// node is a directory that a crawl comes upon. Its handles stay open until all below it
// has been visited.
type node struct {
	parent *node
	name   string      // in parent
	rel    string      // from the root, slash separated; "." the root itself
	mode   fs.FileMode // permission bits, as it was listed
	mtime  int64       // in ns since 1970, as it was listed
	git    bool        // it is a .git, or below one
	at     handle      // what is walked; open from its visit on

	mu  sync.Mutex // guards the fields below
	src *os.Root   // what is walked, when something was to be read
	dst *os.Root   // the copy's directory, when something was to be written

	users atomic.Int32 // its own visit, and the nodes below that are not done
}

// errSwapped is an entry that is not any more what it was listed as.
var errSwapped = errors.New("was replaced by something else meanwhile")

// gone reports whether err says that an entry is not there any more as it was listed.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) || errors.Is(err, errSwapped)
}

// under makes the node of a directory in n.
func (n *node) under(name string, e entry) *node {
	return &node{parent: n, name: name, rel: join(n.rel, name), mode: e.mode, mtime: e.mtime, git: n.git || isGit(name)}
}

// entry is what a stat tells of an entry: its stamp, and the mtime of a directory, too.
type entry struct {
	stamp
	mtime int64 // in ns since 1970
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// openDir opens the directory that info was told of, and nothing else: not what a link
// leads to that took its place.
func openDir(in *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	r, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := r.Stat(".")
	if err == nil && !os.SameFile(now, info) {
		err = errSwapped
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// list opens the directory and returns the names in it.
func (n *node) list() (names []string, err error) {
	if n.parent == nil {
		n.at, err = openHandle(n.src)
	} else {
		n.at, err = n.parent.at.sub(n.name)
	}
	if err != nil {
		return nil, err
	}
	return n.at.names()
}

// source opens the directory for reading what is in it.
func (n *node) source() (*os.Root, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.src != nil {
		return n.src, nil
	}
	above, err := n.parent.source()
	if err != nil {
		return nil, err
	}
	info, err := above.Lstat(n.name)
	if err != nil {
		return nil, err
	}
	n.src, err = openDir(above, n.name, info)
	return n.src, err
}

// done ends one use of the node's handles.
func (n *node) done() {
	for ; n != nil && n.users.Add(-1) == 0; n = n.parent {
		n.at.close()
		if n.parent == nil {
			return // the other handles of the root are its owner's
		}
		if n.src != nil {
			n.src.Close()
		}
		if n.dst != nil {
			n.dst.Close()
		}
	}
}

// crawl visits a directory and those that the visits return, in parallel.
type crawl struct {
	visit func(ctx context.Context, n *node) ([]*node, error)

	mu     sync.Mutex // guards the fields below
	more   *sync.Cond
	stack  []*node
	active int
	err    error
}

// soloVisits is how many directories one goroutine visits before others come to help:
// starting them costs more than a few directories take.
const soloVisits = 8

// run ends with the first error of a visit, or ctx's.
func (c *crawl) run(ctx context.Context, first *node) error {
	c.more = sync.NewCond(&c.mu)
	first.users.Store(1)
	c.stack = []*node{first}
	for range soloVisits {
		if !c.step(ctx) {
			return c.err
		}
	}
	var working sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for c.step(ctx) {
			}
		})
	}
	working.Wait()
	return c.err
}

// step visits one directory. It waits for one, and reports false when no more can come.
func (c *crawl) step(ctx context.Context) bool {
	c.mu.Lock()
	for len(c.stack) == 0 && c.active > 0 {
		c.more.Wait()
	}
	if c.err == nil {
		c.err = ctx.Err()
	}
	if len(c.stack) == 0 || c.err != nil {
		for _, n := range c.stack {
			n.done()
		}
		c.stack = nil
		c.mu.Unlock()
		c.more.Broadcast()
		return false
	}
	n := c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
	c.active++
	c.mu.Unlock()

	found, err := c.visit(ctx, n)
	n.users.Add(int32(len(found)))
	for _, sub := range found {
		sub.users.Store(1)
	}
	n.done()

	c.mu.Lock()
	c.active--
	c.stack = append(c.stack, found...)
	if c.err == nil {
		c.err = err
	}
	wake := len(c.stack) > 1 || c.active == 0 || c.err != nil
	c.mu.Unlock()
	if wake {
		c.more.Broadcast()
	}
	return true
}
