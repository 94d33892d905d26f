package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a hint may take before a test fails. Hints come in well
// under a millisecond; the machine may be busy.
const patience = 20 * time.Second

// never is an interval that no test reaches: what it sees came from events.
const never = 24 * time.Hour

// filesTest is a Files over a scratch directory.
type filesTest struct {
	*Files
	t     *testing.T
	dir   string
	hints chan string
}

// startFiles watches below a new directory, with events only unless configure
// says otherwise.
func startFiles(t *testing.T, configure ...func(*filesOptions)) *filesTest {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ft := &filesTest{t: t, dir: filepath.Join(dir, "root"), hints: make(chan string, 1<<16)}
	ft.mkdir("")
	opts := filesOptions{
		logger: slog.New(slog.DiscardHandler), changed: func(path string) { ft.hints <- path },
		roots: []string{ft.dir}, open: openNotifier, poll: never, audit: never,
	}
	for _, c := range configure {
		c(&opts)
	}
	if ft.Files, err = newFiles(opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ft.Close(); err != nil {
			t.Error(err)
		}
	})
	return ft
}

func (ft *filesTest) path(rel string) string { return filepath.Join(ft.dir, filepath.FromSlash(rel)) }

func (ft *filesTest) must(err error) {
	ft.t.Helper()
	if err != nil {
		ft.t.Fatal(err)
	}
}

func (ft *filesTest) add(rel string) {
	ft.t.Helper()
	ft.must(ft.Add(ft.path(rel)))
}

func (ft *filesTest) mkdir(rel string) {
	ft.t.Helper()
	ft.must(os.MkdirAll(ft.path(rel), 0o755))
}

func (ft *filesTest) write(rel, text string) {
	ft.t.Helper()
	ft.must(os.WriteFile(ft.path(rel), []byte(text), 0o644))
}

// save replaces a file as editors do.
func (ft *filesTest) save(rel, text string) {
	ft.t.Helper()
	ft.write(rel+"~", text)
	ft.rename(rel+"~", rel)
}

func (ft *filesTest) rename(from, to string) {
	ft.t.Helper()
	ft.must(os.Rename(ft.path(from), ft.path(to)))
}

func (ft *filesTest) remove(rel string) {
	ft.t.Helper()
	ft.must(os.RemoveAll(ft.path(rel)))
}

func (ft *filesTest) link(target, rel string) {
	ft.t.Helper()
	ft.must(os.Symlink(target, ft.path(rel)))
}

// sees awaits a hint for rel after which ok holds; hints before it count only if
// ok holds already, as for the receiver that reads at each hint.
func (ft *filesTest) sees(rel string, ok func() bool) {
	ft.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case got := <-ft.hints:
			if got == ft.path(rel) && ok() {
				return
			}
		case <-deadline:
			ft.t.Fatalf("no hint for %s; problems %q", rel, ft.Problems())
		}
	}
}

func (ft *filesTest) seesText(rel, text string) {
	ft.t.Helper()
	ft.sees(rel, func() bool {
		data, err := os.ReadFile(ft.path(rel))
		return err == nil && string(data) == text
	})
}

func (ft *filesTest) seesNothingAt(rel string) {
	ft.t.Helper()
	ft.sees(rel, func() bool {
		_, err := os.Stat(ft.path(rel))
		return err != nil
	})
}

// settle makes sure that all events so far were dealt with, and forgets their
// hints: a file of its own is written until its hint arrives, twice, because the
// first may have been on its way with them.
func (ft *filesTest) settle() {
	ft.t.Helper()
	for _, text := range []string{"1", "2"} {
		ft.add("settle")
		ft.write("settle", text)
		ft.seesText("settle", text)
		ft.Remove(ft.path("settle"))
		ft.remove("settle")
	}
	for len(ft.hints) > 0 {
		<-ft.hints
	}
}

func TestFilesWriteAndAtomicSave(t *testing.T) {
	ft := startFiles(t)
	ft.mkdir("d")
	ft.write("d/f", "0")
	ft.add("d/f")
	for i := range 20 {
		ft.write("d/f", fmt.Sprint("write", i))
		ft.seesText("d/f", fmt.Sprint("write", i))
		ft.save("d/f", fmt.Sprint("save", i))
		ft.seesText("d/f", fmt.Sprint("save", i))
	}
	ft.settle()
	ft.must(os.Chmod(ft.path("d/f"), 0o600))
	ft.sees("d/f", func() bool { return true })
	if p := ft.Problems(); len(p) != 0 {
		t.Errorf("problems %q", p)
	}
}

func TestFilesAbsentFile(t *testing.T) {
	ft := startFiles(t)
	ft.add("f")
	ft.write("f", "new")
	ft.seesText("f", "new")
	ft.remove("f")
	ft.seesNothingAt("f")
	ft.write("f", "again")
	ft.seesText("f", "again")
	ft.write("g", "other")
	ft.rename("g", "f")
	ft.seesText("f", "other")
	ft.rename("f", "h")
	ft.seesNothingAt("f")
}

func TestFilesCountsAdds(t *testing.T) {
	ft := startFiles(t)
	ft.write("f", "0")
	ft.add("f")
	ft.must(ft.Add(ft.dir + "/./f"))
	ft.Remove(ft.path("f"))
	ft.write("f", "1")
	ft.seesText("f", "1")
	ft.Remove(ft.path("f"))
	ft.Remove(ft.path("f")) // once too often
	ft.settle()
	ft.write("f", "2")
	ft.save("f", "3")
	ft.add("g")
	ft.write("g", "1")
	ft.seesText("g", "1") // its event came after theirs
	select {
	case got := <-ft.hints:
		if got == ft.path("f") {
			t.Error("a hint after Remove")
		}
	default:
	}
	ft.Remove(ft.path("g"))
	ft.mu.Lock()
	defer ft.mu.Unlock()
	if n := len(ft.files) + len(ft.deps) + len(ft.dirs) + len(ft.stale); n != 0 {
		t.Errorf("kept after Remove: files %v, deps %v, dirs %v, stale %v", ft.files, ft.deps, ft.dirs, ft.stale)
	}
}

func TestFilesNoneAboveTheRoot(t *testing.T) {
	ft := startFiles(t)
	ft.mkdir("a/b")
	ft.add("a/b/f")
	ft.anchoring.Lock()
	defer ft.anchoring.Unlock()
	var got []string
	for dir := range ft.dirs {
		got = append(got, dir)
	}
	slices.Sort(got)
	want := []string{filepath.Dir(ft.dir), ft.dir, ft.path("a"), ft.path("a/b")}
	if !slices.Equal(got, want) {
		t.Errorf("watched %q, want %q", got, want)
	}
}

func TestFilesWithoutRoots(t *testing.T) {
	ft := startFiles(t, func(o *filesOptions) { o.roots = nil })
	ft.write("f", "1")
	ft.add("f")
	above := filepath.Dir(filepath.Dir(ft.dir))
	ft.must(os.Rename(above, above+"-away"))
	t.Cleanup(func() { _ = os.Rename(above+"-away", above) })
	ft.seesNothingAt("f")
}

func TestFilesStorm(t *testing.T) {
	// While the receiver is busy any number of events gives one hint per file.
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var ft *filesTest
	ft = startFiles(t, func(o *filesOptions) {
		o.changed = func(path string) {
			ft.hints <- path
			once.Do(func() { close(entered); <-leave })
		}
	})
	ft.add("f")
	ft.add("g")
	ft.write("f", "0")
	<-entered
	for i := range 500 {
		ft.save("f", fmt.Sprint(i))
		ft.save("g", fmt.Sprint(i))
		ft.write(fmt.Sprint("noise", i), "")
	}
	ft.add("last")
	ft.write("last", "")
	deadline := time.Now().Add(patience)
	for marked := false; !marked; { // the drain has come to the end of the storm
		ft.mu.Lock()
		marked = ft.dirty[ft.files[ft.path("last")]] == struct{}{} && len(ft.dirty) == 3
		ft.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatal("the storm was not drained while the receiver was busy")
		}
		runtime.Gosched()
	}
	close(leave)
	ft.sees("last", func() bool { return true })
	ft.Close()
	close(ft.hints)
	count := map[string]int{}
	for path := range ft.hints {
		count[filepath.Base(path)]++
	}
	if count["g"] > 2 || count["f"] > 2 {
		t.Errorf("hints after the storm: %v", count)
	}
}

func TestFilesRejects(t *testing.T) {
	ft := startFiles(t)
	if err := ft.Add("relative"); err == nil {
		t.Error("a relative path was taken")
	}
	ft.must(ft.Close())
	ft.must(ft.Close())
	if err := ft.Add(ft.path("f")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Add after Close: %v", err)
	}
	ft.Remove(ft.path("f"))
	if _, err := NewFiles(slog.New(slog.DiscardHandler), func(string) {}, "relative"); err == nil {
		t.Error("a relative root was taken")
	}
}

func TestFilesFromChanged(t *testing.T) {
	var ft *filesTest
	ft = startFiles(t, func(o *filesOptions) {
		o.changed = func(path string) {
			if path == ft.path("f") { // the receiver looks elsewhere from now on
				ft.Remove(path)
				if err := ft.Add(ft.path("g")); err != nil {
					t.Error(err)
				}
			}
			ft.hints <- path
		}
	})
	ft.add("f")
	ft.write("f", "1")
	ft.seesText("f", "1")
	ft.write("g", "1")
	ft.seesText("g", "1")
}

func TestFilesRemovedWhileReported(t *testing.T) {
	// Of files that are reported together, the receiver of one gives up another.
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var ft *filesTest
	ft = startFiles(t, func(o *filesOptions) {
		o.changed = func(path string) {
			switch path {
			case ft.path("first"):
				once.Do(func() { close(entered); <-leave })
			case ft.path("g1"):
				ft.Remove(ft.path("g2"))
			}
			ft.hints <- path
		}
	})
	for _, rel := range []string{"first", "g1", "g2", "last"} {
		ft.add(rel)
	}
	ft.write("first", "")
	<-entered
	ft.write("g1", "")
	ft.write("g2", "")
	for marked := false; !marked; runtime.Gosched() {
		ft.mu.Lock()
		_, g1 := ft.dirty[ft.files[ft.path("g1")]]
		_, g2 := ft.dirty[ft.files[ft.path("g2")]]
		marked = g1 && g2
		ft.mu.Unlock()
	}
	close(leave)
	ft.sees("g1", func() bool { return true })
	ft.write("last", "")
	for got := ""; got != ft.path("last"); {
		select {
		case got = <-ft.hints:
			if got == ft.path("g2") {
				t.Error("a hint after Remove")
			}
		case <-time.After(patience):
			t.Fatal("no hint")
		}
	}
}
