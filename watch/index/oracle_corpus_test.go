package index_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// corpus is a tree of texts to search: everything that a search can trip over,
// with words that patterns are made of.
type corpus struct {
	root string
	env  []string
	rng  *rand.Rand
	late func(string) bool // files whose first NUL comes late: see sameAsRG
}

// rgFirst is what rg reads of a file before it prints: a NUL in it hides all.
const rgFirst = 64 << 10

var corpusWords = []string{
	"needle", "Needle", "NEEDLE", "hay", "haystack", "func", "return", "err", "errServer", "mutex_lock", "mutex_unlock", "NOTE", "x", "if",
	"http.Request", "a+b", "[]byte", "C:\\dir", "--flag", "$HOME", "10.20.30.40", "0xdeadBEEF", "snake_case_name", "CamelCaseName", "e\u0301t\u00e9",
	"na\u00efve", "\u65e5\u672c", "foo_RESUME", "BAR_RESUME", "abcabcabc", "aaaaaaa", "tab\tted", "(paren)", "\"quoted\"", "Unmarshaler", "\u212a", "\u017f",
}

// lineOf makes a line of words, without its end.
func (c *corpus) lineOf() string {
	switch c.rng.IntN(14) {
	case 0:
		return ""
	case 1:
		return strings.Repeat(" ", c.rng.IntN(9)) + pick(c.rng, corpusWords)
	case 2:
		return fmt.Sprint(c.rng.IntN(100_000))
	}
	words := make([]string, 1+c.rng.IntN(9))
	for i := range words {
		words[i] = pick(c.rng, corpusWords)
	}
	return strings.Join(words, pick(c.rng, []string{" ", " ", " ", "", ".", "(", "_", ", ", "\v", "\f"}))
}

func (c *corpus) textOf(lines int, end string) string {
	var b strings.Builder
	for range lines {
		b.WriteString(c.lineOf())
		b.WriteString(end)
	}
	return b.String()
}

// bytesOf are the kinds of files.
var corpusKinds = []struct {
	name string
	make func(c *corpus) []byte
}{
	{"plain", func(c *corpus) []byte { return []byte(c.textOf(c.rng.IntN(60), "\n")) }},
	{"long", func(c *corpus) []byte { return []byte(c.textOf(3000, "\n")) }},
	{"crlf", func(c *corpus) []byte { return []byte(c.textOf(c.rng.IntN(60), "\r\n")) }},
	{"cr", func(c *corpus) []byte { return []byte(c.textOf(20, "\r")) }},
	{"mixed", func(c *corpus) []byte {
		return []byte(c.textOf(5, "\n") + c.textOf(5, "\r\n") + c.textOf(3, "\r") + c.textOf(5, "\n"))
	}},
	{"open-end", func(c *corpus) []byte { return []byte(c.textOf(9, "\n") + c.lineOf() + "needle") }},
	{"cr-end", func(c *corpus) []byte { return []byte(c.textOf(9, "\n") + "needle\r") }},
	{"empty", func(*corpus) []byte { return nil }},
	{"newlines", func(c *corpus) []byte { return bytes.Repeat([]byte("\n"), c.rng.IntN(40)) }},
	{"utf8-bom", func(c *corpus) []byte { return []byte("\xef\xbb\xbf" + c.textOf(9, "\n")) }},
	{"utf16le", func(c *corpus) []byte { return utf16Of(c.textOf(30, "\n"), false) }},
	{"utf16be", func(c *corpus) []byte { return utf16Of(c.textOf(30, "\r\n"), true) }},
	{"utf16odd", func(c *corpus) []byte { return append(utf16Of(c.textOf(4, "\n"), false), 'x') }},
	{"utf16surrogate", func(c *corpus) []byte {
		return append(utf16Of("needle \U0001F600\n", false), 0x00, 0xd8, 'n', 0, '\n', 0)
	}},
	{"latin1", func(c *corpus) []byte { return []byte("caf\xe9 needle\n" + c.textOf(9, "\n") + "\xff\xfe\xfd hay\n") }},
	{"cut-utf8", func(c *corpus) []byte { return []byte(c.textOf(4, "\n") + "needle \xe6\x97") }},
	{"nul-early", func(c *corpus) []byte { return []byte("needle\n" + c.textOf(5, "\n") + "\x00" + c.textOf(5, "\n")) }},
	{"nul-9k", func(c *corpus) []byte {
		return []byte("needle\n" + strings.Repeat("hay hay hay\n", 800) + "\x00\nneedle\n")
	}},
	{"nul-late", func(c *corpus) []byte {
		return []byte("needle\n" + strings.Repeat("hay hay hay\n", 9000) + "\x00\nneedle\n")
	}},
	{"long-line", func(c *corpus) []byte {
		return []byte(strings.Repeat("hay ", 25_000) + "needle" + strings.Repeat(" hay", 25_000) + "\nneedle\n")
	}},
	{"same-line", func(c *corpus) []byte { return []byte(strings.Repeat("return err\n", 5000)) }},
	{"block-edge", func(c *corpus) []byte {
		pad := 16<<10 - 12 + c.rng.IntN(24)
		return []byte(strings.Repeat("y", pad) + "needle\n" + strings.Repeat("z", 100) + "\nneedle")
	}},
	{"lines-edge", func(c *corpus) []byte {
		return []byte(strings.Repeat("abcdefghijklmno\n", 1020+c.rng.IntN(8)) + "mutex_lock\nNOTE\nmutex_unlock\n")
	}},
}

func utf16Of(text string, big bool) []byte {
	out := []byte{0xff, 0xfe}
	if big {
		out = []byte{0xfe, 0xff}
	}
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

var corpusDirs = []string{"", "a", "a/b", "a.b", "a b", ".hidden", "a/.h", "\xff", "src/pkg/deep/er"}

// newCorpus writes each kind of file at several places, and some that are not to
// be found: ignored ones, links, what is in .git.
func newCorpus(t *testing.T, rng *rand.Rand, each int) *corpus {
	t.Helper()
	base := realTemp(t)
	c := &corpus{root: filepath.Join(base, "root"), env: cleanEnv(filepath.Join(base, "home")), rng: rng}
	put := func(rel string, data []byte) { write(t, filepath.Join(c.root, rel), data) }
	for _, kind := range corpusKinds {
		for i := range each {
			ext := pick(rng, []string{"", ".txt", ".go", ".a-b"})
			put(join(pick(rng, corpusDirs), fmt.Sprintf("%s%d%s", kind.name, i, ext)), kind.make(c))
		}
	}
	put(".gitignore", []byte("ignored/\n*.log\n"))
	put("ignored/f", []byte("needle\n"))
	put("a/needle.log", []byte("needle\n"))
	put(".git/HEAD", []byte("ref: refs/heads/needle\n"))
	put("d:9:x/n:1.txt", []byte("hit:2:a needle\n"))
	if err := os.Symlink("../.gitignore", filepath.Join(c.root, "a", "link-needle")); err != nil {
		t.Fatal(err)
	}
	c.late = lateBinaries(t, c.root, rgFirst)
	return c
}
