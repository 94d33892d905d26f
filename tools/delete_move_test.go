package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// isThere tells whether the disk has a name.
func (b *bench) isThere(name string) bool {
	b.t.Helper()
	_, err := os.Lstat(filepath.Join(b.dir, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
	return err == nil
}

// listed are the files that the agent's view has.
func (b *bench) listed() []string {
	return b.paths("glob", args{"pattern": "**/*"})
}

func TestDeleteFile(t *testing.T) {
	b := newBench(t, map[string]string{"d/a": "one\ntwo\n", "d/b": "x\n", "keep": ""}).withIndex()
	got := b.ok("delete_file", args{"path": "d/a"})
	if got["state"] != "open" || got["original_bytes"] != 8.0 || !strings.Contains(got["diff"].(string), "-two") || got["path"] != "d/a" {
		t.Errorf("%v", got)
	}
	if want := []string{"d/b", "keep"}; !slices.Equal(b.listed(), want) {
		t.Errorf("the view lists %q", b.listed())
	}
	b.fails("file_not_found", "read_file", args{"path": "d/a"})
	if again := b.fails("file_not_found", "delete_file", args{"path": "d/a"}); !strings.Contains(again["hint"].(string), "d/") {
		t.Errorf("%v", again)
	}
	if b.onDisk("d/a") != "one\ntwo\n" {
		t.Error("deleted before anybody accepted it")
	}
	b.decide(got["proposal"].(string), false)
	if !b.isThere("d/a") || !slices.Contains(b.listed(), "d/a") {
		t.Error("rejected, and gone")
	}
	b.fails("stale", "delete_file", args{"path": "d/a"}) // it is there again
	b.ok("read_file", args{"path": "d/a"})
	b.decide(b.ok("delete_file", args{"path": "d/a"})["proposal"].(string), true)
	if b.isThere("d/a") || !b.isThere("d/b") {
		t.Error("accepted, and not done")
	}

	// What nobody has accepted yet leaves no proposal.
	b.ok("write_file", args{"path": "new", "content": "x\n"})
	if got := b.ok("delete_file", args{"path": "new"}); got["state"] != "withdrawn" {
		t.Errorf("%v", got)
	}
}

func TestDeleteFileRefuses(t *testing.T) {
	b := newBench(t, map[string]string{"d/a": "x\n", "f": "1\n", ".git/HEAD": "ref: x\n"})
	for path, code := range map[string]string{
		"d": "is_directory", "d/": "is_directory", "f/": "is_directory", "none": "file_not_found", "../x": "path_outside_workspace",
		".git/HEAD": "protected_path", ".": "is_directory",
	} {
		b.fails(code, "delete_file", args{"path": path})
	}
	b.ok("read_file", args{"path": "f"})
	place(t, b.dir, map[string]string{"f": "another\n"})
	if got := b.fails("stale", "delete_file", args{"path": "f"}); got["hint"] == "" {
		t.Errorf("%v", got)
	}
	b.ok("read_file", args{"path": "f"})
	b.ok("delete_file", args{"path": "f"})
}

func TestDeleteFileOfALink(t *testing.T) {
	b := newBench(t, map[string]string{"f": "1\n"})
	must(t, os.Symlink("f", filepath.Join(b.dir, "link")))
	b.decide(b.ok("delete_file", args{"path": "link"})["proposal"].(string), true)
	if b.isThere("link") || b.onDisk("f") != "1\n" {
		t.Error("the link is there, or the file is not")
	}
}

func TestMoveFile(t *testing.T) {
	b := newBench(t, map[string]string{"a": "one\ntwo\n", "b": "x\n"}).withIndex()
	got := b.ok("move_file", args{"path": "a", "to": "new/dir/c"})
	if got["path"] != "new/dir/c" || got["from"] != "a" || got["state"] != "open" || !strings.Contains(got["diff"].(string), "rename to new/dir/c") {
		t.Errorf("%v", got)
	}
	if want := []string{"b", "new/dir/c"}; !slices.Equal(b.listed(), want) {
		t.Errorf("the view lists %q", b.listed())
	}
	b.ok("edit_file", args{"path": "new/dir/c", "edits": []any{args{"old_str": "two", "new_str": "2"}}})
	if b.onDisk("a") != "one\ntwo\n" || b.isThere("new") {
		t.Error("moved before anybody accepted it")
	}
	b.decide(got["proposal"].(string), true)
	if b.isThere("a") || b.onDisk("new/dir/c") != "one\n2\n" {
		t.Errorf("accepted, and on disk is %q", b.onDisk("new/dir/c"))
	}
	back := b.ok("move_file", args{"path": "new/dir/c", "to": "a"})["proposal"].(string)
	b.decide(back, false)
	if b.isThere("a") || !b.isThere("new/dir/c") {
		t.Error("rejected, and done")
	}
}

func TestMoveFileRefuses(t *testing.T) {
	b := newBench(t, map[string]string{"d/a": "x\n", "f": "1\n", "g": ""})
	for _, c := range []struct{ path, to, code string }{
		{"f", "g", "conflict"},
		{"f", "d", "is_directory"},
		{"f", "d/", "is_directory"},
		{"f", "f", "invalid_arguments"},
		{"d", "e", "is_directory"},
		{"none", "e", "file_not_found"},
		{"f", "../e", "path_outside_workspace"},
		{"f", ".git/e", "protected_path"},
		{"f", "g/e", "not_regular_file"},
	} {
		if got := b.fails(c.code, "move_file", args{"path": c.path, "to": c.to}); got["message"] == "" {
			t.Errorf("%v: %v", c, got)
		}
	}
	if !b.isThere("f") {
		t.Error("f is gone")
	}
}

// In a session that waits, a deletion answers with what became of it.
func TestDeleteFileWaits(t *testing.T) {
	for _, accept := range []bool{true, false} {
		b := newBench(t, map[string]string{"f": "1\n"})
		must(t, os.Symlink("f", filepath.Join(b.dir, "link")))
		for _, name := range []string{"link", "f"} {
			tc := Context{
				View: b.view, Logger: slog.New(slog.DiscardHandler), ReviewWait: func() time.Duration { return time.Hour },
				Progress: func(Progress) {
					for _, p := range b.view.Undecided(nil) {
						b.decide(p.ID, accept)
					}
				},
			}
			out, err := b.registry.Run(context.Background(), "delete_file", "c", json.RawMessage(`{"path":"`+name+`"}`), tc)
			must(t, err)
			var got answer
			must(t, json.Unmarshal(out.Structured, &got))
			want := map[bool]string{true: "applied", false: "rejected"}[accept]
			if out.IsError || got["state"] != want || b.isThere(name) == accept {
				t.Errorf("accept %v of %s: %v", accept, name, got)
			}
		}
	}
}
