package tools

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/loomd/loomd/diffpreview"
)

// genFile makes files in which what a cut can go wrong at is near: long and
// short lines, both line ends, characters of one to four bytes, marks in the
// middle, invalid bytes, lone surrogates.
func genFile(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"a", "bc", " ", "é", "€", "𝄞", "\n", "\r\n", "\r", "\n\n", "\ufeff", strings.Repeat("x", 40), strings.Repeat("€", 20), strings.Repeat("𝄞", 9),
	})
	text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "text"), "")
	switch rapid.SampledFrom([]string{"utf-8", "bom", "utf-16le", "utf-16be", "surrogate", "invalid"}).Draw(t, "form") {
	case "bom":
		return bom + text
	case "utf-16le":
		return utf16le(text)
	case "utf-16be":
		return utf16be(text)
	case "surrogate":
		return utf16le(text) + "\x34\xd8" + utf16le(text)[2:] + "\x1e\xdd"
	case "invalid":
		return text + "\xe2\x82" + text + "\xff\xe2\x82\xef\xbb\xbf" + text + "\xf0"
	}
	return text
}

// genBounds makes the bounds of a walk.
func genBounds(r *rapid.T) args {
	first := args{"max_bytes": rapid.IntRange(1, 100).Draw(r, "max_bytes")}
	if rapid.Bool().Draw(r, "limited") {
		first["limit"] = rapid.IntRange(1, 5).Draw(r, "limit")
	}
	return first
}

// TestReadWalk: following what each result names gives the whole text, whatever
// the bounds. Every result is within them, and begins where the one before ended.
func TestReadWalk(t *testing.T) {
	b := newBench(t, nil)
	rapid.Check(t, func(r *rapid.T) {
		file := genFile(r)
		must(t, os.WriteFile(filepath.Join(b.dir, "f"), []byte(file), 0o644))
		next := genBounds(r)
		next["path"] = "f"
		got := ""
		for done := false; !done; {
			a := b.ok("read_file", next)
			text := a["contents"].(string)
			got += text
			wantWithin(r, next, text)
			if a["total_bytes"] != float64(len(file)) || a["hash"] != hashOf(file) || a["total_lines"] != float64(countLines([]byte(decoded(file)))) {
				r.Fatalf("of %d bytes: %v", len(file), a)
			}
			if at := next["byte_offset"]; at != nil && a["byte_offset"] != at {
				r.Fatalf("asked for byte %v, got %v", at, a["byte_offset"])
			}
			if at := next["offset"]; at != nil && a["offset"] != at {
				r.Fatalf("asked for line %v, got %v", at, a["offset"])
			}
			delete(next, "offset")
			delete(next, "byte_offset")
			switch {
			case a["next_byte_offset"] != nil:
				next["byte_offset"] = a["next_byte_offset"]
			case a["next_offset"] != nil:
				next["offset"] = a["next_offset"]
			default:
				done = true
			}
			if a["truncated"] == done || !done && text == "" {
				r.Fatalf("truncated %v, %q, next %v", a["truncated"], text, next)
			}
		}
		if want := decoded(file); got != want {
			r.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// wantWithin: contents is within the bounds, but for a single character.
func wantWithin(r *rapid.T, bounds args, contents string) {
	if len(contents) > bounds["max_bytes"].(int) && utf8.RuneCountInString(contents) > 1 {
		r.Fatalf("%d bytes for max_bytes %d", len(contents), bounds["max_bytes"])
	}
	if limit, ok := bounds["limit"].(int); ok && countLines([]byte(contents)) > limit {
		r.Fatalf("%q for limit %d", contents, limit)
	}
}

// TestReadWalkInParts is TestReadWalk in the manner of a file over 8 MiB, by bytes
// and by lines.
func TestReadWalkInParts(t *testing.T) {
	b := newBench(t, nil)
	rapid.Check(t, func(r *rapid.T) {
		file := genFile(r)
		must(t, os.WriteFile(filepath.Join(b.dir, "f"), []byte(file), 0o644))
		p, err := b.view.Resolve("f")
		must(t, err)
		source, err := b.view.Open(p)
		must(t, err)
		defer source.Close()
		bounds, byLines := genBounds(r), rapid.Bool().Draw(r, "by lines")
		next := readArgs{MaxBytes: bounds["max_bytes"].(int), Offset: 1}
		next.Limit, _ = bounds["limit"].(int)
		got := ""
		for done := false; !done; {
			part := readResult{shownText: &shownText{}}
			must(t, part.showPart(t.Context(), source, []byte(file), next))
			got += part.Contents
			wantWithin(r, bounds, part.Contents)
			next.Offset, next.ByteOffset = 1, part.NextByteOffset
			if byLines && part.NextOffset != nil {
				next.Offset, next.ByteOffset = *part.NextOffset, nil
			}
			done = !part.Truncated
			if (part.NextByteOffset == nil) != done || !done && part.Contents == "" {
				r.Fatalf("%+v", part)
			}
		}
		if want := decoded(file); got != want {
			r.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// TestReadBounds: no result is larger than max_bytes, but for one character.
func TestReadBounds(t *testing.T) {
	b := newBench(t, nil)
	rapid.Check(t, func(r *rapid.T) {
		file := genFile(r)
		must(t, os.WriteFile(filepath.Join(b.dir, "f"), []byte(file), 0o644))
		max := rapid.IntRange(1, 50).Draw(r, "max_bytes")
		at := rapid.IntRange(0, len(file)).Draw(r, "byte_offset")
		a := b.ok("read_file", args{"path": "f", "max_bytes": max, "byte_offset": at})
		contents := a["contents"].(string)
		if len(contents) > max && len([]rune(contents)) > 1 {
			r.Fatalf("%d bytes for max_bytes %d", len(contents), max)
		}
		if !strings.Contains(decoded(file), contents) {
			r.Fatalf("%q is no part of the text", contents)
		}
	})
}

// TestReadOfALargeFile: a file that is not read whole gives the same text in the
// same pages as one that is.
func TestReadOfALargeFile(t *testing.T) {
	line := "a line with ünicode, number "
	var text strings.Builder
	for n := 0; text.Len() < wholeRead+300_000; n++ {
		text.WriteString(line)
		text.WriteString(strings.Repeat("€", n%50))
		text.WriteByte("\n"[0])
	}
	for name, file := range map[string]string{"f": text.String(), "wide": utf16le(text.String())} {
		b := newBench(t, map[string]string{name: file})
		if a := b.ok("read_file", args{"path": name, "limit": 1}); a["encoding"] == "bytes" || a["lossy"] == true {
			t.Errorf("%s: encoding %v", name, a["encoding"])
		}
		got, calls := walkFile(t, b, name, args{"max_bytes": maxReadBytes})
		if got != text.String() {
			t.Errorf("%s: the pages are not the text", name)
		}
		if calls > 4 {
			t.Errorf("%s: %d calls", name, calls)
		}
		lines := strings.SplitAfter(text.String(), "\n")
		lines = lines[:len(lines)-1]
		for _, n := range []int{1, 2, 80_000, len(lines)} {
			a := b.ok("read_file", args{"path": name, "offset": n, "limit": 1})
			if a["contents"] != lines[n-1] {
				t.Errorf("%s: line %d is %q, want %q", name, n, a["contents"], lines[n-1])
			}
			if last := n == len(lines); last == (a["truncated"] == true) {
				t.Errorf("%s: line %d: truncated %v", name, n, a["truncated"])
			}
			if n < len(lines) && a["next_offset"] != float64(n+1) {
				t.Errorf("%s: line %d: next_offset %v", name, n, a["next_offset"])
			}
		}
		a := b.ok("read_file", args{"path": name, "offset": len(lines) + 5})
		if a["contents"] != "" || a["truncated"] != false || a["total_lines"] != float64(len(lines)) {
			t.Errorf("%s: past the end: %.80q, %v", name, a["contents"], a["total_lines"])
		}
	}
}

func TestTrimHead(t *testing.T) {
	for head, want := range map[string]int{
		"abc": 3, "ab\xc3": 2, "ab\xe2\x82": 2, "a\xf0\x9d\x84": 1, "\xff\xfea\x00\xc3\x00": 6, "\xff\xfe\x00\xd8": 4,
	} {
		if got := trimHead([]byte(head)); len(got) != want {
			t.Errorf("%q: %d bytes, want %d", head, len(got), want)
		}
	}
}

// sizeless is a file that does not say how large it is.
type sizeless struct{ *strings.Reader }

func (sizeless) Close() error { return nil }
func (sizeless) Size() int64  { return -1 }

func (sizeless) Changed() time.Time        { return time.Time{} }
func (sizeless) Now() (int64, bool, error) { return 0, false, nil }

func TestReadHeadWithoutASize(t *testing.T) {
	for size, want := range map[int]bool{0: true, 4096: true, 4097: true, 100_000: true, wholeRead: true, wholeRead + 1: false, wholeRead + 9: false} {
		text := strings.Repeat("x", size)
		head, whole, err := readHead(sizeless{strings.NewReader(text)})
		if err != nil || whole != want || whole && string(head) != text {
			t.Errorf("%d bytes: %d read, whole %v, %v", size, len(head), whole, err)
		}
	}
}

// TestReadPastTheEndOfALargeFile: where a chunk of the walk ends with the file.
func TestReadPastTheEndOfALargeFile(t *testing.T) {
	const lines = (wholeRead + readChunk) / 64
	b := newBench(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 63)+"\n", lines)})
	for _, offset := range []int{lines + 1, lines + 2} {
		a := b.ok("read_file", args{"path": "f", "offset": offset})
		if a["contents"] != "" || a["truncated"] != false || a["total_lines"] != float64(lines) {
			t.Errorf("offset %d: %.50q, truncated %v, total_lines %v", offset, a["contents"], a["truncated"], a["total_lines"])
		}
	}
}

// TestReadOfAGigabyte: a (sparse) file as large as that is read in bounded
// memory, by line and by byte.
func TestReadOfAGigabyte(t *testing.T) {
	const size, far = 1 << 30, 64 << 20
	b := newBench(t, map[string]string{"f": strings.Repeat("head of the file\n", 1000)})
	f, err := os.OpenFile(filepath.Join(b.dir, "f"), os.O_WRONLY, 0)
	must(t, err)
	must(t, f.Truncate(size)) // the rest is NUL, far from the head: text
	for at, text := range map[int64]string{far: "\nfar line\n", size - 5: "\nend\n"} {
		_, err = f.WriteAt([]byte(text), at)
		must(t, err)
	}
	must(t, f.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line := b.ok("read_file", args{"path": "f", "offset": 1002, "limit": 1})
	end := b.ok("read_file", args{"path": "f", "byte_offset": size - 4})
	runtime.ReadMemStats(&after)
	if line["contents"] != "far line\n" || line["next_offset"] != 1003.0 {
		t.Errorf("line: %.100q, next %v", line["contents"], line["next_offset"])
	}
	if end["contents"] != "end\n" || end["truncated"] != false || end["total_bytes"] != float64(size) {
		t.Errorf("end: %.100q", end["contents"])
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d MiB allocated", used>>20)
	}
}

func FuzzPage(f *testing.F) {
	f.Add([]byte("a\r\nb"), 1, 1, false)
	f.Add([]byte("\xf0\x9d\x84\x9e\n\xff"), 2, 9, true)
	f.Fuzz(func(t *testing.T, data []byte, maxBytes, maxLines int, wide bool) {
		maxBytes, maxLines = 1+abs(maxBytes)%64, 1+abs(maxLines)%8
		enc := diffpreview.Bytes
		if wide {
			enc = diffpreview.UTF16BE
			data = data[:len(data)&^1]
		}
		want, _ := decode(data, enc)
		got := ""
		for rest := data; len(rest) > 0; {
			p := cutPage(rest, enc, true, maxLines, maxBytes)
			if p.raw == 0 {
				t.Fatalf("no progress at %q", rest)
			}
			got += p.text
			rest = rest[p.raw:]
		}
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
