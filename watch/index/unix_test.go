//go:build unix

package index

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loomd/loomd/watch/match"
)

func TestC114_FIFOInTheTree(t *testing.T) {
	f, x := grove(t, "f", "hit\n")
	f.mu.Lock()
	if err := unix.Mkfifo(f.abs("p"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.touch("p")
	f.mu.Unlock()
	greps(t, x, match.Options{Pattern: "hit"}, "f:1:hit")
}

// TestFIFOWhereAFileWas has a FIFO of which the tree does not tell.
func TestFIFOWhereAFileWas(t *testing.T) {
	f := newForest(t)
	f.write(t, "a", "hit\n")
	if err := os.Remove(f.abs("a")); err != nil {
		t.Fatal(err)
	}
	f.write(t, "b", "hit\n")
	list := f.list()
	if err := unix.Mkfifo(f.abs("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openRoot(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	rd := newReader(r)
	if out, _, err := rd.read("a", list[0].Size, nil); len(out) != 0 {
		t.Errorf("%q, %v", out, err)
	}
	rd.close()
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
}

// TestC207_LinkToAFileOutside swaps a file, and a directory, for links that lead
// out of the root, and tells nobody.
func TestC207_LinkToAFileOutside(t *testing.T) {
	outside := newForest(t)
	outside.write(t, "secret", "hit outside\n")
	outside.write(t, "d/f", "hit outside\n")
	f := newForest(t)
	f.write(t, "l", "hit inside, and longer\n")
	f.write(t, "d/f", "hit inside, and longer\n")
	x := f.open(t, Options{Memory: 1}) // all is read on demand
	built(t, x)
	for _, path := range []string{"l", "d"} {
		if err := os.RemoveAll(f.abs(path)); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"l": "secret", "d": "d"} {
		if err := os.Symlink(outside.abs(target), f.abs(link)); err != nil {
			t.Fatal(err)
		}
	}
	s := snapshot(t, x)
	defer s.Release()
	for _, verify := range []bool{false, true} {
		if got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: "hit"}), Verify: verify}); len(got) != 0 {
			t.Errorf("%q", got)
		}
	}
}

func TestC116_OneUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	f, x := grove(t, "a.c", "hit\n", "b.c", "hit\n")
	if err := os.Chmod(f.abs("b.c"), 0); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.touch("b.c")
	f.mu.Unlock()
	if sum := greps(t, x, match.Options{Pattern: "hit"}, "a.c:1:hit"); len(sum.Warnings) != 1 || sum.Warnings[0].Path != "b.c" {
		t.Errorf("%+v", sum)
	}
}
