package tools

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// paths runs a tool that lists files and returns their paths.
func (b *bench) paths(tool string, a args) []string {
	b.t.Helper()
	got := []string{}
	for _, f := range b.ok(tool, a)["files"].([]any) {
		got = append(got, f.(map[string]any)["path"].(string))
	}
	return got
}

// A depth that would not be heeded is refused; 1 is what there is without recursive.
func TestListFilesDepthNeedsRecursive(t *testing.T) {
	b := newBench(t, map[string]string{"a/x": ""})
	for _, depth := range []int{2, 10} {
		a := b.fails("invalid_arguments", "list_files", args{"max_depth": depth})
		if a["message"] != "max_depth: needs recursive: true" || a["field"] != "max_depth" || a["hint"] == "" {
			t.Errorf("%d: %v", depth, a)
		}
	}
	b.ok("list_files", args{"max_depth": 1, "recursive": false})
	b.ok("list_files", args{"max_depth": 10, "recursive": true})
}

func TestListFiles(t *testing.T) {
	b := newBench(t, map[string]string{
		"b.txt": "12345", "a/x": "1", "a/deep/er/y": "1", "a-b": "", ".hid/z": "", ".env": "", "empty/": "",
		".git/HEAD": "ref: refs/heads/main\n", ".gitignore": "*.o\nbuild/\n", "a/m.o": "", "build/out": "",
		"a/.gitignore": "!keep.o\n", "a/keep.o": "",
	})
	tests := []struct {
		args args
		want string
	}{
		{args{}, ".env .gitignore .hid a a-b b.txt empty"},
		{args{"hidden": false}, "a a-b b.txt empty"},
		{args{"recursive": true}, ".env .gitignore .hid .hid/z a a-b a/.gitignore a/deep a/deep/er a/deep/er/y a/keep.o a/x b.txt empty"},
		{args{"recursive": true, "hidden": false, "max_depth": 2}, "a a-b a/deep a/keep.o a/x b.txt empty"},
		{args{"path": "a"}, "a/.gitignore a/deep a/keep.o a/x"},
		{args{"path": "a/deep", "recursive": true}, "a/deep/er a/deep/er/y"},
		{args{"path": "empty"}, ""},
		{args{"path": "build"}, ""},
		{args{"limit": 2}, ".env .gitignore"},
	}
	for _, tt := range tests {
		if got := strings.Join(b.paths("list_files", tt.args), " "); got != tt.want {
			t.Errorf("%v:\ngot  %s\nwant %s", tt.args, got, tt.want)
		}
	}
	a := b.ok("list_files", args{"recursive": true})
	if a["ignored"] != 2.0 || a["truncated"] != false {
		t.Errorf("ignored %v, truncated %v", a["ignored"], a["truncated"])
	}
	first := b.ok("list_files", args{"path": ".", "hidden": false})["files"].([]any)
	if got := fmt.Sprint(first[2]); got != "map[is_dir:false path:b.txt size:5]" {
		t.Errorf("entry: %s", got)
	}
	if a = b.ok("list_files", args{"path": "build"}); a["ignored"] != 1.0 || len(a["warnings"].([]any)) != 1 {
		t.Errorf("an ignored directory: %v", a)
	}
}

func TestListFilesSaysWhatItLeftOut(t *testing.T) {
	b := newBench(t, map[string]string{"a/b/c": "", "a/e/": "", "d": ""})
	a := b.ok("list_files", args{"recursive": true, "max_depth": 2})
	if a["truncated"] != true || a["shown"] != 4.0 || a["total"] != 4.0 || !strings.Contains(a["next"].(string), "1 directories at max_depth") {
		t.Errorf("depth: %v", a)
	}
	if a = b.ok("list_files", args{"recursive": true, "max_depth": 3}); a["truncated"] != false {
		t.Errorf("all of it: %v", a)
	}
	a = b.ok("list_files", args{"recursive": true, "limit": 2})
	if a["truncated"] != true || a["shown"] != 2.0 || a["total"] != 5.0 || a["unit"] != "entries" || !strings.Contains(a["next"].(string), "limit to 5") {
		t.Errorf("limit: %v", a)
	}
	if a = b.ok("list_files", args{}); a["truncated"] != false {
		t.Errorf("not recursive is not cut: %v", a)
	}
}

func TestListFilesFailures(t *testing.T) {
	b := newBench(t, map[string]string{"src/f": ""})
	b.fails("not_regular_file", "list_files", args{"path": "src/f"})
	a := b.fails("file_not_found", "list_files", args{"path": "scr"})
	if a["hint"] != "did you mean src?" {
		t.Errorf("hint %q", a["hint"])
	}
}

func TestListFilesSeesProposals(t *testing.T) {
	b := newBench(t, map[string]string{"f": ""})
	b.ok("edit_file", args{"path": "new/deep/n", "edits": edits("", "x\n")})
	b.ok("write_file", args{"path": ".gitignore", "content": "*.log\n"})
	b.ok("write_file", args{"path": "a.log", "content": "x"})
	want := []string{".gitignore", "f", "new", "new/deep", "new/deep/n"}
	if got := b.paths("list_files", args{"recursive": true}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := b.paths("list_files", args{"path": "new"}); !slices.Equal(got, []string{"new/deep"}) {
		t.Errorf("a directory that is only proposed: %v", got)
	}
}

// As for git, rules behind a link do not count.
func TestListFilesIgnoresALinkedGitignore(t *testing.T) {
	b := newBench(t, map[string]string{"rules": "*.o\n", "a.o": ""})
	must(t, os.Symlink("rules", filepath.Join(b.dir, ".gitignore")))
	if got := b.paths("list_files", args{}); !slices.Equal(got, []string{".gitignore", "a.o", "rules"}) {
		t.Errorf("%v", got)
	}
}

func TestListFilesOfSeveralRoots(t *testing.T) {
	top := t.TempDir()
	place(t, top, map[string]string{"one/.gitignore": "*.o\n", "one/a.o": "", "one/a": "", "two/d/b.o": ""})
	b := openBench(t, top+"/one", top+"/two")
	if got := b.paths("list_files", args{}); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("roots: %v", got)
	}
	want := []string{"one", "one/.gitignore", "one/a", "two", "two/d", "two/d/b.o"}
	if got := b.paths("list_files", args{"recursive": true}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := b.paths("list_files", args{"path": "two", "recursive": true}); !slices.Equal(got, want[4:]) {
		t.Errorf("%v, want %v", got, want[4:])
	}
}

// TestListOrder: what is listed is sorted by the bytes of the path, and a limit
// gives the first of the same list.
func TestListOrder(t *testing.T) {
	b := newBench(t, nil)
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		round++
		top := fmt.Sprint(round)
		part := rapid.SampledFrom([]string{"a", "a-", "a.b", "a0", "b", "~", "é"})
		files := map[string]string{top + "/": ""}
		for _, parts := range rapid.SliceOfN(rapid.SliceOfN(part, 1, 3), 0, 12).Draw(r, "files") {
			files[path.Join(top, path.Join(parts...), "f")] = ""
		}
		place(t, b.dir, files)
		all := b.paths("list_files", args{"path": top, "recursive": true})
		if !slices.IsSorted(all) || len(all) < len(files)-1 {
			r.Fatalf("not sorted, or not all: %q", all)
		}
		if len(all) == 0 {
			return
		}
		limit := rapid.IntRange(1, len(all)).Draw(r, "limit")
		if got := b.paths("list_files", args{"path": top, "recursive": true, "limit": limit}); !slices.Equal(got, all[:limit]) {
			r.Fatalf("limit %d: %q", limit, got)
		}
	})
}
