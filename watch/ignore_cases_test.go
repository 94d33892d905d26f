package watch

import (
	"path/filepath"
	"strings"
	"testing"
)

// ignoreCase is a tree with ignore files and what git says about its entries. A
// name with "/" at its end is a directory.
type ignoreCase struct {
	name    string
	files   map[string]string // ignore files by path; "global" is the user's
	ignored []string
	kept    []string
}

func top(gitignore string) map[string]string { return map[string]string{".gitignore": gitignore} }

var patternCases = []ignoreCase{
	{"plain name at any depth", top("foo\n"), []string{"foo", "d/foo", "d/e/foo/", "d/e/foo/x"}, []string{"foobar", "xfoo", "Foo"}},
	{"leading slash anchors", top("/foo\n"), []string{"foo"}, []string{"d/foo"}},
	{"middle slash anchors", top("d/foo\n"), []string{"d/foo"}, []string{"e/d/foo", "foo"}},
	{"leading slash with a middle slash", top("/d/foo\n"), []string{"d/foo"}, []string{"e/d/foo"}},
	{"two leading slashes", top("//foo\n"), nil, []string{"foo", "d/foo"}},
	{"trailing slash: directories only", top("foo/\n"), []string{"foo/", "foo/x", "d/foo/"}, []string{"e/foo"}},
	{"two trailing slashes", top("foo//\n"), nil, []string{"foo/", "d/foo/x"}},
	{"anchored directory", top("/foo/\n"), []string{"foo/", "foo/x"}, []string{"d/foo/"}},
	{"slash alone", top("/\n"), nil, []string{"a", "d/"}},
	{"double slash alone", top("//\n"), nil, []string{"a", "d/"}},
	{"empty lines", top("\n\n\nfoo\n\n"), []string{"foo"}, []string{"bar"}},
	{"no line end at the end", top("a\nfoo"), []string{"foo", "a"}, []string{"fo"}},
	{"comment", top("#foo\n # bar\n"), []string{" # bar"}, []string{"#foo", "foo", "# bar"}},
	{"quoted hash", top("\\#foo\n"), []string{"#foo"}, []string{"foo"}},
	{"hash inside", top("foo#bar\n"), []string{"foo#bar"}, []string{"foo"}},
	{"quoted exclamation mark", top("\\!foo\n"), []string{"!foo"}, []string{"foo"}},
	{"exclamation mark alone", top("foo\n!\n"), []string{"foo"}, []string{"!"}},
	{"two exclamation marks", top("*\n!!a\n"), []string{"a"}, []string{"!a"}},
	{"space before a pattern counts", top(" foo\n"), []string{" foo"}, []string{"foo"}},
	{"spaces at the end", top("foo  \nbar \\ \nbaz\\  \n"), []string{"foo", "bar  ", "baz "}, []string{"foo  ", "bar", "baz"}},
	{"tab at the end counts", top("foo\t\n"), []string{"foo\t"}, []string{"foo"}},
	{"backslashes before a space", top("foo\\\\ \n"), []string{"foo\\"}, []string{"foo\\ ", "foo"}},
	{"backslash at the end", top("foo\\\nbar\n"), []string{"bar"}, []string{"foo", "foo\\"}},
	{"backslash before a slash at the end", top("foo\\/\n"), nil, []string{"foo/", "d/foo\\"}},
	{"backslash quotes a letter", top("\\f\\oo\n"), []string{"foo"}, []string{"\\f\\oo"}},
	{"backslash quotes specials", top("a\\*b\na\\?c\na\\[d\na\\\\e\n"), []string{"a*b", "a?c", "a[d", "a\\e"}, []string{"axb", "axc", "axd", "axe"}},
	{"CRLF", top("*.log\r\nfoo/\r\n"), []string{"a.log", "foo/"}, []string{"a.log\r", "b.logx"}},
	{"CR at the end of the file", top("foo\r"), []string{"foo"}, []string{"foo\r"}},
	{"two CRs", top("foo\r\r\n"), []string{"foo\r"}, []string{"foo"}},
	{"CR inside", top("a\rb\n"), []string{"a\rb"}, []string{"a", "b"}},
	{"spaces before CRLF", top("foo  \r\n"), []string{"foo"}, []string{"foo "}},
	{"byte order mark", top("\xef\xbb\xbffoo\nbar\n"), []string{"foo", "bar"}, []string{"\xef\xbb\xbffoo"}},
	{"byte order mark before a comment", top("\xef\xbb\xbf#foo\nbar\n"), []string{"bar"}, []string{"#foo"}},
	{"byte order mark on line two", top("bar\n\xef\xbb\xbffoo\n"), []string{"bar", "\xef\xbb\xbffoo"}, []string{"foo"}},
	{"NUL ends a line", top("foo\x00bar\nbaz\n"), []string{"foo", "baz"}, []string{"bar", "foobar"}},
	{"star", top("*.log\nf*o\n"), []string{".log", "a.log", "d/a.log", "fo", "fxxo"}, []string{"a.logs", "fox"}},
	{"star in a path stays in its segment", top("d/*.c\n"), []string{"d/a.c", "d/.c"}, []string{"d/e/a.c", "e/d/a.c"}},
	{"star takes dot files", top("*\n"), []string{".x", "a", "d/"}, nil},
	{"star as a whole segment", top("d/*/f\n"), []string{"d/e/f"}, []string{"d/f", "d/e/g/f"}},
	{"everything inside by star", top("d/*\n"), []string{"d/a", "d/e/", "d/e/x"}, []string{"d/", "e/d/a"}},
	{"question mark", top("a?c\nd/?\n"), []string{"abc", "d/x"}, []string{"ac", "abbc", "d/xy", "a/c"}},
	{"question mark is one byte", top("?\nx??\n"), []string{"a", "xé"}, []string{"é", "xéé"}},
	{"multibyte literal", top("é*\nd/日本/\n"), []string{"é", "éa", "d/日本/"}, []string{"e"}},
	{"invalid UTF-8", top("\xff*\n"), []string{"\xff", "\xffa"}, []string{"\xfe"}},
	{"leading double star", top("**/foo\n"), []string{"foo", "a/foo", "a/b/foo/"}, []string{"xfoo", "a/xfoo"}},
	{"leading double star and a path", top("**/a/b\n"), []string{"a/b", "x/a/b", "x/y/a/b"}, []string{"xa/b", "a/x/b"}},
	{"trailing double star", top("a/**\n"), []string{"a/x", "a/b/", "a/b/y"}, []string{"a/", "b/a/x"}},
	{"middle double star", top("a/**/b\n"), []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"a/xb", "ab", "a/x/yb"}},
	{"double star around", top("**/build/**\n"), []string{"build/x", "p/build/y", "p/build/q/z"}, []string{"build/", "p/build/"}},
	{"double star alone", top("**\n"), []string{"a", "d/", "d/x"}, nil},
	{"double star and a slash", top("**/\n"), []string{"d/", "d/x", "d/e/"}, []string{"a"}},
	{"three stars", top("a/***/b\n"), []string{"a/b", "a/x/y/b"}, []string{"a/xb"}},
	{"double star glued in a base name", top("f**o\n"), []string{"fo", "fxo", "d/fxxo"}, []string{"f/o"}},
	{"double star glued behind a wildcard", top("d/x?**y/f\n"), []string{"d/xay/f", "d/xaby/f"}, []string{"d/xa/y/f", "d/xy/f"}},
	{"double star glued behind a literal head", top("foo**/bar\n"), []string{"foox/bar", "foox/y/bar", "foo/bar", "foobar"}, []string{"d/foo/bar", "fo/bar"}},
	{"double star before a quoted slash", top("a/**\\/v\n"), []string{"a/b/v", "a/b/c/v"}, []string{"a/v"}},
	{"double star behind a quoted slash", top("a\\/**/v\n"), []string{"a/v", "a/b/v", "a/b/c/v"}, []string{"av"}},
	{"class", top("[abc]x\n"), []string{"ax", "cx"}, []string{"dx", "x", "abcx"}},
	{"range", top("[a-cx-]1\n"), []string{"a1", "b1", "x1", "-1"}, []string{"d1", "w1"}},
	{"range backwards is its first byte", top("[c-a]\n"), []string{"c"}, []string{"a", "b", "-"}},
	{"negated class", top("[!a]x\n[^b]y\n"), []string{"bx", "ay"}, []string{"ax", "by"}},
	{"negated class is one byte", top("[!a]\n"), []string{"b", "\xff"}, []string{"a", "é"}},
	{"class with a bracket", top("[]a]x\n[!]a]y\n"), []string{"]x", "ax", "by"}, []string{"bx", "]y", "ay"}},
	{"class with quotes", top("[\\]a]x\n[a\\-c]y\n[\\a-c]z\n"), []string{"]x", "ax", "ay", "-y", "cy", "bz"}, []string{"\\x", "by", "\\z"}},
	{"class with a POSIX class", top("[[:digit:]_]x\n"), []string{"1x", "_x"}, []string{"ax", ":x"}},
	{"negated POSIX class", top("[^[:alpha:]]x\n"), []string{"1x", "-x"}, []string{"ax", "Zx"}},
	{"POSIX class is not a range's end", top("[[:digit:]-z]x\n"), []string{"1x", "-x", "zx"}, []string{"ax"}},
	{"unknown POSIX class", top("[[:word:]]\n"), nil, []string{"a", "w", "[[:word:]]"}},
	{"half a POSIX class", top("p[[:digit]x\n[[a]y\n"), []string{"p[x", "p:x", "pdx", "[y", "ay"}, []string{"p1x", "by"}},
	{"unclosed class", top("a[bc\n[\nfoo\n"), []string{"foo"}, []string{"ab", "a[bc", "["}},
	{"class never takes a slash", top("a[/]b\nd[!x]e\nc[.-0]d\n"), []string{"dye"}, []string{"a/b", "d/e", "c/d"}},
	{"later line wins", top("*.log\n!keep.log\nd/keep.log\n"), []string{"a.log", "d/keep.log"}, []string{"keep.log", "e/keep.log"}},
	{"negation first has no effect", top("!foo\nfoo\n"), []string{"foo"}, nil},
	{"negated directory pattern", top("*\n!d/\n!d/x\n"), []string{"a", "d/y"}, []string{"d/", "d/x"}},
	{"no way back below an ignored directory", top("d/\n!d/x\n!/d/e/\n"), []string{"d/", "d/x", "d/e/", "d/e/f"}, nil},
	{"everything but one directory", top("/*\n!/foo\n/foo/*\n!/foo/bar\n"), []string{"a", "foo/x", "e/foo/bar"}, []string{"foo/", "foo/bar/", "foo/bar/x"}},
	{"line and trailing white space only", top("   \n\t\nfoo\n"), []string{"foo", "\t"}, []string{" ", "   "}},
	{"many stars", top("*a*b*c*\n"), []string{"abc", "xaxbxcx"}, []string{"acb", "ab"}},
	{"stars across segments", top("*/*a*/x\n"), []string{"d/a/x", "d/bab/x"}, []string{"a/x", "d/b/x", "e/d/a/x"}},
}

var sourceCases = []ignoreCase{
	{
		"nested file wins",
		map[string]string{".gitignore": "*.o\n", "d/.gitignore": "!x.o\n"},
		[]string{"x.o", "d/y.o", "e/x.o"},
		[]string{"d/x.o", "d/e/x.o"},
	},
	{
		"nested file counts from its directory",
		map[string]string{"d/.gitignore": "/a\nb/c\n"},
		[]string{"d/a", "d/b/c"},
		[]string{"a", "d/e/a", "b/c", "d/e/b/c"},
	},
	{
		"nested file in an ignored directory is not read",
		map[string]string{".gitignore": "d\n", "d/.gitignore": "!*\n"},
		[]string{"d/", "d/x", "d/.gitignore"},
		nil,
	},
	{
		"info/exclude is weaker than .gitignore",
		map[string]string{".git/info/exclude": "*.a\n!b.c\n", ".gitignore": "!x.a\n*.c\n"},
		[]string{"y.a", "d/y.a", "b.c"},
		[]string{"x.a", "d/x.a"},
	},
	{
		"info/exclude counts from the top",
		map[string]string{".git/info/exclude": "/a\nd/b\n"},
		[]string{"a", "d/b"},
		[]string{"d/a", "e/d/b"},
	},
	{
		"global is weaker than info/exclude",
		map[string]string{"global": "*.a\n/top\n", ".git/info/exclude": "!x.a\n"},
		[]string{"y.a", "top", "d/y.a"},
		[]string{"x.a", "d/top"},
	},
	{
		"an ignored ignore file is read",
		map[string]string{".gitignore": ".gitignore\n*.x\n"},
		[]string{".gitignore", "a.x"},
		[]string{"a"},
	},
	{
		"git documents: arch",
		map[string]string{".gitignore": "vmlinux*\n", "arch/foo/kernel/.gitignore": "!/vmlinux*\n"},
		[]string{"vmlinux", "arch/vmlinux.lds.S"},
		[]string{"arch/foo/kernel/vmlinux.lds.S"},
	},
	{
		"git documents: Documentation",
		map[string]string{".git/info/exclude": "# objects\n*.[oa]\n", "Documentation/.gitignore": "# html\n*.html\n!foo.html\n"},
		[]string{"file.o", "lib.a", "src/internal.o", "Documentation/gitignore.html"},
		[]string{"Documentation/foo.html", "a.html"},
	},
}

// build makes the tree of a case.
func (c ignoreCase) build(t *testing.T) *gitTree {
	t.Helper()
	g := newGitTree(t)
	for name, text := range c.files {
		if name == "global" {
			g.writeAbs(filepath.Join(g.home, ".config/git/ignore"), text)
			continue
		}
		g.write(name, text)
	}
	for _, name := range append(append([]string{}, c.ignored...), c.kept...) {
		g.add(name)
	}
	return g
}

// answers checks Ignore against the case; it needs no git.
func (c ignoreCase) answers(t *testing.T, ig *Ignore) {
	t.Helper()
	for _, list := range []struct {
		names []string
		want  bool
	}{{c.ignored, true}, {c.kept, false}} {
		for _, name := range list.names {
			rel, isDir := strings.CutSuffix(name, "/")
			if got := ig.Path(rel, isDir, nil); got != list.want {
				t.Errorf("%q ignored: got %v, want %v", name, got, list.want)
			}
		}
	}
}

func TestIgnoreCases(t *testing.T) {
	for _, c := range append(append([]ignoreCase{}, patternCases...), sourceCases...) {
		t.Run(c.name, func(t *testing.T) {
			g := c.build(t)
			c.answers(t, g.ignore(""))
			// The case itself is checked against git too.
			var names []string
			for _, name := range append(append([]string{}, c.ignored...), c.kept...) {
				names = append(names, strings.TrimSuffix(name, "/"))
			}
			says := g.checkIgnore("", names)
			for i, name := range names {
				if want := i < len(c.ignored); says[name] != want {
					t.Errorf("%q: the case says ignored %v, git %v", name, want, says[name])
				}
			}
		})
	}
	if n := len(patternCases) + len(sourceCases); n < 60 {
		t.Errorf("%d cases", n)
	}
}

// TestIgnoreBytesAgainstGit asks about every byte in every POSIX class, folded
// and not, and as a negated set.
func TestIgnoreBytesAgainstGit(t *testing.T) {
	classes := []string{"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"}
	for _, fold := range []bool{false, true} {
		g := newGitTree(t)
		if fold {
			g.write(".git/config", "[core]\nignoreCase = yes\n")
		}
		var names []string
		for _, class := range classes {
			g.write(class+"/.gitignore", "[[:"+class+":]]\nn[^[:"+class+":]]\n")
			for c := 1; c < 256; c++ {
				if c == '/' || c == '.' {
					continue
				}
				one := string([]byte{byte(c)})
				names = append(names, class+"/"+one, class+"/n"+one)
			}
		}
		for _, text := range []string{"[A-C]", "[a-c]", "[X]", "[x]", "Q", "q", "\\Q", "[\\Y]", "[^M]", "P*"} {
			dir := "fold" + strings.Map(func(r rune) rune {
				if r == '\\' || r == '*' {
					return '_'
				}
				return r
			}, text)
			g.write(dir+"/.gitignore", text+"\n")
			for _, one := range strings.Split("AaBbCcDdXxQqYyMmPp", "") {
				names = append(names, dir+"/"+one)
			}
		}
		ig := g.ignore("")
		want := g.checkIgnore("", names)
		for _, name := range names {
			if got := ig.Path(name, false, nil); got != want[name] {
				t.Errorf("fold %v: %q ignored: got %v, git says %v", fold, name, got, want[name])
			}
		}
	}
}
