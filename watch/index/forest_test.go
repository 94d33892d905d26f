package index

import (
	"bytes"
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/loomd/loomd/watch"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := removeCorpus(); err != nil {
			panic(err)
		}
		os.Exit(code)
	}))
}

var soak = os.Getenv("LOOMD_SOAK") != ""

// forest is a tree on the disk that a test changes by its methods, and a Tree
// that tells of just these changes. Nothing else may change it.
type forest struct {
	dir   string
	ready chan struct{}

	mu         sync.Mutex // guards what follows, and the disk
	generation uint64
	touched    map[string]uint64 // paths, and directories with "/", by generation
	everything bool              // Sync returns the whole list
}

func newForest(t testing.TB) *forest {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &forest{dir: dir, ready: make(chan struct{}), generation: 1, touched: map[string]uint64{}}
	close(f.ready)
	return f
}

func (f *forest) abs(path string) string { return filepath.Join(f.dir, filepath.FromSlash(path)) }

// touch makes the tree tell of paths. f.mu is held.
func (f *forest) touch(paths ...string) {
	f.generation++
	for _, p := range paths {
		f.touched[p] = f.generation
	}
}

func (f *forest) write(t testing.TB, path, text string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quietly(t, path, text)
	paths := []string{path}
	for i := range path {
		if path[i] == '/' {
			paths = append(paths, path[:i])
		}
	}
	f.touch(paths...)
}

// quietly writes a file of which the tree does not tell.
func (f *forest) quietly(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.abs(path)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.abs(path), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *forest) remove(t testing.TB, path string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.RemoveAll(f.abs(path)); err != nil {
		t.Fatal(err)
	}
	f.touch(path, path+"/")
}

func (f *forest) Ready() <-chan struct{} { return f.ready }

func (f *forest) Status() watch.TreeStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return watch.TreeStatus{State: "live", Generation: f.generation}
}

// tellAll makes Sync return the whole list, or not.
func (f *forest) tellAll(all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.everything = all
}

func (f *forest) Sync(ctx context.Context, since uint64) (watch.Changes, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := watch.Changes{Generation: f.generation}
	if since == 0 || f.everything {
		c.Full = true
		c.Changed = f.list()
		return c, ctx.Err()
	}
	for path, generation := range f.touched {
		if generation <= since {
			continue
		}
		if strings.HasSuffix(path, "/") {
			c.Gone = append(c.Gone, path)
			c.Changed = append(c.Changed, f.listBelow(path)...)
		} else if e, err := f.entry(path); err == nil {
			c.Changed = append(c.Changed, e)
		} else {
			c.Gone = append(c.Gone, path)
		}
	}
	return c, ctx.Err()
}

func (f *forest) listBelow(dir string) []watch.Entry {
	return slices.DeleteFunc(f.list(), func(e watch.Entry) bool { return !strings.HasPrefix(e.Path, dir) })
}

func (f *forest) entry(path string) (watch.Entry, error) {
	info, err := os.Lstat(f.abs(path))
	if err != nil {
		return watch.Entry{}, err
	}
	e := watch.Entry{Path: path, Size: info.Size(), ModTime: info.ModTime().UnixNano(), Kind: watch.File}
	e.Inode, e.ChangeTime = identity(f.abs(path))
	switch {
	case info.IsDir():
		e = watch.Entry{Path: path, Kind: watch.Dir}
	case info.Mode()&fs.ModeSymlink != 0:
		e.Kind = watch.Link
	case !info.Mode().IsRegular():
		e.Kind = watch.Special
	}
	return e, nil
}

func (f *forest) list() []watch.Entry {
	var list []watch.Entry
	err := filepath.WalkDir(f.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == f.dir {
			return err
		}
		rel, err := filepath.Rel(f.dir, path)
		if err != nil {
			return err
		}
		e, err := f.entry(filepath.ToSlash(rel))
		list = append(list, e)
		return err
	})
	if err != nil {
		panic(err)
	}
	return list
}

// open indexes the forest; the test closes it.
func (f *forest) open(t testing.TB, o Options) *Index {
	t.Helper()
	o.Tree, o.Root = f, f.dir
	x, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func snapshot(t testing.TB, x *Index) *Snapshot {
	t.Helper()
	s, err := x.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// built waits until nothing is left to build.
func built(t testing.TB, x *Index) {
	t.Helper()
	snapshot(t, x).Release()
	settle(t, x)
}

func settle(t testing.TB, x *Index) {
	t.Helper()
	if err := x.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// randomText returns a text of words that recur, in one of many forms.
func randomText(r *rand.Rand, size int) string {
	words := []string{"return", "Server", "server", "needle", "hay", "x", "42", "", "MARK_9", "func", "é", "\xff", "tail"}
	end := "\n"
	if r.IntN(6) == 0 {
		end = "\r\n"
	}
	var b bytes.Buffer
	for b.Len() < size {
		for range r.IntN(9) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(" \t.("[r.IntN(4)])
		}
		if r.IntN(40) == 0 {
			b.WriteString(strings.Repeat("long", r.IntN(3000)))
		}
		if r.IntN(300) == 0 {
			b.WriteString("the needle of all needles")
		}
		b.WriteString(end)
	}
	text := b.String()
	if r.IntN(3) == 0 {
		text = strings.TrimSuffix(text, end)
	}
	switch r.IntN(16) {
	case 0:
		return "\xef\xbb\xbf" + text
	case 1:
		return utf16Text(text)
	case 2:
		at := r.IntN(len(text) + 1)
		return text[:at] + "\x00" + text[at:]
	}
	return text
}

func utf16Text(text string) string {
	out := []byte("\xff\xfe")
	for _, c := range text {
		if c > 0xffff || c == '�' {
			c = '?'
		}
		out = append(out, byte(c), byte(c>>8))
	}
	return string(out)
}
