package tools

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/loomd/loomd/diffpreview"
)

// textCase edits the file f in one call. Without a code the proposal is accepted
// and f must be want; with one, the call must fail and leave everything.
type textCase struct {
	id    string
	given string
	edits any    // a list of edits, or the arguments as JSON
	want  string // f, accepted
	hunks string // see hunkLines
	code  string // of the failure
	says  string // in the diff, or in the failure's message
}

func everywhere(old, new string) []args {
	return []args{{"old_str": old, "new_str": new, "replace_all": true}}
}

// utf16of is text in UTF-16 with a mark.
func utf16of(text string, bigEndian bool) string {
	var out strings.Builder
	for _, unit := range append([]uint16{0xFEFF}, utf16.Encode([]rune(text))...) {
		if bigEndian {
			unit = unit<<8 | unit>>8
		}
		out.WriteByte(byte(unit))
		out.WriteByte(byte(unit >> 8))
	}
	return out.String()
}

var textCases = []textCase{
	{
		id: "C001 CRLF: LF in old_str", given: "a\r\nb\r\nc\r\n", edits: edits("a\nb", "A\nB"),
		want: "A\r\nB\r\nc\r\n", hunks: "1-2,1-2", says: "-a\r\n-b\r\n+A\r\n+B\r\n c\r\n",
	},
	{id: "C001 CR LF in old_str", given: "a\r\nb\r\nc\r\n", edits: edits("a\r\nb", "A\r\nB"), want: "A\r\nB\r\nc\r\n", hunks: "1-2,1-2"},
	{id: "C001 more lines", given: "a\r\nb\r\nc\r\n", edits: edits("a\nb\n", "A\nnew\nB\n"), want: "A\r\nnew\r\nB\r\nc\r\n"},
	{id: "C001 fewer lines", given: "a\r\nb\r\nc\r\n", edits: edits("a\nb\n", "A\n"), want: "A\r\nc\r\n"},
	{id: "C001 LF in new_str alone", given: "a\r\nb\r\nc\r\n", edits: edits("b", "B\nB2"), want: "a\r\nB\r\nB2\r\nc\r\n"},
	{id: "C001 at the end of the last line", given: "a\r\nb", edits: edits("a\nb", "a\nB"), want: "a\r\nB", hunks: "2,2"},
	{id: "C001 everywhere", given: "a\r\nb\r\na\r\nb\r\n", edits: everywhere("a\nb", "A\nB"), want: "A\r\nB\r\nA\r\nB\r\n"},
	{id: "C001 found more than once", given: "a\r\nb\r\na\r\nb\r\n", edits: edits("a\nb", "A\nB"), code: "ambiguous_match", says: "2 times"},
	{id: "C001 CR LF in old_str, LF in the file", given: "a\nb\n", edits: edits("a\r\nb", "A\r\nB"), code: "no_match"},

	{id: "C003 mixed line ends, bystanders", given: "h\r\nk1\nk2\r\nk3\n", edits: edits("k2", "K2"), want: "h\r\nk1\nK2\r\nk3\n", hunks: "3,3"},
	{id: "C003 a line added to mixed ones", given: "h\r\nk1\nk2\r\nk3\n", edits: edits("k2", "k2\nnew"), want: "h\r\nk1\nk2\r\nnew\r\nk3\n"},
	{id: "C003 over lines of both kinds", given: "h\r\nk1\nk2\r\nk3\n", edits: edits("k1\nk2", "K1\nK2"), want: "h\r\nK1\nK2\r\nk3\n"},

	{id: "C006 lone CR is data", given: "p\rq\nr\n", edits: edits("r", "R"), want: "p\rq\nR\n", hunks: "2,2", says: "@@ -1,2 +1,2 @@\n p\rq\n-r\n+R\n"},
	{id: "C006 edited around a lone CR", given: "p\rq\nr\n", edits: edits("p\rq", "P\rQ"), want: "P\rQ\nr\n", hunks: "1,1"},
	{id: "C006 CR CR LF", given: "p\r\r\nq\r\r\n", edits: edits("q", "Q"), want: "p\r\r\nQ\r\r\n", hunks: "2,2"},

	{id: "C007 UTF-8 BOM kept by an edit", given: "\xef\xbb\xbfhello\n\xc3\xa9t\xc3\xa9\n", edits: edits("hello", "hullo"), want: "\xef\xbb\xbfhullo\n\xc3\xa9t\xc3\xa9\n", hunks: "1,1"},
	{id: "C007 BOM, the line goes", given: "\xef\xbb\xbfhello\nmore\n", edits: edits("hello\n", ""), want: "\xef\xbb\xbfmore\n"},
	{id: "C007 BOM alone", given: "\xef\xbb\xbf", edits: edits("", "x\n"), want: "\xef\xbb\xbfx\n"},

	{id: "C010 Latin-1 bystander bytes", given: "flag=0\n# r\xe9sum\xe9\n", edits: edits("flag=0", "flag=1"), want: "flag=1\n# r\xe9sum\xe9\n", hunks: "1,1"},
	{id: "C010 bystanders on the line itself", given: "r\xe9sum\xe9 flag=0 \xe9t\xe9\n", edits: edits("flag=0", "flag=1"), want: "r\xe9sum\xe9 flag=1 \xe9t\xe9\n"},
	{id: "C010 text outside ASCII put in", given: "flag=0\n# r\xe9sum\xe9\n", edits: edits("flag=0", "é"), code: "unsupported_encoding", says: "edits[0].new_str"},
	{id: "C010 second half of a Shift-JIS character", given: "\x83\x5c=1\n", edits: edits("\\=1", "x"), code: "unsupported_encoding", says: "f"},
	{id: "C010 broken UTF-8", given: "a\xc3\xa9\xff\nb\n", edits: edits("b", "B"), want: "a\xc3\xa9\xff\nB\n"},

	{id: "C014 UTF-16LE with BOM", given: utf16of("k=1\r\n", false), edits: edits("k=1", "k=2"), want: "\xff\xfe\x6b\x00\x3d\x00\x32\x00\x0d\x00\x0a\x00", hunks: "1,1"},
	{id: "C014 UTF-16BE with BOM", given: utf16of("k=1\r\né€\n", true), edits: edits("k=1\né", "k=2\n𝄞"), want: utf16of("k=2\r\n𝄞€\n", true), hunks: "1-2,1-2"},
	{id: "C014 a byte that looks like a line end", given: utf16of("਀=1\nb\n", false), edits: edits("b", "B"), want: utf16of("਀=1\nB\n", false), hunks: "2,2"},

	{id: "C016 no newline at the end kept", given: "l1\nl2\nl3", edits: edits("l1", "L1"), want: "L1\nl2\nl3", hunks: "1,1"},
	{id: "C016 the last line itself", given: "l1\nl2\nl3", edits: edits("l3", "L3"), want: "l1\nl2\nL3", hunks: "3,3", says: "-l3\n\\ No newline at end of file\n+L3\n\\ No newline at end of file\n"},
	{id: "C016 the last line goes", given: "l1\nl2\nl3", edits: edits("\nl3", ""), want: "l1\nl2", hunks: "2-3,2"},
	{id: "C016 a newline is what is wanted", given: "l1\nl2\nl3", edits: edits("", "\n"), want: "l1\nl2\nl3\n", hunks: "3,3"},

	{id: "C019 append to a CRLF file", given: "a\r\n", edits: edits("", "b\n"), want: "a\r\nb\r\n", hunks: "after 1,2"},
	{id: "C019 two lines", given: "a\r\n", edits: edits("", "b\nc\n"), want: "a\r\nb\r\nc\r\n"},
	{id: "C019 to a last line without its end", given: "a\r\nb", edits: edits("", "c\n"), want: "a\r\nbc\r\n"},
	{id: "C019 to an LF file", given: "a\n", edits: edits("", "b\n"), want: "a\nb\n"},

	{id: "C020 $ sequences in new_str", given: "v=OLD;\n", edits: edits("OLD", "$& $1 $$ ${x} $<n>"), want: "v=$& $1 $$ ${x} $<n>;\n"},
	{id: "C020 with replace_all", given: "v=OLD;\nw=OLD;\n", edits: everywhere("OLD", "$& $1 $$ ${x} $<n>"), want: "v=$& $1 $$ ${x} $<n>;\nw=$& $1 $$ ${x} $<n>;\n"},
	{id: "C020 backslashes", given: "v=OLD;\n", edits: edits("OLD", `\1 \\ \n \g<0>`), want: `v=\1 \\ \n \g<0>;` + "\n"},

	{id: "C023 backslash-u text is six characters", given: `s(/\u00A0/g)` + "\n", edits: `{"path":"f","edits":[{"old_str":"\\u00A0","new_str":"\\u2007"}]}`, want: `s(/\u2007/g)` + "\n"},
	{id: "C023 the character it stands for is another", given: `s(/\u00A0/g)` + "\n", edits: `{"path":"f","edits":[{"old_str":"\u00A0","new_str":"x"}]}`, code: "no_match"},

	{id: "C033 quotes written as sent", given: "x\n", edits: edits("x", "it’s “q” 'a' \"b\""), want: "it\xe2\x80\x99s \xe2\x80\x9cq\xe2\x80\x9d 'a' \"b\"\n"},
	{id: "C033 a quote is not another", given: "it's\n", edits: edits("it’s", "x"), code: "no_match"},

	{id: "C036 NFC and NFD are different bytes", given: "cafe\xcc\x81=1\ncaf\xc3\xa9=2\n", edits: edits("caf\u00e9=2", "x=2"), want: "cafe\xcc\x81=1\nx=2\n", hunks: "2,2"},
	{id: "C036 one is not found for the other", given: "cafe\xcc\x81=1\n", edits: edits("caf\u00e9=1", "x"), code: "no_match"},

	{id: "C039 only LF and CR LF end a line", given: "l1\n\x0cl2\nx\xe2\x80\xa8y\xc2\x85z\nl4\n", edits: edits("l4", "L4"), want: "l1\n\x0cl2\nx\xe2\x80\xa8y\xc2\x85z\nL4\n", hunks: "4,4", says: "@@ -1,4 +1,4 @@\n"},
	{id: "C039 edited on such a line", given: "l1\nx\xe2\x80\xa8y\x0b\xc2\x85z\nl3\n", edits: edits("y", "Y"), want: "l1\nx\xe2\x80\xa8Y\x0b\xc2\x85z\nl3\n", hunks: "2,2"},
}

func TestCasesText(t *testing.T) {
	for _, c := range textCases {
		t.Run(c.id, func(t *testing.T) {
			s := newScene(t, map[string]string{"f": c.given})
			var a any = args{"path": "f", "edits": c.edits}
			if raw, ok := c.edits.(string); ok {
				a = raw
			}
			if c.code != "" {
				got := s.refuse(c.code, "edit_file", a)
				if message := got["message"].(string); !strings.Contains(message, c.says) || !strings.Contains(message, "f") {
					t.Errorf("the message is %q, want %q in it", message, c.says)
				}
				return
			}
			got := s.propose("edit_file", a)
			if got["edits_applied"] != 1.0 {
				t.Errorf("edits_applied is %v", got["edits_applied"])
			}
			if !strings.Contains(got["diff"].(string), c.says) {
				t.Errorf("the diff is %q, want %q in it", got["diff"], c.says)
			}
			if at := hunkLines(s.proposal(got)); c.hunks != "" && at != c.hunks {
				t.Errorf("the hunks are at %q, want %q", at, c.hunks)
			}
			if p := s.accept(got); p.State() != diffpreview.StateApplied {
				t.Errorf("accepted, the proposal is %s", p.State())
			}
			s.wantDisk("f", c.want)
			if now := viewOf(t, s.view, "f"); string(now.Data) != c.want {
				t.Errorf("the view has %q", now.Data)
			}
		})
	}
}

func TestC024_OldStrIsNoPattern(t *testing.T) {
	s := newScene(t, map[string]string{"f": "f(a.b)*[c]+\naXb\n"})
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("f(a.b)*[c]+", "ok")}))
	s.wantDisk("f", "ok\naXb\n")
	for _, pattern := range []string{"a.b", "a?b", "^ok$", "(?i)OK", "[a-z]+", ".*", "OK"} {
		s.refuse("no_match", "edit_file", args{"path": "f", "edits": edits(pattern, "no")})
	}
}

func TestC026_ReplaceAllLeftToRightWithoutRescan(t *testing.T) {
	s := newScene(t, map[string]string{"f": "xyxyx", "h": "n\n", "g": "aaaaa"})
	f := s.propose("edit_file", args{"path": "f", "edits": everywhere("xyx", "Q")})
	h := s.propose("edit_file", args{"path": "h", "edits": everywhere("n", "nn")})
	g := s.propose("edit_file", args{"path": "g", "edits": everywhere("aa", "a")})
	for _, got := range []answer{f, h, g} {
		s.accept(got)
	}
	s.wantDisk("f", "Qyx")
	s.wantDisk("h", "nn\n")
	s.wantDisk("g", "aaa")
	got := s.refuse("ambiguous_match", "edit_file", args{"path": "g", "edits": edits("aa", "b")})
	if got["count"] != 2.0 { // overlapping ones count
		t.Errorf("count is %v", got["count"])
	}
}

func TestC028_EmptyOldStrNeverReplacesTheFile(t *testing.T) {
	given := numberedLines(1, 300)
	s := newScene(t, map[string]string{"f": given})
	got := s.propose("edit_file", args{"path": "f", "edits": edits("", "tail\n")})
	if got["original_bytes"] != 1092.0 || got["new_bytes"] != 1097.0 {
		t.Errorf("%v bytes became %v", got["original_bytes"], got["new_bytes"])
	}
	s.accept(got)
	s.wantDisk("f", given+"tail\n")
	again := s.propose("edit_file", args{"path": "f", "edits": everywhere("", "tail\n")})
	s.accept(again)
	s.wantDisk("f", given+"tail\ntail\n")
}

func TestC029_EmptyOldStrBetweenOtherEdits(t *testing.T) {
	s := newScene(t, map[string]string{"f": "a\n"})
	got := s.propose("edit_file", args{"path": "f", "edits": edits("a", "b", "", "z\n", "b", "c")})
	if got["edits_applied"] != 3.0 {
		t.Errorf("edits_applied is %v", got["edits_applied"])
	}
	s.accept(got)
	s.wantDisk("f", "c\nz\n")
}

func TestC030_EmptyFile(t *testing.T) {
	s := newScene(t, map[string]string{"f": ""})
	s.refuse("no_match", "edit_file", args{"path": "f", "edits": edits("q", "r")})
	got := s.propose("edit_file", args{"path": "f", "edits": edits("", "x\n")})
	if got["edits_applied"] != 1.0 || !strings.Contains(got["diff"].(string), "\n@@ -0,0 +1 @@\n") {
		t.Errorf("edits_applied %v, diff %q", got["edits_applied"], got["diff"])
	}
	s.accept(got)
	s.wantDisk("f", "x\n")
	got = s.propose("edit_file", args{"path": "f", "edits": edits("x\n", "")})
	if !strings.Contains(got["diff"].(string), "\n@@ -1 +0,0 @@\n") {
		t.Errorf("diff %q", got["diff"])
	}
	s.accept(got)
	s.wantDisk("f", "")
}

func TestC031_LaterEditFailsNothingHappens(t *testing.T) {
	for _, c := range []struct {
		code  string
		edits []args
		names string
	}{
		{"no_match", edits("one", "1", "absent", "x"), "edits[1]"},
		{"no_match", edits("one", "1", "one", "x"), "edits[1]"},
		{"ambiguous_match", edits("one", "two", "two", "x", "1", "2"), "edits[1]"},
		{"no_change", edits("one", "1", "two", "2", "1", "1"), "edits[2]"},
		{"no_match", edits("absent", "x", "one", "1"), "edits[0]"},
	} {
		s := newScene(t, map[string]string{"f": "one\ntwo\n"})
		got := s.refuse(c.code, "edit_file", args{"path": "f", "edits": c.edits})
		if message := got["message"].(string); !strings.Contains(message, c.names) {
			t.Errorf("the message is %q, want %s in it", message, c.names)
		}
		s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("one", "1")}))
		s.wantDisk("f", "1\ntwo\n")
		pending := s.propose("edit_file", args{"path": "f", "edits": edits("two", "2")})
		s.refuse("no_match", "edit_file", args{"path": "f", "edits": edits("2", "II", "absent", "x")})
		s.accept(pending)
		s.wantDisk("f", "1\n2\n")
	}
}

func TestC037_TabsSurviveReadAndEdit(t *testing.T) {
	s := newScene(t, map[string]string{"f": "if x {\n\t\tret\n}\n"})
	if got := s.ok("read_file", args{"path": "f"}); got["contents"] != "if x {\n\t\tret\n}\n" {
		t.Errorf("contents are %q", got["contents"])
	}
	s.refuse("no_match", "edit_file", args{"path": "f", "edits": edits("        ret", "x")})
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("\t\tret", "\t\tret 0")}))
	s.wantDisk("f", "if x {\n\t\tret 0\n}\n")
}

func TestC040_WriteFileExactLengthBothWays(t *testing.T) {
	s := newScene(t, map[string]string{"f": "0123456789"})
	for _, text := range []string{strings.Repeat("a", 100), "xyz", "", strings.Repeat("é\n", 100_000), "x"} {
		got := s.propose("write_file", args{"path": "f", "content": text})
		s.accept(got)
		s.wantDisk("f", text)
	}
}
