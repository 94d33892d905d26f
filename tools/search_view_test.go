package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

// A search sees the session's view: what is proposed is found, what was taken
// away is not, and nobody else sees either.
func TestSearchSeesProposals(t *testing.T) {
	bothWays(t, map[string]string{"a.go": "old\n", "gone.go": "old\n", "d/moved.go": "old\n", "same.go": "old\n"}, func(t *testing.T, b *bench) {
		b.ok("edit_file", args{"path": "a.go", "edits": edits("old", "new")})
		b.ok("write_file", args{"path": "made/deep/er.go", "content": "new\n"})
		b.propose("gone.go", func(diffpreview.Content) diffpreview.Content { return diffpreview.Content{} })
		from, err := b.view.Resolve("d/moved.go")
		must(t, err)
		to, err := b.view.Resolve("e/renamed.go")
		must(t, err)
		_, err = b.view.Rename(context.Background(), from, to, diffpreview.Call{ID: "c", Tool: "test"})
		must(t, err)
		want(t, "grep new", b.lines(args{"pattern": "new"}), "a.go:1:new", "made/deep/er.go:1:new")
		want(t, "grep old", b.lines(args{"pattern": "old"}), "e/renamed.go:1:old", "same.go:1:old")
		want(t, "grep a file", b.lines(args{"pattern": "new", "path": "made/deep/er.go"}), "made/deep/er.go:1:new")
		want(t, "grep a directory", b.lines(args{"pattern": "new", "path": "made"}), "made/deep/er.go:1:new")
		want(t, "glob", b.paths("glob", args{"pattern": "*.go"}), "a.go", "e/renamed.go", "made/deep/er.go", "same.go")
		want(t, "list", b.paths("list_files", args{"recursive": true}),
			"a.go", "d", "e", "e/renamed.go", "made", "made/deep", "made/deep/er.go", "same.go")
		want(t, "list a proposed directory", b.paths("list_files", args{"recursive": true, "path": "made"}), "made/deep", "made/deep/er.go")
		b.fails("file_not_found", "grep", args{"pattern": "old", "path": "gone.go"})
		b.view = b.session("other")
		want(t, "another session", b.lines(args{"pattern": "old|new"}), "a.go:1:old", "d/moved.go:1:old", "gone.go:1:old", "same.go:1:old")
	})
}

// propose makes a file in the view what change makes of it.
func (b *bench) propose(name string, change func(diffpreview.Content) diffpreview.Content) {
	b.t.Helper()
	p, err := b.view.Resolve(name)
	must(b.t, err)
	_, err = b.view.Propose(context.Background(), p, diffpreview.Call{ID: "c", Tool: "test"},
		func(now diffpreview.Content) (diffpreview.Content, error) { return change(now), nil })
	must(b.t, err)
}

// Text that is not saved yet counts, also of a file that never was.
func TestSearchSeesOpenDocuments(t *testing.T) {
	bothWays(t, map[string]string{"a.go": "old\n"}, func(t *testing.T, b *bench) {
		editor := &noEditor{}
		for name, text := range map[string]string{"a.go": "unsaved\n", "never/was.go": "unsaved\n"} {
			p, err := b.view.Resolve(name)
			must(t, err)
			b.store.OpenDocument(editor, p, 1, text)
		}
		want(t, "grep", b.lines(args{"pattern": "old|unsaved"}), "a.go:1:unsaved", "never/was.go:1:unsaved")
		b.store.CloseDocuments(editor)
		want(t, "closed", b.lines(args{"pattern": "old|unsaved"}), "a.go:1:old")
	})
}

type noEditor struct{}

func (*noEditor) ApplyEdits(context.Context, diffpreview.Path, int32, string, []diffpreview.DocumentEdit) error {
	return nil
}

// Rules that are only proposed count in the view that proposes them.
func TestSearchUnderProposedRules(t *testing.T) {
	bothWays(t, map[string]string{".gitignore": "*.log\n", "a.log": "hit\n", "a.txt": "hit\n", "d/.gitignore": "", "d/x": "hit\n"}, func(t *testing.T, b *bench) {
		want(t, "before", b.lines(args{"pattern": "hit"}), "a.txt:1:hit", "d/x:1:hit")
		b.ok("write_file", args{"path": ".gitignore", "content": "*.txt\n"})
		b.ok("write_file", args{"path": "new.txt", "content": "hit\n"})
		want(t, "grep", b.lines(args{"pattern": "hit"}), "a.log:1:hit", "d/x:1:hit")
		want(t, "glob", b.paths("glob", args{"pattern": "**/*"}), ".gitignore", "a.log", "d/.gitignore", "d/x")
		b.view = b.session("other")
		want(t, "another session", b.lines(args{"pattern": "hit"}), "a.txt:1:hit", "d/x:1:hit")
		b.ok("write_file", args{"path": "b.log", "content": "hit\n"})
		want(t, "proposed and ignored", b.lines(args{"pattern": "hit"}), "a.txt:1:hit", "d/x:1:hit")
		want(t, "and named", b.lines(args{"pattern": "hit", "path": "b.log"}), "b.log:1:hit")
	})
}

func TestSearchInSeveralRoots(t *testing.T) {
	top := t.TempDir()
	place(t, top, map[string]string{
		"one/a.go": "hit\nhit\n", "one/s/b.go": "hit\n", "one-b/c.go": "hit\n", "two/a.go": "hit\n", "two/.gitignore": "*.o\n", "two/x.o": "hit\n",
	})
	for _, indexed := range []bool{false, true} {
		b := openBench(t, top+"/one", top+"/one-b", top+"/two")
		if indexed {
			b.withIndex()
		}
		want(t, "all", b.lines(args{"pattern": "hit"}), "one-b/c.go:1:hit", "one/a.go:1:hit", "one/a.go:2:hit", "one/s/b.go:1:hit", "two/a.go:1:hit")
		want(t, "one root", b.lines(args{"pattern": "hit", "path": "two"}), "two/a.go:1:hit")
		want(t, "a glob in every root", b.paths("glob", args{"pattern": "a.go"}), "one/a.go", "two/a.go")
		want(t, "a glob in one root", b.paths("glob", args{"pattern": "one/**/*.go"}), "one/a.go", "one/s/b.go")
		want(t, "a glob at one root", b.paths("glob", args{"pattern": "one/a.go"}), "one/a.go")
		want(t, "without a root", b.lines(args{"pattern": "hit", "glob": "!one/**"}), "one-b/c.go:1:hit", "two/a.go:1:hit")
		var pages []string
		for offset := 0; ; offset += 2 {
			a := args{"pattern": "hit", "limit": 2, "offset": offset}
			pages = append(pages, b.lines(a)...)
			got := b.ok("grep", a)
			if got["truncated"] == false {
				if got["total"] != 5.0 || offset != 4 {
					t.Errorf("the last page, at %d: %v", offset, got)
				}
				break
			}
			if next := fmt.Sprint("offset ", offset+2); !strings.Contains(got["next"].(string), next) || got["shown"] != 2.0 {
				t.Errorf("a page at %d: %v", offset, got)
			}
		}
		want(t, "in pages", pages, b.lines(args{"pattern": "hit"})...)
	}
}

// A type beside a glob demands both, and offset and limit count what fits both.
func TestGrepByTypeAndGlob(t *testing.T) {
	files := map[string]string{}
	for i := range 9 {
		for _, ext := range []string{"go", "py", "txt"} {
			files[fmt.Sprintf("%d/f.%s", i, ext)] = "a hit\nno\nhit\n"
		}
	}
	bothWays(t, files, func(t *testing.T, b *bench) {
		a := args{"pattern": "hit", "type": "go", "glob": "[1-3]/*"}
		want(t, "lines", b.lines(a), "1/f.go:1:a hit", "1/f.go:3:hit", "2/f.go:1:a hit", "2/f.go:3:hit", "3/f.go:1:a hit", "3/f.go:3:hit")
		a["limit"], a["offset"] = 2, 3
		want(t, "a page", b.lines(a), "2/f.go:3:hit", "3/f.go:1:a hit")
		got := b.ok("grep", a)
		if got["truncated"] != true || got["shown"] != 2.0 || got["total"].(float64) < 6 {
			t.Errorf("a page: %v", got)
		}
		a = args{"pattern": "hit", "type": "go", "glob": "!{0,4,5,6,7,8}/*", "mode": "count"}
		if got := b.ok("grep", a); fmt.Sprint(got["counts"]) != "[map[count:2 path:1/f.go] map[count:2 path:2/f.go] map[count:2 path:3/f.go]]" || got["matched_lines"] != 6.0 {
			t.Errorf("counts: %v", got)
		}
		a = args{"pattern": "hit", "type": "go", "glob": "[0-2]/*", "mode": "files", "offset": 1}
		if got := b.ok("grep", a); fmt.Sprint(got["files"]) != "[1/f.go 2/f.go]" || got["total"] != 3.0 {
			t.Errorf("files: %v", got)
		}
	})
}

// Each mode in pages gives what it gives at once.
func TestGrepInPages(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%d/f%d", i%3, i)] = strings.Repeat(fmt.Sprintf("line\nhit %d\n", i), i%5)
	}
	bothWays(t, files, func(t *testing.T, b *bench) {
		for mode, field := range map[string]string{"content": "matches", "files": "files", "count": "counts"} {
			whole := b.ok("grep", args{"pattern": "hit", "mode": mode, "limit": 1000})
			var pages []any
			for len(pages) < len(whole[field].([]any)) {
				page := b.ok("grep", args{"pattern": "hit", "mode": mode, "limit": 7, "offset": len(pages)})
				rows := page[field].([]any)
				if len(rows) == 0 {
					break
				}
				pages = append(pages, rows...)
				if last := len(pages) == len(whole[field].([]any)); last == (page["truncated"] == true) {
					t.Errorf("%s: truncated is %v after %d of %d", mode, page["truncated"], len(pages), len(whole[field].([]any)))
				}
			}
			if got, want := fmt.Sprint(pages), fmt.Sprint(whole[field]); got != want || int(whole["total"].(float64)) != len(pages) {
				t.Errorf("%s in pages: %s, want %s of %v", mode, got, want, whole["total"])
			}
		}
	})
}

// A long answer is what encoding/json would make of it, and says where it ends.
func TestGrepOfManyLines(t *testing.T) {
	line := "\t\"quoted\" \\ <b>&amp; \u2028 é \x01\n"
	b := newBench(t, map[string]string{"a\"b/f": strings.Repeat(line, 30_000)}).withIndex()
	out, a := b.call("grep", args{"pattern": "quoted", "limit": 100_000})
	matches := a["matches"].([]any)
	if len(matches) != 30_000 || a["total"] != 30_000.0 || a["truncated"] != false {
		t.Fatalf("%d of %v", len(matches), a["total"])
	}
	last := matches[len(matches)-1].(map[string]any)
	if last["path"] != "a\"b/f" || last["line"] != 30_000.0 || last["text"] != strings.TrimSuffix(line, "\n") {
		t.Errorf("%v", last)
	}
	if text := out.Content[0].Text; len(text) > 200 || !strings.Contains(text, "structuredContent") {
		t.Errorf("the text: %.300s", text)
	}
}

func TestListFilesByTheIndexIsTheWalk(t *testing.T) {
	files := map[string]string{
		"a/b/c/d": "", "a/b/e": "1", "a-b": "", "a/.hid/x": "", "z/": "", "z/y/": "", ".gitignore": "*.o\nbuild/\n", "a/m.o": "", "build/x": "", "q/build/x": "",
	}
	direct, indexed := newBench(t, files), newBench(t, files).withIndex()
	for _, b := range []*bench{direct, indexed} {
		b.ok("write_file", args{"path": "new/n", "content": "x"})
		b.ok("write_file", args{"path": "a/p", "content": "x"})
		b.propose("a/b/e", func(diffpreview.Content) diffpreview.Content { return diffpreview.Content{} })
		must(t, os.Symlink("a", filepath.Join(b.dir, "link")))
	}
	for _, path := range []string{".", "a", "a/b", "z", "new", "build"} {
		for _, depth := range []int{1, 2, 3, 10} {
			for _, limit := range []int{2, 1000} {
				a := args{"path": path, "recursive": true, "max_depth": depth, "limit": limit}
				one, _ := direct.call("list_files", a)
				other, _ := indexed.call("list_files", a)
				if string(one.Structured) != string(other.Structured) {
					t.Errorf("%v:\nwalked  %s\nindexed %s", a, one.Structured, other.Structured)
				}
			}
		}
	}
}
