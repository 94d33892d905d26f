package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/loomd/loomd/watch"
)

// Up to so many changed files, and bytes of them, are read before an answer.
// More are read by those searches that want them until the background has made
// their parts anew: after a checkout of thousands of files nobody waits for all.
const (
	eagerFiles = 256
	eagerBytes = 8 << 20
)

// apply takes over what has changed.
func (x *Index) apply(ctx context.Context, c watch.Changes) error {
	generation, begun := x.generation()
	if begun && !c.Full && len(c.Changed) == 0 && len(c.Gone) == 0 && c.Generation == generation {
		return nil
	}
	x.applying.Lock()
	defer x.applying.Unlock()
	if x.isClosing() {
		return errClosed
	}
	generation, begun = x.generation()
	switch {
	case begun && c.Generation < generation:
		return nil // another call knew more
	case !begun:
		slices.SortFunc(c.Changed, byPath)
		views := viewsOf(partition(c.Changed, &x.memory, x.limits), "")
		x.mu.Lock()
		x.publish(views, c.Generation)
		x.mu.Unlock()
		return nil
	}
	base, err := x.acquire()
	if err != nil {
		return err
	}
	defer base.Release()
	slices.SortStableFunc(c.Changed, byPath)
	if c.Full {
		c = base.difference(c)
	}
	came := make([]*file, 0, len(c.Changed))
	for i, e := range c.Changed {
		if i+1 < len(c.Changed) && c.Changed[i+1].Path == e.Path {
			continue // the later one is the newer
		}
		came = append(came, &file{entry: entryOf(e), content: content{late: -1}})
	}
	if err := x.readFiles(ctx, came); err != nil {
		return err
	}
	x.change(c, came)
	return nil
}

// change publishes what has changed. Only builders publish beside it, and they
// change no answer.
func (x *Index) change(c watch.Changes, came []*file) {
	changed := func(views []*view) []*view {
		views = slices.Clone(views)
		for i, change := range split(views, c.Gone, came) {
			views[i] = views[i].with(*change)
		}
		return views
	}
	const tries = 3 // readers shall not wait, but this has to end
	for range tries {
		x.mu.Lock()
		base := x.current
		base.holders.Add(1)
		x.mu.Unlock()
		views := changed(base.views)
		x.mu.Lock()
		done := x.current == base
		if done {
			x.publish(views, c.Generation)
		}
		x.mu.Unlock()
		base.Release()
		if done {
			return
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.publish(changed(x.current.views), c.Generation)
}

func byPath(a, b watch.Entry) int { return cmp.Compare(a.Path, b.Path) }

// difference returns what a whole list changes. The list is in path order.
func (s *Snapshot) difference(c watch.Changes) watch.Changes {
	out := watch.Changes{Generation: c.Generation}
	rest := c.Changed
	known := func(e entry) {
		for len(rest) > 0 && rest[0].Path < e.path {
			out.Changed = append(out.Changed, rest[0])
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Path != e.path {
			out.Gone = append(out.Gone, e.path)
			return
		}
		if n := entryOf(rest[0]); n.kind != e.kind || n.stamp != e.stamp || n.size != e.size {
			out.Changed = append(out.Changed, rest[0])
		}
		rest = rest[1:]
	}
	for _, v := range s.views {
		v.each(func(i int) { known(v.part.entry(i)) }, func(f *file) { known(f.entry) })
	}
	out.Changed = append(out.Changed, rest...)
	return out
}

// readFiles reads the texts of files if there are not too many.
func (x *Index) readFiles(ctx context.Context, files []*file) error {
	var unread []*file
	var size int64
	for _, f := range files {
		if f.flags&flagUnread != 0 {
			unread = append(unread, f)
			size += f.size
		}
	}
	if len(unread) == 0 || len(unread) > eagerFiles || size > eagerBytes {
		return ctx.Err()
	}
	const alone = 8 // so few are read sooner than goroutines start
	workers := 1
	if len(unread) > alone {
		workers = maxWorkers()
	}
	var all sync.WaitGroup
	for w := range workers {
		read := func() {
			r := newReader(x.root)
			defer r.close()
			for i := w; i < len(unread); i += workers {
				unread[i].read(r)
			}
		}
		if w == workers-1 {
			read()
			continue
		}
		all.Go(read)
	}
	all.Wait()
	return ctx.Err()
}

// read fills a file that nobody else has seen. It stays unread when what was read
// is not what the tree knows: a directory above it was away, or another one.
func (f *file) read(r *reader) {
	c, _, err := r.load(f.path, f.size, nil)
	failed := unreadable(err)
	if err != nil && failed == "" || !r.still(f.entry) {
		return
	}
	f.content, f.failed = c, failed
	f.flags &^= flagUnread
	if c.binary {
		f.flags |= flagBinary
	}
}
