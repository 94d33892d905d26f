//go:build unix

package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// freshTree is a small tree to write into, and a subject in another process.
type freshTree struct {
	t    *testing.T
	root string
	s    *served
	rng  *rand.Rand
	old  []string // files that are there
}

func newFreshTree(t *testing.T, kind string) *freshTree {
	t.Helper()
	base := realTemp(t)
	f := &freshTree{t: t, root: filepath.Join(base, "root"), rng: rand.New(rand.NewPCG(newSeed(t), 0))}
	for i := range 2000 {
		p := fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%7, i)
		f.write(p, fmt.Sprintf("file number %d\nhay\nhay\n", i))
		f.old = append(f.old, p)
	}
	f.s = serve(t, kind, f.root, cleanEnv(filepath.Join(base, "home")))
	return f
}

func (f *freshTree) abs(p string) string { return filepath.Join(f.root, p) }

func (f *freshTree) write(p, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.abs(p)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.abs(p), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// ask searches for a token and returns how long the subject itself took.
func (f *freshTree) ask(token string) ([]row, time.Duration) {
	f.t.Helper()
	r, err := f.s.ask(request{Op: "search", Question: question{Pattern: token, Mode: contentMode, Fixed: true}})
	if err != nil {
		f.t.Fatal(err)
	}
	return r.Rows, r.Took
}

// put brings a token into the tree in one of the ways that a file comes to be,
// and returns where.
func (f *freshTree) put(n int, token string) string {
	p, text := f.old[f.rng.IntN(len(f.old))], "hay\n"+token+"\nhay\n"
	switch n % 5 {
	case 0: // over an old file
		f.write(p, text)
	case 1: // a new file
		p = fmt.Sprintf("d1/new%d.txt", n)
		f.write(p, text)
	case 2: // a new directory with a file
		p = fmt.Sprintf("d2/new%d/deep/f.txt", n)
		f.write(p, text)
	case 3: // an atomic save
		f.write(p+"~", text)
		if err := os.Rename(f.abs(p+"~"), f.abs(p)); err != nil {
			f.t.Fatal(err)
		}
	case 4: // one line more
		file, err := os.OpenFile(f.abs(p), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			f.t.Fatal(err)
		}
		if _, err := file.WriteString("\n" + token + "\n"); err != nil {
			f.t.Fatal(err)
		}
		file.Close()
	}
	return p
}

// TestReadYourWrites: what another process has written is found by a search that
// comes next, every time, and what it has removed is not.
func TestReadYourWrites(t *testing.T) {
	for _, kind := range []string{"scan", "index"} {
		t.Run(kind, func(t *testing.T) {
			n := size(500, 10_000)
			if kind == "scan" {
				n = 5
			}
			f := newFreshTree(t, kind)
			var idle, after []time.Duration
			for i := range n {
				_, took := f.ask("nothing like this")
				idle = append(idle, took)
				token := fmt.Sprintf("token-%d-%x", i, f.rng.Uint64())
				p := f.put(i, token)
				rows, took := f.ask(token)
				after = append(after, took)
				if len(rows) != 1 || rows[0].Path != p {
					t.Fatalf("write %d (way %d) of %s: found %v", i, i%5, p, rows)
				}
				if i%10 == 9 {
					if err := os.Remove(f.abs(p)); err != nil {
						t.Fatal(err)
					}
					if rows, _ := f.ask(token); len(rows) > 0 {
						t.Fatalf("removal after write %d of %s: found %v", i, p, rows)
					}
					f.write(p, "hay\n")
				}
			}
			t.Logf("a search when nothing changed: %s", percentiles(idle))
			t.Logf("a search right after a write:  %s", percentiles(after))
		})
	}
}

func percentiles(times []time.Duration) string {
	sorted := slices.Sorted(slices.Values(times))
	return fmt.Sprintf("p50 %v, p99 %v, max %v of %d", sorted[len(sorted)/2], sorted[len(sorted)*99/100], sorted[len(sorted)-1], len(sorted))
}

// TestReadYourWritesAtOnce: several processes' worth of writers, each of which
// finds its own write.
func TestReadYourWritesAtOnce(t *testing.T) {
	f := newFreshTree(t, "index")
	failed := make(chan error, 8)
	for g := range cap(failed) {
		go func() {
			failed <- func() error {
				for i := range size(100, 2000) {
					p, token := fmt.Sprintf("d%d/own%d.txt", g, g), fmt.Sprintf("own-%d-%d-", g, i)
					if err := os.WriteFile(f.abs(p), []byte(token+"\n"), 0o644); err != nil {
						return err
					}
					rows, err := f.s.Search(context.Background(), question{Pattern: token, Mode: contentMode, Fixed: true})
					if err != nil || len(rows) != 1 || rows[0].Path != p {
						return fmt.Errorf("%s: found %v, %v", token, rows, err)
					}
				}
				return nil
			}()
		}()
	}
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}
