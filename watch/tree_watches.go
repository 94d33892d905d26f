package watch

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// treeWatches are the watches that fsnotify holds for a tree. To fsnotify a
// directory that moved is still its old path, so it must never be asked for a
// second watch on the same directory: that would be the first one, its events
// would come under the old path, and it would end when that is removed.
type treeWatches struct {
	prefix string // of absolute paths below the root, with the separator at the end

	mu     sync.Mutex // guards all below
	notify notifier   // nil: nothing can be watched, and none says why
	none   error
	live   map[string]fileKey // by path from the root: what the watch is on
	around map[string]fileKey // the same of absolute paths of directories that are not of the tree
	at     map[fileKey]string // the other way round
	full   error              // the limit was met and nothing was let go since
}

// use changes over to another watcher; nil means that there is none.
func (w *treeWatches) use(n notifier, none error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notify, w.none, w.full = n, none, nil
	w.live, w.at, w.around = map[string]fileKey{}, map[fileKey]string{}, map[string]fileKey{}
}

// die notes that watcher n is of no use any more, and reports whether it was in
// use.
func (w *treeWatches) die(n notifier, why error) bool {
	w.mu.Lock()
	current := w.notify != nil && w.notify == n
	w.mu.Unlock()
	if current {
		w.use(nil, why)
	}
	return current
}

// dead reports whether nothing can be watched.
func (w *treeWatches) dead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notify == nil
}

// retry forgets that the limit was met.
func (w *treeWatches) retry() {
	w.mu.Lock()
	w.full = nil
	w.mu.Unlock()
}

func (w *treeWatches) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.live)
}

func (w *treeWatches) abs(rel string) string {
	if rel == "." {
		return trimSeparator(w.prefix)
	}
	return w.prefix + nativePath(rel)
}

// ensure gives directory rel, which was seen to be key, a watch. anew says not to
// trust that one is live. Whether the watch sits on key and not on what took its
// place is for the caller to check. evicted is a path of which a watch, with all
// below, was taken away because the directory is no longer there.
func (w *treeWatches) ensure(rel string, key fileKey, anew bool) (evicted string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notify == nil {
		return "", w.none
	}
	if was, ok := w.live[rel]; ok {
		if was == key && !anew {
			return "", nil
		}
		if was != key {
			w.drop(rel)
		}
	}
	if twin, ok := w.at[key]; ok && twin != rel && key != (fileKey{}) {
		if _, now, err := statPath(w.abs(twin), false); err == nil && now == key {
			return "", errTwice
		}
		w.dropBelow(twin)
		evicted = twin
	}
	for _, outside := range w.around {
		if outside == key && key != (fileKey{}) {
			return evicted, errTwice
		}
	}
	if w.full != nil {
		return evicted, w.full
	}
	if err := w.notify.Add(w.abs(rel)); err != nil {
		w.drop(rel)
		if isLimit(err) {
			w.full = err
		}
		return evicted, fmt.Errorf("watching %s: %w", rel, err)
	}
	w.live[rel] = key
	if key != (fileKey{}) {
		w.at[key] = rel
	}
	return evicted, nil
}

// isLimit reports whether err says that no further directory can be watched.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// remove takes the watch of rel away, if there is one.
func (w *treeWatches) remove(rel string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(rel)
}

func (w *treeWatches) drop(rel string) {
	key, ok := w.live[rel]
	if !ok {
		return
	}
	delete(w.live, rel)
	if w.at[key] == rel {
		delete(w.at, key)
	}
	w.full = nil
	// That the watch is gone already, because the directory is, is no error.
	_ = w.notify.Remove(w.abs(rel))
}

func (w *treeWatches) dropBelow(top string) {
	for rel := range w.live {
		if rel == top || top == "." || strings.HasPrefix(rel, top) && rel[len(top)] == '/' {
			w.drop(rel)
		}
	}
}

// unwatch ends the watches of a directory and of all below it.
func (w *treeWatches) unwatch(d *treeDir) {
	w.remove(d.path)
	for _, sub := range d.subs {
		w.unwatch(sub)
	}
}

// addCookies watches the folder of cookies.
func (w *treeWatches) addCookies(abs string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notify == nil {
		return nil
	}
	return w.notify.Add(abs)
}

// addOutside watches a directory that is not of the tree, or the root for the
// second time.
func (w *treeWatches) addOutside(abs string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notify == nil {
		return w.none
	}
	_, key, err := statPath(abs, false)
	if err != nil {
		return err
	}
	if rel, ok := w.at[key]; ok && w.abs(rel) != abs {
		return errTwice
	}
	if err := w.notify.Add(abs); err != nil {
		return fmt.Errorf("watching %s: %w", abs, err)
	}
	if abs != w.abs(".") {
		w.around[abs] = key
	}
	return nil
}

// dropOutside takes the watch of such a directory away.
func (w *treeWatches) dropOutside(abs string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.around[abs]; ok {
		delete(w.around, abs)
		w.full = nil
		_ = w.notify.Remove(abs) // it may be gone already
	}
}

// holds reports whether an event's path is of the tree: the root, or below it and
// not in its git directory.
func (w *treeWatches) holds(path string) bool {
	rel, below := strings.CutPrefix(path, w.prefix)
	if !below {
		return path == trimSeparator(w.prefix)
	}
	first, _, more := strings.Cut(rel, string(filepath.Separator))
	return first != ".git" || !more
}

// close ends the watcher, if there is one.
func (w *treeWatches) close() error {
	w.mu.Lock()
	n := w.notify
	w.mu.Unlock()
	if n == nil {
		return nil
	}
	return n.Close()
}

// abandon ends the watcher, because of why.
func (w *treeWatches) abandon(why error) {
	w.mu.Lock()
	n := w.notify
	w.mu.Unlock()
	w.use(nil, why)
	if n != nil {
		_ = n.Close()
	}
}

// bufferedEvents is how many events may wait between fsnotify's goroutine and
// ours, so that in a burst the two need not take turns at each.
const bufferedEvents = 1024

func openTreeNotifier() (notifier, error) {
	w, err := fsnotify.NewBufferedWatcher(bufferedEvents)
	if err != nil {
		return nil, err
	}
	return fsNotifier{w}, nil
}
