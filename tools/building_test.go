package tools

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// builds is a first build that is done when it was asked about left times.
type builds struct{ left atomic.Int32 }

func (b *builds) Snapshot(context.Context) (Snapshot, error) { return nil, nil }

func (b *builds) Building() (done, total int, ok bool) {
	left := int(b.left.Add(-1))
	if left > 3 {
		return 10, 0, true // the walk, of which nobody knows the length
	}
	return 100 - 25*left, 100, left >= 0
}

func TestTellBuilding(t *testing.T) {
	b := &builds{}
	b.left.Store(6)
	told := make(chan Progress, 10)
	stop := TellBuilding([]Searcher{nil, b}, func(p Progress) { told <- p })
	want := []Progress{
		{"the index is being built: 10 files found", 0, 1},
		{"the index is being built: 10 files found", 0, 1},
		{"the index is being built: 25 of 100 files", 25, 100},
		{"the index is being built: 50 of 100 files", 50, 100},
	}
	for i, w := range want {
		select {
		case got := <-told:
			if got != w {
				t.Errorf("%d: %+v, want %+v", i, got, w)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%d was not told", i)
		}
	}
	stop() // before it is over: nothing is told any more
	for len(told) > 0 {
		<-told
	}
	b.left.Store(0)
	TellBuilding([]Searcher{b}, func(p Progress) { told <- p })()
	TellBuilding([]Searcher{b}, nil)()
	if len(told) > 0 {
		t.Errorf("told of what is over: %+v", <-told)
	}
}
