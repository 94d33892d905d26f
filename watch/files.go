package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// pollEvery is how often a file is looked at that cannot be watched. A stat
	// takes a few microseconds, so a thousand such files cost under a percent of
	// a core, and a person who switches from one window to another takes longer.
	pollEvery = time.Second

	// auditEvery is how often every file is looked at, watched or not, for what
	// no event tells: an unmount, a move above the roots, a lost watch. It is
	// also when a failed watch is tried again. It bounds how long such a change
	// goes unseen and costs an idle daemon one wake-up in half a minute.
	auditEvery = 30 * time.Second
)

// Files reports hints that watched files may have changed. Whoever gets a hint
// reads the file again and compares: there are hints without a change, and many
// changes give one hint.
//
// It watches directories, never files, because editors replace files. Of every
// path it watches each directory inside the roots that the path leads through,
// links included, and the deepest one that exists: so it sees the file written,
// replaced, removed and made again, and also every directory on the way moved,
// removed, swapped or made later. Where a watch cannot be had it polls.
//
// Methods may be called from any goroutine, Add and Remove also from changed.
type Files struct {
	logger  *slog.Logger
	changed func(path string)
	roots   []string
	poll    time.Duration
	audit   time.Duration

	notify    notifier // nil when noNotify says why
	noNotify  error
	wake      chan struct{} // holds one token when the worker has something to do; never closed
	closing   chan struct{} // closed by Close
	working   sync.WaitGroup
	closeOnce sync.Once
	closeErr  error

	// anchoring guards dirs and each file's dirs, and orders all changes of the
	// watches. It is held over system calls and taken before mu.
	anchoring sync.Mutex
	dirs      map[string]*watchedDir

	// mu guards all below. It is never held over a system call or a call out,
	// so the goroutine that drains fsnotify never waits.
	mu     sync.Mutex
	closed bool
	dead   bool // fsnotify ended by itself
	files  map[string]*watchedFile
	deps   map[string]map[*watchedFile]bool // by entryKey: is the entry the file itself
	dirty  map[*watchedFile]struct{}        // to be reported
	stale  map[string]bool                  // directories whose watch may sit on what was there before
	told   map[string]bool                  // reasons to poll that were logged
}

// watchedFile is one path. Files.mu guards it, but for dirs.
type watchedFile struct {
	path   string
	refs   int
	steps  []step
	dirs   []string  // what it holds in Files.dirs; guarded by anchoring
	reason error     // why it is polled; nil: it is watched
	seen   signature // as of the latest hint
	had    bool      // its directory existed once
	whole  bool      // its directory exists
}

// notifier is fsnotify's Watcher, or a test's.
type notifier interface {
	Add(dir string) error
	Remove(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

type fsNotifier struct{ w *fsnotify.Watcher }

func (n fsNotifier) Add(dir string) error          { return n.w.Add(dir) }
func (n fsNotifier) Remove(dir string) error       { return n.w.Remove(dir) }
func (n fsNotifier) Events() <-chan fsnotify.Event { return n.w.Events }
func (n fsNotifier) Errors() <-chan error          { return n.w.Errors }
func (n fsNotifier) Close() error                  { return n.w.Close() }

func openNotifier() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return fsNotifier{w}, nil
}

// NewFiles starts to watch; Close ends it. changed is called with a path as Add
// got it (cleaned), from one goroutine, one path at a time and at most once for
// all that happened to it meanwhile; it may take its time. roots are absolute:
// directories above a root's parent are not watched unless nothing nearer
// exists. Without roots the whole way from the file system's top is watched.
//
// When the system gives no watcher everything is polled and Problems says so;
// the error is for a root that is not absolute.
func NewFiles(logger *slog.Logger, changed func(path string), roots ...string) (*Files, error) {
	return newFiles(filesOptions{
		logger: logger, changed: changed, roots: roots,
		open: openNotifier, poll: pollEvery, audit: auditEvery,
	})
}

type filesOptions struct {
	logger      *slog.Logger
	changed     func(path string)
	roots       []string
	open        func() (notifier, error)
	poll, audit time.Duration
}

func newFiles(opts filesOptions) (*Files, error) {
	f := &Files{
		logger:  opts.logger,
		changed: opts.changed,
		poll:    opts.poll,
		audit:   opts.audit,
		wake:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		dirs:    map[string]*watchedDir{},
		files:   map[string]*watchedFile{},
		deps:    map[string]map[*watchedFile]bool{},
		dirty:   map[*watchedFile]struct{}{},
		stale:   map[string]bool{},
		told:    map[string]bool{},
	}
	for _, root := range opts.roots {
		if !filepath.IsAbs(root) {
			return nil, fmt.Errorf("watching root %q: not an absolute path", root)
		}
		// Steps are of resolved directories, so a root that is a link counts as
		// where it leads too.
		f.roots = append(f.roots, entryKey(filepath.Clean(root)))
		if real, err := filepath.EvalSymlinks(root); err == nil {
			f.roots = append(f.roots, entryKey(real))
		}
	}
	if f.notify, f.noNotify = opts.open(); f.noNotify != nil {
		f.notify = nil
		f.logger.Warn("no file watcher, polling", "error", f.noNotify)
	} else {
		f.working.Go(f.drain)
	}
	f.working.Go(f.work)
	return f, nil
}

// Add watches path, an absolute path of a file that may be absent, with any
// number of its directories. What happens to it after Add has returned gives a
// hint: add first, then read. Adding again counts; Remove as often. A path that
// cannot be watched is polled, which is no error.
func (f *Files) Add(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("watching %q: not an absolute path", path)
	}
	path = filepath.Clean(path)
	f.anchoring.Lock()
	defer f.anchoring.Unlock()
	f.mu.Lock()
	w, known := f.files[path]
	closed := f.closed
	switch {
	case closed:
	case known:
		w.refs++
	default:
		w = &watchedFile{path: path, refs: 1}
		f.files[path] = w
	}
	f.mu.Unlock()
	if closed {
		return fmt.Errorf("watching %s: %w", path, fs.ErrClosed)
	}
	if known {
		return nil
	}
	f.anchor(w)
	seen := takeSignature(path)
	f.mu.Lock()
	w.seen = seen
	f.mu.Unlock()
	f.poke() // the worker may have to poll from now on
	return nil
}

// Remove takes back one Add of path. After the last, a hint that is on its way
// may still arrive. A path that is not watched is ignored.
func (f *Files) Remove(path string) {
	path = filepath.Clean(path)
	f.anchoring.Lock()
	defer f.anchoring.Unlock()
	f.mu.Lock()
	w, known := f.files[path]
	if known {
		w.refs--
		if w.refs > 0 {
			known = false
		}
	}
	if !known {
		f.mu.Unlock()
		return
	}
	delete(f.files, path)
	delete(f.dirty, w)
	f.setSteps(w, nil)
	f.mu.Unlock()
	f.hold(w, nil)
}

// Close ends all watching. When it has returned no hint arrives and no goroutine
// is left. It must not be called from changed.
func (f *Files) Close() error {
	f.closeOnce.Do(func() {
		f.mu.Lock()
		f.closed = true
		f.mu.Unlock()
		close(f.closing)
		if f.notify != nil {
			f.closeErr = f.notify.Close()
		}
		f.working.Wait()
	})
	return f.closeErr
}

// poke wakes the worker.
func (f *Files) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Problems says in sentences what does not work as it should at this moment: a
// limit with the setting that would help, files that are polled, directories
// that are gone. It is empty when all is well.
func (f *Files) Problems() []string {
	reasons := map[string]error{}
	counts := map[string]int{}
	gone := map[string]int{}
	f.mu.Lock()
	for _, w := range f.files {
		if w.reason != nil {
			reasons[w.reason.Error()] = w.reason
			counts[w.reason.Error()]++
		}
		if w.had && !w.whole && len(w.steps) > 0 {
			gone[w.steps[len(w.steps)-1].entry()]++
		}
	}
	f.mu.Unlock()
	polled := map[string]int{}
	for text, reason := range reasons {
		polled[explain(reason)] += counts[text]
	}
	list := []string{}
	for why, n := range polled {
		list = append(list, fmt.Sprintf("%s polled every %v instead of watched: %s", countFiles(n), f.poll, why))
	}
	for dir, n := range gone {
		list = append(list, fmt.Sprintf("%s is gone; %s below it are looked for until it comes back", dir, countFiles(n)))
	}
	if f.noNotify != nil && len(list) == 0 {
		list = append(list, "files can only be polled: "+explain(f.noNotify))
	}
	slices.Sort(list)
	return list
}

func countFiles(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// explain names the limit behind an error and what would raise it.
func explain(err error) string {
	if hint := limitHint(err); hint != "" {
		return hint
	}
	return err.Error()
}

var (
	errRemote   = errors.New("changes made on another machine give no events on this file system")
	errRestless = errors.New("its directories change faster than they can be watched")
	errTwice    = errors.New("the same directory is watched under another path")
	errDead     = errors.New("the system's file watcher ended")
)
