package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/loomd/loomd/tools/process"
)

// manyBytes are texts whose characters have one to four bytes, in lines of every form.
var manyBytes = []string{
	"aé€𝄞\n", "𝄞𝄞𝄞𝄞𝄞𝄞", "é\r\n€€\r\n𝄞", "one\ntwö\nthr€€\nfour𝄞\n", "你好，世界\n안녕\n", "👩‍👩‍👧\ne\u0301e\u0301\n", "\u2028é\u2029\n€",
}

// whole fails when a part of a text does not begin and end between characters, or has
// more bytes than it may.
func whole(t *testing.T, what, text, part string, most int) {
	t.Helper()
	if !utf8.ValidString(part) || strings.ContainsRune(part, utf8.RuneError) || !strings.Contains(text, part) || len(part) > most {
		t.Errorf("%s: %q of %q, at most %d bytes", what, part, text, most)
	}
}

// TestReadIsCutBetweenCharacters: at every size and from every place, what is read is
// within its bound and whole characters. Only a first character that is larger than the
// bound is given as it is, or nobody could go on behind it.
func TestReadIsCutBetweenCharacters(t *testing.T) {
	b := newBench(t, nil)
	for _, text := range manyBytes {
		must(t, os.WriteFile(filepath.Join(b.dir, "f"), []byte(text), 0o644))
		for at := range text {
			_, first := utf8.DecodeRuneInString(text[at:])
			for most := 1; most <= len(text)-at+1; most++ {
				a := b.ok("read_file", args{"path": "f", "max_bytes": most, "byte_offset": at})
				contents := a["contents"].(string)
				whole(t, fmt.Sprintf("from %d", at), text, contents, max(most, first))
				if left := at+len(contents) < len(text); a["truncated"] != left || contents == "" {
					t.Errorf("from %d, at most %d of %q: %q, truncated %v", at, most, text, contents, a["truncated"])
				}
			}
		}
	}
}

// TestOutputIsCutBetweenCharacters: wherever the head of an output ends and its tail
// begins, both are whole characters.
func TestOutputIsCutBetweenCharacters(t *testing.T) {
	for _, text := range manyBytes {
		for head := 0; head <= len(text); head++ {
			for tail := 0; tail < len(text)-head; tail++ {
				c := process.Captured{
					Head: []byte(text[:head]), Tail: []byte(text[len(text)-tail:]), Total: int64(len(text)), Dropped: int64(len(text) - head - tail),
				}
				got, shown := textOf(c)
				before, rest, found := strings.Cut(got, "[")
				_, after, _ := strings.Cut(rest, "left out here]\n")
				whole(t, "the head", text, strings.TrimSuffix(before, "\n"), head)
				whole(t, "the tail", text, after, tail)
				if !found || shown > int64(head+tail) {
					t.Errorf("%d and %d of %q: %q, %d shown", head, tail, text, got, shown)
				}
			}
		}
	}
}

// TestLongLinesAreCutBetweenCharacters: of a long line a search shows a part that is
// within its bound, and so does the diff of an edit, however the characters lie.
func TestLongLinesAreCutBetweenCharacters(t *testing.T) {
	b := newBench(t, nil)
	for _, character := range []string{"é", "€", "𝄞"} {
		for shift := range 8 {
			line := strings.Repeat("x", shift) + strings.Repeat(character, 600) + "hit" + strings.Repeat(character, 600)
			must(t, os.WriteFile(filepath.Join(b.dir, "f"), []byte(line+"\n"), 0o644))
			a := b.ok("grep", args{"pattern": "hit", "path": "f"})
			shown := a["matches"].([]any)[0].(map[string]any)["text"].(string)
			whole(t, "a match", line, strings.Trim(shown, "…"), maxLine)
			if !strings.Contains(shown, "hit") || len(shown) > maxLine+2*len("…") {
				t.Errorf("%d bytes shown: %q", len(shown), shown)
			}
			out, a := b.call("write_file", args{"path": "new", "content": strings.Repeat("x", shift) + strings.Repeat(character, maxDiff)})
			if diff := a["diff"].(string); strings.ContainsRune(diff, utf8.RuneError) || len(diff) > maxDiff || !utf8.Valid(out.Structured) {
				t.Errorf("%s, %d: a diff of %d bytes", character, shift, len(diff))
			}
		}
	}
}
