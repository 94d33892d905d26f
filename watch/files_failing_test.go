package watch

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// fakeNotifier stands between Files and fsnotify, to make it fail.
type fakeNotifier struct {
	notifier
	errs   chan error
	events chan fsnotify.Event

	mu      sync.Mutex // guards the rest
	refuse  error      // what Add answers; nil: fsnotify does
	adds    map[string]int
	deaf    bool // events are dropped
	dropped map[string]bool
	before  func(dir string) // called by Add before it watches; may be nil
}

func newFakeNotifier(t *testing.T) *fakeNotifier {
	t.Helper()
	real, err := openNotifier()
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNotifier{
		notifier: real, errs: make(chan error), events: make(chan fsnotify.Event),
		adds: map[string]int{}, dropped: map[string]bool{},
	}
	go func() {
		defer close(n.events)
		for event := range real.Events() {
			n.mu.Lock()
			deaf := n.deaf
			if deaf {
				n.dropped[event.Name] = true
			}
			n.mu.Unlock()
			if !deaf {
				n.events <- event
			}
		}
	}()
	return n
}

func (n *fakeNotifier) Events() <-chan fsnotify.Event { return n.events }
func (n *fakeNotifier) Errors() <-chan error          { return n.errs }

func (n *fakeNotifier) set(refuse error, deaf bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refuse, n.deaf = refuse, deaf
}

func (n *fakeNotifier) Add(dir string) error {
	n.mu.Lock()
	n.adds[dir]++
	refuse, before := n.refuse, n.before
	n.mu.Unlock()
	if before != nil {
		before(dir)
	}
	if refuse != nil {
		return refuse
	}
	return n.notifier.Add(dir)
}

// misses waits until an event of path was dropped.
func (n *fakeNotifier) misses(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		n.mu.Lock()
		dropped := n.dropped[path]
		n.mu.Unlock()
		if dropped {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no event of %s", path)
		}
	}
}

func (n *fakeNotifier) added(dir string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.adds[dir]
}

func fake(n *fakeNotifier, poll, audit time.Duration) func(*filesOptions) {
	return func(o *filesOptions) {
		o.open = func() (notifier, error) { return n, nil }
		o.poll, o.audit = poll, audit
	}
}

func TestFilesOverflow(t *testing.T) {
	n := newFakeNotifier(t)
	ft := startFiles(t, fake(n, never, never))
	ft.mkdir("d")
	ft.add("d/f")
	ft.add("d/g")
	before := n.added(ft.path("d"))
	n.set(nil, true) // the events that the overflow loses
	ft.write("d/f", "1")
	ft.rename("d", "old")
	ft.mkdir("d")
	ft.write("d/f", "2")
	ft.write("end", "")
	n.misses(t, ft.path("end"))
	n.set(nil, false)
	n.errs <- fmt.Errorf("reading: %w", fsnotify.ErrEventOverflow)
	ft.seesText("d/f", "2")
	ft.sees("d/g", func() bool { return true })
	if n.added(ft.path("d")) == before {
		t.Error("the directory was not watched anew")
	}
	ft.write("d/f", "3")
	ft.seesText("d/f", "3")
	n.errs <- errors.New("something else was lost")
	ft.sees("d/f", func() bool { return true })
	ft.sees("d/g", func() bool { return true })
}

func TestFilesPollsAtTheLimit(t *testing.T) {
	n := newFakeNotifier(t)
	n.set(syscall.ENOSPC, false)
	ft := startFiles(t, fake(n, time.Millisecond, 50*time.Millisecond))
	ft.mkdir("d")
	ft.write("d/f", "0")
	ft.add("d/f")
	ft.add("absent/f")
	for i := range 5 {
		ft.write("d/f", fmt.Sprint("write", i))
		ft.seesText("d/f", fmt.Sprint("write", i))
		ft.save("d/f", fmt.Sprint("save", i))
		ft.seesText("d/f", fmt.Sprint("save", i))
	}
	ft.mkdir("absent")
	ft.write("absent/f", "1")
	ft.seesText("absent/f", "1")
	ft.remove("d")
	ft.seesNothingAt("d/f")
	ft.mkdir("d")
	ft.write("d/f", "1")
	ft.seesText("d/f", "1")
	p := ft.Problems()
	if len(p) == 0 || !strings.Contains(p[0], "2 files polled every 1ms") {
		t.Errorf("problems %q", p)
	}
	if runtime.GOOS == "linux" && !strings.Contains(strings.Join(p, "\n"), "sysctl fs.inotify.max_user_watches=") {
		t.Errorf("problems name no sysctl: %q", p)
	}
	// From here on only an audit can find anything: no file is young.
	old := time.Now().Add(-time.Hour)
	for _, rel := range []string{"d/f", "absent/f"} {
		ft.must(os.Chtimes(ft.path(rel), old, old))
		ft.sees(rel, func() bool {
			ft.mu.Lock()
			defer ft.mu.Unlock()
			seen := ft.files[ft.path(rel)].seen
			return !seen.young && seen.info.ModTime().Equal(old)
		})
	}
	// The limit is raised: the next audit watches, and the problem is over.
	n.set(nil, false)
	deadline := time.Now().Add(patience)
	for len(ft.Problems()) > 0 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if p := ft.Problems(); len(p) != 0 {
		t.Errorf("problems after the limit was raised: %q", p)
	}
}

func TestFilesPolledFileWrittenTwiceAtOnce(t *testing.T) {
	// A second write of the same size may leave size and time stamp as they
	// were. A file seen young is reported once more when it no longer is.
	n := newFakeNotifier(t)
	n.set(syscall.ENOSPC, false)
	ft := startFiles(t, fake(n, time.Millisecond, never))
	ft.write("f", "1")
	ft.add("f")
	stamp := time.Now()
	ft.must(os.Chtimes(ft.path("f"), stamp, stamp))
	ft.sees("f", func() bool { return true })
	ft.write("f", "2")
	ft.must(os.Chtimes(ft.path("f"), stamp, stamp))
	ft.sees("f", func() bool { return time.Since(stamp) >= youngFor })
}

func TestFilesWithoutWatcher(t *testing.T) {
	ft := startFiles(t, func(o *filesOptions) {
		o.open = func() (notifier, error) { return nil, syscall.EMFILE }
		o.poll = time.Millisecond
	})
	if p := ft.Problems(); len(p) != 1 || !strings.Contains(p[0], "can only be polled") {
		t.Errorf("problems %q", p)
	}
	ft.add("f")
	ft.write("f", "1")
	ft.seesText("f", "1")
	if p := ft.Problems(); len(p) != 1 || !strings.Contains(p[0], "1 file polled") {
		t.Errorf("problems %q", p)
	}
}

func TestFilesAuditFindsWhatNoEventTold(t *testing.T) {
	n := newFakeNotifier(t)
	n.set(nil, true)
	ft := startFiles(t, fake(n, never, 5*time.Millisecond))
	ft.write("f", "0")
	ft.add("f")
	ft.write("f", "longer")
	ft.seesText("f", "longer")
	// It takes the watches for lost and makes them anew.
	if n.added(ft.dir) < 2 {
		t.Error("the directory was not watched anew")
	}
}

func TestFilesWatcherEnds(t *testing.T) {
	n := newFakeNotifier(t)
	ft := startFiles(t, fake(n, time.Millisecond, never))
	ft.write("f", "0")
	ft.add("f")
	ft.must(n.notifier.Close())
	ft.sees("f", func() bool { return len(ft.Problems()) == 1 })
	ft.write("f", "longer")
	ft.seesText("f", "longer")
}

func TestFilesMadeBetweenLookAndWatch(t *testing.T) {
	// No event tells of what was there before the watch; the look after it does.
	n := newFakeNotifier(t)
	ft := startFiles(t, fake(n, never, never))
	n.before = func(dir string) {
		if dir == ft.dir {
			ft.mkdir("a")
		}
	}
	ft.add("a/f")
	ft.write("a/f", "1")
	ft.seesText("a/f", "1")
}
