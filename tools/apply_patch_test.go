package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/patch"
)

// git runs it in a directory, without anybody's configuration, and returns what it
// printed. A diff that finds something ends with 1.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{
		"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.autocrlf=false", "-c", "init.defaultBranch=main", "-c", "core.fileMode=true",
	}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1) {
		t.Fatalf("git %q: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// patched applies a patch to one file's bytes.
func patched(file []byte, text string) ([]byte, error) {
	files, err := patch.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("%d files", len(files))
	}
	t, err := openText(file)
	if err != nil {
		return nil, err
	}
	if err := t.patch(context.Background(), &files[0]); err != nil {
		return nil, err
	}
	return t.bytes(), nil
}

// Whatever git says is different between two texts, applied to the one is the other,
// to the byte: with any number of lines around, line ends of both kinds, and a last
// line with or without an end.
func TestPropertyPatchOfGit(t *testing.T) {
	dir := t.TempDir()
	line := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom([]string{"", "a", "b", "c", "one", "-- x", "++ y", "@@ z", " indented", "\ttab", `\ no`, "é", "*** End"}).Draw(t, "text")
		return text + rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n"}).Draw(t, "end")
	})
	texts := rapid.SliceOfN(line, 0, 30)
	rapid.Check(t, func(r *rapid.T) {
		before := texts.Draw(r, "before")
		after := append([]string(nil), before...)
		for range rapid.IntRange(1, 5).Draw(r, "changes") {
			at := rapid.IntRange(0, len(after)).Draw(r, "at")
			end := rapid.IntRange(at, min(len(after), at+3)).Draw(r, "end")
			after = append(append(append([]string(nil), after[:at]...), rapid.SliceOfN(line, 0, 3).Draw(r, "new")...), after[end:]...)
		}
		a, b := strings.Join(before, ""), strings.Join(after, "")
		if rapid.Bool().Draw(r, "a is open") {
			a = strings.TrimSuffix(a, "\n")
		}
		if rapid.Bool().Draw(r, "b is open") {
			b = strings.TrimSuffix(b, "\n")
		}
		if a == b || a == "" || b == "" { // an empty side is /dev/null's, or has no lines to stand by
			return
		}
		must(t, os.WriteFile(filepath.Join(dir, "a"), []byte(a), 0o644))
		must(t, os.WriteFile(filepath.Join(dir, "b"), []byte(b), 0o644))
		context := rapid.IntRange(1, 5).Draw(r, "context")
		diff := git(t, dir, "diff", "--no-index", "--no-prefix", fmt.Sprint("-U", context), "a", "b")
		diff = strings.Replace(diff, "+++ b\n", "+++ a\n", 1)
		got, err := patched([]byte(a), diff)
		if err != nil {
			r.Fatalf("%v\n%s", err, diff)
		}
		if string(got) != b {
			r.Fatalf("%q\n%s\ngot  %q\nwant %q", a, diff, got, b)
		}
	})
}

// A commit's diff, with new, deleted, moved and executable files, does in the view
// what git does in a working tree.
func TestPatchOfACommit(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	lines := strings.Repeat("a line\nanother line\nmore\n", 10)
	place(t, dir, map[string]string{
		"edit.txt": lines, "gone.txt": "x\n", "empty-gone": "", "old/name.go": "package name\n\n" + lines,
		"run.sh": "#!/bin/sh\n", "with space.txt": "1\n2\n", "ä.txt": "1\n", "crlf.txt": "a\r\nb\r\nc\r\n", "bom.txt": "\ufeffa\nb\n", "open.txt": "a\nb",
	})
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "before")
	must(t, os.RemoveAll(filepath.Join(dir, "gone.txt")))
	must(t, os.RemoveAll(filepath.Join(dir, "empty-gone")))
	must(t, os.Mkdir(filepath.Join(dir, "new"), 0o755))
	must(t, os.Rename(filepath.Join(dir, "old/name.go"), filepath.Join(dir, "new/name.go")))
	place(t, dir, map[string]string{
		"edit.txt": strings.Replace(lines, "more", "less", 3), "new/name.go": "package other\n\n" + lines, "new/made.txt": "made\nhere", "new/empty": "",
		"with space.txt": "1\ntwo\n", "ä.txt": "one\n", "crlf.txt": "a\r\nB\r\nc\r\n", "bom.txt": "\ufeffA\nb\n", "open.txt": "a\nb\nc\n",
	})
	if runtime.GOOS != "windows" {
		must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	}
	git(t, dir, "add", "-A")
	diff := git(t, dir, "diff", "--cached", "-M")
	b := newBench(t, nil)
	for _, name := range strings.Split(strings.TrimSuffix(git(t, dir, "ls-tree", "-r", "-z", "--name-only", "HEAD"), "\x00"), "\x00") {
		place(t, b.dir, map[string]string{name: git(t, dir, "show", "HEAD:"+name)})
	}
	got := b.ok("apply_patch", args{"patch": diff})
	actions := map[string]string{}
	for _, f := range got["files"].([]any) {
		f := f.(map[string]any)
		actions[f["path"].(string)] = f["action"].(string)
		b.decide(f["proposal"].(string), true)
	}
	for path, action := range map[string]string{"gone.txt": "deleted", "new/empty": "moved", "new/name.go": "moved", "new/made.txt": "created", "edit.txt": "modified"} {
		if actions[path] != action {
			t.Errorf("%s is %s", path, actions[path])
		}
	}
	git(t, b.dir, "init", "-q")
	git(t, b.dir, "add", "-A")
	if got, want := git(t, b.dir, "write-tree"), git(t, dir, "write-tree"); got != want {
		t.Errorf("git's tree is %s\nhere it is %s", git(t, dir, "ls-files", "-s"), git(t, b.dir, "ls-files", "-s"))
	}
}

// A patch is made as a whole or not at all, and each of its files is a proposal.
func TestPatchAllOrNothing(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n2\n3\n", "b": "x\n", "d/f": "y\n"})
	const good = "*** Begin Patch\n*** Update File: a\n 1\n-2\n+two\n"
	for _, tt := range []struct{ code, rest, says string }{
		{"no_match", "*** Update File: b\n-z\n+y\n", "b: hunk 1 (line 7 of the patch): its old lines were not found"},
		{"file_not_found", "*** Update File: none\n-z\n+y\n", "none: no such file"},
		{"conflict", "*** Add File: b\n+y\n", "b: there is a file already"},
		{"conflict", "*** Update File: b\n*** Move to: d/f\n", "d/f: there is a file already"},
		{"not_regular_file", "*** Add File: b/below\n+y\n", "b is a file"},
		{"is_directory", "*** Delete File: d\n", "d: is a directory"},
		{"invalid_arguments", "*** Delete File: ./a\n", "line 6: ./a is named a second time"},
		{"no_change", "*** Update File: b\n x\n", "changes nothing"},
		{"protected_path", "*** Add File: .git/hooks/pre-commit\n+y\n", ".git"},
		{"path_outside_workspace", "*** Add File: ../y\n+y\n", "../y"},
		{"not_text", "*** Add File: nul\n+a\x00b\n", "NUL"},
	} {
		got := b.fails(tt.code, "apply_patch", args{"patch": good + tt.rest + "*** End Patch\n"})
		if !strings.Contains(got["message"].(string), tt.says) {
			t.Errorf("%s: %v", tt.rest, got)
		}
		if text := b.ok("read_file", args{"path": "a"})["contents"]; text != "1\n2\n3\n" {
			t.Fatalf("after %s a is %q", tt.rest, text)
		}
	}
	got := b.ok("apply_patch", args{"patch": good + "*** Delete File: b\n*** Add File: n\n+new\n*** End Patch\n"})
	files := got["files"].([]any)
	if len(files) != 3 || files[0].(map[string]any)["hunks_applied"] != 1.0 {
		t.Errorf("%v", got)
	}
	if b.onDisk("a") != "1\n2\n3\n" || !b.isThere("b") || b.isThere("n") {
		t.Error("on disk before anybody accepted it")
	}
}

// What was not seen is not deleted, and stays unseen when a patch changes a part of it.
func TestPatchOfWhatWasNotSeen(t *testing.T) {
	b := newBench(t, map[string]string{"f": "1\n2\n", "g": "1\n"})
	for _, name := range []string{"f", "g"} {
		b.ok("read_file", args{"path": name})
	}
	place(t, b.dir, map[string]string{"f": "0\n1\n2\n", "g": "2\n"})
	b.fails("stale", "apply_patch", args{"patch": "*** Begin Patch\n*** Delete File: g\n*** End Patch"})
	b.ok("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: f\n-2\n+two\n*** End Patch"})
	b.fails("stale", "write_file", args{"path": "f", "content": "all\n"})
	b.fails("stale", "apply_patch", args{"patch": "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-0\n-1\n"})
	b.ok("apply_patch", args{"patch": "--- a/f\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-0\n-1\n-two\n"})
	if got := b.listed(); len(got) != 1 {
		t.Errorf("the view lists %q", got)
	}
}

// Where a file's links and places are concerned a patch is as the other tools.
func TestPatchOfManyPlaces(t *testing.T) {
	text := strings.Repeat("{\n\tsame\n}\n", 30)
	b := newBench(t, map[string]string{"f": text})
	got := b.fails("ambiguous_match", "apply_patch", args{"patch": "--- f\n+++ f\n@@ -1000,3 +1000,3 @@\n {\n-\tsame\n+\tother\n }\n"})
	if got["count"] != 30.0 || len(got["lines"].([]any)) != 20 || got["more_lines"] != 10.0 || got["hunk"] != 1.0 || got["patch_line"] != 3.0 {
		t.Errorf("%v", got)
	}
	b.ok("apply_patch", args{"patch": "--- f\n+++ f\n@@ -4,3 +4,3 @@\n {\n-\tsame\n+\tother\n }\n"})
	want := text[:9] + strings.Replace(text[9:], "same", "other", 1)
	if got := b.ok("read_file", args{"path": "f"})["contents"]; got != want {
		t.Errorf("%q", got)
	}
}

// Where a patch does not say which of several places it means, it is made in none.
func TestPatchPlaces(t *testing.T) {
	const (
		classes = "class A:\n    def run(self):\n        x = 1\n\nclass B:\n    def run(self):\n        x = 1\n"
		steps   = "step\nrun\nend\nstep\nrun\nend\n"
	)
	for _, tt := range []struct{ file, patch, want string }{ // want "" for ambiguous
		{classes, "@@     def run(self):\n-        x = 1\n+        x = 2\n", ""},
		{classes, "@@ class B:\n@@ def run(self):\n-        x = 1\n+        x = 2\n", classes[:len(classes)-2] + "2\n"},
		{"begin\na\nbegin\na\n", "@@ begin\n@@ begin\n begin\n-a\n+b\n", "begin\na\nbegin\nb\n"},
		{classes, "@@ class A:\n-        x = 1\n+        x = 2\n", strings.Replace(classes, "x = 1", "x = 2", 1)},
		{classes, "@@ def run(self):\n+        pass\n", ""},
		{classes, "@@ class B:\n+    y = 1\n", strings.Replace(classes, "class B:\n", "class B:\n    y = 1\n", 1)},
		{steps, "@@ -1,3 +1,4 @@\n step\n run\n end\n+last\n", ""},
		{steps, "@@ -4,3 +4,4 @@\n step\n run\n end\n+last\n", steps + "last\n"},
		{steps, "@@ -9,3 +9,4 @@\n step\n run\n end\n+last\n", steps + "last\n"},
		{steps, "@@ -1,3 +1,3 @@\n step\n-run\n+walk\n end\n", strings.Replace(steps, "run", "walk", 1)},
		{"p\nq\nr", "@@\n q\n-r\n", "p\nq\n"},
		{"p\nq\nr", "@@\n-r\n", "p\nq\n"},
		{"p\nq\nr", "@@\n q\n-r\n+s\n", "p\nq\ns"},
		{"p\nq\nr", "@@\n-q\n r\n", "p\nr"},
		{"p\nq\nr", "@@\n q\n r\n+s\n", "p\nq\nr\ns"},
	} {
		text := "--- f\n+++ f\n" + tt.patch
		if !strings.HasPrefix(tt.patch, "@@ -") {
			text = "*** Begin Patch\n*** Update File: f\n" + tt.patch + "*** End Patch\n"
		}
		got, err := patched([]byte(tt.file), text)
		var f *Failure
		if tt.want == "" && (!errors.As(err, &f) || f.Code != CodeAmbiguousMatch) || tt.want != "" && (err != nil || string(got) != tt.want) {
			t.Errorf("%q\ngot  %q, %v\nwant %q", tt.patch, got, err, tt.want)
		}
	}
}

// What a result shows of the diffs is bounded over all files, the last of which may
// show nothing.
func TestPatchOfMuch(t *testing.T) {
	b := newBench(t, nil)
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "--- /dev/null\n+++ b/f%d\n@@ -0,0 +1,500 @@\n%s", i, strings.Repeat("+0123456789abcdef\n", 500))
	}
	total := 0
	files := b.ok("apply_patch", args{"patch": text.String()})["files"].([]any)
	for _, f := range files {
		f := f.(map[string]any)
		total += len(f["diff"].(string))
		if f["truncated"] != (len(f["diff"].(string)) < 9000) {
			t.Errorf("%v: truncated %v, %d bytes", f["path"], f["truncated"], len(f["diff"].(string)))
		}
	}
	if len(files) != 12 || total > maxDiff || total < maxDiff*9/10 {
		t.Errorf("%d files, %d bytes", len(files), total)
	}
}

// Data that is no patch, or was cut off, is refused with its line.
func TestPatchRefuses(t *testing.T) {
	b := newBench(t, map[string]string{"f": "1\n"})
	for text, says := range map[string]string{
		"hello": "this is no patch",
		"*** Begin Patch\n*** Update File: f\n-1\n+2\n":                                 "*** End Patch is missing",
		"*** Begin Patch\n*** Update File: f\n*** End Patch":                            "line 2: nothing is said",
		"f\n<<<<<<< SEARCH\n1\n=======\n2\n":                                            "has no >>>>>>> REPLACE",
		"<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n":                              "line 1: the line above the block names no file",
		"--- a/f\n+++ b/g\n@@ -1 +1 @@\n-1\n+2\n":                                       "two files are named",
		"--- a/f\n+++ b/f\n-1\n+2\n":                                                    "line 3: this line belongs to no hunk",
		"diff --git a/f b/f\nindex 1..2\nGIT binary patch\n":                            "binary",
		"diff --git a/f b/f\nnew file mode 120000\n":                                    "no links",
		"--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+2\n":                                         "only a number",
		"--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+0\n":                                         "only a number",
		"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n@ -7 +7 @@\n-3\n+4\n":                   "line 6: this is no hunk's header",
		"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+t":                                 "cut off",
		"*** Begin Patch\n*** Update File: f\n-1\n+2\n*** End Patch\n*** Begin Patch\n": "line 6: another patch",
		"f\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n--- f\n+++ f\n":             "line 7: another patch",
		"--- f\n+++ f\n@@ -1 +1 @@\n-1\n+2\nf\n<<<<<<< SEARCH\n":                        "line 7: another patch",
		"--- a/f\n+++ b/f\n@@@ -1 -1 +1 @@@\n":                                          "combined diff",
		"*** Begin Patch\n*** Add File: n\n+1\n2\n*** End Patch\n":                      "line 4: each line of a new file begins with +",
	} {
		got := b.fails("invalid_arguments", "apply_patch", args{"patch": text})
		if !strings.Contains(got["message"].(string), says) {
			t.Errorf("%q: %v", text, got["message"])
		}
	}
	b.fails("not_text", "apply_patch", args{"patch": "--- f\n+++ f\n@@ -1 +1 @@\n-1\n+\x00\n"})
	if list, err := b.store.List(diffpreview.Filter{}); err != nil || len(list) != 0 {
		t.Errorf("%d proposals, %v", len(list), err)
	}
}
