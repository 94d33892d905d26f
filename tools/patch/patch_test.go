package patch

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []File
	}{
		{"names with tabs, quotes and git's prefixes", "--- a/x y\t2024-01-01\n+++ b/x y\t2024-01-02\n@@ -1 +1 @@\n-1\n+2\n" +
			"--- \"a/\\303\\244\"\n+++ \"b/\\303\\244\"\n@@ -1 +1 @@\n-1\n+2\n--- a.txt\n+++ a.txt\n@@ -3 +3 @@\n-1\n+2\n", []File{
			{Path: "x y", Line: 1, Hunks: []Hunk{{Line: 3, At: 1, Numbered: true, Old: []string{"1"}, New: []string{"2"}}}},
			{Path: "ä", Line: 6, Hunks: []Hunk{{Line: 8, At: 1, Numbered: true, Old: []string{"1"}, New: []string{"2"}}}},
			{Path: "a.txt", Line: 11, Hunks: []Hunk{{Line: 13, At: 3, Numbered: true, Old: []string{"1"}, New: []string{"2"}}}},
		}},
		{"lines that look like a header, by the numbers", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n", []File{
			{Path: "f", Line: 1, Hunks: []Hunk{{Line: 3, At: 1, Numbered: true, Old: []string{"-- x", "z"}, New: []string{"++ y", "z"}}}},
		}},
		{"numbers that are too small, with a blank line where they end", "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-1\n+2\n\n-3\n+4\n", []File{
			{Path: "f", Line: 1, Hunks: []Hunk{{Line: 3, At: 1, Numbered: true, Old: []string{"1", "", "3"}, New: []string{"2", "", "4"}}}},
		}},
		{"a mail's signature", "--- f\n+++ f\n@@ -1 +1 @@\n-1\n+2\n-- \n2.40.0\n\n", []File{
			{Path: "f", Line: 1, Hunks: []Hunk{{Line: 3, At: 1, Numbered: true, Old: []string{"1"}, New: []string{"2"}}}},
		}},
		{"no line end, on either side", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n 0\n-1\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n", []File{
			{Path: "f", Line: 1, Hunks: []Hunk{{Line: 3, At: 1, Numbered: true, Old: []string{"0", "1"}, New: []string{"0", "2"}, OldOpen: true, NewOpen: true}}},
		}},
		{"a move, a mode, an empty file and one that goes", "diff --git a/x b/d/x\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from x\nrename to d/x\n" +
			"diff --git a/e f b/e f\nnew file mode 100644\nindex 0000000..e69de29\ndiff --git a/g b/g\ndeleted file mode 100644\n", []File{
			{Path: "x", To: "d/x", Mode: 0o755, Line: 1},
			{Kind: Create, Path: "e f", Mode: 0o644, Line: 7},
			{Kind: Delete, Path: "g", Line: 10},
		}},
		{"CR LF at the patch's own ends is no part of its lines", "--- f\r\n+++ f\r\n@@ -1 +1 @@\r\n-1\r\n+2\r\n", []File{
			{Path: "f", Line: 1, Hunks: []Hunk{{Line: 3, At: 1, Numbered: true, Old: []string{"1"}, New: []string{"2"}}}},
		}},
		{"a file's CR is", "--- f\n+++ f\n@@ -1 +1 @@\n-1\r\n+2\n", []File{
			{Path: "f", Line: 1, Hunks: []Hunk{{Line: 3, At: 1, Numbered: true, Old: []string{"1\r"}, New: []string{"2"}}}},
		}},
		{"nested anchors and the end of the file", "*** Begin Patch\n*** Update File: f\n@@ class A\n@@   def b\n-1\n+2\n*** End of File\n*** End Patch\n", []File{
			{Path: "f", Line: 2, Hunks: []Hunk{{Line: 3, Anchors: []string{"class A", "def b"}, Old: []string{"1"}, New: []string{"2"}, AtEnd: true}}},
		}},
		{"a blank line between the parts is none of a hunk's", "*** Begin Patch\n*** Update File: f\n-1\n+2\n\n*** Delete File: g\n\n*** End Patch\n", []File{
			{Path: "f", Line: 2, Hunks: []Hunk{{Line: 3, Old: []string{"1"}, New: []string{"2"}}}},
			{Kind: Delete, Path: "g", Line: 6},
		}},
		{"a block without a name of its own", "**f:**\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\n3\n=======\n>>>>>>> REPLACE\n", []File{
			{Path: "f", Line: 2, Anywhere: true, Hunks: []Hunk{{Line: 2, Old: []string{"1"}, New: []string{"2"}}, {Line: 8, Old: []string{"3"}}}},
		}},
	} {
		got, err := Parse(tt.text)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\ngot  %+v (%v)\nwant %+v", tt.name, got, err, tt.want)
		}
	}
}

// A conflict's marks in a block cannot be told from the block's own.
func TestParseRefusesMarksInBlocks(t *testing.T) {
	_, err := Parse("f\n<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n")
	if err == nil || !strings.Contains(err.Error(), "line 6") {
		t.Error(err)
	}
}

// FuzzParse: whatever comes, the answer is files that can be worked on, or an error
// that names a line of the patch.
func FuzzParse(f *testing.F) {
	f.Add("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+3\n")
	f.Add("diff --git a/x b/y\nrename from x\nrename to y\n")
	f.Add("*** Begin Patch\n*** Update File: f\n@@ a\n-1\n+2\n*** End of File\n*** Add File: g\n+x\n*** End Patch\n")
	f.Add("f\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n")
	f.Add("diff --git \"a/\\303\\244\" \"b/\\303\\244\"\nnew file mode 100755\n")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := Parse(text)
		lines := strings.Count(text, "\n") + 1
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line < 0 || e.Line > lines) {
			t.Fatalf("%v", err)
		}
		if err == nil && len(files) == 0 {
			t.Fatal("neither files nor an error")
		}
		for _, file := range files {
			if file.Path == "" || file.Line < 1 || file.Line > lines {
				t.Fatalf("%+v", file)
			}
			for _, h := range file.Hunks {
				if h.Line < 1 || h.Line > lines+1 || len(h.Old)+len(h.New) == 0 && file.Kind != Create && !file.Anywhere ||
					h.OldOpen && len(h.Old) == 0 || h.NewOpen && len(h.New) == 0 {
					t.Fatalf("%+v", h)
				}
			}
		}
	})
}
