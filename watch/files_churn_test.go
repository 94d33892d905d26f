package watch

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// churnTest is a receiver that does what Files asks for: it reads at each hint.
type churnTest struct {
	*filesTest
	rng *rand.Rand

	mu   sync.Mutex // guards read, and orders reading files
	read map[string]string
}

func contentAt(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "nothing"
	}
	return string(data)
}

func (c *churnTest) take(path string) {
	c.mu.Lock() // over the read too: what is read later is kept
	defer c.mu.Unlock()
	c.read[path] = contentAt(path)
}

var churnRounds = flag.Int("churn.rounds", 60, "how many random trees are churned under watched files")

var (
	churnDirs  = []string{"a", "b", "a/c", "b/c", "a/c/d", "b/c/d", "x"}
	churnFiles = []string{"a/f", "b/f", "a/c/f", "a/c/d/f", "b/c/f", "b/c/d/f", "x/f", "x/c/f", "f"}
)

func (c *churnTest) pick(list []string) string { return list[c.rng.IntN(len(list))] }

// change does one random thing to the tree; that it may fail is part of it.
func (c *churnTest) change(i int) {
	file, dir, other := c.path(c.pick(churnFiles)), c.path(c.pick(churnDirs)), c.path(c.pick(churnDirs))
	text := []byte(fmt.Sprint(i))
	switch c.rng.IntN(9) {
	case 0, 1:
		_ = os.WriteFile(file, text, 0o644)
	case 2:
		if os.WriteFile(c.path("temp"), text, 0o644) == nil {
			_ = os.Rename(c.path("temp"), file)
		}
	case 3:
		_ = os.Remove(file)
	case 4, 5:
		_ = os.MkdirAll(dir, 0o755)
	case 6:
		_ = os.Rename(dir, other)
	case 7:
		if c.rng.IntN(3) == 0 {
			_ = os.RemoveAll(dir)
		}
	case 8:
		if os.Symlink(c.path(c.pick([]string{"a", "b", "b/c"})), c.path("swap")) == nil && os.Rename(c.path("swap"), c.path("x")) != nil {
			_ = os.Remove(c.path("swap"))
		}
	}
}

// TestFilesChurn: whatever happens to files, directories and links, in whatever
// order, a receiver that reads at each hint ends with what is there. Events
// alone have to do it.
func TestFilesChurn(t *testing.T) {
	seed := randomSeed(t)
	for round := range *churnRounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			c := &churnTest{rng: rand.New(rand.NewPCG(seed, uint64(round))), read: map[string]string{}}
			c.filesTest = startFiles(t, func(o *filesOptions) { o.changed = c.take })
			for i := range 120 {
				c.change(i)
				if i < len(churnFiles) { // some files are added on the way
					path := c.path(churnFiles[i])
					c.must(c.Add(path))
					c.take(path)
				}
			}
			c.converges()
		})
	}
}

// converges awaits that the receiver knows what is there.
func (c *churnTest) converges() {
	c.t.Helper()
	deadline := time.Now().Add(patience)
	for _, rel := range churnFiles {
		path := c.path(rel)
		for {
			c.mu.Lock()
			got := c.read[path]
			c.mu.Unlock()
			want := contentAt(path)
			if got == want {
				break
			}
			if time.Now().After(deadline) {
				c.t.Fatalf("%s: read %q, there is %q; problems %q", rel, got, want, c.Problems())
			}
			runtime.Gosched()
		}
	}
}
