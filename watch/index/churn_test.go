//go:build unix

package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// churn is one run: writers, clients, and the subject between them.
type churn struct {
	t       *testing.T
	root    string
	env     []string
	m       *model
	s       *served
	writers []*writer
	git     *branches
	clients []*searcher
}

const churnClients = 8

func newChurn(t *testing.T, kind string) *churn {
	t.Helper()
	base := realTemp(t)
	c := &churn{t: t, root: filepath.Join(base, "root"), env: cleanEnv(filepath.Join(base, "home")), m: newModel()}
	seed := newSeed(t)
	var dirs []string
	for i := range 4 {
		w := &writer{
			m: c.m, rng: rand.New(rand.NewPCG(seed, uint64(i))), root: c.root, disk: tree{}, calm: kind == "scan",
			dir: fmt.Sprintf("w%d", i), attic: filepath.Join(base, fmt.Sprintf("attic%d", i)),
		}
		for _, dir := range []string{w.attic, w.abs(w.dir)} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		c.writers, dirs = append(c.writers, w), append(dirs, w.dir)
	}
	c.git = &branches{writer: c.writers[2], env: c.env, trees: map[string]tree{}}
	if err := c.git.prepare(size(60, 300)); err != nil {
		t.Fatal(err)
	}
	c.s = serve(t, kind, c.root, c.env)
	for i := range churnClients {
		c.clients = append(c.clients, &searcher{s: c.s, m: c.m, rng: rand.New(rand.NewPCG(seed, uint64(100+i))), dirs: dirs})
	}
	return c
}

// run lets everybody work for a time and returns the first thing that was wrong.
// The time is checked between operations.
func (c *churn) run(during time.Duration) error {
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex // guards wrong
		wrong error
		ended atomic.Bool
	)
	loop := func(step func() error) {
		wait.Go(func() {
			for !ended.Load() {
				if err := step(); err != nil {
					mu.Lock()
					wrong = errors.Join(wrong, err)
					mu.Unlock()
					ended.Store(true)
				}
			}
		})
	}
	loop(c.writers[0].step)
	loop(c.writers[1].step)
	loop(c.git.checkout)
	loop(func() error { return c.writers[3].storm(400) })
	for _, cl := range c.clients {
		loop(func() error { return cl.ask(context.Background()) })
	}
	timer := time.AfterFunc(during, func() { ended.Store(true) })
	defer timer.Stop()
	wait.Wait()
	return wrong
}

// overflow stops the subject's process while more happens than the system's
// queue of events holds.
func (c *churn) overflow() error {
	c.s.signal(c.t, syscall.SIGSTOP)
	asked := make(chan error, len(c.clients))
	for _, cl := range c.clients {
		go func() { asked <- cl.search(context.Background(), question{Pattern: needle, Mode: contentMode}) }()
	}
	err := c.writers[3].flood(maxQueued(c.t)/2 + 1000)
	for _, w := range c.writers[:2] {
		for range 50 {
			err = errors.Join(err, w.step())
		}
	}
	c.s.signal(c.t, syscall.SIGCONT)
	for range c.clients {
		err = errors.Join(err, <-asked)
	}
	for _, cl := range c.clients {
		err = errors.Join(err, cl.ask(context.Background()))
	}
	return err
}

// settled compares the subject with the disk when nothing moves any more.
func (c *churn) settled() {
	c.t.Helper()
	compareWithDisk(c.t, c.s, c.root, c.env)
}

func compareWithDisk(t *testing.T, s subject, root string, env []string) {
	t.Helper()
	disk, ctx := scanned{root, envOf(env)}, context.Background()
	got, err := s.List(ctx, ".", true)
	if err != nil {
		t.Fatal(err)
	}
	want, err := disk.List(ctx, ".", true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(names(got), names(want)); diff != "" {
		t.Errorf("list in the end: %s", diff)
	}
	q := question{Pattern: `.`, Mode: contentMode}
	gotRows, err := s.Search(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	wantRows, err := disk.Search(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(gotRows, wantRows); diff != "" {
		t.Errorf("all lines in the end: %s", diff)
	}
}

// TestChurn: while writers do all that can be done to a tree, 8 clients search,
// and every answer is one that was true between its call and its reply. The
// queue of events overflows, too. In the end the index equals a scan.
func TestChurn(t *testing.T) {
	for _, kind := range []string{"scan", "index", "small"} {
		t.Run(kind, func(t *testing.T) {
			c := newChurn(t, kind)
			during := time.Duration(size(4, 120)) * time.Second
			if kind != "index" {
				during = time.Duration(size(2, 20)) * time.Second
			}
			rounds := size(1, 6)
			for range rounds {
				if err := errors.Join(c.run(during/time.Duration(rounds)), c.overflow()); err != nil {
					c.t.Error(err)
					break
				}
			}
			c.settled()
			c.report()
			if kind != "scan" && runtime.GOOS == "linux" && !c.s.said(eventsLost) {
				c.t.Error("the queue of events did not overflow")
			}
		})
	}
}

func (c *churn) report() {
	answers, writes := 0, 0
	for _, cl := range c.clients {
		answers += cl.n
	}
	for _, w := range c.writers {
		writes += w.count
	}
	status, err := c.s.status()
	c.t.Logf("%d answers checked, %d texts written; status %s (%v)", answers, writes, status, err)
}

// TestChurnFindsStaleAnswers: the model finds a subject that answers from what it
// saw a moment ago.
func TestChurnFindsStaleAnswers(t *testing.T) {
	c := newChurn(t, "stale")
	if err := c.run(2 * time.Second); err == nil || !strings.Contains(err.Error(), "could be") {
		t.Errorf("a stale subject was not found: %v", err)
	}
}

// openTight is an index whose memory holds a part of what a churn writes.
func openTight(t *testing.T, root string, env []string) subject {
	t.Helper()
	return openIndexed(t, root, env, 4<<10)
}

// stale answers every second time what it answered before.
type stale struct {
	scanned
	mu   sync.Mutex // guards rows
	rows map[string][]row
}

func openStale(_ *testing.T, root string, env []string) subject {
	return &stale{scanned: scanned{root, envOf(env)}, rows: map[string][]row{}}
}

func (s *stale) Search(ctx context.Context, q question) ([]row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rows, ok := s.rows[q.String()]; ok {
		delete(s.rows, q.String())
		return rows, nil
	}
	rows, err := s.scanned.Search(ctx, q)
	s.rows[q.String()] = rows
	return rows, err
}
