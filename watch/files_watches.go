package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// watchedDir is one directory of Files.dirs. To fsnotify a directory that moved
// is still its old path, and a watch under its new path is the same one: its
// events come under the old path, and it ends when the old is removed. So what
// is live keeps to these rules:
//   - No two live watches are on one directory (see evict).
//   - With a directory's watch go those below it, so that none is live that
//     could move unseen.
//   - A watch is dropped only when every file that needs it is marked, and all
//     that are to be dropped are, before any is made.
type watchedDir struct {
	refs   int
	live   bool        // fsnotify has a watch on it
	info   fs.FileInfo // what the watch is on, when live
	remote bool        // events do not tell of all changes there
}

// hold makes want the directories that the file keeps watched, and lets go of
// the others. The caller holds anchoring.
func (f *Files) hold(w *watchedFile, want []string) {
	for _, dir := range want {
		if slices.Contains(w.dirs, dir) {
			continue
		}
		if f.dirs[dir] == nil {
			f.dirs[dir] = &watchedDir{}
		}
		f.dirs[dir].refs++
	}
	for _, dir := range w.dirs {
		if slices.Contains(want, dir) {
			continue
		}
		d := f.dirs[dir]
		if d.refs--; d.refs > 0 {
			continue
		}
		f.unwatch(dir, d)
		delete(f.dirs, dir)
	}
	w.dirs = want
}

// dropStale removes every watch that may sit on what was there before. The
// caller holds anchoring.
func (f *Files) dropStale() {
	f.mu.Lock()
	stale := make([]string, 0, len(f.stale))
	for dir := range f.stale {
		stale = append(stale, dir)
	}
	clear(f.stale)
	f.mu.Unlock()
	for _, dir := range stale {
		if d := f.dirs[dir]; d != nil {
			f.unwatch(dir, d)
		}
	}
}

// ensure gives dir a live watch. added says that the path has to be resolved
// again, because the watch is new or the directory was replaced meanwhile.
func (f *Files) ensure(dir string) (added bool, err error) {
	d := f.dirs[dir]
	if d.live {
		return false, nil
	}
	if err := f.watchable(); err != nil {
		return false, err
	}
	before, err := identify(dir)
	if err != nil {
		return false, fmt.Errorf("watching %s: %w", dir, err)
	}
	if err := f.evict(before); err != nil {
		return false, fmt.Errorf("watching %s: %w", dir, err)
	}
	if err := f.notify.Add(dir); err != nil {
		return false, fmt.Errorf("watching %s: %w", dir, err)
	}
	d.live, d.info, d.remote = true, before, eventless(dir)
	if after, err := identify(dir); err != nil || !os.SameFile(before, after) {
		f.unwatch(dir, d) // nobody knows which of the two it is on
	}
	return true, nil
}

// identify is os.Stat whose result knows its file from now on: on Windows the
// identity is else read when first asked for, by path.
func identify(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		os.SameFile(info, info)
	}
	return info, err
}

// evict makes sure that no live watch is on the directory info. One that is
// under another path has moved, and its event is still on its way: it goes, with
// those below. One that is still there is the same directory mounted twice, and
// only one of the two can be watched.
func (f *Files) evict(info fs.FileInfo) error {
	for twin, d := range f.dirs {
		if !d.live || !os.SameFile(d.info, info) {
			continue
		}
		if now, err := identify(twin); err == nil && os.SameFile(now, info) {
			return errTwice
		}
		f.evictBelow(twin)
		return nil
	}
	return nil
}

// evictBelow drops the watches of top and of all below it, and marks the files
// that need them.
func (f *Files) evictBelow(top string) {
	key := entryKey(top)
	within := func(dir string) bool { return isWithin(entryKey(dir), key) }
	for dir, d := range f.dirs {
		if within(dir) {
			f.unwatch(dir, d)
		}
	}
	f.mu.Lock()
	for _, w := range f.files {
		if slices.ContainsFunc(w.dirs, within) {
			f.dirty[w] = struct{}{}
		}
	}
	f.mu.Unlock()
	f.poke()
}

// watchable returns why no watch can be had at all, or nil.
func (f *Files) watchable() error {
	if f.noNotify != nil {
		return f.noNotify
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errDead
	}
	return nil
}

func (f *Files) unwatch(dir string, d *watchedDir) {
	if !d.live {
		return
	}
	d.live = false
	// fsnotify drops a watch by itself when its directory goes, so that is no
	// error; nor does any other leave something to do.
	if err := f.notify.Remove(dir); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
		f.logger.Debug("removing a watch", "dir", dir, "error", err)
	}
}
