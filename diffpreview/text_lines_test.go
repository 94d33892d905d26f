package diffpreview

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A cursor finds the lines that SplitLines cuts, in whatever order they are asked for.
func TestLineCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"\n", "a\n", "b\r\n", strings.Repeat("long ", 200) + "\n", strings.Repeat("longer", cursorBlock/3) + "\n",
		}), 0, 60).Draw(t, "lines")
		text := strings.Join(lines, "") + rapid.SampledFrom([]string{"", "last"}).Draw(t, "last")
		data, enc := []byte(text), rapid.SampledFrom([]Encoding{UTF8, UTF16LE, UTF16BE, Binary}).Draw(t, "encoding")
		if enc == UTF16LE || enc == UTF16BE {
			data = appendUTF16(nil, text, enc)
		}
		want := SplitLines(data, enc)
		if enc == Binary {
			want = formBinary.split(data)
		}
		if got := countLines(data, enc); got != len(want) {
			t.Fatalf("%d lines, want %d", got, len(want))
		}
		c := &lineCursor{data: data, enc: enc}
		for range 20 {
			from := rapid.IntRange(0, len(want)+2).Draw(t, "from")
			to := from + rapid.IntRange(0, 5).Draw(t, "count")
			if got := c.text(from, to); !bytes.Equal(got, joinLines(want[min(from, len(want)):min(to, len(want))])) {
				t.Fatalf("lines %d to %d of %q are %q", from, to, data, got)
			}
		}
	})
}

// The form of a file follows from its encoding.
func TestFormOf(t *testing.T) {
	forms := map[Encoding]lineForm{UTF8: formBytes, Bytes: formBytes, UTF16LE: formUTF16LE, UTF16BE: formUTF16BE, Binary: formBinary}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf", "a", "\n", "\x00", "b\x00", "\x00c", "\xe9", "\xc3\xa9", strings.Repeat("long ", SniffLen/5),
		}), 0, 6).Draw(t, "parts")
		data := []byte(strings.Join(parts, ""))
		if got, want := formOf(Content{Exists: true, Data: data}), forms[Inspect(data).Encoding]; got != want {
			t.Fatalf("%q has the form %s, want %s", data, got, want)
		}
	})
}
