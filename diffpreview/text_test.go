package diffpreview

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestInspect(t *testing.T) {
	late := append(bytes.Repeat([]byte("x"), 8000), 0)
	early := append(bytes.Repeat([]byte("x"), 7999), 0)
	tests := []struct {
		name string
		data string
		want Info
	}{
		{"no bytes", "", Info{UTF8, false, "none", false, 0}},
		{"one line without an end", "a", Info{UTF8, false, "none", false, 1}},
		{"lf", "a\nb\n", Info{UTF8, false, "lf", true, 2}},
		{"lf without a final one", "a\nb", Info{UTF8, false, "lf", false, 2}},
		{"crlf", "a\r\nb\r\n", Info{UTF8, false, "crlf", true, 2}},
		{"mixed", "a\r\nb\nc", Info{UTF8, false, "mixed", false, 3}},
		{"mixed the other way round", "\n\r\n", Info{UTF8, false, "mixed", true, 2}},
		{"lone cr", "a\rb\r", Info{UTF8, false, "none", false, 1}},
		{"lone cr and lf", "a\rb\nc\n", Info{UTF8, false, "lf", true, 2}},
		{"cr cr lf", "a\r\r\n", Info{UTF8, false, "crlf", true, 1}},
		{"cr between lines", "a\n\rb\n", Info{UTF8, false, "lf", true, 2}},
		{"utf-8", "é\n", Info{UTF8, false, "lf", true, 1}},
		{"utf-8 bom", "\xef\xbb\xbfa\n", Info{UTF8, true, "lf", true, 1}},
		{"utf-8 bom alone", "\xef\xbb\xbf", Info{UTF8, true, "none", false, 1}},
		{"half a utf-8 bom", "\xef\xbb", Info{Bytes, false, "none", false, 1}},
		{"latin-1", "r\xe9sum\xe9\n", Info{Bytes, false, "lf", true, 1}},
		{"utf-8 bom before latin-1", "\xef\xbb\xbfr\xe9\n", Info{Bytes, true, "lf", true, 1}},
		{"cut utf-8", "a\xc3", Info{Bytes, false, "none", false, 1}},
		{"surrogate in utf-8", "\xed\xa0\x80", Info{Bytes, false, "none", false, 1}},
		{"utf-16le", "\xff\xfea\x00\r\x00\n\x00", Info{UTF16LE, true, "crlf", true, 1}},
		{"utf-16be", "\xfe\xff\x00a\x00\n\x00b", Info{UTF16BE, true, "lf", false, 2}},
		{"utf-16le mixed", "\xff\xfe\n\x00\r\x00\n\x00", Info{UTF16LE, true, "mixed", true, 2}},
		{"utf-16le, bytes 0a that end nothing", "\xff\xfe\x0a\x0a\x41\x0a\x00\x0b", Info{UTF16LE, true, "none", false, 1}},
		{"utf-16be, bytes 0a that end nothing", "\xfe\xff\x0a\x0a\x0a\x00\x0b\x00", Info{UTF16BE, true, "none", false, 1}},
		{"utf-16be, 00 0a over two units", "\xfe\xff\x41\x00\x0a\x41", Info{UTF16BE, true, "none", false, 1}},
		{"utf-16le bom alone", "\xff\xfe", Info{UTF16LE, true, "none", false, 1}},
		{"utf-16 without a bom", "a\x00b\x00", Info{Binary, false, "none", false, 1}},
		{"utf-16 of an odd length", "\xff\xfea\x00b", Info{Binary, false, "none", false, 1}},
		{"utf-16 of an odd length without a nul", "\xff\xfe\x41\x42\x43", Info{Bytes, false, "none", false, 1}},
		{"utf-16 with a nul", "\xff\xfea\x00\x00\x00", Info{Binary, false, "none", false, 1}},
		{"utf-32le", "\xff\xfe\x00\x00a\x00\x00\x00", Info{Binary, false, "none", false, 1}},
		{"nul", "a\x00b\n", Info{Binary, false, "lf", true, 1}},
		{"nul as the last byte that counts", string(early), Info{Binary, false, "none", false, 1}},
		{"nul right behind those", string(late), Info{UTF8, false, "none", false, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Inspect([]byte(test.data)); got != test.want {
				t.Errorf("Inspect = %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestSplitLines(t *testing.T) {
	tests := []struct {
		data string
		enc  Encoding
		want []string
	}{
		{"", UTF8, nil},
		{"\n", UTF8, []string{"\n"}},
		{"a", UTF8, []string{"a"}},
		{"a\n\nb", UTF8, []string{"a\n", "\n", "b"}},
		{"a\r\nb\r", UTF8, []string{"a\r\n", "b\r"}},
		{"\xef\xbb\xbfa\nb\n", UTF8, []string{"\xef\xbb\xbfa\n", "b\n"}},
		{"\xe9\n\xe9", Bytes, []string{"\xe9\n", "\xe9"}},
		{"\xff\xfe\n\x00a\x00", UTF16LE, []string{"\xff\xfe\n\x00", "a\x00"}},
		{"\xfe\xff\x00\n\x00a", UTF16BE, []string{"\xfe\xff\x00\n", "\x00a"}},
		{"\xff\xfe\x00\x0a\x00\x0a\x00", UTF16LE, []string{"\xff\xfe\x00\x0a\x00\x0a\x00"}},
		{"\xff\xfe\x0a\x00\x0a", UTF16LE, []string{"\xff\xfe\x0a\x00", "\x0a"}},
	}
	for _, test := range tests {
		got := SplitLines([]byte(test.data), test.enc)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
			t.Errorf("SplitLines(%q, %s) = %q, want %q", test.data, test.enc, got, test.want)
		}
	}
}

// A line must not grow into the next one when something is appended to it.
func TestSplitLinesCapacity(t *testing.T) {
	data := []byte("a\nb\n")
	lines := SplitLines(data, UTF8)
	_ = append(lines[0], 'x')
	if string(data) != "a\nb\n" {
		t.Errorf("appending to a line changed the data to %q", data)
	}
}

func TestC006LoneCRIsData(t *testing.T) {
	spans := DiffBytes([]byte("p\rq\nr\n"), []byte("p\rq\nR\n"), UTF8)
	checkSpans(t, spans, []Span{{1, 1, 1, 1}})
}

func TestC039OnlyLineFeedEndsALine(t *testing.T) {
	old := []byte("l1\n\x0cl2\nx\xe2\x80\xa8y\xc2\x85z\nl4\n")
	if info := Inspect(old); info.Lines != 4 {
		t.Errorf("Inspect counts %d lines, want 4", info.Lines)
	}
	spans := DiffBytes(old, []byte("l1\n\x0cl2\nx\xe2\x80\xa8y\xc2\x85z\nL4\n"), UTF8)
	if lines := SplitLines(old, UTF8); len(lines) != 4 {
		t.Errorf("%d lines, want 4", len(lines))
	}
	checkSpans(t, spans, []Span{{3, 1, 3, 1}})
}

// One verdict on a file, whether the whole of it is at hand or its head.
func TestC072OneVerdictOnANul(t *testing.T) {
	data := bytes.Repeat([]byte("some words\n"), 200_000/11)
	data[130_000] = 0
	if IsBinary(data) || HeadIsBinary(data[:SniffLen], int64(len(data))) || Inspect(data).Encoding != UTF8 {
		t.Error("a text with a late NUL counts as binary")
	}
	data[130] = 0
	if !IsBinary(data) || !HeadIsBinary(data[:SniffLen], int64(len(data))) || Inspect(data).Encoding != Binary {
		t.Error("a file with an early NUL counts as text")
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		data  string
		enc   Encoding
		want  string
		lossy bool
	}{
		{"", UTF8, "", false},
		{"\xef\xbb\xbfhé", UTF8, "hé", false},
		{"\xef\xbb\xbf\xef\xbb\xbfh", UTF8, "\ufeffh", false},
		{"h\ufffd", UTF8, "h\ufffd", false},
		{"r\xe9s\xe9\xe9", Bytes, "r\ufffds\ufffd\ufffd", true},
		{"\xff\xfeh", Bytes, "\ufffd\ufffdh", true},
		{"\xff\xfeh\x00\xe9\x00", UTF16LE, "hé", false},
		{"\xfe\xff\x00h\xd8\x3d\xde\x00", UTF16BE, "h😀", false},
		{"\xff\xfe\x3d\xd8a\x00", UTF16LE, "\ufffda", true},
		{"\xff\xfe\x00\xdea\x00", UTF16LE, "\ufffda", true},
		{"\xff\xfe\x3d\xd8\x3d\xd8\x00\xde", UTF16LE, "\ufffd😀", true},
		{"\xff\xfe\x3d\xd8", UTF16LE, "\ufffd", true},
		{"\xff\xfe\xfd\xff", UTF16LE, "\ufffd", false},
		{"\xff\xfea\x00b", UTF16LE, "a\ufffd", true},
		{"b\x00", UTF16LE, "b", false}, // a line further down has no mark
	}
	for _, test := range tests {
		got, lossy := Decode([]byte(test.data), test.enc)
		if got != test.want || lossy != test.lossy {
			t.Errorf("Decode(%q, %s) = %q, %t, want %q, %t", test.data, test.enc, got, lossy, test.want, test.lossy)
		}
	}
}

func TestEncode(t *testing.T) {
	tests := []struct {
		text, like, want string
		err              error
	}{
		{"é\n", "", "é\n", nil},
		{"é", "abc", "é", nil},
		{"é", "\xef\xbb\xbfabc", "\xef\xbb\xbfé", nil},
		{"h😀", "\xff\xfea\x00", "\xff\xfeh\x00\x3d\xd8\x00\xde", nil},
		{"h😀", "\xfe\xff\x00a", "\xfe\xff\x00h\xd8\x3d\xde\x00", nil},
		{"abc", "\xe9", "abc", nil},
		{"é", "\xe9", "", ErrUnsupportedEncoding},
		{"abc", "\xef\xbb\xbf\xe9", "\xef\xbb\xbfabc", nil},
		{"abc", "\x00", "", ErrUnsupportedEncoding},
		{"\xe9", "abc", "", ErrUnsupportedEncoding},
		{"\xe9", "\xff\xfea\x00", "", ErrUnsupportedEncoding},
	}
	for _, test := range tests {
		got, err := Encode(test.text, []byte(test.like))
		if string(got) != test.want || !errors.Is(err, test.err) {
			t.Errorf("Encode(%q, like %q) = %q, %v, want %q, %v", test.text, test.like, got, err, test.want, test.err)
		}
	}
}

// checkText holds for any bytes at all.
func checkText(t interface{ Fatalf(string, ...any) }, data []byte) {
	info := Inspect(data)
	lines := SplitLines(data, info.Encoding)
	if joined := bytes.Join(lines, nil); !bytes.Equal(joined, data) {
		t.Fatalf("the lines of %q make %q", data, joined)
	}
	if info.Lines != len(lines) {
		t.Fatalf("%q: Inspect counts %d lines, SplitLines %d", data, info.Lines, len(lines))
	}
	if IsBinary(data) != (info.Encoding == Binary) {
		t.Fatalf("%q: IsBinary and Inspect disagree", data)
	}
	if head := data[:min(len(data), SniffLen)]; HeadIsBinary(head, int64(len(data))) != IsBinary(data) {
		t.Fatalf("%q: the verdict on the head differs", data)
	}
	text, lossy := Decode(data, info.Encoding)
	if !utf8.ValidString(text) {
		t.Fatalf("%q decodes to invalid UTF-8", data)
	}
	if info.Encoding == UTF8 && lossy {
		t.Fatalf("%q is UTF-8 and lossy", data)
	}
	if info.Encoding != Binary && strings.Count(text, "\n") != lineFeeds(info) {
		t.Fatalf("%q: %d line feeds in the text, %+v", data, strings.Count(text, "\n"), info)
	}
	if lossy || info.Encoding == Binary {
		return
	}
	if back, err := Encode(text, data); err != nil || !bytes.Equal(back, data) {
		t.Fatalf("%q decodes to %q, which encodes to %q, %v", data, text, back, err)
	}
}

func lineFeeds(info Info) int {
	if info.Lines > 0 && !info.FinalNewline {
		return info.Lines - 1
	}
	return info.Lines
}

// anyText draws bytes of the kinds that matter to the text model.
func anyText(t *rapid.T) []byte {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b", "\n", "\r", "\r\n", "\x00", "\n\x00", "\x00\n", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\xe9", "é", "\u2028",
		"😀", "\xd8\x3d", "\x3d\xd8", "\xde\x00", strings.Repeat("x", SniffLen-1),
	}), 0, 20).Draw(t, "parts")
	return []byte(strings.Join(parts, ""))
}

func TestTextProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkText(t, anyText(t)) })
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb\n", "\xef\xbb\xbfa", "\xff\xfea\x00\n\x00", "\xfe\xff\x00\n", "\xe9\n", "\x00", "\xff\xfe\x3d\xd8"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkText(t, data) })
}

func BenchmarkInspect5MB(b *testing.B) {
	for _, eol := range []string{"\n", "\r\n"} {
		data := bytes.Repeat([]byte("a line of an ordinary length, more or less."+eol), 5<<20/45)
		b.Run(fmt.Sprintf("%q", eol), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				Inspect(data)
			}
		})
	}
}

func BenchmarkSplitLines100k(b *testing.B) {
	data := bytes.Repeat([]byte("a line of an ordinary length, more or less.\n"), 100_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		SplitLines(data, UTF8)
	}
}
