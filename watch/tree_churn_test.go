package watch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"
)

// long reports whether the long form of the tests was asked for.
func long() bool { return os.Getenv("LOOMD_SOAK") != "" }

// churn does random things to a tree. Errors do not count: what is to be changed
// may not be there.
type churn struct {
	dir string
	rng *rand.Rand
}

var churnNames = []string{"a", "b", "c", "d", "x.log", ".h", "\xfe", "a-b"}

func (c *churn) anyPath() string {
	rel := ""
	for range 1 + c.rng.IntN(4) {
		rel = path.Join(rel, churnNames[c.rng.IntN(len(churnNames))])
	}
	return filepath.Join(c.dir, rel)
}

var churnRules = []string{"*.log\n", "a/\n", "/b\n", "c\n!c/d\n", "", "*\n!*/\n!a\n", "b/**/a\n"}

func (c *churn) step() {
	p := c.anyPath()
	switch c.rng.IntN(22) {
	case 0, 1, 2:
		_ = os.MkdirAll(p, 0o755)
	case 3, 4, 5, 6:
		_ = os.MkdirAll(filepath.Dir(p), 0o755)
		_ = os.WriteFile(p, []byte(fmt.Sprint(c.rng.IntN(1000))), 0o644)
	case 7:
		_ = os.RemoveAll(p)
	case 8, 9:
		_ = os.Remove(p)
	case 10, 11, 12:
		_ = os.Rename(p, c.anyPath())
	case 13: // away and back
		q := c.anyPath()
		if os.Rename(p, q) == nil {
			_ = os.Rename(q, p)
		}
	case 14: // a directory swapped for a link
		if os.Rename(p, filepath.Join(filepath.Dir(c.dir), fmt.Sprint("out", c.rng.Uint64()))) == nil {
			_ = os.Symlink(c.dir, p)
		}
	case 15:
		_ = os.Symlink(c.anyPath(), p)
	case 16:
		_ = os.Truncate(p, int64(c.rng.IntN(5)))
	case 17: // a tree made fast
		for i := range 5 {
			deep := filepath.Join(p, churnNames[i%4], churnNames[c.rng.IntN(4)], "n")
			_ = os.MkdirAll(deep, 0o755)
			_ = os.WriteFile(filepath.Join(deep, "f"), nil, 0o644)
		}
	case 18:
		name := [...]string{".gitignore", ".ignore"}[c.rng.IntN(2)]
		_ = os.WriteFile(filepath.Join(filepath.Dir(p), name), []byte(churnRules[c.rng.IntN(len(churnRules))]), 0o644)
	case 19:
		c.repository(p)
	case 20:
		_ = os.Chmod(p, 0o700+os.FileMode(c.rng.IntN(64)))
	case 21: // saved as editors do
		_ = os.WriteFile(p+"~", []byte(fmt.Sprint(c.rng.IntN(1000))), 0o644)
		_ = os.Rename(p+"~", p)
	}
}

// repository makes or changes a nested repository.
func (c *churn) repository(p string) {
	git := filepath.Join(p, ".git")
	switch c.rng.IntN(4) {
	case 0:
		_ = os.RemoveAll(git)
	case 1:
		_ = os.MkdirAll(filepath.Join(git, "info"), 0o755)
		_ = os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: x\n"), 0o644)
	case 2:
		_ = os.WriteFile(filepath.Join(git, "info/exclude"), []byte(churnRules[c.rng.IntN(len(churnRules))]), 0o644)
	case 3:
		_ = os.Remove(filepath.Join(git, "HEAD"))
	}
}

func testChurn(t *testing.T, rounds int, configure ...func(*TreeOptions)) {
	seed := randomSeed(t)
	tt := newTreeTest(t)
	c := &churn{dir: tt.dir, rng: rand.New(rand.NewPCG(seed, 1))}
	for range 30 {
		c.step()
	}
	tt.start(configure...)
	for range rounds {
		for range 1 + c.rng.IntN(12) {
			c.step()
			if c.rng.IntN(6) == 0 {
				tt.sync()
			}
		}
		tt.check()
	}
	t.Logf("%d entries, generation %d", len(tt.mirror), tt.since)
}

// TestTreeChurn compares the tree with a fresh list after every few changes.
func TestTreeChurn(t *testing.T) {
	rounds := 250
	if long() {
		rounds = 20_000
	}
	testChurn(t, rounds)
}

// TestTreeChurnPolled does so where no event tells.
func TestTreeChurnPolled(t *testing.T) {
	rounds := 60
	if long() {
		rounds = 5_000
	}
	testChurn(t, rounds, func(o *TreeOptions) { o.remote = func(string) bool { return true } })
}

// TestTreeChurnWithoutWatcher does so where the system gives no watcher.
func TestTreeChurnWithoutWatcher(t *testing.T) {
	rounds := 60
	if long() {
		rounds = 5_000
	}
	testChurn(t, rounds, func(o *TreeOptions) {
		o.open = func() (notifier, error) { return nil, os.ErrPermission }
	})
}

// TestTreeChurnWhileSyncing lets several write while the tree is synced all the
// time; in the end it must be exact.
func TestTreeChurnWhileSyncing(t *testing.T) {
	seed := randomSeed(t)
	rounds, steps := 4, 500
	if long() {
		rounds = 200
	}
	tt := startTree(t)
	for round := range rounds {
		var writing sync.WaitGroup
		for i := range 3 {
			c := &churn{dir: tt.dir, rng: rand.New(rand.NewPCG(seed, uint64(10*round+i)))}
			writing.Go(func() {
				for range steps {
					c.step()
				}
			})
		}
		done := make(chan struct{})
		go func() { writing.Wait(); close(done) }()
		for syncing := true; syncing; {
			select {
			case <-done:
				syncing = false
			default:
				tt.sync()
			}
		}
		tt.check()
	}
	t.Logf("%d entries, generation %d", len(tt.mirror), tt.since)
}
