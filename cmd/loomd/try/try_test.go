package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// numbered is a text of sentences, one a line, each of them different.
func numbered(lines int, eol string) string {
	var b strings.Builder
	for i := range lines {
		b.WriteString("This is the sentence with the number " + strings.Repeat("i", i+1) + "." + eol)
	}
	return b.String()
}

func TestReworded(t *testing.T) {
	for name, c := range map[string]struct {
		s     source
		lines []int // nil: unfit
	}{
		"prose":          {source{"a.md", numbered(30, "\n")}, []int{0, 12}},
		"CR LF":          {source{"a.md", numbered(30, "\r\n")}, []int{0, 12}},
		"too short":      {source{"a.md", numbered(12, "\n")}, nil},
		"code":           {source{"a.go", numbered(30, "\n")}, nil},
		"comments":       {source{"a.go", strings.ReplaceAll(numbered(30, "\n"), "This", "// This")}, []int{0, 12}},
		"twice the same": {source{"a.md", numbered(13, "\n") + numbered(13, "\n")}, nil},
		"an example":     {source{"a.md", "```\n" + numbered(30, "\n") + "```\n"}, nil},
		"empty":          {source{"a.md", ""}, nil},
	} {
		got, err := reworded(c.s, 2)
		var lines []int
		for _, h := range got.hunks {
			lines = append(lines, h.line)
		}
		if (err == nil) != (c.lines != nil) || err == nil && !slices.Equal(lines, c.lines) {
			t.Errorf("%s: lines %v, %v; expected %v", name, lines, err, c.lines)
		}
	}
}

func TestResultIsBaseAndAcceptedHunks(t *testing.T) {
	for _, eol := range []string{"\n", "\r\n"} {
		s := source{"a.md", numbered(30, eol)}
		c, err := reworded(s, 2)
		if err != nil {
			t.Fatal(err)
		}
		end, err := appended(s)
		if err != nil {
			t.Fatal(err)
		}
		c.hunks = append(c.hunks, end.hunks...)
		lines := strings.SplitAfter(s.text, "\n")
		for accepted := range 8 {
			want := slices.Clone(lines)
			for i, at := range []int{0, 12, 30} {
				if c.hunks[i].accepted = accepted&(1<<i) != 0; c.hunks[i].accepted {
					want[at] = c.hunks[i].text
				}
			}
			got, err := c.result([]byte(s.text), nil)
			if err != nil || string(got) != strings.Join(want, "") {
				t.Errorf("accepted %03b: %v\n%s", accepted, err, got)
			}
		}
		if !strings.HasSuffix(c.hunks[2].text, "agent."+eol) || !strings.HasSuffix(c.hunks[0].text, eol) {
			t.Errorf("the line ends are not the file's: %+v", c.hunks)
		}
	}
}

func TestResultWithTextOfThePersonsOwn(t *testing.T) {
	before := []byte("a\nb\nc\nd\n")
	c := change{path: "f", hunks: []hunk{
		{line: 1, count: 1, text: "B\n", accepted: true, modified: true},
		{line: 3, count: 1, text: "D\n", accepted: true},
	}}
	for now, ok := range map[string]bool{
		"a\nmine\nc\nD\n":       true,
		"a\nmine\nmine\nc\nD\n": true,
		"a\nc\nD\n":             true,
		"A\nmine\nc\nD\n":       false, // more than the hunk
		"a\nmine\nC\nD\n":       false,
		"a\nmine\nc\nd\n":       false, // the other hunk is missing
	} {
		got, err := c.result(before, []byte(now))
		if (err == nil && string(got) == now) != ok {
			t.Errorf("%q: %q, %v", now, got, err)
		}
	}
}

func TestNewFileIsThereOnlyWhenAccepted(t *testing.T) {
	c := change{path: "f", fresh: true, hunks: []hunk{{text: "new\n"}}}
	if got, err := c.result(nil, nil); got != nil || err != nil {
		t.Errorf("rejected: %q, %v", got, err)
	}
	c.hunks[0].accepted = true
	if got, err := c.result(nil, nil); string(got) != "new\n" || err != nil {
		t.Errorf("accepted: %q, %v", got, err)
	}
}

func TestTheDiskIsComparedToTheByte(t *testing.T) {
	for name, c := range map[string]struct {
		now  map[string]string // what is different on the disk; "-": gone
		want map[string][]byte
		err  string // part of it, "" for none
	}{
		"as it was":      {},
		"changed":        {now: map[string]string{"a": "one "}, err: "a is not what it should be"},
		"accepted":       {now: map[string]string{"a": "ONE"}, want: map[string][]byte{"a": []byte("ONE")}},
		"not written":    {want: map[string][]byte{"a": []byte("ONE")}, err: "a is not what it should be"},
		"left behind":    {now: map[string]string{"d/.loomd-1.tmp": ""}, err: "d/.loomd-1.tmp is on the disk"},
		"gone":           {now: map[string]string{"d/b": "-"}, err: "d/b is gone"},
		"created":        {now: map[string]string{"n": "new"}, want: map[string][]byte{"n": []byte("new")}},
		"not created":    {want: map[string][]byte{"n": []byte("new")}, err: "n did not reach the disk"},
		"rejected":       {want: map[string][]byte{"n": nil}},
		"yet it is here": {now: map[string]string{"n": "new"}, want: map[string][]byte{"n": nil}, err: "n is on the disk"},
	} {
		t.Run(name, func(t *testing.T) {
			from := t.TempDir()
			write(t, filepath.Join(from, "a"), "one")
			write(t, filepath.Join(from, "d/b"), "")
			tree, err := takeCopy(t.Context(), from)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(tree.scratch) })
			for name, text := range c.now {
				write(t, tree.path(name), text)
			}
			if err := tree.is(c.want); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, expected %q", err, c.err)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	var err error
	if text == "-" {
		err = os.Remove(path)
	} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestCopyIsBounded(t *testing.T) {
	from := t.TempDir()
	write(t, filepath.Join(from, "small"), "text")
	write(t, filepath.Join(from, "large"), string(bytes.Repeat([]byte("x"), maxFile+1)))
	write(t, filepath.Join(from, "node_modules/dependency"), "text")
	if err := os.Symlink("small", filepath.Join(from, "link")); err != nil {
		t.Skip("no links here")
	}
	tree, err := takeCopy(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tree.scratch) })
	if len(tree.before) != 1 || tree.left != 2 || string(tree.before["small"]) != "text" {
		t.Errorf("copied %d files, left %d", len(tree.before), tree.left)
	}
}

func TestShellQuoted(t *testing.T) {
	for arg, want := range map[string]string{"a/b-c.go": "a/b-c.go", "": "''", "one is enough": "'one is enough'", "it's": `'it'\''s'`, "a;b": "'a;b'"} {
		if got := shellQuoted(arg); got != want {
			t.Errorf("%q: %s, expected %s", arg, got, want)
		}
	}
}
