package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loomd/loomd/watch/match"
)

// TestChangesWhileAPartIsBuilt takes the workers' place: between the building of
// parts and their coming into use files are changed, removed and added, of the
// part and beside it.
func TestChangesWhileAPartIsBuilt(t *testing.T) {
	f := newForest(t)
	r := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		edit(t, r, f)
	}
	x := f.open(t, Options{limits: tiny})
	x.mu.Lock()
	x.workers = maxWorkers() // none starts
	x.mu.Unlock()
	b := &builder{memory: &x.memory, limits: x.limits}
	for round := range 60 {
		for range 1 + r.IntN(4) {
			edit(t, r, f)
		}
		snapshot(t, x).Release()
		x.mu.Lock()
		j, ok := x.nextJob()
		if !ok { // make any view anew
			v := x.current.views[r.IntN(len(x.current.views))]
			v.part.hold()
			x.building[v.part] = true
			j = job{[]*view{v}}
		}
		x.mu.Unlock()
		parts := x.build(b, j)
		for range 1 + r.IntN(8) {
			edit(t, r, f)
		}
		for _, e := range j.views[0].extra {
			if _, err := f.entry(e.path); err == nil && r.IntN(3) == 0 {
				f.remove(t, e.path)
			}
		}
		snapshot(t, x).Release()
		x.mu.Lock()
		for _, v := range j.views {
			delete(x.building, v.part)
		}
		x.replace(j, parts)
		for _, v := range j.views {
			v.part.release()
		}
		x.mu.Unlock()
		s := snapshot(t, x)
		compare(t, f, s, Query{Hidden: true}, match.Options{Pattern: "needle|Server"})
		var want []string
		for _, e := range f.list() {
			want = append(want, e.Path)
		}
		slices.Sort(want)
		if got := paths(t, s, List{Hidden: true, Dirs: true}); !slices.Equal(got, want) {
			t.Fatalf("round %d: %q, want %q", round, got, want)
		}
		s.Release()
	}
}

// TestPartsKeepTheirBounds checks that parts do not grow without end, and that
// small ones become one.
func TestPartsKeepTheirBounds(t *testing.T) {
	f := newForest(t)
	x := f.open(t, Options{limits: tiny})
	for i := range 300 {
		f.write(t, fmt.Sprintf("d/f%03d", i), "some text\n")
		if i%50 == 0 {
			built(t, x)
		}
	}
	built(t, x)
	s := snapshot(t, x)
	for _, v := range s.views {
		if v.part.len() > tiny.entries || len(v.extra) > muchExtra {
			t.Errorf("a view of %d entries and %d beside it", v.part.len(), len(v.extra))
		}
	}
	before := len(s.views)
	s.Release()
	for i := range 300 {
		if i%30 != 0 {
			f.remove(t, fmt.Sprintf("d/f%03d", i))
		}
	}
	for range 20 { // each pass joins neighbours
		built(t, x)
		f.write(t, "z", "some text\n")
	}
	if now := x.Status().Parts; now > before/2 {
		t.Errorf("%d parts for 11 files, %d for 300", now, before)
	}
}
