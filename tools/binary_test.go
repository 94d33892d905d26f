package tools

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"testing"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// pngWithSides gives a PNG other sides in its header, and the checksum for them.
func pngWithSides(file string, width, height uint32) string {
	head := []byte(file[:33])
	binary.BigEndian.PutUint32(head[16:], width)
	binary.BigEndian.PutUint32(head[20:], height)
	binary.BigEndian.PutUint32(head[29:], crc32.ChecksumIEEE(head[12:29]))
	return string(head) + file[33:]
}

// TestSignatures: each format is found, and not by another one's signature.
func TestSignatures(t *testing.T) {
	for i := range signatures {
		s := &signatures[i]
		head := strings.Repeat("\x01", s.at) + strings.ReplaceAll(s.magic, "?", "\x01")
		switch {
		case s.mime == "application/x-mach-binary" && strings.HasPrefix(s.magic, "\xca"):
			head += "\x00\x00\x00\x02" // two processors
		case s.mime == mimeJava:
			head += "\x00\x00\x00\x34" // Java 8
		}
		got := signatureOf([]byte(head))
		if got == nil || got.mime != s.mime || got.name != s.name || s.mime == "" || s.hint == "" && !(kind{mime: s.mime}).isImage() {
			t.Errorf("%q: %v", head, got)
		}
	}
}

func TestReadOtherBinary(t *testing.T) {
	for head, want := range map[string][2]string{
		"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n": {"application/pdf", "PDF document"},
		"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n":                    {"application/pdf", "PDF document"},
		"PK\x03\x04\x14\x00":                                   {"application/zip", "ZIP archive"},
		"\x1f\x8b\x08\x08\xc4\xa2\x10\x65":                     {"application/gzip", "gzip data"},
		"BZh91AY&SY\x01":                                       {"application/x-bzip2", "bzip2 data"},
		"SQLite format 3\x00\x10":                              {"application/vnd.sqlite3", "SQLite database"},
		"\x7fELF\x02\x01\x01":                                  {"application/x-elf", "ELF program"},
		"BM\x9a\x00\x00\x00":                                   {"image/bmp", "image/bmp"},
		"\x00\x01\x02\x03":                                     {"application/octet-stream", "binary data"},
		"h\x00e\x00l\x00l\x00o\x00":                            {"text/plain; charset=utf-16le", "UTF-16 without"},
		"text, but\x00":                                        {"application/octet-stream", "binary data"},
	} {
		b := newBench(t, map[string]string{"f": head})
		a := b.fails("not_text", "read_file", args{"path": "f"})
		if a["mime_type"] != want[0] || !strings.HasPrefix(a["message"].(string), "f is not text: "+want[1]) || a["hint"] == "" || a["total_bytes"] != float64(len(head)) {
			t.Errorf("%q: %v", head, a)
		}
	}
}

// TestReadTextLikeABinary: what begins like a format in letters is text when the
// rest is.
func TestReadTextLikeABinary(t *testing.T) {
	for _, text := range []string{
		"GIF89a is a format\n", "MZ is what Mark Zbikowski left\n", "ID3 tags\n", "OTTO\n", "PK\n", "RIFF1234WEBP\n", "BM\n",
		"!<arch>\nx\n", "wOFF\n", "fLaC\n", "PAR1\n", "some of ftypavif\n", "ftypheic", "BZh9\n", "see %PDF-1.7\n", "\ufeff%PDF-\n",
		strings.Repeat("x", 257) + "ustar\n",
	} {
		b := newBench(t, map[string]string{"f": text})
		if a := b.ok("read_file", args{"path": "f"}); a["contents"] != strings.TrimPrefix(text, "\ufeff") {
			t.Errorf("%q: %v", text, a)
		}
	}
}
