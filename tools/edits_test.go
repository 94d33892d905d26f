package tools

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

// utf16le is s in UTF-16LE with its mark.
func utf16le(s string) string {
	return string(narrow([]byte{0xFF, 0xFE}, []byte(s), diffpreview.UTF16LE))
}

func utf16be(s string) string {
	return string(narrow([]byte{0xFE, 0xFF}, []byte(s), diffpreview.UTF16BE))
}

const bom = "\xef\xbb\xbf"

func one(old, new string) []edit { return []edit{{OldStr: old, NewStr: new}} }

func all(old, new string) []edit { return []edit{{OldStr: old, NewStr: new, ReplaceAll: true}} }

// editTests are what a list of edits makes of a file, byte by byte. A code in
// place of a result is the failure's.
var editTests = []struct {
	name  string
	file  string
	edits []edit
	want  string
	code  string
}{
	{"C001 LF in old_str, CR LF in the file", "a\r\nb\r\nc\r\n", one("a\nb", "A\nB"), "A\r\nB\r\nc\r\n", ""},
	{"C003 mixed line ends, bystanders", "h\r\nk1\nk2\r\nk3\n", one("k2", "K2"), "h\r\nk1\nK2\r\nk3\n", ""},
	{"C006 lone CR is data", "p\rq\nr\n", one("r", "R"), "p\rq\nR\n", ""},
	{"C007 BOM kept", bom + "hello\n\xc3\xa9t\xc3\xa9\n", one("hello", "hullo"), bom + "hullo\n\xc3\xa9t\xc3\xa9\n", ""},
	{"C010 Latin-1 bystanders", "flag=0\n# r\xe9sum\xe9\n", one("flag=0", "flag=1"), "flag=1\n# r\xe9sum\xe9\n", ""},
	{"C014 UTF-16LE", "\xff\xfek\x00=\x001\x00\r\x00\n\x00", one("k=1", "k=2"), "\xff\xfek\x00=\x002\x00\r\x00\n\x00", ""},
	{"C016 no final newline", "l1\nl2\nl3", one("l1", "L1"), "L1\nl2\nl3", ""},
	{"C019 append to CR LF", "a\r\n", one("", "b\n"), "a\r\nb\r\n", ""},
	{"C020 dollar sequences", "v=OLD;\n", one("OLD", "$& $1 $$ ${x} $<n>"), "v=$& $1 $$ ${x} $<n>;\n", ""},
	{"C020 dollar sequences, all", "OLD OLD", all("OLD", "$&$1"), "$&$1 $&$1", ""},
	{"C023 backslash u is six characters", `s(/\u00A0/g)` + "\n", one(`\u00A0`, `\u2007`), `s(/\u2007/g)` + "\n", ""},
	{"C024 not a pattern", "f(a.b)*[c]+\naXb\n", one("f(a.b)*[c]+", "ok"), "ok\naXb\n", ""},
	{"C024 a dot is a dot", "ok\naXb\n", one("a.b", "no"), "", CodeNoMatch},
	{"C026 all, left to right", "xyxyx", all("xyx", "Q"), "Qyx", ""},
	{"C026 no rescan", "n\n", all("n", "nn"), "nn\n", ""},
	{"C028 empty old_str appends", "1\n2\n", one("", "tail\n"), "1\n2\ntail\n", ""},
	{"C029 append between others", "a\n", []edit{{OldStr: "a", NewStr: "b"}, {NewStr: "z\n"}, {OldStr: "b", NewStr: "c"}}, "c\nz\n", ""},
	{"C030 empty file has no match", "", one("q", "r"), "", CodeNoMatch},
	{"C030 empty file appends", "", one("", "x\n"), "x\n", ""},
	{"C031 a later edit fails", "one\ntwo\n", []edit{{OldStr: "one", NewStr: "1"}, {OldStr: "absent", NewStr: "x"}}, "", CodeNoMatch},
	{"C033 quotes as sent", "x\n", one("x", "it’s “q” 'a' \"b\""), "it\xe2\x80\x99s \xe2\x80\x9cq\xe2\x80\x9d 'a' \"b\"\n", ""},
	{"C036 NFC and NFD differ", "cafe\xcc\x81=1\ncaf\xc3\xa9=2\n", one("caf\u00e9=2", "x=2"), "cafe\xcc\x81=1\nx=2\n", ""},
	{"C037 tabs", "if x {\n\t\tret\n}\n", one("\t\tret", "\t\tret 0"), "if x {\n\t\tret 0\n}\n", ""},
	{"C039 only LF ends a line", "l1\n\x0cl2\nx\xe2\x80\xa8y\xc2\x85z\nl4\n", one("l4", "L4"), "l1\n\x0cl2\nx\xe2\x80\xa8y\xc2\x85z\nL4\n", ""},

	{"overlapping occurrences count", "xyxyx", one("xyx", "Q"), "", CodeAmbiguousMatch},
	{"twice", "a b a", one("a", "c"), "", CodeAmbiguousMatch},
	{"same", "a", one("a", "a"), "", "no_change"},
	{"old_str starts at the BOM", bom + "a", one("a", "b"), bom + "b", ""},
	{"append to a BOM alone", bom, one("", "a"), bom + "a", ""},
	{"the BOM is not matched", bom + "a", one("\ufeffa", "b"), "", CodeNoMatch},
	{"exact before line-end form", "a\nb a\r\nb", one("a\nb", "X"), "X a\r\nb", ""},
	{"CR LF in old_str does not match LF", "a\nb\n", one("a\r\nb", "c"), "", CodeNoMatch},
	{"added lines in CR LF", "a\r\nb\r\n", one("a", "a\nx\ny"), "a\r\nx\r\ny\r\nb\r\n", ""},
	{"added lines behind an unterminated one", "a\r\nb", one("b", "b\nc"), "a\r\nb\r\nc", ""},
	{"added lines in LF", "a\nb\n", one("a", "a\nx"), "a\nx\nb\n", ""},
	{"exact match with CR LF keeps it", "a\r\nb\r\n", one("a\r\nb", "A\nx\nB"), "A\r\nx\r\nB\r\n", ""},
	{"CR LF in new_str is literal", "a\nb\n", one("a", "x\r\ny"), "x\r\ny\nb\n", ""},
	{"an edit about line ends", "a\r\nb\r\n", one("a\r\nb\r\n", "a\nb\n"), "a\nb\n", ""},
	{"a match that begins with a line end takes its CR", "a\r\nb\r\n", one("\nb", "X"), "aX\r\n", ""},
	{"and gives it back", "a\r\nb\r\n", one("\nb", "\nx\nb"), "a\r\nx\r\nb\r\n", ""},
	{"a match does not reach into the one before it", "\n\r\n\r", all("\n\r", "x"), "xx", ""},
	{"all across line ends do not overlap", "a\r\na\r\na\r\n", all("a\na", "x"), "x\r\na\r\n", ""},
	{"CR LF in new_str is literal in CR LF", "a\r\nb\r\n", one("a", "x\r\ny\nz"), "x\r\ny\nz\r\nb\r\n", ""},
	{"all line ends", "a\r\nb\r\n", all("\n", ";"), "a;b;", ""},
	{"lines deleted", "a\r\nb\r\nc\r\n", one("a\nb\n", ""), "c\r\n", ""},
	{"mixed: kept lines keep their end", "1\n2\r\n3\n4\r\n", one("1\n2\n3\n4\n", "1\nx\n3\nnew\n4\n"), "1\nx\r\n3\nnew\n4\r\n", ""},
	{"mixed: added lines take the neighbour's", "1\n2\r\n3\n", one("2\n3", "2\na\nb\n3"), "1\n2\r\na\r\nb\r\n3\n", ""},
	{"mixed: a line's own end", "a\nb\r\nc\n", one("b", "b\nb2"), "a\nb\r\nb2\r\nc\n", ""},
	{"append takes the last end", "a\r\nb\n", one("", "c\nd\n"), "a\r\nb\nc\nd\n", ""},
	{"append is glued", "a\r\nb", one("", "c\n"), "a\r\nbc\r\n", ""},
	{"append literally CR LF", "a\n", one("", "b\r\n"), "a\nb\r\n", ""},
	{"UTF-16BE", utf16be("k=1\n𝄞x\n"), one("𝄞x", "é𝄞"), utf16be("k=1\né𝄞\n"), ""},
	{"UTF-16 CR LF", utf16le("a\r\nb\r\n"), one("a\nb", "A\nnew\nB"), utf16le("A\r\nnew\r\nB\r\n"), ""},
	{"UTF-16 lone surrogate kept", "\xff\xfe\x00\xd8a\x00", one("a", "b"), "\xff\xfe\x00\xd8b\x00", ""},
	{"UTF-16 matches at code units only", "\xff\xfe\x00a\x00b", one("a", "x"), "", CodeNoMatch},
	{"UTF-16 of an odd length is bytes", "\xff\xfea\x00b", one("ab", "x"), "", "not_text"},
	{"Latin-1: not ASCII in old_str", "r\xe9sum\xe9\n", one("é", "e"), "", "unsupported_encoding"},
	{"Latin-1: not ASCII in new_str", "r\xe9sum\xe9\n", one("r", "é"), "", "unsupported_encoding"},
	{"Latin-1: not ASCII appended", "r\xe9sum\xe9\n", one("", "é"), "", "unsupported_encoding"},
	{"Latin-1: behind a high byte", "r\xe9sum\xe9\n", one("sum", "x"), "", "unsupported_encoding"},
	{"Shift-JIS: second byte of a character", "\x83\x5c a\n", one("\\", "/"), "", "unsupported_encoding"},
	{"Shift-JIS: all, one of them second", "\\ \x83\x5c", all("\\", "/"), "", "unsupported_encoding"},
	{"Latin-1: append ASCII", "\xe9\n", one("", "x\n"), "\xe9\nx\n", ""},
	{"invalid UTF-8", "a\xffb c\n", one("c", "d"), "a\xffb d\n", ""},
	{"binary", "\x7fELF\x00a", one("a", "b"), "", "not_text"},
	{"NUL far out is text", strings.Repeat("x", 9000) + "\x00a", one("a", "b"), strings.Repeat("x", 9000) + "\x00b", ""},
}

func TestEdits(t *testing.T) {
	for _, tt := range editTests {
		t.Run(tt.name, func(t *testing.T) {
			before := strings.Clone(tt.file)
			got, err := applyEdits(context.Background(), nil, []byte(tt.file), tt.edits)
			if tt.file != before {
				t.Error("the file's bytes were changed in place")
			}
			var f *Failure
			if errors.As(err, &f) {
				if f.Code != tt.code {
					t.Fatalf("failure %s (%s), want %q", f.Code, f.Message, tt.code)
				}
				return
			}
			if err != nil || tt.code != "" {
				t.Fatalf("got %q, error %v; want failure %q", got, err, tt.code)
			}
			if string(got) != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
