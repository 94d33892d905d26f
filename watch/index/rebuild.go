package index

import (
	"runtime/debug"
	"slices"
	"time"
)

// A view is made a part again when it has so many files, or bytes of them,
// beside its part: each search does them one by one and unsigned. So it is when
// more than half of its part is gone.
const (
	muchExtra      = 32
	muchExtraBytes = 1 << 20
)

// job is a run of neighbouring views that become parts anew.
type job struct{ views []*view }

// wake starts workers when there is something to build. x.mu is held.
func (x *Index) wake() {
	for x.workers < maxWorkers() && !x.isClosing() {
		j, ok := x.nextJob()
		if !ok {
			return
		}
		if x.workers++; x.workers == 1 {
			x.settled = make(chan struct{})
		}
		x.running.Add(1)
		go x.work(j)
	}
}

// nextJob takes a job: a stale view, or two small ones. x.mu is held.
func (x *Index) nextJob() (job, bool) {
	views := x.current.views
	for i, v := range views {
		if x.building[v.part] {
			continue
		}
		j := job{[]*view{v}}
		if i+1 < len(views) && !x.building[views[i+1].part] && x.small(v) && x.small(views[i+1]) {
			j.views = append(j.views, views[i+1])
		} else if !v.stale() {
			continue
		}
		for _, v := range j.views {
			v.part.hold()
			x.building[v.part] = true
		}
		return j, true
	}
	return job{}, false
}

// stale reports whether a view should be made a part anew.
func (v *view) stale() bool {
	if !v.part.signed || len(v.extra) >= muchExtra {
		return true
	}
	bytes := 0
	for _, f := range v.extra {
		if f.flags&flagUnread != 0 && f.size <= maxKept {
			return true
		}
		bytes += len(f.text)
	}
	return bytes >= muchExtraBytes || v.dead != nil && 2*(v.dead.count()-len(v.extra)) > v.part.len()
}

// small reports whether two such views make one part.
func (x *Index) small(v *view) bool {
	return v.part.signed && v.part.len()+len(v.extra) < x.limits.entries/4 && v.part.textLen() < x.limits.text/4
}

// muchBuilt and muchBuiltText are after how many parts in a row, or bytes of text, the
// memory that building took is given back at once: it is tens of megabytes, or as much
// as the largest file, and the collector has no reason to hurry.
const (
	muchBuilt     = 4
	muchBuiltText = 32 << 20
)

// work builds until there is nothing more to build.
func (x *Index) work(j job) {
	defer x.running.Done()
	b := &builder{memory: &x.memory, limits: x.limits}
	built, builtText := 0, 0
	x.yield(yieldFirst)
	for {
		parts := x.build(b, j)
		built += len(parts)
		for _, p := range parts {
			builtText += p.textLen()
		}
		x.mu.Lock()
		for _, v := range j.views {
			delete(x.building, v.part)
		}
		if parts != nil && x.current != nil {
			x.replace(j, parts)
		}
		for _, v := range j.views {
			v.part.release()
		}
		next, ok := job{}, false
		if x.current != nil && !x.isClosing() {
			next, ok = x.nextJob()
		}
		if !ok {
			settled := x.settled
			if x.workers--; x.workers == 0 {
				x.settled = nil
			} else {
				settled = nil
			}
			x.mu.Unlock()
			if built >= muchBuilt || builtText >= muchBuiltText {
				debug.FreeOSMemory()
			}
			if settled != nil {
				close(settled)
			}
			return
		}
		x.mu.Unlock()
		j = next
		x.yield(yieldMore)
	}
}

// Searches under way go before building: what somebody waits for, such as the first
// answer after a checkout, shall not share the processors with it. So that it gets on
// beside searches without end, a worker waits for no longer than this, and for long
// only before its first part.
const (
	yieldStep  = 2 * time.Millisecond // a search that set off the building has begun by then
	yieldFirst = 100                  // steps
	yieldMore  = 5
)

func (x *Index) yield(most int) {
	tick := time.NewTicker(yieldStep)
	defer tick.Stop()
	for range most {
		select {
		case <-tick.C:
		case <-x.closing:
			return
		}
		if x.searching.Load() == 0 {
			return
		}
	}
}

// build makes parts of views; nil if the index is closing.
func (x *Index) build(b *builder, j job) []*part {
	r := newReader(x.root)
	defer r.close()
	b.credit = 0
	for _, v := range j.views {
		p := v.part
		if p.kept {
			b.credit += int64(p.textLen())
		}
		v.each(func(i int) {
			switch {
			case x.isClosing():
			case p.kept && p.flags[i]&flagUnread == 0:
				b.addFile(p.entry(i), p.contentOf(i), p.failed[i])
			default:
				b.loadFile(p.entry(i), r)
			}
		}, func(f *file) {
			switch {
			case x.isClosing():
			case f.flags&flagUnread != 0:
				b.loadFile(f.entry, r)
			default:
				b.addFile(f.entry, f.content, f.failed)
			}
		})
	}
	parts := b.parts()
	if len(parts) == 0 { // a view without a part cannot be
		b.begin()
		parts = b.parts()
	}
	for _, p := range parts {
		x.common.add(p)
	}
	if x.isClosing() {
		discard(parts)
		return nil
	}
	return parts
}

// contentOf returns the text of an entry that is kept.
func (p *part) contentOf(i int) content {
	c := content{text: p.text.bytes[p.start[i]:p.textEnd(i)], binary: p.flags[i]&flagBinary != 0, late: -1}
	if late, ok := p.late[i]; ok {
		c.late = late
	}
	return c
}

func discard(parts []*part) {
	for _, p := range parts {
		p.hold()
		p.release()
	}
}

// replace puts parts in the place of the views that they were made of, with
// what has changed since the building began. x.mu is held.
func (x *Index) replace(j job, parts []*part) {
	views := x.current.views
	at := slices.IndexFunc(views, func(v *view) bool { return v.part == j.views[0].part })
	for k, v := range j.views {
		if at < 0 || at+k >= len(views) || views[at+k].part != v.part {
			discard(parts) // somebody else was here; the views are still to be built
			return
		}
	}
	made := viewsOf(parts, j.views[0].first)
	var gone []string
	var came []*file
	for k, old := range j.views {
		gone, came = old.since(views[at+k], gone, came)
	}
	for i, change := range split(made, gone, came) {
		made[i] = made[i].with(*change)
	}
	x.publish(slices.Concat(views[:at], made, views[at+len(j.views):]), x.current.generation)
}

// since adds what has changed from one state of a view to a later one.
func (v *view) since(now *view, gone []string, came []*file) ([]string, []*file) {
	for i := range v.part.len() {
		if now.dead.has(i) && !v.dead.has(i) {
			gone = append(gone, v.part.path(i))
		}
	}
	before := make(map[*file]bool, len(v.extra))
	for _, f := range v.extra {
		before[f] = true
	}
	for _, f := range now.extra {
		if !before[f] {
			came = append(came, f)
		}
		delete(before, f)
	}
	for f := range before {
		gone = append(gone, f.path)
	}
	return gone, came
}
