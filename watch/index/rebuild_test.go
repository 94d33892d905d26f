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

// TestDenseTextHasSmallBlocks checks that text with hardly a run of four twice
// does not make blocks that every search has to look through.
func TestDenseTextHasSmallBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	text := make([]byte, 300_000)
	for i := range text {
		text[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[r.IntN(64)]
	}
	f := newForest(t)
	f.write(t, "one_line", string(text))
	for i := 76; i < len(text); i += 77 {
		text[i] = '\n'
	}
	f.write(t, "wrapped", string(text))
	x := f.open(t, Options{})
	built(t, x)
	s := snapshot(t, x)
	defer s.Release()
	p := s.views[0].part
	for b := range p.blocks {
		set := 0
		for row := range uint32(exactRows) {
			set += int(p.row(row, b/64) >> (b % 64) & 1)
		}
		if set > exactRows*7/10 {
			t.Errorf("block %d has %d rows set of %d", b, set, exactRows)
		}
	}
	q := Query{Pattern: compile(t, match.Options{Pattern: "no_such_text_here"})}
	found := newBitmap(len(p.blocks))
	newFilter(q.Pattern.Need(), &x.common).blocks(p, false, found)
	if n := found.next(0, len(p.blocks)); n != len(p.blocks) {
		t.Errorf("block %d may hold a text that is nowhere", n)
	}
	for i := 1000; i < 200_000; i += 1500 { // not over a line end
		at := i - i%77 + 10
		if got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: string(text[at : at+40]), Fixed: true})}); len(got) != 2 {
			t.Fatalf("at %d: %d lines", at, len(got))
		}
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
