package tools

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

func TestC062CutInsideACharacter(t *testing.T) {
	b := newBench(t, map[string]string{"f": strings.Repeat("a", 1023) + strings.Repeat("€", 10)})
	for max, want := range map[int]string{
		1024: strings.Repeat("a", 1023), 1025: strings.Repeat("a", 1023), 1026: strings.Repeat("a", 1023) + "€",
	} {
		a := b.ok("read_file", args{"path": "f", "max_bytes": max})
		if a["contents"] != want || a["truncated"] != true {
			t.Errorf("max_bytes=%d: %d bytes, truncated %v", max, len(a["contents"].(string)), a["truncated"])
		}
		if next := int(a["next_byte_offset"].(float64)); next != len(want) {
			t.Errorf("max_bytes=%d: next_byte_offset %d, want %d", max, next, len(want))
		}
	}
}

func TestC064TextNamedPNG(t *testing.T) {
	b := newBench(t, map[string]string{"shot.png": "{\"k\":1}\n", "v.png": "<svg/>"})
	for name, want := range map[string]string{"shot.png": "{\"k\":1}\n", "v.png": "<svg/>"} {
		if a := b.ok("read_file", args{"path": name}); a["contents"] != want {
			t.Errorf("%s: %q", name, a["contents"])
		}
	}
}

func TestC067KindByContent(t *testing.T) {
	ico := "\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00\x68\x04\x00\x00"
	gif := "GIF89a" + "\x07\x00\x05\x00\x00\x00\x00" + ",\x00\x00\x00\x00\x07\x00\x05\x00\x00\x02\x00;"
	b := newBench(t, map[string]string{
		"i.png": ico, "g.txt": gif, "x": "\x7fELF\x00\x00", "d.go": "%PDF-1.7\n\x00\x00",
	})
	for name, want := range map[string]string{
		"i.png": "image/x-icon", "g.txt": "image/gif", "x": "application/x-elf", "d.go": "application/pdf",
	} {
		if a := b.fails("not_text", "read_file", args{"path": name}); a["mime_type"] != want {
			t.Errorf("%s: %v, want %s", name, a["mime_type"], want)
		}
	}
	a := b.fails("not_text", "read_file", args{"path": "g.txt"})
	if a["width"] != 7.0 || a["height"] != 5.0 || !strings.Contains(a["message"].(string), "7×5") {
		t.Errorf("dimensions: %v", a)
	}
}

func TestC068UTF16(t *testing.T) {
	plain := []byte{}
	for _, c := range "k=1\r\n" {
		plain = binary.LittleEndian.AppendUint16(plain, uint16(c))
	}
	b := newBench(t, map[string]string{"marked": "\xff\xfe" + string(plain), "unmarked": string(plain)})
	a := b.ok("read_file", args{"path": "marked"})
	if a["contents"] != "k=1\r\n" || a["encoding"] != "utf-16le" || a["eol"] != "crlf" || a["bom"] != true || a["total_bytes"] != 12.0 {
		t.Errorf("with a mark: %v", a)
	}
	a = b.fails("not_text", "read_file", args{"path": "unmarked"})
	if !strings.Contains(a["message"].(string), "UTF-16") {
		t.Errorf("without a mark: %v", a["message"])
	}
}

func TestC069BOMHidden(t *testing.T) {
	b := newBench(t, map[string]string{"f": bom + "hi\n"})
	a := b.ok("read_file", args{"path": "f"})
	if a["contents"] != "hi\n" || a["bom"] != true || a["total_bytes"] != 6.0 || a["byte_offset"] != 3.0 {
		t.Errorf("%v", a)
	}
	if len(b.onDisk("f")) != 6 {
		t.Error("the file changed")
	}
}

func TestC071DirectoryIsNoFile(t *testing.T) {
	b := newBench(t, map[string]string{"src/": ""})
	b.fails("is_directory", "read_file", args{"path": "src"})
	b.fails("is_directory", "edit_file", args{"path": "src", "edits": edits("", "x")})
	b.fails("is_directory", "write_file", args{"path": "src/", "content": "x"})
	b.fails("is_directory", "write_file", args{"path": "new/", "content": "x"})
	if a := b.ok("list_files", args{"recursive": true}); len(a["files"].([]any)) != 1 {
		t.Errorf("something was created: %v", a["files"])
	}
}

func TestC072OneNULFarOut(t *testing.T) {
	log := []byte(strings.Repeat("a line of a log\n", 12500))
	log[130000] = 0
	b := newBench(t, map[string]string{"f": string(log)})
	if a := b.ok("read_file", args{"path": "f"}); a["contents"] != string(log) {
		t.Error("not the text of the file")
	}
}

func TestC074OddNames(t *testing.T) {
	names := []string{" lead", "a\nb.txt", `q"x`}
	files := map[string]string{}
	for i, name := range names {
		files[name] = fmt.Sprint(i)
	}
	b := newBench(t, files)
	listed := b.ok("list_files", args{})["files"].([]any)
	if len(listed) != 3 {
		t.Fatalf("%v", listed)
	}
	for i, entry := range listed {
		path := entry.(map[string]any)["path"].(string)
		if path != names[i] {
			t.Errorf("entry %d is %q, want %q", i, path, names[i])
		}
		if a := b.ok("read_file", args{"path": path}); a["contents"] != fmt.Sprint(i) {
			t.Errorf("%q: %q", path, a["contents"])
		}
	}
}

func TestC206SiblingWithTheSamePrefix(t *testing.T) {
	top := t.TempDir()
	place(t, top, map[string]string{"ws/f": "in", "ws-evil/s.txt": "secret"})
	b := openBench(t, filepath.Join(top, "ws"))
	for _, dir := range []string{filepath.Join(top, "ws-evil"), "../ws-evil"} {
		message := map[string]string{}
		for _, file := range []string{"s.txt", "absent.txt"} {
			name := dir + "/" + file
			for tool, a := range map[string]args{
				"read_file":  {"path": name},
				"edit_file":  {"path": name, "edits": edits("secret", "x")},
				"write_file": {"path": name, "content": "x"},
				"list_files": {"path": name},
			} {
				got := b.fails("path_outside_workspace", tool, a)
				text := strings.ReplaceAll(got["message"].(string), name, "")
				if before, ok := message[tool]; ok && before != text {
					t.Errorf("%s: %q tells whether the file exists (%q)", tool, text, before)
				}
				message[tool] = text
			}
		}
	}
	if data, err := os.ReadFile(filepath.Join(top, "ws-evil", "s.txt")); err != nil || string(data) != "secret" {
		t.Errorf("the sibling changed: %q, %v", data, err)
	}
}

func TestC210RootGivenThroughALink(t *testing.T) {
	top := t.TempDir()
	place(t, top, map[string]string{"real/a": "x", "real2/a": "y"})
	link := filepath.Join(top, "link")
	must(t, os.Symlink(filepath.Join(top, "real"), link))
	b := openBench(t, link)
	for _, name := range []string{"a", filepath.Join(link, "a"), filepath.Join(top, "real", "a")} {
		if a := b.ok("read_file", args{"path": name}); a["contents"] != "x" || a["path"] != "a" {
			t.Errorf("%s: %v", name, a)
		}
	}
	b.fails("path_outside_workspace", "read_file", args{"path": filepath.Join(top, "real2", "a")})
}

func TestReadThroughALinkNamesIt(t *testing.T) {
	b := newBench(t, map[string]string{"real": "x"})
	must(t, os.Symlink("real", filepath.Join(b.dir, "l")))
	if a := b.ok("read_file", args{"path": "l"}); a["path"] != "real" || a["via"] != "l" || a["contents"] != "x" {
		t.Errorf("%v", a)
	}
}

func TestReadRanges(t *testing.T) {
	b := newBench(t, map[string]string{
		"f": "one\ntwo\nthree\nfour", "empty": "", "wide": utf16le("añ\n𝄞𝄞\nz"),
		"big": utf16be("a\nb\nc"), "crlf": "ab\r\ncd", "chars": "aé€𝄞b",
	})
	tests := []struct {
		args      args
		contents  string
		truncated bool
		next      string // the field and its value
	}{
		{args{"path": "f"}, "one\ntwo\nthree\nfour", false, ""},
		{args{"path": "f", "offset": 2, "limit": 2}, "two\nthree\n", true, "next_offset=4"},
		{args{"path": "f", "offset": 3}, "three\nfour", false, ""},
		{args{"path": "f", "offset": 4, "limit": 1}, "four", false, ""},
		{args{"path": "f", "offset": 5}, "", false, ""},
		{args{"path": "f", "offset": maxInteger}, "", false, ""},
		{args{"path": "f", "max_bytes": 8}, "one\ntwo\n", true, "next_offset=3"},
		{args{"path": "f", "max_bytes": 7}, "one\n", true, "next_offset=2"},
		{args{"path": "f", "max_bytes": 3}, "one", true, "next_byte_offset=3"},
		{args{"path": "f", "byte_offset": 3}, "\ntwo\nthree\nfour", false, ""},
		{args{"path": "f", "byte_offset": 5, "limit": 1}, "wo\n", true, "next_offset=3"},
		{args{"path": "f", "byte_offset": 18}, "", false, ""},
		{args{"path": "f", "byte_offset": 999}, "", false, ""},
		{args{"path": "empty"}, "", false, ""},
		{args{"path": "empty", "offset": 2}, "", false, ""},
		{args{"path": "wide", "offset": 2, "max_bytes": 7}, "𝄞", true, "next_byte_offset=12"},
		{args{"path": "wide", "byte_offset": 10}, "𝄞\nz", false, ""}, // in the middle of a pair
		{args{"path": "wide", "offset": 3}, "z", false, ""},
		{args{"path": "big", "offset": 2, "limit": 1}, "b\n", true, "next_offset=3"},
		{args{"path": "crlf", "max_bytes": 3}, "ab", true, "next_byte_offset=2"},
		{args{"path": "crlf", "byte_offset": 2, "max_bytes": 1}, "\r", true, "next_byte_offset=3"},
		{args{"path": "chars", "byte_offset": 2}, "€𝄞b", false, ""},
		{args{"path": "chars", "byte_offset": 3, "max_bytes": 1}, "€", true, "next_byte_offset=6"},
		{args{"path": "chars", "byte_offset": 5}, "𝄞b", false, ""},
		{args{"path": "chars", "byte_offset": 9}, "b", false, ""},
	}
	for _, tt := range tests {
		a := b.ok("read_file", tt.args)
		next := ""
		for _, field := range []string{"next_offset", "next_byte_offset"} {
			if a[field] != nil {
				next += fmt.Sprintf("%s=%v", field, a[field])
			}
		}
		if a["contents"] != tt.contents || a["truncated"] != tt.truncated || next != tt.next {
			t.Errorf("%v: contents %q, truncated %v, %s", tt.args, a["contents"], a["truncated"], next)
		}
		if tt.args["path"] == "f" && a["total_lines"] != 4.0 {
			t.Errorf("%v: total_lines %v", tt.args, a["total_lines"])
		}
	}
	b.fails("invalid_arguments", "read_file", args{"path": "f", "offset": 2, "byte_offset": 1})
}

func TestReadMissingSuggests(t *testing.T) {
	b := newBench(t, map[string]string{"src/main.go": "x", "src/util.go": "x"})
	for name, want := range map[string]string{
		"src/mian.go": "src/main.go", "src/Main.go": "src/main.go", "scr/main.go": "no directory scr", "src/zzz": "list_files",
	} {
		a := b.fails("file_not_found", "read_file", args{"path": name})
		if !strings.Contains(a["hint"].(string), want) {
			t.Errorf("%s: hint %q", name, a["hint"])
		}
	}
}

func TestReadSeesProposalsAndDocuments(t *testing.T) {
	b := newBench(t, map[string]string{"f": "disk\n"})
	b.ok("edit_file", args{"path": "f", "edits": edits("disk", "mine")})
	if a := b.ok("read_file", args{"path": "f"}); a["contents"] != "mine\n" {
		t.Errorf("in the session: %q", a["contents"])
	}
	_, a := b.callIn(b.session("other"), "read_file", args{"path": "f"})
	if a["contents"] != "disk\n" {
		t.Errorf("in another session: %q", a["contents"])
	}
	if b.onDisk("f") != "disk\n" {
		t.Error("the disk changed")
	}
}

func TestReadLossy(t *testing.T) {
	b := newBench(t, map[string]string{"f": "r\xe9sum\xe9\n"})
	a := b.ok("read_file", args{"path": "f"})
	if a["contents"] != "r\ufffdsum\ufffd\n" || a["lossy"] != true || a["encoding"] != "bytes" {
		t.Errorf("%v", a)
	}
}

// walkFile reads a file from its start by the calls that each result names.
func walkFile(t interface{ Fatalf(string, ...any) }, b *bench, name string, first args) (text string, calls int) {
	next := args{"path": name}
	for k, v := range first {
		next[k] = v
	}
	for {
		a := b.ok("read_file", next)
		text += a["contents"].(string)
		calls++
		if a["truncated"] != true {
			return text, calls
		}
		delete(next, "offset")
		delete(next, "byte_offset")
		if a["next_byte_offset"] != nil {
			next["byte_offset"] = a["next_byte_offset"]
		} else {
			next["offset"] = a["next_offset"]
		}
		if a["contents"] == "" {
			t.Fatalf("no progress at %v", next)
		}
	}
}

func decoded(data string) string {
	text, _ := diffpreview.Decode([]byte(data), diffpreview.Inspect([]byte(data)).Encoding)
	return text
}
