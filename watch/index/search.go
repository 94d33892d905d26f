package index

import (
	"context"
	"runtime"
	"sync"
)

// search is one query under way. It does not change once it runs.
type search struct {
	snapshot *Snapshot
	query    Query
	scope    scope
	filter   *filter
	joined   bool // a match may go over several lines, so over blocks
	most     int  // matches after which a worker need not go on; 0: none
	verify   bool // compare files with a match to the disk
}

// verifyUpTo is how many matching lines make an answer that is not short.
const verifyUpTo = 128

// Search finds lines in path order, and hands them to emit until it returns
// false. emit is called by one goroutine at a time.
func (s *Snapshot) Search(ctx context.Context, q Query, emit func(Line) bool) (Summary, error) {
	globs, err := CompileGlobs(q.Glob)
	if err != nil {
		return Summary{}, err
	}
	views := lay(s.views, q.Overlay)
	se := &search{snapshot: s, query: q, joined: q.Pattern.Multiline()}
	se.scope = scopeOf(views, q.Under, q.Hidden, globs)
	se.filter = newFilter(q.Pattern.Need(), &s.index.common)
	c := &collector{query: q, emit: emit}
	c.summary.Generation = s.generation
	p := &planner{search: se, views: se.scope.views(views), weight: firstWeight, summary: &c.summary}
	if q.Limit > 0 {
		se.most = q.Offset + q.Limit + 1 // one more shows that there are more
		se.verify = q.Verify && se.most <= verifyUpTo
	}
	s.index.searching.Add(1)
	err = se.run(ctx, p, c)
	s.index.searching.Add(-1)
	if err != nil {
		return Summary{}, err
	}
	return c.finish(), ctx.Err()
}

// alone is how many pieces of a search the caller does itself: that is sooner done
// than goroutines are started.
const alone = 2

// run does the planned work.
func (se *search) run(ctx context.Context, p *planner, c *collector) error {
	var pieces [][]span
	for len(pieces) <= alone {
		spans := p.piece()
		if len(spans) == 0 {
			se.verify = se.query.Verify // all there is to do is little
			break
		}
		pieces = append(pieces, spans)
	}
	sc := newScanner(se)
	defer sc.close()
	var r result
	for _, spans := range pieces[:min(len(pieces), alone)] {
		r = result{lines: r.lines[:0]}
		sc.do(ctx, spans, &r)
		if !c.take(ctx, &r) || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(pieces) <= alone {
		return nil
	}
	return se.parallel(ctx, p, c, pieces[alone])
}

// task is a piece of work on its way.
type task struct {
	spans []span
	result
	done chan struct{} // closed by the worker
}

// parallel does pieces of work on all cores and takes the results in order. So
// many are under way that a slow one does not stop the others, and so few that
// results do not pile up.
func (se *search) parallel(ctx context.Context, p *planner, c *collector, next []span) error {
	ctx, stop := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	window := 4 * workers
	work := make(chan *task, window)
	var all sync.WaitGroup
	defer all.Wait()
	defer close(work)
	defer stop()
	for range workers {
		all.Go(func() {
			sc := newScanner(se)
			defer sc.close()
			for t := range work {
				sc.do(ctx, t.spans, &t.result)
				close(t.done)
			}
		})
	}
	queue := make([]*task, 0, window)
	var used [][]Line // of results that were taken
	start := func(spans []span) {
		t := &task{spans: spans, done: make(chan struct{})}
		if n := len(used); n > 0 {
			t.lines, used = used[n-1][:0], used[:n-1]
		}
		queue = append(queue, t)
		work <- t
	}
	for len(next) > 0 || len(queue) > 0 {
		for len(next) > 0 && len(queue) < window {
			start(next)
			next = p.piece()
		}
		t := queue[0]
		queue = append(queue[:0], queue[1:]...)
		<-t.done
		if err := ctx.Err(); err != nil {
			return err
		}
		if !c.take(ctx, &t.result) {
			return ctx.Err()
		}
		used = append(used, t.lines)
	}
	return nil
}
