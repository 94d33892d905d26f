package watch

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Entry is something below the root that the ignore rules leave in.
type Entry struct {
	Path string // from the root, slash separated; its bytes need not be UTF-8

	Size                int64 // in bytes; 0 for a directory
	ModTime, ChangeTime int64 // in ns since 1970; 0 for a directory
	Inode               uint64
	Kind                Kind
}

// TreeOptions say what a Tree watches.
type TreeOptions struct {
	Root      string // absolute, without links on the way
	CookieDir string // an existing private directory outside the root; files are made and removed there
	Logger    *slog.Logger
	Getenv    func(string) string // where git's configuration is; nil: the process's environment

	// What follows is for tests.
	open   func() (notifier, error)
	remote func(abs string) bool // whether events tell less than all that happens there
	listed func(rel string)      // called when a directory was listed, within its visit
	settle time.Duration
	audit  time.Duration

	mostOthers int
	sweepEvery time.Duration
}

// settleFor is how long events may gather when nobody waits, so that what happens
// to one file within a moment is looked at once.
const settleFor = 10 * time.Millisecond

// Tree watches all below one root that the ignore rules leave in, and keeps the
// list of what is there. ".git", in any case, is not part of it; links are
// entries and are not followed; a nested repository has rules of its own.
//
// Events are hints: what they name is looked at, and stats decide. A directory is
// watched before it is listed. Where events do not tell all (the limit of
// watches is reached, files live on another machine), Sync looks instead, and
// Status says so.
//
// Three kinds of goroutines work: one per watcher moves its events into a queue,
// one, the worker, takes all that is in the queue and brings the tree up to it (a
// pass), and during a scan several look at directories. Methods may be called
// from any goroutine.
type Tree struct {
	root, cookieDir, cookiePrefix string

	logger *slog.Logger
	getenv func(string) string
	open   func() (notifier, error)
	remote func(abs string) bool
	listed func(rel string)
	settle time.Duration
	audit  time.Duration

	mostOthers int
	sweepEvery time.Duration

	sweepWanted chan struct{}    // holds one token when a sweep is due
	nextSweep   atomic.Int64     // when one is, in ns of Unix time
	sweptRules  map[string]stamp // of ignore files, by the last sweep; the sweeper's

	queue   treeQueue
	cookies cookies
	guard   guard
	watches treeWatches
	outside atomic.Pointer[outside]
	scanned atomic.Int64

	ready     chan struct{} // closed when the first scan is complete
	closing   chan struct{} // closed by Close
	working   sync.WaitGroup
	closeOnce sync.Once

	// Only the worker uses these, and a scan while the worker waits for it.
	disk          *disk // nil: the root is not there
	ignore        *Ignore
	around        Surroundings
	aroundInputs  []input
	inputsTouched bool
	mounts        string
	runs          uint64

	// mu guards all below, and what hangs from top. The worker alone writes, so
	// it reads without. It is never held over a system call, but for the removal
	// of watches.
	mu         sync.RWMutex
	top        *treeDir // nil: there is no root
	dirs       map[string]*treeDir
	polled     map[*treeDir]time.Time // since when
	linked     map[*treeDir]struct{}  // has files with other names
	newLinks   map[uint64]struct{}    // inodes that were found to have other names
	withInputs map[*treeDir]struct{}
	files      int
	dirCount   int // without the root
	built      bool
	behind     bool // a pass is making up for lost events
	gone       time.Time
	generation uint64
	logging    bool
	touched    bool
	records    []record
	floor      uint64 // the oldest generation that records reach back to
}

// treeSerial tells the cookies of this process's trees apart.
var treeSerial atomic.Uint64

// OpenTree starts to watch and returns at once; the first scan runs in the
// background. The error is for options that cannot be. Close ends it.
func OpenTree(ctx context.Context, opts TreeOptions) (*Tree, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for what, path := range map[string]string{"root": opts.Root, "folder of cookies": opts.CookieDir} {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("watching a tree: %s %q: not an absolute path", what, path)
		}
	}
	root, cookieDir := filepath.Clean(opts.Root), filepath.Clean(opts.CookieDir)
	if isWithin(entryKey(cookieDir), entryKey(root)) {
		return nil, fmt.Errorf("watching %s: the folder of cookies %s is inside", root, cookieDir)
	}
	if info, err := os.Stat(cookieDir); err != nil {
		return nil, fmt.Errorf("watching %s: folder of cookies: %w", root, err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("watching %s: folder of cookies %s: %w", root, cookieDir, fs.ErrInvalid)
	}
	t := newTree(root, cookieDir, opts)
	t.working.Go(t.work)
	t.working.Go(t.sweeps)
	return t, nil
}

func newTree(root, cookieDir string, opts TreeOptions) *Tree {
	t := &Tree{
		root: root, cookieDir: cookieDir,
		cookiePrefix: strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-" +
			strconv.FormatUint(treeSerial.Add(1), 36) + "-",
		logger: opts.Logger, getenv: opts.Getenv, open: opts.open, remote: opts.remote, listed: opts.listed,
		settle: opts.settle, audit: opts.audit, mostOthers: opts.mostOthers, sweepEvery: opts.sweepEvery,
		sweepWanted: make(chan struct{}, 1),
		queue: treeQueue{
			wake: make(chan struct{}, 1), urgent: make(chan struct{}, 1), cookies: map[string]*barrier{},
			busy: true, // with the first scan
		},
		watches:    treeWatches{prefix: strings.TrimSuffix(root, string(filepath.Separator)) + string(filepath.Separator)},
		ready:      make(chan struct{}),
		closing:    make(chan struct{}),
		dirs:       map[string]*treeDir{},
		polled:     map[*treeDir]time.Time{},
		linked:     map[*treeDir]struct{}{},
		withInputs: map[*treeDir]struct{}{},
	}
	if t.logger == nil {
		t.logger = slog.New(slog.DiscardHandler)
	}
	if t.getenv == nil {
		t.getenv = os.Getenv
	}
	if t.open == nil {
		t.open = openTreeNotifier
	}
	if t.settle == 0 {
		t.settle = settleFor
	}
	if t.audit == 0 {
		t.audit = auditEvery
	}
	if t.mostOthers == 0 {
		t.mostOthers = mostOthers
	}
	if t.sweepEvery == 0 {
		t.sweepEvery = sweepEvery
	}
	t.nextSweep.Store(math.MaxInt64) // until there is something to look at
	t.watches.use(nil, errDead)
	t.outside.Store(&outside{})
	t.connect()
	return t
}

// Ready is closed when the first scan is complete.
func (t *Tree) Ready() <-chan struct{} { return t.ready }

// Close ends all watching. When it has returned no goroutine is left, and each
// Sync fails with fs.ErrClosed.
func (t *Tree) Close() error {
	var err error
	t.closeOnce.Do(func() {
		close(t.closing)
		err = t.watches.close()
		t.working.Wait()
		t.cookies.close()
		if t.disk != nil {
			t.disk.close()
		}
	})
	return err
}

func (t *Tree) isClosing() bool {
	select {
	case <-t.closing:
		return true
	default:
		return false
	}
}

// connect opens a watcher. Without one everything is polled.
func (t *Tree) connect() {
	n, err := t.open()
	if err == nil {
		// Its place in the limit comes first: without cookies no event is of use.
		if err = n.Add(t.cookieDir); err != nil {
			err = fmt.Errorf("watching %s: %w", t.cookieDir, err)
			_ = n.Close()
		}
	}
	if err != nil {
		t.watches.use(nil, err)
		t.logger.Warn("no file watcher, polling", "root", t.root, "error", err)
		return
	}
	t.watches.use(n, nil)
	t.working.Go(func() { t.drain(n) })
}

func trimSeparator(prefix string) string {
	if dir := strings.TrimSuffix(prefix, string(filepath.Separator)); dir != "" && filepath.VolumeName(dir) != dir {
		return dir
	}
	return prefix
}

// nativePath turns slashes into the system's separators.
func nativePath(rel string) string {
	if runtime.GOOS == "windows" {
		return filepath.FromSlash(rel)
	}
	return rel
}
