package diffpreview

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// change is one file on both sides of a diff.
type change struct {
	name     string
	old, new []byte
	oldMode  fs.FileMode // 0: it does not exist
	newMode  fs.FileMode
}

// diff prints the change, and renamed from another name when one is given.
func (c change) diff(context int) []byte {
	old := FileSide{Name: c.name, Exists: c.oldMode != 0, Mode: c.oldMode, Lines: SplitLines(c.old, Bytes)}
	new := FileSide{Name: c.name, Exists: c.newMode != 0, Mode: c.newMode, Lines: SplitLines(c.new, Bytes)}
	return Unified(old, new, DiffLines(old.Lines, new.Lines), context)
}

// oddNames are directories' and files' names that a patch has to quote or to end with a tab.
var oddNames = []string{"plain", "a b", " lead", "trail ", "q\"x", "back\\slash", "tab\there", "é", "bad\xff", "\x01\x7f", "'", "a\tb c", "-dash"}

// randomChanges makes changes of every kind: created, deleted, emptied and edited files with odd names and odd lines.
func randomChanges(rnd *rand.Rand, n int, names []string) []change {
	pieces := []string{
		"a\n", "b\n", "c\n", "\n", "\r\n", "a\r\n", "a\rb\n", "\r", "--- a/f\n", "+++ b/f\n", "-- x\n", "++ y\n", "@@ -1 +1 @@\n",
		"diff --git a/f b/f\n", "\\ No newline at end of file\n", "Index: f\n", "r\xe9sum\xe9\n", "é\n", "late \x00 nul\n", " a\n", "+a\n", "-a\n", "\t\n",
		"--- /dev/null\n", "deleted file mode 100644\n", "rename to x\n", "GIT binary patch\n", "1,2c3\n", "*** 1,2 ****\n",
	}
	text := func(parts []string) []byte {
		data := []byte(strings.Join(parts, ""))
		if rnd.IntN(4) == 0 {
			data = bytes.TrimSuffix(data, []byte("\n"))
		}
		return data
	}
	some := func(n int) []string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = pieces[rnd.IntN(len(pieces))]
		}
		return parts
	}
	modes := []fs.FileMode{0o644, 0o644, 0o644, 0o755}
	changes := make([]change, n)
	for i := range changes {
		old := some(rnd.IntN(30))
		parts := append([]string(nil), old...)
		for range rnd.IntN(4) {
			at := rnd.IntN(len(parts) + 1)
			end := min(len(parts), at+rnd.IntN(3))
			parts = append(append(append([]string(nil), parts[:at]...), some(rnd.IntN(3))...), parts[end:]...)
		}
		mode := modes[rnd.IntN(len(modes))]
		c := change{fmt.Sprintf("%s/%s%d", names[rnd.IntN(len(names))], names[rnd.IntN(len(names))], i), text(old), text(parts), mode, mode}
		switch rnd.IntN(12) {
		case 0:
			c.old, c.oldMode = nil, 0
		case 1:
			c.new, c.newMode = nil, 0
		case 2:
			c.new = nil
		case 3:
			c.old = nil
		case 4:
			c.newMode = modes[rnd.IntN(len(modes))]
		}
		changes[i] = c
	}
	return changes
}

// lay writes the old side of the changes into a fresh directory.
func lay(t *testing.T, changes []change) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, c := range changes {
		path := filepath.Join(dir, c.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if c.oldMode == 0 {
			continue
		}
		if err := os.WriteFile(path, c.old, c.oldMode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.oldMode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkLaid compares the directory with the new side of the changes.
func checkLaid(t *testing.T, dir string, changes []change, context int) {
	t.Helper()
	for _, c := range changes {
		path := filepath.Join(dir, c.name)
		got, err := os.ReadFile(path)
		switch {
		case c.newMode == 0 && err == nil:
			t.Errorf("%q is still there after:\n%q", c.name, c.diff(context))
		case c.newMode == 0:
		case err != nil || !bytes.Equal(got, c.new):
			t.Errorf("%q is %q (%v), want %q, after:\n%q", c.name, got, err, c.new, c.diff(context))
		default:
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if gitMode(info.Mode()) != gitMode(c.newMode) {
				t.Errorf("%q has mode %v, want %v, after:\n%q", c.name, info.Mode(), c.newMode, c.diff(context))
			}
		}
	}
}

// patchTool returns the path of a program that takes patches, or skips the test.
func patchTool(t *testing.T, name string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the names tried here are not to be had on every system")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// runPatch gives a patch to a program in dir and returns what it says.
func runPatch(t *testing.T, dir string, patch []byte, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	cmd.Stdin = bytes.NewReader(patch)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

// What we print, `git apply` and `patch` turn into the new text, byte for byte. All the changes make one patch, as a
// change set does. (Without context git apply misreads its own diff of a last line that goes and had no line feed.)
func TestUnifiedTakenByGitApplyAndPatch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(20261130, 1))
	// patch refuses names with line ends, git apply takes them.
	lineEnds := append([]string{"nl\nx y", "\r"}, oddNames...)
	tests := []struct {
		program string
		names   []string
		context int
	}{{"git", lineEnds, 3}, {"git", lineEnds, 1}, {"patch", oddNames, 3}, {"patch", oddNames, 0}}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s context %d", test.program, test.context), func(t *testing.T) {
			tool := patchTool(t, test.program)
			changes := randomChanges(rnd, 400, test.names)
			var patch []byte
			for _, c := range changes {
				patch = append(patch, c.diff(test.context)...)
			}
			dir := lay(t, changes)
			takePatch(t, dir, patch, tool)
			checkLaid(t, dir, changes, test.context)
		})
	}
}

// takePatch has a program apply a patch in dir; it must not have had to search for any place.
func takePatch(t *testing.T, dir string, patch []byte, tool string) {
	t.Helper()
	if filepath.Base(tool) == "git" {
		runPatch(t, dir, patch, tool, "apply", "--whitespace=nowarn")
		return
	}
	said := runPatch(t, dir, patch, tool, "-p1", "--fuzz=0", "--batch")
	for _, word := range []string{"offset", "fuzz", "ignored", "FAILED", "Reversed", "Stripping"} {
		if strings.Contains(said, word) {
			t.Errorf("patch speaks of %q:\n%s", word, said)
		}
	}
}

// A rename is taken with and without hunks, whatever the two names are.
func TestUnifiedRenameTaken(t *testing.T) {
	for _, program := range []string{"git", "patch"} {
		t.Run(program, func(t *testing.T) {
			tool := patchTool(t, program)
			var changes, renamed []change
			var diff []byte
			for i, from := range oddNames {
				for j, to := range oddNames {
					was := change{name: fmt.Sprintf("%s%d-%d", from, i, j), old: []byte("a\nb\nc\n"), oldMode: 0o644}
					is := change{name: fmt.Sprintf("new %d/%s%d", i, to, j), new: []byte("a\nb\nc\n"), newMode: 0o644}
					if j%2 == 0 {
						is.new = []byte("a\nx\nc\n")
					}
					if j%3 == 0 {
						is.newMode = 0o755
					}
					old := FileSide{was.name, true, SplitLines(was.old, UTF8), was.oldMode}
					new := FileSide{is.name, true, SplitLines(is.new, UTF8), is.newMode}
					diff = append(diff, Unified(old, new, DiffLines(old.Lines, new.Lines), 3)...)
					changes, renamed = append(changes, was), append(renamed, was, is)
				}
			}
			dir := lay(t, changes)
			takePatch(t, dir, diff, tool)
			checkLaid(t, dir, renamed, 3)
		})
	}
}
