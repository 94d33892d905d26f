package watch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// TestTreeFewWatches runs a tree of many directories where 50 watches are to be
// had: in a user namespace of its own.
func TestTreeFewWatches(t *testing.T) {
	if os.Getenv("LOOMD_TEST_FEW_WATCHES") != "" {
		fewWatches(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTreeFewWatches$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "LOOMD_TEST_FEW_WATCHES=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EINVAL):
		t.Skip("user namespaces are not allowed here: ", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
	t.Logf("%s", out)
}

func fewWatches(t *testing.T) {
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("50"), 0o644); err != nil {
		t.Skip("the limit cannot be set here: ", err)
	}
	tt := newTreeTest(t)
	for i := range 200 {
		tt.write(fmt.Sprintf("d%d/e/f", i), "")
	}
	tt.start()
	tt.check()
	tt.state("polling")
	s := tt.Status()
	if s.Watches == 0 || s.Watches >= 50 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Hint, "max_user_watches") || s.Problems[0].Since.IsZero() {
		t.Errorf("status %+v", s)
	}
	for i := range 30 {
		tt.write(fmt.Sprintf("d%d/e/f", 6*i), "22")
		tt.write(fmt.Sprintf("d%d/n/m", 6*i), "")
		tt.check()
	}
	c := &churn{dir: tt.dir, rng: rand.New(rand.NewPCG(randomSeed(t), 3))}
	for range 30 {
		for range 10 {
			c.step()
		}
		tt.check()
	}
	// What is let go is used again, and then everything is watched.
	entries, err := os.ReadDir(tt.dir)
	tt.must(err)
	for _, e := range entries {
		tt.remove(e.Name())
	}
	tt.mkdir("x/y")
	tt.check()
	tt.state("live")
}

// limited is a notifier that has only so many watches, or none any more.
type limited struct {
	notifier
	left int
	err  error
}

func (l *limited) Add(dir string) error {
	if l.left <= 0 {
		return l.err
	}
	l.left--
	return l.notifier.Add(dir)
}

func (l *limited) Remove(dir string) error {
	err := l.notifier.Remove(dir)
	if err == nil {
		l.left++
	}
	return err
}

func withLimit(left int, err error) func(*TreeOptions) {
	return func(o *TreeOptions) {
		o.open = func() (notifier, error) {
			n, openErr := openNotifier()
			return &limited{notifier: n, left: left, err: err}, openErr
		}
	}
}

// TestTreeChurnLimited churns with fewer watches than directories.
func TestTreeChurnLimited(t *testing.T) {
	rounds := 60
	if long() {
		rounds = 5000
	}
	testChurn(t, rounds, withLimit(6, unix.ENOSPC))
}

// TestTreeWithoutCookies has a watch for nothing at all.
func TestTreeWithoutCookies(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a/f", "")
	tt.start(withLimit(0, unix.ENOSPC))
	tt.check()
	tt.state("polling")
	tt.write("a/g", "")
	tt.check()
	if p := tt.Status().Problems; len(p) != 1 || !strings.Contains(p[0].Hint, "max_user_watches") {
		t.Errorf("problems %+v", p)
	}
}

// TestTreeWatcherIsTriedAgain has no watcher at first; the regular look finds one.
func TestTreeWatcherIsTriedAgain(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a/f", "")
	refused := false
	tt.start(func(o *TreeOptions) {
		o.audit = time.Millisecond
		o.open = func() (notifier, error) {
			if !refused {
				refused = true
				return nil, unix.EMFILE
			}
			return openNotifier()
		}
	})
	deadline := time.After(patience)
	for tt.Status().State != "live" {
		select {
		case <-deadline:
			t.Fatalf("status %+v", tt.Status())
		default:
			tt.check()
		}
	}
	tt.write("a/g", "")
	tt.check()
}

// mortal is a notifier whose channels a test closes.
type mortal struct {
	notifier
	events chan fsnotify.Event
}

func (m *mortal) Events() <-chan fsnotify.Event { return m.events }

// TestTreeWatcherDies lets the watcher end by itself.
func TestTreeWatcherDies(t *testing.T) {
	n, err := openNotifier()
	if err != nil {
		t.Fatal(err)
	}
	m := &mortal{notifier: n, events: make(chan fsnotify.Event)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for e := range n.Events() {
			select {
			case m.events <- e:
			case <-t.Context().Done():
			}
		}
	}()
	tt := newTreeTest(t)
	tt.write("a/f", "")
	tt.start(func(o *TreeOptions) { o.open = func() (notifier, error) { return m, nil } })
	tt.check()
	tt.must(n.Close())
	<-ended
	close(m.events)
	tt.write("a/g", "")
	tt.check()
	tt.state("polling")
}

// TestTreeOtherMachine has a part of which events do not tell.
func TestTreeOtherMachine(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a/f", "")
	tt.start(func(o *TreeOptions) { o.remote = func(string) bool { return true } })
	tt.check()
	tt.state("polling")
	if s := tt.Status(); s.Watches != 0 || len(s.Problems) != 1 || s.Problems[0].Message == "" {
		t.Errorf("status %+v", s)
	}
	tt.write("a/f", "1")
	tt.write("b/c/d", "")
	tt.check()
}

// TestTreeMount mounts and unmounts over a directory of the tree, which gives no
// event; the regular look finds it.
func TestTreeMount(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("m/f", "")
	if err := unix.Mount("none", tt.path("m"), "tmpfs", 0, ""); err != nil {
		t.Skip("nothing can be mounted here: ", err)
	}
	mounted := true
	unmount := func() {
		if mounted {
			tt.must(unix.Unmount(tt.path("m"), unix.MNT_DETACH))
			mounted = false
		}
	}
	t.Cleanup(unmount)
	tt.write("m/g/h", "")
	tt.start(func(o *TreeOptions) { o.audit = time.Millisecond })
	tt.lists("m", "m/g", "m/g/h")
	tt.state("live")
	tt.write("m/g/i", "")
	tt.lists("m", "m/g", "m/g/h", "m/g/i")
	unmount()
	deadline := time.After(patience)
	for {
		tt.sync()
		if _, ok := tt.mirror["m/f"]; ok {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("the tree has %v", tt.mirror)
		default:
		}
	}
	tt.lists("m", "m/f")
}

// TestTreeOpensStepByStep reads without openat2.
func TestTreeOpensStepByStep(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a/b/c", "text")
	tt.link("a", "l")
	d, err := openDisk(tt.dir)
	tt.must(err)
	defer d.close()
	for _, stepped := range []bool{false, true} {
		d.stepped.Store(stepped)
		h, err := d.openDir("a/b")
		tt.must(err)
		h.close()
		if text, err := d.readFile("a/b/c"); err != nil || string(text) != "text" {
			t.Errorf("read %q, %v", text, err)
		}
		for _, name := range []string{"l", "l/b", "a/b/c", "none", "a/none/c"} {
			if h, err := d.openDir(name); !vanished(err) {
				h.close()
				t.Errorf("opening %s: %v", name, err)
			}
		}
		if _, err := d.readFile("l/b/c"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("read through a link: %v", err)
		}
	}
}
