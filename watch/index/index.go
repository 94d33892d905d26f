package index

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loomd/loomd/watch"
)

// Tree is what an Index follows: a *watch.Tree, or one that a test plays.
type Tree interface {
	Sync(ctx context.Context, since uint64) (watch.Changes, error)
	Ready() <-chan struct{}
	Status() watch.TreeStatus
}

// Options says what is indexed and with how much memory.
type Options struct {
	Tree Tree
	// Root is the directory that the tree's paths are below: absolute, without
	// links. No link below it is followed.
	Root string
	// Memory is how many bytes of texts are kept; what is beyond is read when it
	// is searched. 0 is a quarter of the machine's memory, at most 2 GiB.
	Memory int64
	Logger *slog.Logger

	limits limits // for tests
}

// Index holds the files of one root. Its methods may be called from any
// goroutine.
type Index struct {
	tree   Tree
	root   root
	logger *slog.Logger
	limits limits
	memory memory
	common rowCounts

	searching atomic.Int32 // searches under way

	applying sync.Mutex // held while changes are read and applied; before mu

	mu       sync.Mutex // guards what follows
	current  *Snapshot  // nil before the first build begins
	building map[*part]bool
	workers  int
	settled  chan struct{} // closed when the last worker ends; nil while there is none

	closing <-chan struct{} // closed by close
	close   context.CancelFunc
	running sync.WaitGroup
}

var errClosed = errors.New("index is closed")

// Open begins to index a root. It returns at once; the texts are read in the
// background, and searches read from the disk what is not there yet.
func Open(o Options) (*Index, error) {
	r, err := openRoot(o.Root)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.limits == (limits{}) {
		o.limits = usualLimits
	}
	x := &Index{tree: o.Tree, root: r, logger: o.Logger, limits: o.limits, building: map[*part]bool{}}
	x.memory.budget = budgetOf(o.Memory)
	ctx, cancel := context.WithCancel(context.Background())
	x.closing, x.close = ctx.Done(), cancel
	x.running.Go(func() { x.follow(ctx) })
	return x, nil
}

func (x *Index) isClosing() bool {
	select {
	case <-x.closing:
		return true
	default:
		return false
	}
}

// lookEvery is how often the background looks whether the tree has changed. It
// takes over only what has not changed since it last looked: in the middle of a
// checkout it would take time from that, and do its work twice.
const lookEvery = 250 * time.Millisecond

// follow takes the tree over as soon as it is there, so that the first search
// finds the building under way, and what changes when nobody searches.
func (x *Index) follow(ctx context.Context) {
	select {
	case <-x.tree.Ready():
	case <-ctx.Done():
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	before := x.tree.Status().Generation
	failed := uint64(0) // the generation that could not be taken over
	for {
		now := x.tree.Status().Generation
		if at, begun := x.generation(); (!begun || now == before && now != at) && now != failed {
			failed = x.takeOver(ctx, now)
		}
		before = now
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// takeOver takes over what has changed. It returns the generation if that failed:
// it is not tried again, until a search does.
func (x *Index) takeOver(ctx context.Context, generation uint64) (failed uint64) {
	s, err := x.Snapshot(ctx)
	if err == nil {
		s.Release()
		return 0
	}
	if ctx.Err() == nil {
		x.logger.Warn("index could not follow the tree", "generation", generation, "err", err)
	}
	return generation
}

// Settle waits until nothing is left to build.
func (x *Index) Settle(ctx context.Context) error {
	x.mu.Lock()
	settled := x.settled
	x.mu.Unlock()
	if settled == nil {
		return nil
	}
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the building. Snapshots that are still held stay valid, but for
// what they would read from the disk.
func (x *Index) Close() error {
	x.close()
	x.running.Wait()
	x.applying.Lock()
	defer x.applying.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current != nil {
		x.current.Release()
		x.current = nil
	}
	return x.root.close()
}

// Snapshot returns what is there now: everything that was finished before the
// call is in it. The first one waits for the tree's first scan.
func (x *Index) Snapshot(ctx context.Context) (*Snapshot, error) {
	since, _ := x.generation()
	changes, err := x.tree.Sync(ctx, since)
	if err != nil {
		return nil, err
	}
	if err := x.apply(ctx, changes); err != nil {
		return nil, err
	}
	return x.acquire()
}

// generation returns what the current snapshot shows, and whether there is one.
func (x *Index) generation() (uint64, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return 0, false
	}
	return x.current.generation, true
}

func (x *Index) acquire() (*Snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return nil, errClosed
	}
	x.current.holders.Add(1)
	return x.current, nil
}

// publish makes views the current ones. x.mu is held.
func (x *Index) publish(views []*view, generation uint64) {
	old := x.current
	x.current = newSnapshot(x, views, generation)
	if old != nil {
		old.Release()
	}
	x.wake()
}

// maxWorkers is how many parts are built at the same time.
func maxWorkers() int { return runtime.GOMAXPROCS(0) }

// Status is what the index holds.
type Status struct {
	watch.TreeStatus
	Building bool  // texts are being read or signed
	Texts    int   // files whose text is searched
	Bytes    int64 // of these texts
	Kept     int64 // of them in memory
	Rows     int64 // bytes of signatures
	Budget   int64 // for Kept
	OnDemand int   // files that searches read from the disk
	Binary   int   // files left out because they are binary
	Pending  int   // parts that are not built yet
	Parts    int
}

// Status returns what the index holds.
func (x *Index) Status() Status {
	st := Status{TreeStatus: x.tree.Status(), Kept: x.memory.texts.Load(), Rows: x.memory.rows.Load(), Budget: x.memory.budget}
	s, err := x.acquire()
	if err != nil {
		st.Building = !x.isClosing()
		return st
	}
	defer s.Release()
	for _, v := range s.views {
		v.count(&st)
	}
	x.mu.Lock()
	st.Building = x.workers > 0
	x.mu.Unlock()
	return st
}

func (v *view) count(st *Status) {
	st.Parts++
	p := v.part
	if !p.signed {
		st.Pending++
	}
	one := func(e entry, size int, here bool) {
		switch {
		case e.kind != watch.File:
		case e.flags&flagBinary != 0:
			st.Binary++
		default:
			st.Texts++
			st.Bytes += int64(size)
			if !here {
				st.OnDemand++
			}
		}
	}
	v.each(func(i int) {
		e := p.entry(i)
		if !p.signed || e.flags&flagUnread != 0 {
			one(e, int(e.size), e.size == 0)
			return
		}
		size := int(p.textEnd(i) - p.start[i])
		one(e, size, p.kept || size == 0)
	}, func(f *file) { one(f.entry, len(f.text), f.flags&flagUnread == 0) })
}
