package diffpreview

import (
	"io/fs"
	"strings"
	"testing"
)

const gitHead = "diff --git a/f b/f\n"

// sideOf is an existing file of some text.
func sideOf(name, text string) FileSide {
	return FileSide{Name: name, Exists: true, Lines: SplitLines([]byte(text), UTF8)}
}

// modeOf is an existing file of some text with a mode.
func modeOf(name, text string, mode fs.FileMode) FileSide {
	side := sideOf(name, text)
	side.Mode = mode
	return side
}

func unifiedOf(old, new FileSide, context int) string {
	return string(Unified(old, new, DiffLines(old.Lines, new.Lines), context))
}

func TestC175LineAddedAfterUnterminatedLastLine(t *testing.T) {
	got := unifiedOf(sideOf("f", "a\nb"), sideOf("f", "a\nb\nc"), 3)
	want := gitHead + "--- a/f\n+++ b/f\n" +
		"@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"
	if got != want {
		t.Errorf("diff:\n%s\nwant:\n%s", got, want)
	}
}

func TestUnified(t *testing.T) {
	const seven = "1\n2\n3\n4\n5\n6\n7\n"
	absent := FileSide{Name: "f"}
	tests := []struct {
		name     string
		old, new FileSide
		context  int
		want     string
	}{
		{"nothing differs", sideOf("f", "a\n"), sideOf("f", "a\n"), 3, ""},
		{"neither exists", absent, absent, 3, ""},
		{
			"context", sideOf("f", seven), sideOf("f", "1\n2\n3\n4\nx\n6\n7\n"), 3,
			gitHead + "--- a/f\n+++ b/f\n@@ -2,6 +2,6 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n",
		},
		{
			"no context", sideOf("f", seven), sideOf("f", "1\n2\n3\n4\n6\n7\n"), 0,
			gitHead + "--- a/f\n+++ b/f\n@@ -5 +4,0 @@\n-5\n",
		},
		{
			"contexts meet", sideOf("f", seven), sideOf("f", "x\n2\n3\n4\n5\ny\n7\n"), 2,
			gitHead + "--- a/f\n+++ b/f\n@@ -1,7 +1,7 @@\n-1\n+x\n 2\n 3\n 4\n 5\n-6\n+y\n 7\n",
		},
		{
			"contexts do not meet", sideOf("f", seven), sideOf("f", "x\n2\n3\n4\n5\n6\ny\n"), 2,
			gitHead + "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-1\n+x\n 2\n 3\n@@ -5,3 +5,3 @@\n 5\n 6\n-7\n+y\n",
		},
		{"create", absent, sideOf("f", "a\n"), 3, gitHead + "new file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"},
		{"delete", sideOf("f", "a\nb"), absent, 3, gitHead + "deleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n"},
		{"emptied", sideOf("f", "a\n"), sideOf("f", ""), 3, gitHead + "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n"},
		{"create empty", absent, sideOf("f", ""), 3, gitHead + "new file mode 100644\nindex 0000000..e69de29\n"},
		{"delete empty", modeOf("f", "", 0o755), absent, 3, gitHead + "deleted file mode 100755\nindex e69de29..0000000\n"},
		{
			"create executable", absent, modeOf("f", "a\n", 0o755), 3,
			gitHead + "new file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n",
		},
		{
			"mode", modeOf("f", "a\n", 0o644), modeOf("f", "a\n", 0o755), 3,
			gitHead + "old mode 100644\nnew mode 100755\n",
		},
		{
			"mode of a name with a space", modeOf("f g", "a\n", 0o644), modeOf("f g", "a\n", 0o755), 3,
			"diff --git \"a/f g\" \"b/f g\"\nold mode 100644\nnew mode 100755\n",
		},
		{"mode of the group alone", modeOf("f", "a\n", 0o644), modeOf("f", "a\n", 0o664), 3, ""},
		{
			"rename", sideOf("f", "a\n"), sideOf("d/g h", "b\n"), 3,
			"diff --git a/f b/d/g h\nrename from f\nrename to d/g h\n--- a/f\n+++ b/d/g h\t\n@@ -1 +1 @@\n-a\n+b\n",
		},
		{"quoted", sideOf("q\"\n x", "a\n"), absent, 3, "diff --git \"a/q\\\"\\n x\" \"b/q\\\"\\n x\"\ndeleted file mode 100644\n--- \"a/q\\\"\\n x\"\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{"crlf and cr", sideOf("f", "a\r\nb\r"), sideOf("f", "a\r\nc\rd\r"), 3, gitHead + "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n\\ No newline at end of file\n+c\rd\r\n\\ No newline at end of file\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := unifiedOf(test.old, test.new, test.context); got != test.want {
				t.Errorf("diff:\n%q\nwant:\n%q", got, test.want)
			}
		})
	}
}

func TestQuotedName(t *testing.T) {
	tests := [][2]string{
		{"a/b c", "a/b c"},
		{"a/é", "a/é"},
		{"a/\xff é", `"a/\377 \303\251"`},
		{"\a\b\t\n\v\f\r\"\\", `"\a\b\t\n\v\f\r\"\\"`},
		{"\x01\x1f\x7f", `"\001\037\177"`},
		{"'", "'"},
	}
	for _, test := range tests {
		if got := string(appendQuoted(nil, test[0], false)); got != test[1] {
			t.Errorf("%q is printed as %s, want %s", test[0], got, test[1])
		}
	}
	if strings.ContainsRune(string(appendQuoted(nil, "a\nb", false)), '\n') {
		t.Error("a quoted name holds a line feed")
	}
}
