package tools

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// FuzzAppendText: the encoder for big results writes what encoding/json does.
func FuzzAppendText(f *testing.F) {
	for _, s := range []string{
		"", "plain text, longer than a word of the machine", `"`, `\`, "\x00\x1f\x7f", "\b\f\n\r\t", "<&>",
		"1234567\"", "12345678\"", "é", "日本語", "\u2028\u2029", "😀", "\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\ufffd",
		"\x80\x81\x82\x83\x84\x85\x86\x87", "        \x1f!#[]~", strings.Repeat("ab\tcd\"", 9),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		want, err := encode(string(s))
		must(t, err)
		if got := appendText(nil, s); !bytes.Equal(got, want) {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
		if got := appendString([]byte("x"), string(s)); string(got) != "x"+string(want) {
			t.Errorf("%q as a string: %s", s, got)
		}
	})
}

// TestAppendTextEveryByte: each byte at each place of a word.
func TestAppendTextEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			s := bytes.Repeat([]byte{'a'}, 17)
			s[at] = byte(c)
			want, err := encode(string(s))
			must(t, err)
			if got := appendText(nil, s); !bytes.Equal(got, want) {
				t.Fatalf("%q: %s, want %s", s, got, want)
			}
		}
	}
}

func BenchmarkAppendText(b *testing.B) {
	line := []byte("\tif err := store.refresh(path, true); err != nil { // \"why\"")
	for _, enc := range []string{"append", "encoding/json"} {
		b.Run(fmt.Sprintf("encoder=%s", enc), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			dst := make([]byte, 0, 256)
			for b.Loop() {
				if enc == "append" {
					dst = appendText(dst[:0], line)
				} else {
					dst, _ = encode(string(line))
				}
			}
		})
	}
}
