package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// bothWays runs a test with an index and without one: the answers are the same.
func bothWays(t *testing.T, files map[string]string, test func(t *testing.T, b *bench)) {
	t.Helper()
	t.Run("direct", func(t *testing.T) { test(t, newBench(t, files)) })
	t.Run("indexed", func(t *testing.T) { test(t, newBench(t, files).withIndex()) })
}

// lines runs grep and returns "path:line:text" of each match, with "-" in place
// of ":" for lines of context.
func (b *bench) lines(a args) []string {
	b.t.Helper()
	got := []string{}
	for _, m := range b.ok("grep", a)["matches"].([]any) {
		m := m.(map[string]any)
		mark := ":"
		if m["context"] == true {
			mark = "-"
		}
		got = append(got, fmt.Sprint(m["path"], mark, m["line"], mark, m["text"]))
	}
	return got
}

func want(t *testing.T, about string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", about, got, want)
	}
}

func TestGlobCases(t *testing.T) {
	for _, c := range []struct {
		id    string
		files string // names
		args  args
		want  string
	}{
		{"C076_EscapedBrackets", "routes/[id]/page.tsx routes/i/page.tsx", args{"pattern": `routes/\[id\]/**`}, "routes/[id]/page.tsx"},
		{"C079_StarsAndBraces", "b nested/b deep/er/z other", args{"pattern": "**/{b,z}"}, "b deep/er/z nested/b"},
		{"C081_StarsForNoDirectory", "src/x.go src/a/x.go src/a/b/x.go x.go", args{"pattern": "src/**/x.go"}, "src/a/b/x.go src/a/x.go src/x.go"},
		{"C082_StarsGluedToAName", "foo1/bar/q foo2", args{"pattern": "foo**"}, "foo2"},
		{"C084_HiddenByDefault", ".github/workflows/ci.yml .eslintrc.json a.yml", args{"pattern": "**/*.yml"}, ".github/workflows/ci.yml a.yml"},
		{"C084_HiddenByPath", ".github/workflows/ci.yml .eslintrc.json", args{"pattern": ".github/workflows/*.yml"}, ".github/workflows/ci.yml"},
		{"C084_HiddenByName", ".github/workflows/ci.yml .eslintrc.json", args{"pattern": ".eslintrc.json"}, ".eslintrc.json"},
		{"C084_LeftOutOnRequest", ".github/ci.yml a/.b/c.yml d.yml", args{"pattern": "*.yml", "hidden": false}, "d.yml"},
		{"anchored", "a.go b/a.go", args{"pattern": "./a.go"}, "a.go"},
		{"below a directory", "src/a/b src/c srcs/d", args{"pattern": "src/"}, "src/a/b src/c"},
		{"path and pattern", "src/a/b.go src/c.go c.go", args{"pattern": "*.go", "path": "src"}, "src/a/b.go src/c.go"},
		{"path is a file", "src/c.go c.go", args{"pattern": "*.go", "path": "src/c.go"}, "src/c.go"},
	} {
		files := map[string]string{}
		for name := range strings.FieldsSeq(c.files) {
			files[name] = "x"
		}
		t.Run(c.id, func(t *testing.T) {
			bothWays(t, files, func(t *testing.T, b *bench) {
				want(t, fmt.Sprint(c.args), b.paths("glob", c.args), strings.Fields(c.want)...)
			})
		})
	}
}

func TestC083_LinkLoopsAreNotFollowed(t *testing.T) {
	bothWays(t, map[string]string{"src/x.go": "x\n", "src/a/x.go": "x\n"}, func(t *testing.T, b *bench) {
		must(t, os.Symlink(".", filepath.Join(b.dir, "loop")))
		must(t, os.Symlink("..", filepath.Join(b.dir, "src", "up")))
		want(t, "glob", b.paths("glob", args{"pattern": "**/x.go"}), "src/a/x.go", "src/x.go")
		want(t, "grep", b.lines(args{"pattern": ""}), "src/a/x.go:1:x", "src/x.go:1:x")
		want(t, "list", b.paths("list_files", args{"recursive": true, "max_depth": 100}),
			"loop", "src", "src/a", "src/a/x.go", "src/up", "src/x.go")
	})
}

func TestC087_NegatedDirectoryFromAnyPath(t *testing.T) {
	bothWays(t, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".gitignore": "out/\n!/pkg/out/\n", "pkg/out/f": "x\n", "other/out/f": "x\n",
	}, func(t *testing.T, b *bench) {
		for _, path := range []string{".", "pkg", "pkg/out"} {
			want(t, path, b.paths("glob", args{"pattern": "**/f", "path": path}), "pkg/out/f")
			want(t, path, b.lines(args{"pattern": "x", "glob": "f", "path": path}), "pkg/out/f:1:x")
		}
		want(t, "an ignored directory", b.paths("glob", args{"pattern": "**/f", "path": "other/out"}))
		if a := b.ok("grep", args{"pattern": "x", "path": "other/out"}); len(a["warnings"].([]any)) != 1 {
			t.Errorf("an ignored directory is passed over without a word: %v", a)
		}
		want(t, "an ignored file that is named", b.lines(args{"pattern": "x", "path": "other/out/f"}), "other/out/f:1:x")
	})
}

func TestC089_ExcludedDirectoryHidesWhatIsInIt(t *testing.T) {
	bothWays(t, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".gitignore": "*\n!*.c\n", "a/a.c": "x", "top.c": "x"},
		func(t *testing.T, b *bench) {
			want(t, "not entered", b.paths("glob", args{"pattern": "**/*.c"}), "top.c")
			must(t, os.WriteFile(filepath.Join(b.dir, ".gitignore"), []byte("*\n!*.c\n!*/\n"), 0o644))
			want(t, "entered", b.paths("glob", args{"pattern": "**/*.c"}), "a/a.c", "top.c")
		})
}

func TestC092_ChildRepositories(t *testing.T) {
	bothWays(t, map[string]string{
		"r1/.git/HEAD": "ref: refs/heads/main\n", "r1/d/.gitignore": "*.gen\n", "r1/d/a.gen": "", "r1/a.gen": "",
	}, func(t *testing.T, b *bench) {
		want(t, "glob", b.paths("glob", args{"pattern": "**/*.gen"}), "r1/a.gen")
	})
}

func TestC094_OddBytesInRules(t *testing.T) {
	for name, c := range map[string]struct{ rules, ignored string }{
		"crlf": {"*.log\r\n", "a.log"}, "bom": {"\xef\xbb\xbf*.log\n", "a.log"},
		"space": {"bar\\ \n", "bar "}, "hash": {"\\#x\n", "#x"}, "bang": {"\\!y\n", "!y"}, "trailing": {"foo \n", "foo"},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".gitignore": c.rules, c.ignored: "", "kept": ""},
				func(t *testing.T, b *bench) {
					want(t, "glob", b.paths("glob", args{"pattern": "*"}), ".gitignore", "kept")
				})
		})
	}
}

func TestC214_GlobClimbsOut(t *testing.T) {
	top := t.TempDir()
	place(t, top, map[string]string{"secret": "x", "ws/f": "x"})
	b := openBench(t, filepath.Join(top, "ws"))
	for _, pattern := range []string{"../*", "../../etc/host*", "/etc/host*", "x/../../*", "{..,.}/secret", top + "/secret", "!../*"} {
		out, a := b.call("glob", args{"pattern": pattern})
		if files, _ := a["files"].([]any); len(files) > 0 || strings.Contains(string(out.Structured), "hostname") {
			t.Errorf("%s: %s", pattern, out.Structured)
		}
		b.fails("path_outside_workspace", "glob", args{"pattern": "*", "path": "../"})
	}
	b.fails("path_outside_workspace", "glob", args{"pattern": "../*"})
	b.fails("path_outside_workspace", "grep", args{"pattern": "x", "glob": "!/etc/*"})
	want(t, "an absolute one that is inside", b.paths("glob", args{"pattern": filepath.ToSlash(b.view.Workspace().Roots()[0].Path) + "/f"}), "f")
}

func TestC206_SearchBesideTheRoot(t *testing.T) {
	top := t.TempDir()
	place(t, top, map[string]string{"ws/f": "in", "ws-evil/s.txt": "secret"})
	b := openBench(t, filepath.Join(top, "ws")).withIndex()
	for _, dir := range []string{filepath.Join(top, "ws-evil"), "../ws-evil"} {
		for _, name := range []string{dir, dir + "/s.txt", dir + "/absent"} {
			b.fails("path_outside_workspace", "grep", args{"pattern": "", "path": name})
			b.fails("path_outside_workspace", "glob", args{"pattern": "*", "path": name})
		}
	}
}

func TestC207_SearchThroughALinkOutside(t *testing.T) {
	top := t.TempDir()
	place(t, top, map[string]string{"secret": "the secret\n", "ws/f": "x\n"})
	for _, indexed := range []bool{false, true} {
		b := openBench(t, filepath.Join(top, "ws"))
		if indexed {
			b.withIndex()
		} else {
			must(t, os.Symlink(filepath.Join(top, "secret"), filepath.Join(b.dir, "l")))
		}
		b.fails("path_outside_workspace", "grep", args{"pattern": "", "path": "l"})
		want(t, "grep", b.lines(args{"pattern": ""}), "f:1:x")
		want(t, "glob names the link itself", b.paths("glob", args{"pattern": "l"}), "l")
	}
}
