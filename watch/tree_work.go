package watch

import (
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// work brings the tree up to what is in the queue, until Close.
func (t *Tree) work() {
	t.build()
	t.queue.rest()
	audit := time.NewTimer(t.audit)
	defer audit.Stop()
	settled := time.NewTimer(t.settle)
	defer settled.Stop()
	for {
		select {
		case <-t.closing:
			return
		case <-t.queue.urgent:
		case <-t.queue.wake:
			settled.Reset(t.settle)
			select {
			case <-t.closing:
				return
			case <-t.queue.urgent:
			case <-settled.C:
			}
		case <-audit.C:
			audit.Reset(t.audit)
			t.queue.put(nil, func(w *work) { w.audit = true })
		}
		w := t.queue.take()
		if w.empty() {
			continue
		}
		t.pass(w)
		t.queue.rest()
		for _, b := range w.served {
			close(b.done)
		}
	}
}

// build is the first scan.
func (t *Tree) build() {
	t.mounts = mountTable()
	t.readSurroundings()
	t.openRoot()
	for _, rel := range append(t.run(t.everything(false)), t.otherNames()...) {
		t.queue.put(nil, func(w *work) { w.looks = append(w.looks, look{lookAtEntry, rel}) })
	}
	t.mu.Lock()
	t.built = true
	t.logging, t.touched = true, false
	t.generation, t.floor = 1, 1
	t.mu.Unlock()
	t.publish()
	t.nextSweep.Store(time.Now().Add(t.sweepEvery).UnixNano())
	close(t.ready)
}

// openRoot opens what is at the root's path now. Without a directory there the
// tree is empty.
func (t *Tree) openRoot() {
	if t.disk != nil {
		t.disk.close()
		t.disk = nil
	}
	t.inputsTouched = true
	d, err := openDisk(t.root)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.disk, t.gone = d, time.Time{}
		return
	}
	if t.gone.IsZero() {
		t.gone = time.Now()
		t.logger.Warn("root is gone", "root", t.root, "error", err)
	}
	if t.top == nil {
		return
	}
	for name := range t.top.files {
		t.dropFile(t.top, name)
	}
	for name, sub := range t.top.subs {
		t.dropDir(t.top, name, sub)
	}
	t.forget(t.top)
	t.top = nil
	t.commit()
}

// everything is the visit of the whole tree.
func (t *Tree) everything(anew bool) []*visit {
	if t.disk == nil {
		return nil
	}
	v := t.start(".", nil, t.top, t.disk.key())
	v.deep, v.anew = true, anew
	return []*visit{v}
}

// pass does all of w.
func (t *Tree) pass(w work) {
	if w.audit {
		w.lost = t.check() || w.lost
		w.polls = true
		w.looks = append(w.looks, t.lookOutside()...)
	}
	h := t.sortEvents(w.events)
	for _, l := range w.looks {
		switch l.what {
		case lookAtRoot:
			h.root = true
		case lookAtSurroundings:
			h.surroundings = true
		case lookAtRules:
			h.relist(t.dirs[l.path])
		case lookAtEntry:
			h.add(t, l.path, fsnotify.Rename)
		}
	}
	if w.polls {
		h.addPolled(t)
	}
	doubts := append(t.follow(h, w.lost), t.otherNames()...)
	// What another directory's move showed to be elsewhere is looked at again;
	// more than once only while directories keep moving.
	for range maxDoubts {
		if len(doubts) == 0 {
			break
		}
		h := t.sortEvents(nil)
		for _, rel := range doubts {
			h.add(t, rel, fsnotify.Rename)
		}
		doubts = append(t.follow(h, false), t.otherNames()...)
	}
	for _, rel := range doubts {
		t.queue.put(nil, func(w *work) { w.looks = append(w.looks, look{lookAtEntry, rel}) })
	}
	t.publish()
}

// maxDoubts bounds how often one pass looks again at what moved.
const maxDoubts = 32

// follow looks at what hints name, or at everything: when events were lost, when
// another directory is the root, or when other rules reach it. It returns paths
// to look at again.
func (t *Tree) follow(h *hints, lost bool) (doubts []string) {
	if h.root && t.checkRoot() {
		lost = true
	}
	whole := (h.surroundings || lost) && t.readSurroundings()
	t.dropSuspects(h)
	if t.disk == nil {
		return nil
	}
	if lost {
		t.setBehind(true)
		defer t.setBehind(false)
		t.rewatchCookies()
		return t.run(t.everything(true))
	}
	if whole {
		return t.run(t.everything(false))
	}
	var starts []*visit
	for _, d := range h.sorted() {
		if t.standing(d) {
			found, again := t.restat(d, h)
			doubts = append(doubts, again...)
			if !h.relisted[d] { // else they are found once more
				starts = append(starts, found...)
			}
		}
	}
	for d := range h.relisted {
		if t.standing(d) {
			starts = append(starts, t.start(d.path, d.parent, d, d.key))
		}
	}
	slices.SortFunc(starts, func(a, b *visit) int { return strings.Compare(a.path, b.path) })
	return append(doubts, t.run(starts)...)
}

// standing reports whether a directory is the tree's, and neither it nor one
// above is suspected to be another by now: then it is looked at with that one.
func (t *Tree) standing(d *treeDir) bool {
	if !t.attached(d) {
		return false
	}
	for ; d != nil; d = d.parent {
		if d.suspect {
			return false
		}
	}
	return true
}

func (t *Tree) setBehind(on bool) {
	t.mu.Lock()
	t.behind = on
	t.mu.Unlock()
}

// checkRoot reports whether another directory is at the root's path than was, or
// none, or again one.
func (t *Tree) checkRoot() bool {
	st, key, err := statPath(t.root, false)
	there := err == nil && st.kind == Dir
	if there == (t.disk != nil) && (!there || key == t.disk.key()) {
		return false
	}
	t.openRoot()
	return true
}

// check looks for what no event tells: the regular look. It reports whether
// everything has to be looked at.
func (t *Tree) check() (lost bool) {
	t.watches.retry()
	if mounts := mountTable(); mounts != t.mounts {
		t.mounts = mounts
		lost = true
	}
	if t.watches.dead() {
		t.connect()
		lost = lost || !t.watches.dead()
	}
	return lost
}

// lookOutside compares what is outside of what events tell of.
func (t *Tree) lookOutside() (looks []look) {
	rootChanged, owners := t.outside.Load().look(t.root, true)
	return looksAt(rootChanged, owners)
}

func looksAt(rootChanged bool, owners []string) (looks []look) {
	if rootChanged {
		looks = append(looks, look{what: lookAtRoot})
	}
	for _, owner := range owners {
		if owner == "" {
			looks = append(looks, look{what: lookAtSurroundings})
		} else {
			looks = append(looks, look{lookAtRules, owner})
		}
	}
	return looks
}

// rewatchCookies makes sure that cookies are seen. Without them there is no
// telling what events are still to come, so then nothing is watched.
func (t *Tree) rewatchCookies() {
	if err := t.watches.addCookies(t.cookieDir); err != nil {
		t.logger.Error("cookies cannot be watched, polling", "root", t.root, "error", err)
		t.watches.abandon(err)
	}
}
