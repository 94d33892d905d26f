package diffpreview

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// marked shows spans of a text in brackets.
func marked(text string, spans []WordSpan) string {
	var out strings.Builder
	at := 0
	for _, s := range spans {
		out.WriteString(text[at:s.Start] + "[" + text[s.Start:s.End] + "]")
		at = s.End
	}
	return out.String() + text[at:]
}

func TestWords(t *testing.T) {
	tests := []struct{ name, old, new, wantOld, wantNew string }{
		{"a word", "return x + 1\n", "return y + 1\n", "return [x] + 1\n", "return [y] + 1\n"},
		{"a whole word, not its letters", "the colour is\n", "the color is\n", "the [colour] is\n", "the [color] is\n"},
		{"an argument more", "f(a, b)\n", "f(a, c, b)\n", "f(a, b)\n", "f(a, [c, ]b)\n"},
		{"no confetti", "the quick brown fox\n", "a slow red dog\n", "[the quick brown fox]\n", "[a slow red dog]\n"},
		{"brackets round a long name", "(configuration)\n", "[configuration]\n", "[(]configuration[)]\n", "[[]configuration[]]\n"},
		{"brackets round a letter", "(x)\n", "<x>\n", "[(x)]\n", "[<x>]\n"},
		{"indentation", "\tx\n\ty\n", "\t\tx\n\t\ty\n", "[\t]x\n[\t]y\n", "[\t\t]x\n[\t\t]y\n"},
		{"line end", "a\nb\n", "a\r\nb\r\n", "a\nb\n", "a[\r]\nb[\r]\n"},
		{"final newline", "a", "a\n", "a", "a[\n]"},
		{"spans end with their line", "one\n", "one\ntwo\nthree\n", "one\n", "one\n[two\n][three\n]"},
		{"no joining over lines", "a\nb\n", "x\ny\n", "[a]\n[b]\n", "[x]\n[y]\n"},
		{"an accent belongs to its letter", "e\u0301x ok\n", "ex ok\n", "[e\u0301x] ok\n", "[ex] ok\n"},
		{"one picture", "a \U0001f468\u200d\U0001f469 b\n", "a \U0001f468 b\n", "a [\U0001f468\u200d\U0001f469] b\n", "a [\U0001f468] b\n"},
		{"other scripts", "日本 語\n", "日本 文\n", "日本 [語]\n", "日本 [文]\n"},
		{"the same", "a\n", "a\n", "a\n", "a\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old, new, ok := Words([]byte(test.old), []byte(test.new))
			if !ok {
				t.Fatal("not ok")
			}
			if got := marked(test.old, old); got != test.wantOld {
				t.Errorf("old: %q, want %q", got, test.wantOld)
			}
			if got := marked(test.new, new); got != test.wantNew {
				t.Errorf("new: %q, want %q", got, test.wantNew)
			}
		})
	}
}

// Beyond the bounds nothing is compared; a small change within them is, whatever stands around it.
func TestWordsBounds(t *testing.T) {
	many := func(word string) string { return strings.Repeat(word+" ", 3000) }
	tests := []struct {
		name     string
		old, new string
		want     bool
	}{
		{"nothing on one side", "", "a\n", false},
		{"nothing on the other", "a\n", "", false},
		{"not UTF-8", "a\xff\n", "b\n", false},
		{"not UTF-8 on the other", "a\n", "\xc3\n", false},
		{"as many bytes as may be", strings.Repeat("a", maxWordBytes), "b\n", true},
		{"too many bytes", strings.Repeat("a", maxWordBytes+1), "b\n", false},
		{"as many lines as may be", strings.Repeat("a\n", maxWordLines), "a\n", true},
		{"too many lines", "a\n", strings.Repeat("a\n", maxWordLines+1), false},
		{"too many words that differ", many("a") + "\n", many("b") + "\n", false},
		{"many words, one of which differs", many("a") + "x" + many("c"), many("a") + "y" + many("c"), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old, new, ok := Words([]byte(test.old), []byte(test.new))
			if ok != test.want {
				t.Errorf("ok is %t", ok)
			}
			if !ok && (old != nil || new != nil) {
				t.Errorf("spans %v and %v", old, new)
			}
		})
	}
}

// checkWords holds for every answer of Words.
func checkWords(t interface{ Fatalf(string, ...any) }, old, new []byte) {
	oldSpans, newSpans, ok := Words(old, new)
	if !ok {
		return
	}
	without := func(text []byte, spans []WordSpan) []byte {
		borders := map[int]bool{0: true}
		for _, end := range wordEnds(text) {
			borders[end] = true
		}
		var out []byte
		at := 0
		for i, s := range spans {
			switch {
			case s.Start < at || s.End <= s.Start || s.End > len(text):
				t.Fatalf("span %d of %v is out of place", i, spans)
			case !borders[s.Start] || !borders[s.End] || !utf8.Valid(text[s.Start:s.End]):
				t.Fatalf("span %d of %v cuts a word of %q", i, spans, text)
			case bytes.IndexByte(text[s.Start:s.End-1], '\n') >= 0:
				t.Fatalf("span %d of %v goes over a line end of %q", i, spans, text)
			}
			out = append(out, text[at:s.Start]...)
			at = s.End
		}
		return append(out, text[at:]...)
	}
	// What is left is the same, so taking the one spans out and putting the others in makes the one text of the other.
	if a, b := without(old, oldSpans), without(new, newSpans); !bytes.Equal(a, b) {
		t.Fatalf("without %v and %v, %q and %q are %q and %q", oldSpans, newSpans, old, new, a, b)
	}
}

func TestPropertyWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) []string {
			return rapid.SliceOfN(rapid.SampledFrom([]string{
				"a", "b", "word", "_1", " ", "\t", "  ", "\n", "\r\n", "(", ")", "é", "e\u0301", "\u0301", "\u200d", "語", "\U0001f468", "\ufeff",
			}), 0, 30).Draw(t, label)
		}
		old := draw("old")
		new := append([]string(nil), old...)
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, len(new)).Draw(t, "at")
			end := min(len(new), at+rapid.IntRange(0, 3).Draw(t, "count"))
			put := draw("put")
			new = append(append(append([]string(nil), new[:at]...), put[:min(3, len(put))]...), new[end:]...)
		}
		checkWords(t, []byte(strings.Join(old, "")), []byte(strings.Join(new, "")))
	})
}

func FuzzWords(f *testing.F) {
	f.Add([]byte("return x + 1\n"), []byte("return y + 1\n"))
	f.Add([]byte("a\u0301\u200d\n"), []byte("\u0301a\r\n"))
	f.Add([]byte("\xff"), []byte("a"))
	f.Fuzz(func(t *testing.T, old, new []byte) { checkWords(t, old, new) })
}

// BenchmarkWords is the most that is compared, at its worst: nothing stands where it stood.
func BenchmarkWords(b *testing.B) {
	var old, new strings.Builder
	for i := range 512 {
		old.WriteString(string(rune('a'+i*7%26)) + "+")
		new.WriteString(string(rune('a'+i*11%25)) + "-")
	}
	texts := [2][]byte{[]byte(old.String()[:512]), []byte(new.String()[:512])}
	for b.Loop() {
		if _, _, ok := Words(texts[0], texts[1]); !ok {
			b.Fatal("beyond the bounds")
		}
	}
}
