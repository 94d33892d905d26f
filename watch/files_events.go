package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// drain empties both of fsnotify's channels and does nothing else that could
// wait, so that the system's queue does not fill behind a slow receiver.
func (f *Files) drain() {
	for {
		select {
		case event, open := <-f.notify.Events():
			if !open {
				f.ended()
				return
			}
			f.note(event)
		case err, open := <-f.notify.Errors():
			if !open {
				f.ended()
				return
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				f.logger.Warn("file watcher", "error", err)
			}
			f.doubtAll()
		}
	}
}

// structural events say that an entry is another one than before.
const structural = fsnotify.Create | fsnotify.Remove | fsnotify.Rename

// note marks the files that an event concerns. A change of permissions counts:
// it can make a file unreadable, and a hint costs little. That a directory was
// written to does not (Windows tells of it for each entry changed inside).
func (f *Files) note(event fsnotify.Event) {
	key := entryKey(filepath.Clean(event.Name))
	f.mu.Lock()
	for w, final := range f.deps[key] {
		if !final && event.Op == fsnotify.Write {
			continue
		}
		f.dirty[w] = struct{}{}
		if event.Op&structural == 0 {
			continue
		}
		// Every watch at the entry or below it may now sit on a directory that
		// is elsewhere or gone. All files that need one of them lead through
		// the entry, so all of them get marked here.
		for _, s := range w.steps {
			if s.watched && isWithin(entryKey(s.dir), key) {
				f.stale[s.dir] = true
			}
		}
	}
	wake := len(f.dirty) > 0
	f.mu.Unlock()
	if wake {
		f.poke()
	}
}

// doubtAll marks every file and every watch: events were lost. Never fewer: while
// a watch is made anew all files that share it have to be marked.
func (f *Files) doubtAll() {
	f.mu.Lock()
	for _, w := range f.files {
		f.dirty[w] = struct{}{}
		for _, s := range w.steps {
			if s.watched {
				f.stale[s.dir] = true
			}
		}
	}
	f.mu.Unlock()
	f.poke()
}

// ended notes that fsnotify's channels were closed: by Close, or all is polled
// from now on.
func (f *Files) ended() {
	f.mu.Lock()
	unexpected := !f.closed
	f.dead = true
	f.mu.Unlock()
	if unexpected {
		f.logger.Error("file watcher ended, polling")
		f.doubtAll()
	}
}

// work reports what is marked and polls what is not watched, until Close.
func (f *Files) work() {
	timer := time.NewTimer(f.audit)
	defer timer.Stop()
	armed := f.audit
	audited := time.Now()
	for {
		if wait := f.interval(); wait != armed {
			timer.Reset(wait)
			armed = wait
		}
		select {
		case <-f.closing:
			return
		case <-f.wake:
		case now := <-timer.C:
			armed = 0
			whole := now.Sub(audited) >= f.audit
			if whole {
				audited = now
			}
			f.look(whole)
		}
		f.report()
	}
}

// interval is the time until files have to be looked at.
func (f *Files) interval() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.files {
		if w.reason != nil {
			return f.poll
		}
	}
	return f.audit
}

// report anchors the marked files anew and then calls changed for each: what is
// read then cannot be older than the watch.
func (f *Files) report() {
	f.mu.Lock()
	marked := make([]*watchedFile, 0, len(f.dirty))
	for w := range f.dirty {
		marked = append(marked, w)
	}
	clear(f.dirty)
	f.mu.Unlock()
	slices.SortFunc(marked, func(a, b *watchedFile) int { return strings.Compare(a.path, b.path) })

	f.anchoring.Lock()
	for _, w := range marked {
		if f.current(w) {
			f.anchor(w)
		}
	}
	f.anchoring.Unlock()

	for _, w := range marked {
		seen := takeSignature(w.path)
		if !f.current(w) {
			continue
		}
		f.mu.Lock()
		w.seen = seen
		f.mu.Unlock()
		f.changed(w.path)
	}
}

// current reports whether w is still to be reported.
func (f *Files) current(w *watchedFile) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.closed && f.files[w.path] == w
}

// look compares files with what was last seen of them and marks those that
// differ: the polled ones, with all also the watched. With all, failed watches
// are tried again.
func (f *Files) look(all bool) {
	var subjects []*watchedFile
	f.mu.Lock()
	for _, w := range f.files {
		if all || w.reason != nil {
			subjects = append(subjects, w)
		}
	}
	f.mu.Unlock()
	missed := false
	for _, w := range subjects {
		now := takeSignature(w.path)
		f.mu.Lock()
		polled := w.reason != nil
		switch {
		case f.files[w.path] != w:
		case polled && w.seen.young && !now.young || polled && !now.same(w.seen):
			f.dirty[w] = struct{}{}
		case !polled && !now.same(w.seen):
			_, marked := f.dirty[w]
			missed = missed || !marked
		}
		f.mu.Unlock()
		if all && polled {
			f.retry(w)
		}
	}
	if missed {
		f.doubtAll()
	}
}

// retry tries to watch a polled file. When it can be, what happened between the
// last look and the watch is worth a hint.
func (f *Files) retry(w *watchedFile) {
	f.anchoring.Lock()
	defer f.anchoring.Unlock()
	if !f.current(w) {
		return
	}
	f.anchor(w)
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.reason == nil {
		f.dirty[w] = struct{}{}
	}
}

// signature is what a look at a file tells.
type signature struct {
	info  fs.FileInfo // nil: nothing there
	err   string      // why nothing could be seen
	young bool
}

// youngFor is how long a file may be written again without a new time stamp: two
// seconds, the resolution of FAT. A polled file that was younger when it was
// looked at gets one hint more when it no longer is.
const youngFor = 2 * time.Second

func takeSignature(path string) signature {
	info, err := identify(path)
	if err != nil {
		return signature{err: err.Error()}
	}
	return signature{info: info, young: time.Since(info.ModTime()) < youngFor}
}

func (s signature) same(o signature) bool {
	if s.info == nil || o.info == nil {
		return s.info == nil && o.info == nil && s.err == o.err
	}
	return os.SameFile(s.info, o.info) && s.info.Size() == o.info.Size() &&
		s.info.Mode() == o.info.Mode() && s.info.ModTime().Equal(o.info.ModTime())
}
