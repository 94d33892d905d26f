//go:build unix

package tools

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/loomd/loomd/diffpreview"
)

// charset is an encoding of the byte matrix with text that is hard in it. It is
// written by golang.org/x/text, or as it stands.
type charset struct {
	name  string
	codec encoding.Encoding // nil: the text is bytes already
	mark  string            // the byte order mark
	wide  string            // not ASCII
	trap  string            // a character; "tail" follows it
	text  bool              // UTF-8 or UTF-16: every character can be written
}

// A mark of UTF-8 before other text is what a wrong editor leaves.
const mark8 = "\xef\xbb\xbf"

// unicodeText has characters whose UTF-16 holds the bytes of CR and LF, one of
// two code units, and line ends that are none.
const unicodeText = "é日😀\u0a0a\u0d0a\u0a0d\u2028\u0085"

var charsets = []charset{
	{"utf-8", nil, mark8, unicodeText, "é", true},
	{"utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "\xff\xfe", unicodeText, "\u0a0d", true},
	{"utf-16be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "\xfe\xff", unicodeText, "\u0d0a", true},
	{"latin-1", charmap.ISO8859_1, mark8, "éÿ\u0085ß", "é", false},
	// The second byte of these traps is that of a backslash.
	{"shift-jis", japanese.ShiftJIS, mark8, "ソフト表示ｶﾅ", "表", false},
	{"gbk", simplifiedchinese.GBK, mark8, "中文乗俓", "乗", false},
	{"invalid", nil, mark8, "é\xff\xed\xa0\x80\xc3", "\xe9", false},
}

func (s charset) encode(t testing.TB, text string) []byte {
	t.Helper()
	if s.codec == nil {
		return []byte(text)
	}
	out, err := s.codec.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s cannot write %q: %v", s.name, text, err)
	}
	return out
}

// A piece is what stands between two line ends of any kind, before and after the
// edits.
type piece struct{ old, new, end string }

// probe is one edit with the code that it is refused with, "" for none.
type probe struct {
	old, new string
	code     diffpreview.Code
}

// lineEnds are the ends of the twelve lines of a file in each form.
var lineEnds = map[string][]string{
	"lf":    {"\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n"},
	"crlf":  {"\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n"},
	"cr":    {"\r", "\r", "\r", "\r", "\r", "\r", "\r", "\r", "\r", "\r", "\r", "\r"},
	"mixed": {"\r\n", "\n", "\r\n", "\n", "\r", "\r\n", "\n", "\r", "\r\n", "\n", "\r\n", "\n"},
}

// form is the text of one cell: the lines of its file, in groups that end in LF,
// which are what hunks are made of, and the edits that are tried.
type form struct {
	probes []probe
	old    [][]byte
	new    [][]byte
}

// form lays down what every edit does in a cell, and which are refused:
//
//   - UTF-16 is known by its mark; without it the file is full of NULs: not_text;
//   - in text that is neither UTF-8 nor UTF-16 a string that is not ASCII is
//     refused, and so is a match right after a byte from 0x80 on, be it a
//     character of its own or the lead of a pair: unsupported_encoding. A mark at
//     the start of a file is no such byte: it is a property of the file;
//   - only LF ends a line. A CR that none follows is data: an edit names it as it
//     is, and an LF that is put beside it stays one;
//   - a line that an edit adds gets the end of its neighbour.
//
// Nothing else is refused, and read-only files are: see [cell.run].
func (c cell) form(t testing.TB) form {
	s := c.charset
	ends := lineEnds[c.ends]
	inner, above := "\n", ends[0] // as an agent writes it; as it shall be written
	if c.ends == "cr" {
		inner, above = "\r", "\n"
	}
	probes := []probe{
		{old: "first", new: "zero\nFIRST"},
		{
			old: "mid one" + inner + "mid two" + inner + "mid three",
			new: "mid ONE" + inner + "added" + inner + "mid two" + inner + "mid three",
		},
		{old: "omega", new: "OMEGA"},
		{old: "gamma", new: "gämma日😀"},
		{old: `\tail`, new: "/tail", code: CodeNoMatch},
		{old: "tail", new: "TAIL"},
	}
	const reach, backslash, tail = 3, 4, 5
	trap := s.encode(t, s.trap)
	pair := trap[len(trap)-1] == '\\'
	switch {
	case strings.HasPrefix(s.name, "utf-16") && !c.bom:
		for i := range probes {
			probes[i].code = diffpreview.CodeNotText
		}
	case !s.text:
		probes[reach].code = diffpreview.CodeUnsupportedEncoding
		if pair {
			probes[backslash].code = diffpreview.CodeUnsupportedEncoding
		} else {
			probes[tail].code = diffpreview.CodeUnsupportedEncoding
		}
	}
	if pair != (s.name == "shift-jis" || s.name == "gbk") {
		t.Fatalf("%s: the trap is % x", s.name, trap)
	}
	made := func(i int) string {
		if probes[i].code == "" {
			return probes[i].new
		}
		return probes[i].old
	}
	w := s.wide
	pieces := []piece{
		{old: "first line", new: strings.Replace(made(0), "\n", above, 1) + " line"},
		{old: w + " kept"},
		{old: w + " mid one", new: w + " mid ONE" + ends[2] + "added"},
		{old: "mid two"},
		{old: "mid three " + w},
		{old: "", new: ""},
		{old: "gamma", new: made(reach)},
		{old: w + s.trap},
		{old: w + " " + s.trap + "tail end", new: w + " " + s.trap + made(tail) + " end"},
		{old: "kept " + w},
		{old: w},
		{old: w + " omega " + w, new: w + " " + made(2) + " " + w},
	}
	if probes[1].code != "" {
		pieces[2].new = pieces[2].old
	}
	return c.compose(t, pieces, probes)
}

// compose writes the pieces in the cell's encoding, in groups that end in LF.
func (c cell) compose(t testing.TB, pieces []piece, probes []probe) form {
	f := form{probes: probes}
	var old, new []byte
	if c.bom {
		old, new = []byte(c.charset.mark), []byte(c.charset.mark)
	}
	for i, p := range pieces {
		if p.end = lineEnds[c.ends][i]; i == len(pieces)-1 && !c.final {
			p.end = ""
		}
		if p.new == "" {
			p.new = p.old
		}
		old = append(old, c.charset.encode(t, p.old+p.end)...)
		new = append(new, c.charset.encode(t, p.new+p.end)...)
		if strings.HasSuffix(p.end, "\n") || i == len(pieces)-1 {
			f.old, f.new = append(f.old, old), append(f.new, new)
			old, new = nil, nil
		}
	}
	if c.charset.codec == nil && c.charset.text != utf8.Valid(f.before()) || !c.charset.text && utf8.Valid(f.before()) {
		t.Fatalf("%s: what shall not be UTF-8 is, or the other way round", c)
	}
	return f
}

func (f form) before() []byte { return bytes.Join(f.old, nil) }
func (f form) after() []byte  { return bytes.Join(f.new, nil) }

// hunks are the maximal runs of groups that differ, as ranges of groups.
func (f form) hunks() [][2]int {
	var out [][2]int
	for i := range f.old {
		switch {
		case bytes.Equal(f.old[i], f.new[i]):
		case len(out) > 0 && out[len(out)-1][1] == i:
			out[len(out)-1][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// with is the file with one hunk taken.
func (f form) with(hunk [2]int) []byte {
	var out []byte
	for i := range f.old {
		if hunk[0] <= i && i < hunk[1] {
			out = append(out, f.new[i]...)
		} else {
			out = append(out, f.old[i]...)
		}
	}
	return out
}
