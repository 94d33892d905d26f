package watch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The test binary is also the writer of TestTreeReadYourWrites.
func init() {
	if dir := os.Getenv("LOOMD_TEST_WRITER"); dir != "" {
		writeOnDemand(dir)
		os.Exit(0)
	}
}

// writeOnDemand writes the file that each line of stdin names and then says so.
func writeOnDemand(dir string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		name, text, _ := strings.Cut(in.Text(), " ")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("done")
	}
}

// TestTreeReadYourWrites has another process write, and asks at once.
func TestTreeReadYourWrites(t *testing.T) {
	n := 1000
	if long() {
		n = 10_000
	}
	tt := startTree(t)
	tt.sync()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOOMD_TEST_WRITER="+tt.dir)
	stdin, err := cmd.StdinPipe()
	tt.must(err)
	stdout, err := cmd.StdoutPipe()
	tt.must(err)
	tt.must(cmd.Start())
	defer func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	answers := bufio.NewReader(stdout)
	took := make([]time.Duration, 0, n)
	for i := range n {
		name, text := "f"+strconv.Itoa(i%17), strings.Repeat("x", 1+i%1000)
		_, err := fmt.Fprintf(stdin, "%s %s\n", name, text)
		tt.must(err)
		if answer, err := answers.ReadString('\n'); err != nil || answer != "done\n" {
			t.Fatalf("writer says %q, %v", answer, err)
		}
		began := time.Now()
		c := tt.sync()
		took = append(took, time.Since(began))
		if !slices.ContainsFunc(c.Changed, func(e Entry) bool { return e.Path == name && e.Size == int64(len(text)) }) {
			t.Fatalf("write %d to %s is not in %+v", i, name, c)
		}
	}
	t.Logf("%d writes; Sync took p50 %v, p99 %v, at most %v", n, quantile(took, 0.5), quantile(took, 0.99), quantile(took, 1))
}

// quantile sorts list and returns the value at q.
func quantile(list []time.Duration, q float64) time.Duration {
	slices.Sort(list)
	return list[min(int(q*float64(len(list))), len(list)-1)]
}

// gate is a notifier that can be stopped from giving events, as a receiver that
// does not drain.
type gate struct {
	notifier
	events chan fsnotify.Event
	mu     sync.Mutex // held while nothing passes
	done   chan struct{}
}

func newGate() (*gate, error) {
	n, err := openNotifier()
	if err != nil {
		return nil, err
	}
	g := &gate{notifier: n, events: make(chan fsnotify.Event), done: make(chan struct{})}
	go func() {
		defer close(g.done)
		defer close(g.events)
		for e := range n.Events() {
			g.mu.Lock()
			g.events <- e
			g.mu.Unlock()
		}
	}()
	return g, nil
}

func (g *gate) Events() <-chan fsnotify.Event { return g.events }

func (g *gate) Close() error {
	err := g.notifier.Close()
	go func() { // nobody reads any more
		for range g.events {
		}
	}()
	<-g.done
	return err
}

// TestTreeOverflow lets the system's queue overflow while nothing is drained.
func TestTreeOverflow(t *testing.T) {
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip("no limit of queued events is known here")
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || limit > 100_000 {
		t.Skipf("the limit of queued events is %s", data)
	}
	g, err := newGate()
	if err != nil {
		t.Fatal(err)
	}
	tt := newTreeTest(t)
	tt.write("old/a", "")
	tt.write("moved/x/y", "")
	tt.write("again/f", "")
	tt.start(func(o *TreeOptions) { o.open = func() (notifier, error) { return g, nil } })
	again := func() uint64 {
		tt.remove("again")
		tt.mkdir("again")
		st, _, err := statPath(tt.path("again"), false)
		tt.must(err)
		return st.ino
	}
	fill := func(n int) {
		for i := range n {
			tt.must(os.WriteFile(tt.path("old/f"+strconv.Itoa(i%3000)), nil, 0o644))
		}
	}
	fill(3000)
	for was, now := uint64(0), again(); was != now; was, now = now, again() {
	}
	tt.check()
	g.mu.Lock()
	fill(limit + 2000)
	// None of this is told of. First a directory that is another one with the
	// same inode, most likely, of which the watch is gone.
	again()
	tt.rename("moved", "was")
	tt.write("moved/x/z", "")
	tt.write("was/x/n", "")
	tt.remove("old/a")
	waiting := make(chan error, 1)
	go func() {
		_, err := tt.Sync(t.Context(), 0)
		waiting <- err
	}()
	g.mu.Unlock()
	tt.must(<-waiting)
	tt.check()
	tt.write("was/x/n", "1")
	tt.write("moved/x/z", "22")
	tt.write("again/g", "")
	tt.check()
	tt.state("live")
}

// TestTreeManyCreates makes more files than the system's queue holds events.
func TestTreeManyCreates(t *testing.T) {
	tt := startTree(t)
	tt.mkdir("d")
	for i := range 20_000 {
		tt.must(os.WriteFile(tt.path("d/f"+strconv.Itoa(i)), nil, 0o644))
	}
	began := time.Now()
	tt.sync()
	t.Logf("Sync after 20,000 creates took %v", time.Since(began))
	tt.check()
}

// TestTreeWatchesBeforeItLists makes a file in each directory right after it was
// listed: only a watch can tell of it.
func TestTreeWatchesBeforeItLists(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a/b/f", "")
	late := func(rel string) { _ = os.WriteFile(tt.path(rel+"/late"), nil, 0o644) }
	tt.start(func(o *TreeOptions) { o.listed = late })
	tt.sync() // the first scan, in which the files are made
	tt.lists("a", "a/b", "a/b/f", "a/b/late", "a/late", "late")
	tt.mkdir("c/d/e")
	tt.sync()
	tt.lists("a", "a/b", "a/b/f", "a/b/late", "a/late", "c", "c/d", "c/d/e", "c/d/e/late", "c/d/late", "c/late", "late")
	tt.state("live")
}

// TestTreeSyncWaitsForThePassThatRuns asks while the worker is in the middle of
// what happened before.
func TestTreeSyncWaitsForThePassThatRuns(t *testing.T) {
	tt := newTreeTest(t)
	asked := make(chan error, 1)
	tt.start(func(o *TreeOptions) {
		o.listed = func(rel string) {
			if rel == "d" {
				ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
				defer cancel()
				_, err := tt.Sync(ctx, 0)
				asked <- err
			}
		}
	})
	tt.sync()
	tt.write("d/f", "")
	if err := <-asked; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Sync in a pass: %v", err)
	}
	tt.check()
}

// TestTreeMadeFast makes trees at once: nothing in them may be missed.
func TestTreeMadeFast(t *testing.T) {
	rounds := 40
	if long() {
		rounds = 3000
	}
	tt := startTree(t)
	for i := range rounds {
		var making sync.WaitGroup
		for j := range 2 {
			making.Go(func() {
				dir := fmt.Sprintf("r%d/%d/d/e/f/g", i%7, j)
				_ = os.MkdirAll(tt.path(dir), 0o755)
				for k := range 20 {
					_ = os.WriteFile(tt.path(dir+"/"+strconv.Itoa(k)), nil, 0o644)
					_ = os.WriteFile(tt.path(filepath.Dir(dir)+"/"+strconv.Itoa(k)), nil, 0o644)
				}
			})
		}
		making.Wait()
		tt.check()
		if i%7 == 6 {
			tt.remove("r" + strconv.Itoa(i%5))
		}
	}
	tt.state("live")
}

// TestTreeRenameStorm renames directories all the time while others write below.
func TestTreeRenameStorm(t *testing.T) {
	rounds := 3
	if long() {
		rounds = 200
	}
	tt := newTreeTest(t)
	for i := range 8 {
		tt.write(fmt.Sprintf("d%d/a/b/f", i), "")
	}
	tt.start()
	for range rounds {
		var storm sync.WaitGroup
		for w := range 3 {
			storm.Go(func() {
				for i := range 400 {
					from, to := tt.path("d"+strconv.Itoa((i*7+w)%8)), tt.path("d"+strconv.Itoa((i*3+w+1)%9))
					_ = os.Rename(from, to+"/a/in")
					_ = os.Rename(to+"/a/in", from)
					_ = os.Rename(from, to)
					_ = os.WriteFile(to+"/a/b/f", []byte(strconv.Itoa(i)), 0o644)
				}
			})
		}
		storm.Wait()
		tt.check()
	}
	tt.state("live")
}

// TestTreeSyncCancelled ends a Sync whose cookie does not come.
func TestTreeSyncCancelled(t *testing.T) {
	g, err := newGate()
	if err != nil {
		t.Fatal(err)
	}
	tt := startTree(t, func(o *TreeOptions) { o.open = func() (notifier, error) { return g, nil } })
	tt.sync()
	g.mu.Lock()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := tt.Sync(ctx, 0)
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	g.mu.Unlock()
	tt.write("f", "")
	tt.lists("f")
}

// TestTreeClosedWhileBusy closes in the middle of everything.
func TestTreeClosedWhileBusy(t *testing.T) {
	for i := range 8 {
		tt := newTreeTest(t)
		for j := range 100 {
			tt.write(fmt.Sprintf("d%d/e/f", j), "")
		}
		tt.start()
		var busy sync.WaitGroup
		for range 4 {
			busy.Go(func() {
				for {
					if _, err := tt.Sync(context.Background(), 0); err != nil {
						return
					}
				}
			})
		}
		busy.Go(func() {
			for j := range 100 {
				_ = os.WriteFile(tt.path(fmt.Sprintf("d%d/e/g", j)), nil, 0o644)
			}
		})
		if i%2 == 0 {
			<-tt.Ready()
		}
		tt.must(tt.Close())
		busy.Wait()
	}
}

// TestTreeManySyncs has many ask at once: each must see what it wrote itself.
func TestTreeManySyncs(t *testing.T) {
	tt := startTree(t)
	tt.sync()
	var asking sync.WaitGroup
	for w := range 16 {
		asking.Go(func() {
			name := "f" + strconv.Itoa(w)
			for i := range 100 {
				if err := os.WriteFile(tt.path(name), make([]byte, i), 0o644); err != nil {
					t.Error(err)
					return
				}
				if _, err := tt.Sync(context.Background(), 0); err != nil {
					t.Error(err)
					return
				}
				tt.mu.RLock()
				e, ok := tt.entry(name)
				tt.mu.RUnlock()
				if !ok || e.Size != int64(i) {
					t.Errorf("%s has %d bytes, not %d", name, e.Size, i)
				}
			}
		})
	}
	asking.Wait()
}
