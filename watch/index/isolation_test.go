package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/loomd/loomd/watch/match"
)

func compile(t testing.TB, o match.Options) *match.Pattern {
	t.Helper()
	p, err := match.Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSnapshotStaysAsItIs reads one snapshot over and over while files change a
// thousand times, views are made parts anew, and other snapshots come and go.
func TestSnapshotStaysAsItIs(t *testing.T) {
	updates := 150
	if soak {
		updates = 1000
	}
	f := newForest(t)
	r := rand.New(rand.NewPCG(7, 7))
	for range 80 {
		edit(t, r, f)
	}
	x := f.open(t, Options{limits: tiny})
	built(t, x)
	s := snapshot(t, x)
	defer s.Release()
	q := Query{Pattern: compile(t, match.Options{Pattern: "needle|Server"}), Hidden: true, After: 1}
	want, _ := ask(t, s, q)
	listed := paths(t, s, List{Hidden: true, Dirs: true})
	done := make(chan struct{})
	var readers sync.WaitGroup
	stop := sync.OnceFunc(func() {
		close(done)
		readers.Wait()
	})
	defer stop() // before the snapshot is released, however the test ends
	for range 3 {
		readers.Go(func() {
			for {
				if got, _ := ask(t, s, q); !slices.Equal(got, want) {
					t.Errorf("the answer changed: %d lines, then %d", len(want), len(got))
					return
				}
				if got := paths(t, s, List{Hidden: true, Dirs: true}); !slices.Equal(got, listed) {
					t.Errorf("the list changed: %d entries, then %d", len(listed), len(got))
					return
				}
				other, err := x.Snapshot(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				ask(t, other, q)
				other.Release()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range updates {
		edit(t, r, f)
		snapshot(t, x).Release()
	}
	stop()
	settle(t, x)
	now := snapshot(t, x)
	defer now.Release()
	compare(t, f, now, Query{Hidden: true}, match.Options{Pattern: "needle|Server"})
}

func paths(t testing.TB, s *Snapshot, l List) []string {
	t.Helper()
	var list []string
	_, err := s.Glob(context.Background(), l, func(e Entry) bool {
		list = append(list, e.Path)
		return true
	})
	if err != nil {
		t.Error(err)
	}
	return list
}

// TestMemoryIsGivenBack checks that parts that nobody holds keep no memory.
func TestMemoryIsGivenBack(t *testing.T) {
	f := newForest(t)
	for i := range 200 {
		f.write(t, fmt.Sprintf("d%d/f%d", i%7, i), randomText(rand.New(rand.NewPCG(uint64(i), 3)), 2000))
	}
	x := f.open(t, Options{limits: tiny})
	built(t, x)
	held := snapshot(t, x)
	before := x.Status()
	for i := range 200 {
		f.remove(t, fmt.Sprintf("d%d/f%d", i%7, i))
	}
	for i := range 40 { // enough for the views to be made anew
		f.write(t, fmt.Sprintf("new%d", i), "x")
	}
	built(t, x)
	if st := x.Status(); st.Kept < before.Kept || st.Rows < before.Rows {
		t.Errorf("memory of a snapshot that is held was given back: %+v, then %+v", before, st)
	}
	held.Release()
	if st := x.Status(); st.Kept > before.Kept/10 {
		t.Errorf("%d bytes of texts are kept of %d, and nothing is there", st.Kept, before.Kept)
	}
}

// TestSearchEndsWhenCancelled cancels a search from its own results, and before.
func TestSearchEndsWhenCancelled(t *testing.T) {
	f := newForest(t)
	for i := range 400 {
		f.write(t, fmt.Sprintf("f%d", i), "line\nline\n")
	}
	x := f.open(t, Options{limits: tiny})
	built(t, x)
	s := snapshot(t, x)
	defer s.Release()
	q := Query{Pattern: compile(t, match.Options{Pattern: "line"})}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := s.Search(ctx, q, func(Line) bool {
		if n++; n == 10 {
			cancel()
		}
		return true
	})
	if !errors.Is(err, context.Canceled) || n == 800 {
		t.Errorf("after %d lines: %v", n, err)
	}
	if _, err := s.Search(ctx, q, func(Line) bool { t.Error("a line"); return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("search with an ended context: %v", err)
	}
	n = 0
	sum, err := s.Search(t.Context(), q, func(Line) bool { n++; return n < 5 })
	if err != nil || n != 5 || sum.Exact {
		t.Errorf("stopped after %d lines: %+v, %v", n, sum, err)
	}
	if _, err := x.Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("snapshot with an ended context: %v", err)
	}
}

// TestUnannouncedWriteIsFound changes a file of which no event tells: its match
// is compared to the disk before it is reported.
func TestUnannouncedWriteIsFound(t *testing.T) {
	f := newForest(t)
	f.write(t, "a", "needle one\n")
	f.write(t, "b", "needle one\n")
	x := f.open(t, Options{})
	built(t, x)
	f.quietly(t, "b", "needle two, and more\n")
	s := snapshot(t, x)
	defer s.Release()
	got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: "needle"}), Verify: true})
	if want := []string{"a:1:needle one", "b:1:needle two, and more"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestClosedIndex checks what a closed index says.
func TestClosedIndex(t *testing.T) {
	f := newForest(t)
	f.write(t, "a", "text\n")
	x, err := Open(Options{Tree: f, Root: f.dir})
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot(t, x)
	settle(t, x)
	kept := snapshot(t, x)
	s.Release()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := ask(t, kept, Query{Pattern: compile(t, match.Options{Pattern: "text"}), Limit: 500}); len(got) != 1 {
		t.Errorf("a held snapshot finds %q", got)
	}
	kept.Release()
	if _, err := x.Snapshot(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("a closed index: %v", err)
	}
}
