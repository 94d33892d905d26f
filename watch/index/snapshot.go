package index

import (
	"sync/atomic"
)

// Snapshot is what was there at one moment. It must be released, once; what it
// handed out is valid until then.
//
// Texts that are in memory are those of that moment. Where the budget leaves
// none, or a first build is still under way, a search reads the file as it is
// when it comes to it.
type Snapshot struct {
	views      []*view
	generation uint64
	index      *Index
	holders    atomic.Int64
}

// newSnapshot returns a snapshot that the caller holds.
func newSnapshot(x *Index, views []*view, generation uint64) *Snapshot {
	for _, v := range views {
		v.part.hold()
	}
	s := &Snapshot{views: views, generation: generation, index: x}
	s.holders.Store(1)
	return s
}

// Generation is the tree's generation that the snapshot shows.
func (s *Snapshot) Generation() uint64 { return s.generation }

// Release gives the snapshot back.
func (s *Snapshot) Release() {
	if s.holders.Add(-1) == 0 {
		for _, v := range s.views {
			v.part.release()
		}
	}
}
