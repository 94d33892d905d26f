//go:build unix

package tools

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestC058FIFO(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x"})
	must(t, syscall.Mkfifo(filepath.Join(b.dir, "p"), 0o644))
	done := make(chan struct{})
	go func() {
		defer close(done)
		a := b.fails("not_regular_file", "read_file", args{"path": "p"})
		if !strings.Contains(a["message"].(string), "not a regular file") {
			t.Errorf("%v", a["message"])
		}
		b.fails("not_regular_file", "edit_file", args{"path": "p", "edits": edits("", "x")})
		b.fails("not_regular_file", "write_file", args{"path": "p", "content": "x"})
		b.ok("read_file", args{"path": "f"})
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a FIFO holds the call")
	}
	files := b.ok("list_files", args{})["files"].([]any)
	if kind := files[1].(map[string]any)["kind"]; kind != "special" {
		t.Errorf("listed as %v", kind)
	}
}

func TestC207LinkToAFileOutside(t *testing.T) {
	top := t.TempDir()
	place(t, top, map[string]string{"secret": "the secret", "ws/f": "x"})
	b := openBench(t, filepath.Join(top, "ws"))
	must(t, os.Symlink(filepath.Join(top, "secret"), filepath.Join(b.dir, "l")))
	must(t, os.Symlink(filepath.Join(top, "absent"), filepath.Join(b.dir, "dangling")))
	for _, name := range []string{"l", "dangling"} {
		for tool, a := range map[string]args{
			"read_file":  {"path": name},
			"edit_file":  {"path": name, "edits": edits("", "x")},
			"write_file": {"path": name, "content": "x"},
			"list_files": {"path": name},
		} {
			got := b.fails("path_outside_workspace", tool, a)
			if strings.Contains(string(mustJSON(t, got)), "the secret") {
				t.Errorf("%s %s shows the target: %v", tool, name, got)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(top, "absent")); err == nil {
		t.Error("a file was made outside")
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := encode(v)
	must(t, err)
	return text
}

func TestC083LinkLoops(t *testing.T) {
	b := newBench(t, map[string]string{"src/x.go": "x", "src/a/x.go": "x"})
	must(t, os.Symlink(".", filepath.Join(b.dir, "loop")))
	must(t, os.Symlink("..", filepath.Join(b.dir, "src", "up")))
	got := b.paths("list_files", args{"recursive": true, "max_depth": 100})
	if want := "loop src src/a src/a/x.go src/up src/x.go"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestC095UnreadableDirectory(t *testing.T) {
	if !asNobody(t) {
		return
	}
	b := newBench(t, map[string]string{"a/x.md": "", "locked/y.md": "", "z/y.md": ""})
	locked := filepath.Join(b.dir, "locked")
	must(t, os.Chmod(locked, 0))
	t.Cleanup(func() { os.Chmod(locked, 0o700) })
	a := b.ok("list_files", args{"recursive": true})
	var got []string
	for _, f := range a["files"].([]any) {
		got = append(got, f.(map[string]any)["path"].(string))
	}
	if want := "a a/x.md locked z z/y.md"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	warnings := a["warnings"].([]any)
	if len(warnings) != 1 || warnings[0].(map[string]any)["path"] != "locked" {
		t.Errorf("warnings: %v", warnings)
	}
	b.fails("permission_denied", "list_files", args{"path": "locked"})
}

func TestC047ReadOnlyFile(t *testing.T) {
	if !asNobody(t) {
		return
	}
	b := newBench(t, map[string]string{"f": "w\n"})
	must(t, os.Chmod(filepath.Join(b.dir, "f"), 0o444))
	a := b.fails("permission_denied", "edit_file", args{"path": "f", "edits": edits("w", "W")})
	if !strings.Contains(a["message"].(string), "f") {
		t.Errorf("%v", a)
	}
	b.fails("permission_denied", "write_file", args{"path": "f", "content": "x"})
	if b.onDisk("f") != "w\n" {
		t.Error("the file changed")
	}
	must(t, os.Chmod(filepath.Join(b.dir, "f"), 0))
	b.fails("permission_denied", "read_file", args{"path": "f"})
}

// TestReadWithoutASize: files of /proc say that they are empty.
func TestReadWithoutASize(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc")
	}
	b := openBench(t, "/proc/self")
	a := b.ok("read_file", args{"path": "status"})
	if !strings.HasPrefix(a["contents"].(string), "Name:") || a["total_bytes"] == 0.0 {
		t.Errorf("%v", a)
	}
	if got, _ := walkFile(t, b, "status", args{"max_bytes": 100}); !strings.Contains(got, "\nPid:") {
		t.Errorf("in pages: %q", got)
	}
}

func TestNamesThatAreNoUTF8(t *testing.T) {
	b := newBench(t, map[string]string{"a": ""})
	if err := os.WriteFile(filepath.Join(b.dir, "b\xff"), nil, 0o644); err != nil {
		t.Skip("the file system refuses such names")
	}
	a := b.ok("list_files", args{})
	warnings := a["warnings"].([]any)
	if len(a["files"].([]any)) != 1 || len(warnings) != 1 || warnings[0].(map[string]any)["path"] != "b\ufffd" {
		t.Errorf("%v", a)
	}
}
