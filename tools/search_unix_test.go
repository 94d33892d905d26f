//go:build unix

package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// warned returns the paths of an answer's warnings.
func warned(a answer) (paths []string) {
	for _, w := range a["warnings"].([]any) {
		paths = append(paths, w.(map[string]any)["path"].(string))
	}
	return paths
}

func TestC095_SearchBesideALockedDirectory(t *testing.T) {
	if !asNobody(t) {
		return
	}
	for _, indexed := range []bool{false, true} {
		b := newBench(t, map[string]string{"a/x.md": "hit\n", "locked/y.md": "hit\n", "z/y.md": "hit\n"})
		locked := filepath.Join(b.dir, "locked")
		must(t, os.Chmod(locked, 0))
		t.Cleanup(func() { os.Chmod(locked, 0o700) })
		if indexed {
			b.withIndex()
		}
		want(t, "glob", b.paths("glob", args{"pattern": "**/*.md"}), "a/x.md", "z/y.md")
		want(t, "glob's warnings", warned(b.ok("glob", args{"pattern": "**/*.md"})), "locked")
		want(t, "grep", b.lines(args{"pattern": "hit"}), "a/x.md:1:hit", "z/y.md:1:hit")
		want(t, "grep's warnings", warned(b.ok("grep", args{"pattern": "hit"})), "locked")
		want(t, "list", b.paths("list_files", args{"recursive": true}), "a", "a/x.md", "locked", "z", "z/y.md")
		want(t, "list's warnings", warned(b.ok("list_files", args{"recursive": true})), "locked")
	}
}

// TestDirectoryIsLocked locks a directory that was searched, and unlocks it.
func TestDirectoryIsLocked(t *testing.T) {
	if !asNobody(t) {
		return
	}
	b := newBench(t, map[string]string{"a": "hit\n", "d/b": "hit\n", "d/e/c": "hit\n"}).withIndex()
	all := []string{"a:1:hit", "d/b:1:hit", "d/e/c:1:hit"}
	want(t, "grep", b.lines(args{"pattern": "hit"}), all...)
	locked := filepath.Join(b.dir, "d")
	t.Cleanup(func() { os.Chmod(locked, 0o700) })
	for _, mode := range []os.FileMode{0, 0o100, 0o400} {
		must(t, os.Chmod(locked, mode))
		want(t, "grep", b.lines(args{"pattern": "hit"}), "a:1:hit")
		want(t, "warnings", warned(b.ok("grep", args{"pattern": "hit"})), "d")
		want(t, "glob", b.paths("glob", args{"pattern": "**/*"}), "a")
		must(t, os.Chmod(locked, 0o700))
		want(t, "grep", b.lines(args{"pattern": "hit"}), all...)
	}
}

func TestC116_OneUnreadableFile(t *testing.T) {
	if !asNobody(t) {
		return
	}
	for _, indexed := range []bool{false, true} {
		b := newBench(t, map[string]string{"a.c": "hit\n", "b.c": "hit\n"})
		must(t, os.Chmod(filepath.Join(b.dir, "b.c"), 0))
		if indexed {
			b.withIndex()
		}
		want(t, "grep", b.lines(args{"pattern": "hit"}), "a.c:1:hit")
		want(t, "warnings", warned(b.ok("grep", args{"pattern": "hit"})), "b.c")
	}
}

func TestC114_FIFOInTheTree(t *testing.T) {
	bothWays(t, map[string]string{"f": "hit\n"}, func(t *testing.T, b *bench) {
		must(t, syscall.Mkfifo(filepath.Join(b.dir, "p"), 0o600))
		got := make(chan []string, 1)
		go func() { got <- b.lines(args{"pattern": "hit"}) }()
		select {
		case lines := <-got:
			want(t, "grep", lines, "f:1:hit")
		case <-time.After(10 * time.Second):
			t.Fatal("a FIFO holds the search")
		}
		b.fails("not_regular_file", "grep", args{"pattern": "hit", "path": "p"})
		a := b.ok("glob", args{"pattern": "p"})
		if kind := a["files"].([]any)[0].(map[string]any)["kind"]; kind != "special" {
			t.Errorf("found as %v", kind)
		}
	})
}

// What JSON cannot carry is left out, and said.
func TestSearchAmongNamesThatAreNotUTF8(t *testing.T) {
	bothWays(t, map[string]string{"f": "hit\n"}, func(t *testing.T, b *bench) {
		if err := os.WriteFile(filepath.Join(b.dir, "b\xff"), []byte("hit\nhit\n"), 0o644); err != nil {
			t.Skipf("the file system takes no such name: %v", err)
		}
		want(t, "grep", b.lines(args{"pattern": "hit"}), "f:1:hit")
		want(t, "glob", b.paths("glob", args{"pattern": "*"}), "f")
		for tool, a := range map[string]args{"glob": {"pattern": "*"}, "grep": {"pattern": "hit"}, "list_files": {"recursive": true}} {
			if w := b.ok(tool, a)["warnings"]; !strings.Contains(fmt.Sprint(w), "UTF-8") {
				t.Errorf("%s says nothing: %v", tool, w)
			}
		}
	})
}
