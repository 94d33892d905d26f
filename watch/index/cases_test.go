package index

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/watch/match"
)

// grove is a forest of the files given, path and text in turn, with its index.
func grove(t *testing.T, files ...string) (*forest, *Index) {
	t.Helper()
	f := newForest(t)
	for i := 0; i < len(files); i += 2 {
		f.write(t, files[i], files[i+1])
	}
	return f, f.open(t, Options{})
}

// inBothStates runs a check on a snapshot that reads from the disk, maybe, and on
// one whose texts are in memory.
func inBothStates(t *testing.T, x *Index, check func(s *Snapshot)) {
	t.Helper()
	for range 2 {
		s := snapshot(t, x)
		check(s)
		s.Release()
		settle(t, x)
	}
}

func globs(t *testing.T, x *Index, pattern string, want ...string) {
	t.Helper()
	inBothStates(t, x, func(s *Snapshot) {
		if got := paths(t, s, List{Patterns: []string{pattern}, Hidden: true}); !slices.Equal(got, want) {
			t.Errorf("glob %q: %q, want %q", pattern, got, want)
		}
	})
}

func greps(t *testing.T, x *Index, o match.Options, want ...string) Summary {
	t.Helper()
	var sum Summary
	inBothStates(t, x, func(s *Snapshot) {
		var got []string
		if got, sum = ask(t, s, Query{Pattern: compile(t, o), Hidden: true}); !slices.Equal(got, want) {
			t.Errorf("grep %q: %q, want %q", o.Pattern, got, want)
		}
	})
	return sum
}

func TestC076_EscapedBrackets(t *testing.T) {
	_, x := grove(t, "routes/[id]/page.tsx", "a", "routes/i/page.tsx", "b")
	globs(t, x, `routes/\[id\]/**`, "routes/[id]/page.tsx")
}

func TestC079_DoublestarAndBraces(t *testing.T) {
	_, x := grove(t, "b", "1", "nested/b", "1", "deep/er/z", "1")
	globs(t, x, "**/{b,z}", "b", "deep/er/z", "nested/b")
}

func TestC081_DoublestarIsNoDirectoryToo(t *testing.T) {
	_, x := grove(t, "src/x.go", "1", "src/a/x.go", "1", "src/a/b/x.go", "1")
	globs(t, x, "src/**/x.go", "src/a/b/x.go", "src/a/x.go", "src/x.go")
}

func TestC082_DoublestarGluedToAName(t *testing.T) {
	_, x := grove(t, "foo1/bar/q", "1", "foo2", "1")
	globs(t, x, "foo**", "foo2")
}

func TestC083_LinksAreNotFollowed(t *testing.T) {
	f, x := grove(t, "src/x.go", "package x\n", "src/a/x.go", "package x\n")
	for link, target := range map[string]string{"loop": ".", "src/up": ".."} {
		if err := os.Symlink(target, f.abs(link)); err != nil {
			t.Skip("no links here:", err)
		}
		f.mu.Lock()
		f.touch(link)
		f.mu.Unlock()
	}
	globs(t, x, "**/x.go", "src/a/x.go", "src/x.go")
	globs(t, x, "loop", "loop")
	greps(t, x, match.Options{}, "src/a/x.go:1:package x", "src/x.go:1:package x")
}

func TestC084_HiddenOnRequest(t *testing.T) {
	_, x := grove(t, ".github/workflows/ci.yml", "on: push\n", ".eslintrc.json", "{}", "a.yml", "1")
	globs(t, x, ".github/workflows/*.yml", ".github/workflows/ci.yml")
	globs(t, x, ".eslintrc.json", ".eslintrc.json")
	globs(t, x, "**/*.yml", ".github/workflows/ci.yml", "a.yml")
	s := snapshot(t, x)
	defer s.Release()
	if got := paths(t, s, List{}); !slices.Equal(got, []string{"a.yml"}) {
		t.Errorf("without hidden files: %q", got)
	}
	if got := paths(t, s, List{Under: ".github"}); !slices.Equal(got, []string{".github/workflows/ci.yml"}) {
		t.Errorf("below a hidden directory that was asked for: %q", got)
	}
}

func TestC102_DollarBeforeCRLF(t *testing.T) {
	_, x := grove(t, "f", "needle\r\nneedles\r\n")
	greps(t, x, match.Options{Pattern: "needle$"}, "f:1:needle")
	greps(t, x, match.Options{Pattern: "^needle$"}, "f:1:needle")
}

func TestC103_CarriageReturnIsNoLineEnd(t *testing.T) {
	_, x := grove(t, "f", "abc\rdef")
	greps(t, x, match.Options{Pattern: "def"}, "f:1:abc\rdef")
}

func TestC105_BinaryBesideSources(t *testing.T) {
	_, x := grove(t, "lib.a", "\x7fELF\x00\x00hit\x00", "m.c", "hit\n")
	if sum := greps(t, x, match.Options{Pattern: "hit"}, "m.c:1:hit"); sum.SkippedBinary != 1 {
		t.Errorf("%+v", sum)
	}
}

func TestC107_MatchFarOutOnALongLine(t *testing.T) {
	line := strings.Repeat("x", 700_000) + "NEEDLE" + strings.Repeat("y", 300_000)
	_, x := grove(t, "f", line)
	inBothStates(t, x, func(s *Snapshot) {
		n := 0
		_, err := s.Search(t.Context(), Query{Pattern: compile(t, match.Options{Pattern: "NEEDLE"}), MaxLine: 500}, func(l Line) bool {
			n++
			if !l.Cut || l.Number != 1 || len(l.Text) != 500 || !strings.Contains(string(l.Text), "NEEDLE") {
				t.Errorf("line %d, cut %v, %d bytes", l.Number, l.Cut, len(l.Text))
			}
			return true
		})
		if err != nil || n != 1 {
			t.Errorf("%d lines, %v", n, err)
		}
	})
}

func TestC109_ColonsInNamesAndText(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no colons in names")
	}
	_, x := grove(t, "d:9:x/n:1.txt", "hit:2:a\n")
	greps(t, x, match.Options{Pattern: "hit"}, "d:9:x/n:1.txt:1:hit:2:a")
}

func TestC111_MatchOverLines(t *testing.T) {
	_, x := grove(t, "f", "alpha\nbeta\n", "g", "alpha\r\nbeta\r\n")
	greps(t, x, match.Options{Pattern: `alpha\nbeta`, Multiline: true}, "f:1:alpha", "f:2:beta")
	greps(t, x, match.Options{Pattern: `alpha\r?\nbeta`, Multiline: true}, "f:1:alpha", "f:2:beta", "g:1:alpha", "g:2:beta")
}

func TestC214_GlobDoesNotClimbOut(t *testing.T) {
	_, x := grove(t, "a", "1", "x/b", "1")
	for _, pattern := range []string{"../*", "../../etc/host*", "/etc/host*", "x/../../*", "x/../*"} {
		globs(t, x, pattern)
	}
}

func TestEncodings(t *testing.T) {
	_, x := grove(t,
		"latin", "caf\xe9 one\n",
		"marked", "\xef\xbb\xbfone\n",
		"utf16be", "\xfe\xff\x00o\x00n\x00e\xd8\x3d\xde\x00\x00\n",
		"utf16le", "\xff\xfeo\x00n\x00e\x00\x00\xd8\n\x00\x01",
	)
	greps(t, x, match.Options{Pattern: "one"}, "latin:1:caf\xe9 one", "marked:1:one", "utf16be:1:one\U0001f600", "utf16le:1:one�")
	greps(t, x, match.Options{Pattern: "^one$"}, "marked:1:one")
}

// TestLateNUL has a NUL behind the first step of reading.
func TestLateNUL(t *testing.T) {
	text := "hit\n" + strings.Repeat(strings.Repeat("x", 31)+"\n", 2200) + "hit\x00tail_only hit\n"
	_, x := grove(t, "late", text, "sure", "hit\x00")
	sum := greps(t, x, match.Options{Pattern: "hit"}, "late:1:hit")
	if len(sum.Warnings) != 1 || sum.Warnings[0].Path != "late" || sum.SkippedBinary != 1 {
		t.Errorf("%+v", sum)
	}
	greps(t, x, match.Options{Pattern: "tail_only"})
	greps(t, x, match.Options{Pattern: `hit\nx`, Multiline: true}, "late:1:hit", "late:2:"+strings.Repeat("x", 31))
	s := snapshot(t, x)
	defer s.Release()
	p := compile(t, match.Options{Pattern: "hit"})
	if got, _ := ask(t, s, Query{Pattern: p, Mode: Count}); len(got) != 0 {
		t.Errorf("counts %q", got)
	}
	if got, _ := ask(t, s, Query{Pattern: compile(t, match.Options{Pattern: "tail_only"}), Mode: Files}); len(got) != 0 {
		t.Errorf("files %q have it behind the NUL", got)
	}
	if got, _ := ask(t, s, Query{Pattern: p, Mode: Files}); !slices.Equal(got, []string{"late:0:"}) {
		t.Errorf("files %q", got)
	}
}

func TestGlobErrors(t *testing.T) {
	for _, pattern := range []string{"", "[", "{a", strings.Repeat("a", maxGlob+1), strings.Repeat("{a,b}", 11), "!", "{" + strings.Repeat("{a,b,c,d}", 6) + ",b}"} {
		if _, err := CompileGlobs([]string{pattern}); err == nil {
			t.Errorf("%.40q is taken", pattern)
		}
	}
	if _, err := CompileGlobs([]string{"**/{a,b}{c,d}/*.{go,mod}", "![!a]*", `\{a`}); err != nil {
		t.Error(err)
	}
}
