//go:build unix

package diffpreview

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// changeSet is a workspace of many files, and the same change of each: as open proposals of a session, and as a patch.
type changeSet struct {
	b         *testing.B
	root      string
	store     *Store
	names     []string
	old, new  string
	patchFile string
}

func newChangeSet(b *testing.B, files int) *changeSet {
	b.Helper()
	c := &changeSet{b: b, root: b.TempDir(), patchFile: filepath.Join(b.TempDir(), "patch")}
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of an ordinary file\n", i)
	}
	c.old = strings.Join(lines, "")
	was := lines[100]
	lines[100] = "a changed line\n"
	c.new = strings.Join(lines, "")
	patch := strings.Builder{}
	for i := range files {
		name := fmt.Sprintf("d%d/f%d", i%40, i)
		c.names = append(c.names, name)
		fmt.Fprintf(&patch, "--- a/%s\n+++ b/%s\n@@ -101 +101 @@\n-%s+%s", name, name, was, lines[100])
		if err := os.MkdirAll(filepath.Join(c.root, filepath.Dir(name)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(c.patchFile, []byte(patch.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	c.restore()
	ws, err := OpenWorkspace([]string{c.root})
	if err != nil {
		b.Fatal(err)
	}
	if c.store, err = Open(ws, Options{Dir: filepath.Join(b.TempDir(), "state")}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.store.Close(); err != nil {
			b.Error(err)
		}
		if err := ws.Close(); err != nil {
			b.Error(err)
		}
	})
	return c
}

// restore brings the files back to what they were, on the disk.
func (c *changeSet) restore() {
	c.b.Helper()
	for _, name := range c.names {
		if err := os.WriteFile(filepath.Join(c.root, name), []byte(c.old), 0o644); err != nil {
			c.b.Fatal(err)
		}
	}
	c.sync()
}

func (c *changeSet) sync() {
	c.b.Helper()
	if out, err := exec.Command("sync", "-f", c.root).CombinedOutput(); err != nil {
		c.b.Fatalf("sync: %v\n%s", err, out)
	}
}

// propose makes the change of every file an open proposal of a new session, journalled at once.
func (c *changeSet) propose() (session string) {
	c.b.Helper()
	sess, err := c.store.JoinSession(Session{Label: "bench"})
	if err != nil {
		c.b.Fatal(err)
	}
	view := c.store.View(sess.ID)
	var all []*Proposal
	for _, name := range c.names {
		path, err := view.Resolve(name)
		if err != nil {
			c.b.Fatal(err)
		}
		p, _, now, err := view.current(path, Call{Tool: "bench"})
		if err != nil {
			c.b.Fatal(err)
		}
		now.Data = []byte(c.new)
		all = append(all, view.extend(p.step(now), Call{Tool: "bench"}))
	}
	if err := c.store.keep(all, nil); err != nil {
		c.b.Fatal(err)
	}
	return sess.ID
}

func (c *changeSet) want(text string) {
	c.b.Helper()
	for _, name := range []string{c.names[0], c.names[len(c.names)-1]} {
		if got, err := os.ReadFile(filepath.Join(c.root, name)); err != nil || string(got) != text {
			c.b.Fatalf("%s: %v, not the text it should have", name, err)
		}
	}
}

// BenchmarkAcceptAll accepts a change set of 1,000 files, journal and all, next to `git apply` of the same patch
// followed by `sync -f`. Goal: at most 2 times its time.
func BenchmarkAcceptAll(b *testing.B) {
	git, err := exec.LookPath("git")
	if err != nil {
		b.Skip(err)
	}
	c := newChangeSet(b, 1000)
	var session string
	prepare := func() {
		c.restore()
		session = c.propose()
	}
	pair(b, "git", prepare, func() {
		got, err := c.store.DecideSession(context.Background(), DecideSet{Session: session, Accept: true, By: "bench"})
		if err != nil || len(got.Written) != len(c.names) {
			b.Fatalf("%d files were written: %v", len(got.Written), err)
		}
		c.want(c.new)
	}, func() {
		apply := exec.Command(git, "apply", "--unidiff-zero", c.patchFile)
		apply.Dir = c.root
		if out, err := apply.CombinedOutput(); err != nil {
			b.Fatalf("git apply: %v\n%s", err, out)
		}
		c.sync()
		c.want(c.new)
	})
}
