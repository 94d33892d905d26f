package watch

import (
	"math"
	"time"
)

// A sweep looks at every file for what no event tells: what was written through a
// mapping, and through a name of the file that is not in the tree. It runs beside
// everything else while somebody asks, and takes a small share of the time.
const (
	sweepEvery = time.Minute
	sweepShare = 300 // how many times as long as a sweep took nothing is swept
)

// wantSweep has a sweep begin if one is due.
func (t *Tree) wantSweep() {
	if time.Now().UnixNano() >= t.nextSweep.Load() {
		poke(t.sweepWanted)
	}
}

func (t *Tree) sweeps() {
	for {
		select {
		case <-t.closing:
			return
		case <-t.sweepWanted:
		}
		begun := time.Now()
		t.nextSweep.Store(math.MaxInt64)
		t.sweep()
		ended := time.Now()
		t.nextSweep.Store(ended.Add(max(t.sweepEvery, sweepShare*ended.Sub(begun))).UnixNano())
	}
}

// swept is a file as the tree has it.
type swept struct {
	rel string
	stamp
}

// sweep hands the worker what is another than the tree has.
func (t *Tree) sweep() {
	files, rules := t.sweepList()
	for _, f := range files {
		if t.isClosing() {
			return
		}
		now, _, err := statPath(t.watches.abs(f.rel), false)
		if vanished(err) || err == nil && !f.same(now) {
			t.lookLater(lookAtEntry, f.rel)
		}
	}
	seen := make(map[string]stamp, len(rules))
	for _, dir := range rules {
		for _, name := range []string{".gitignore", ".ignore"} {
			rel := join(dir, name)
			now, _, _ := statPath(t.watches.abs(rel), false)
			seen[rel] = now
			if was, known := t.sweptRules[rel]; known && !was.same(now) {
				t.lookLater(lookAtRules, dir)
			}
		}
	}
	t.sweptRules = seen
}

func (t *Tree) lookLater(what lookAt, rel string) {
	t.queue.put(nil, func(w *work) { w.looks = append(w.looks, look{what, rel}) })
}

// sweepList returns all files, and the directories that rules are read from.
func (t *Tree) sweepList() (files []swept, rules []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	files = make([]swept, 0, t.files)
	for rel, d := range t.dirs {
		for name, s := range d.files {
			files = append(files, swept{join(rel, name), s})
		}
		if d.sources != "" {
			rules = append(rules, rel)
		}
	}
	return files, rules
}
