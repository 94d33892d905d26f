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
	info   fs.FileInfo // as it was listed; nil for the root
	git    bool        // it is a .git, or below one

	src *os.Root // what is walked; open from its visit on

	mu  sync.Mutex // guards dst
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
func (n *node) under(name string, info fs.FileInfo) *node {
	return &node{parent: n, name: name, rel: join(n.rel, name), info: info, git: n.git || isGit(name)}
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
func (n *node) list() ([]string, error) {
	if n.parent != nil {
		src, err := openDir(n.parent.src, n.name, n.info)
		if err != nil {
			return nil, err
		}
		n.src = src
	}
	f, err := n.src.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// done ends one use of the node's handles.
func (n *node) done() {
	for ; n != nil && n.users.Add(-1) == 0; n = n.parent {
		if n.parent == nil {
			return // the root's are its owner's
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
