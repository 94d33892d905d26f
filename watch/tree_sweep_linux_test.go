package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sweptSoon waits until the tree has a file with a change time that is not was.
func (tt *treeTest) sweptSoon(rel string, was int64) {
	tt.t.Helper()
	for end := time.Now().Add(10 * patience); time.Now().Before(end); {
		if tt.sync(); tt.mirror[rel].ChangeTime != was {
			tt.check()
			return
		}
	}
	tt.t.Fatalf("nothing tells that %s was written to", rel)
}

// TestTreeSweep writes to files in ways that no event tells of.
func TestTreeSweep(t *testing.T) {
	tt := newTreeTest(t)
	tt.write("a", "one\n")
	tt.write("d/b", "two\n")
	tt.start(func(o *TreeOptions) { o.sweepEvery = time.Nanosecond })
	tt.lists("a", "d", "d/b")

	second := filepath.Join(filepath.Dir(tt.dir), "second")
	tt.must(os.Link(tt.path("a"), second))
	was := tt.mirror["a"].ChangeTime
	f, err := os.OpenFile(second, os.O_APPEND|os.O_WRONLY, 0)
	tt.must(err)
	_, err = f.WriteString("more\n")
	tt.must(err)
	tt.must(f.Close())
	tt.sweptSoon("a", was)

	was = tt.mirror["d/b"].ChangeTime
	f, err = os.OpenFile(tt.path("d/b"), os.O_RDWR, 0)
	tt.must(err)
	memory, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	tt.must(err)
	memory[0] = 'T'
	tt.must(unix.Msync(memory, unix.MS_SYNC))
	tt.must(unix.Munmap(memory))
	tt.must(f.Close())
	tt.sweptSoon("d/b", was)
}

// TestTreeSweepsRules does so with an ignore file that is not in the tree itself.
func TestTreeSweepsRules(t *testing.T) {
	tt := newTreeTest(t)
	tt.write(".gitignore", "*\n")
	tt.write("a", "")
	tt.start(func(o *TreeOptions) { o.sweepEvery = time.Nanosecond })
	tt.lists()
	second := filepath.Join(filepath.Dir(tt.dir), "second")
	tt.must(os.Link(tt.path(".gitignore"), second))
	for end, n := time.Now().Add(10*patience), 0; len(tt.mirror) == 0; n++ {
		if time.Now().After(end) {
			t.Fatal("nothing tells that the rules are others")
		}
		f, err := os.OpenFile(second, os.O_WRONLY, 0)
		tt.must(err)
		_, err = f.WriteAt([]byte("#"), 0)
		tt.must(err)
		tt.must(f.Close())
		tt.sync()
	}
	tt.lists(".gitignore", "a")
}
