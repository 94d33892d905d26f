package process

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// cleaned is what a Cleaner makes of text that comes in chunks of so many bytes.
func cleaned(t testing.TB, text string, chunk func() int) string {
	t.Helper()
	var out bytes.Buffer
	c := NewCleaner(&out)
	for rest := []byte(text); len(rest) > 0; {
		n := min(chunk(), len(rest))
		if got, err := c.Write(rest[:n]); got != n || err != nil {
			t.Fatal(got, err)
		}
		if len(text) < 1000 && !utf8.Valid(c.Pending()) {
			t.Fatalf("pending: %q", c.Pending())
		}
		rest = rest[n:]
	}
	must(t, c.Close())
	return out.String()
}

func whole() int { return 1 << 30 }

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a\tb\n\nc", "a\tb\n\nc"},
		{"colours", "\x1b[1;31merror\x1b[0m: \x1b[38;5;4mx\x1b[m\n", "error: x\n"},
		{"erase after a match", "\x1b[01;31m\x1b[Kone\x1b[m\x1b[K two  \n", "one two  \n"},
		{"line ends", "a\r\nb\r\r\nc\r\n", "a\nb\nc\n"},
		{"progress", " 1%\r 50%\r100%\ndone\n", "100%\ndone\n"},
		{"progress that shrinks", "downloading\rdone\n", "doneloading\n"},
		{"progress that is hidden by spaces", "downloading\rdone       \n", "done\n"},
		{"progress that is erased", "downloading\r\x1b[Kdone\n", "done\n"},
		{"progress without an end", " 1%\r99%", "99%"},
		{"progress before its next", "99%\r", "99%"},
		{"spinner", "|\b/\b-\b\\\bok\n", "ok\n"},
		{"overstrike", "N\bNA\bAM\bME\bE _\bx\n", "NAME x\n"},
		{"backspaces beyond", "a\b\b\bb\n", "b\n"},
		{"columns", "ab\x1b[10Gc\x1b[1Gd\x1b[2Ce\n", "db e     c\n"},
		{"erase", "abc\x1b[2D\x1b[1Kx\n", " xc\n"},
		{"erase all", "abc\x1b[2Kd\n", "   d\n"},
		{"controls", "a\x00b\x07c\x0ed\x7fe\x0bf\x0cg\n", "abcdefg\n"},
		{"title", "\x1b]0;title ✓\x07a\x1b]2;other\x1b\\b\n", "ab\n"},
		{"link", "\x1b]8;;http://x/\x1b\\text\x1b]8;;\x1b\\\n", "text\n"},
		{"title without an end", "\x1b]0;title\nnext\n", "\nnext\n"},
		{"image", "a\x1bPq#0;2;0\n\"1\x1b\\b\x1b_Gf=1\x07;AAAA\x1b\\c\n", "abc\n"},
		{"string cut by a sequence", "\x1bPab\x1b[1mc\n", "c\n"},
		{"cancelled", "\x1b[1\x18a\x1b]x\x1ab\n", "ab\n"},
		{"short sequences", "\x1b(B\x1b=\x1b7a\x1b8\x1bcb\x1b#8\n", "ab\n"},
		{"private sequences", "\x1b[?25l\x1b[?2004ha\x1b[>cb\x1b[?5K\n", "ab\n"},
		{"another line", "one\x1b[Atwo\x1b[1;1Hthree\x1b[2J\n", "one\ntwo\n\n"},
		{"controls of the second set", "\u009b1ma\u009d0;t\x07b\u0085c\u0090x\x1b\\d\u0080\n", "ab\ncd\n"},
		{"not UTF-8", "a\xffb\xe2\x82c\xe2\x82", "a�b��c��"},
		{"a sequence that no ASCII ends", "\x1b[1éa\x1béb\x1b(é\n", "éaébé\n"},
		{"characters", "日本語\rab\n", "ab語\n"},
		{"end within a sequence", "a\x1b[1", "a"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 1, 2, 3} {
				if got := cleaned(t, c.text, func() int { return size }); got != c.want {
					t.Errorf("by %d: %q, want %q", size, got, c.want)
				}
			}
		})
	}
}

// A long line is written before it ends. What goes back in it begins a new one.
func TestCleanLongLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct{ name, text, want string }{
		{"no end", long + long + "y", long + long + "y"},
		{"back", long + "y\rz\n", long + "y\nz\n"},
		{"back at the border", long + "\rz\n", long + "\nz\n"},
		{"not back", long + "yz\by\n", long + "yy\n"},
		{"written over", "a\r" + long + "\rz\n", long + "\nz\n"},
		{"far columns", strings.Repeat("\x1b[999C", 1000) + "x\n", strings.Repeat(" ", maxLine-1) + "x\n"},
		{"a long string", "\x1bP" + strings.Repeat("x", maxString) + "yz\n", "yz\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 1000, 7} {
				if got := cleaned(t, c.text, func() int { return size }); got != c.want {
					t.Errorf("by %d: %d bytes, want %d, ends with %.20q", size, len(got), len(c.want), got[max(0, len(got)-20):])
				}
			}
		})
	}
	c := NewCleaner(io.Discard)
	for range 1000 {
		c.Write([]byte(strings.Repeat("y", 1000)))
		if n := len(c.Pending()); n >= maxLine {
			t.Fatalf("%d bytes are held back", n)
		}
	}
}

// terminal is the line of a terminal at its simplest.
func terminal(text string) string {
	var out strings.Builder
	for i, row := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		var cells []rune
		col, back := 0, false
		for _, r := range strings.TrimRight(row, "\r") {
			switch r {
			case '\r':
				col, back = 0, true
			case '\b':
				col, back = max(0, col-1), true
			default:
				if col == len(cells) {
					cells = append(cells, ' ')
				}
				cells[col] = r
				col++
			}
		}
		line := string(cells)
		if back {
			line = strings.TrimRight(line, " ")
		}
		out.WriteString(line)
	}
	return out.String()
}

// TestPropertyCleanIsATerminal compares carriage returns and backspaces with terminal.
func TestPropertyCleanIsATerminal(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b c", "é", "日", "\r", "\b", "\n", "\r\n", " ", "\t", "done"})).Draw(r, "text"), "")
		// An end of lines that stands before no line is one that a terminal shows not.
		if got, want := cleaned(t, text, whole), terminal(text); strings.TrimRight(got, " ") != strings.TrimRight(want, " ") {
			r.Fatalf("%q: %q, want %q", text, got, want)
		}
	})
}

// FuzzClean: whatever comes, and however it is cut, the same text comes out, and it is
// one that needs no more cleaning.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"a\r\x1b[K\x1b[1mb\x1b]0;t\x07\n", "\xe2\x82\xac\xe2\x82", "\x1bP\n\x1b\\\u009b2K", "\b\x1b[9999C\x1b[Dx\r\n", "\x1b[\x1b]\x1b_\x1b(\x7f\x00",
	} {
		f.Add(seed, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		want := cleaned(t, text, whole)
		random := rand.New(rand.NewPCG(seed, 0))
		if got := cleaned(t, text, func() int { return 1 + random.IntN(9) }); got != want {
			t.Fatalf("%q: in chunks %q, at once %q", text, got, want)
		}
		if !utf8.ValidString(want) {
			t.Fatalf("%q: %q is not UTF-8", text, want)
		}
		for _, r := range want {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q: %q has %q", text, want, r)
			}
		}
		if again := cleaned(t, want, whole); again != want {
			t.Fatalf("%q: %q is cleaned to %q", text, want, again)
		}
	})
}

// plain finds the first special byte wherever it is.
func TestPlain(t *testing.T) {
	for b := range 256 {
		special := b < 0x20 && b != '\n' && b != '\t' || b >= 0x7f
		for at := range 20 {
			p := bytes.Repeat([]byte("a\n"), 12)
			p[at] = byte(b)
			want := len(p)
			if special {
				want = at
			}
			if got := plain(p); got != want {
				t.Errorf("%#x at %d: %d, want %d", b, at, got, want)
			}
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestCleanIntoABrokenWriter(t *testing.T) {
	c := NewCleaner(broken{})
	if n, err := c.Write([]byte("a\n")); n != 2 || err == nil {
		t.Error(n, err)
	}
	if err := c.Close(); err == nil {
		t.Error("no error")
	}
}
