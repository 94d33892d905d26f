package tools

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/loomd/loomd/diffpreview"
)

// genText makes LF text of few letters, so that strings of it often stand in it,
// and often more than once.
func genText(max int) *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "b", "\n", "é", "𝄞", " "})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, max).Draw(t, "pieces"), "")
	})
}

func genEdits(t *rapid.T) []edit {
	one := rapid.Custom(func(t *rapid.T) edit {
		return edit{genText(4).Draw(t, "old"), genText(5).Draw(t, "new"), rapid.Bool().Draw(t, "all")}
	})
	return rapid.SliceOfN(one, 1, 4).Draw(t, "edits")
}

// result is what a list of edits gives: the bytes, or the code of the failure.
func result(file []byte, edits []edit) (string, string) {
	got, err := applyEdits(context.Background(), nil, file, edits)
	var f *Failure
	if errors.As(err, &f) {
		return "", f.Code
	}
	return string(got), ""
}

// naive is what edits mean on LF text, said in the plainest way.
func naive(text string, edits []edit) (string, string) {
	for _, e := range edits {
		places := 0
		for i := range text {
			if strings.HasPrefix(text[i:], e.OldStr) {
				places++
			}
		}
		switch {
		case e.OldStr == "":
			text += e.NewStr
		case e.OldStr == e.NewStr:
			return "", "no_change"
		case places == 0:
			return "", CodeNoMatch
		case e.ReplaceAll:
			text = strings.ReplaceAll(text, e.OldStr, e.NewStr)
		case places > 1:
			return "", CodeAmbiguousMatch
		default:
			text = strings.Replace(text, e.OldStr, e.NewStr, 1)
		}
	}
	return text, ""
}

// TestEditsMeanReplacement: on LF text the edits are what they look like; and in
// every other form of the same text they do the same and keep the form.
func TestEditsMeanReplacement(t *testing.T) {
	crlfForm := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	forms := map[string]func(string) string{
		"LF":           func(s string) string { return s },
		"CR LF":        crlfForm,
		"BOM":          func(s string) string { return bom + s },
		"BOM, CR LF":   func(s string) string { return bom + crlfForm(s) },
		"UTF-16LE":     utf16le,
		"UTF-16BE":     utf16be,
		"UTF-16 CR LF": func(s string) string { return utf16le(crlfForm(s)) },
	}
	rapid.Check(t, func(r *rapid.T) {
		text := genText(12).Draw(r, "text")
		if !strings.Contains(text, "\n") {
			text += "\n" // a text without a line end has no form to keep
		}
		list := genEdits(r)
		// Nor has one that an edit took the last line end of.
		for i := range list {
			if after, _ := naive(text, list[:i+1]); !strings.Contains(after, "\n") {
				list = list[:i+1]
				break
			}
		}
		want, code := naive(text, list)
		for name, form := range forms {
			got, gotCode := result([]byte(form(text)), list)
			if code != gotCode || code == "" && got != form(want) {
				r.Fatalf("%s: got %q %s\nwant %q %s", name, got, gotCode, form(want), code)
			}
		}
	})
}

// TestEditsKeepBystanders: in text of mixed line ends an edit does what it does
// in LF text, and the lines before and after its place stay as they are.
func TestEditsKeepBystanders(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var file strings.Builder
		for _, c := range genText(20).Draw(r, "text") {
			if c == '\n' && rapid.Bool().Draw(r, "crlf") {
				file.WriteByte('\r')
			}
			file.WriteRune(c)
		}
		text := strings.ReplaceAll(file.String(), "\r\n", "\n")
		e := edit{OldStr: genText(4).Draw(r, "old"), NewStr: genText(5).Draw(r, "new")}
		want, code := naive(text, []edit{e})
		if code != "" || e.OldStr == "" {
			return
		}
		got, code := result([]byte(file.String()), []edit{e})
		if code != "" || strings.ReplaceAll(got, "\r\n", "\n") != want {
			r.Fatalf("got %q %s, want %q", got, code, want)
		}
		at := strings.Index(text, e.OldStr)
		lines := strings.SplitAfter(file.String(), "\n")
		before := strings.Join(lines[:strings.Count(text[:at], "\n")], "")
		after := strings.Join(lines[strings.Count(text[:at+len(e.OldStr)], "\n")+1:], "")
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
			r.Fatalf("got %q\nbegins with %q, ends with %q", got, before, after)
		}
	})
}

// TestWidenIsLossless: any UTF-16, broken or not, comes back to the byte.
func TestWidenIsLossless(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		data := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'a', '\n', 0xd8, 0xdb, 0xdc, 0xdf, 0xfe, 0xff}), 0, 20).Draw(r, "data")
		data = data[:len(data)&^1]
		for _, enc := range []diffpreview.Encoding{diffpreview.UTF16LE, diffpreview.UTF16BE} {
			wide := widen(data, enc)
			if got := narrow(nil, wide, enc); !bytes.Equal(got, data) {
				r.Fatalf("%s: % x became % x", enc, data, got)
			}
			if text, lossy := decode(data, enc); !lossy && text != string(wide) {
				r.Fatalf("%s: %q, want %q", enc, wide, text)
			}
		}
	})
}

func FuzzEdits(f *testing.F) {
	f.Add([]byte("a\r\nb\n"), "a\nb", "x\ny", false)
	f.Add([]byte("\xff\xfea\x00\n\x00"), "a", "\n", true)
	f.Add([]byte("\x83\x5c a"), "\\", "", true)
	f.Add([]byte("\r\n\r\r\n"), "\n", "\n\n", true)
	f.Add([]byte(bom+"x"), "", "\n", false)
	f.Fuzz(func(t *testing.T, file []byte, old, new string, all bool) {
		if !utf8.ValidString(old) || !utf8.ValidString(new) {
			return // no call carries such arguments
		}
		before := bytes.Clone(file)
		got, err := applyEdits(context.Background(), nil, file, []edit{{old, new, all}})
		if !bytes.Equal(before, file) {
			t.Fatal("the file's bytes were changed in place")
		}
		var failure *Failure
		if errors.As(err, &failure) {
			if text, err := encode(failure); err != nil || !utf8.Valid(text) || len(text) > 16<<10 {
				t.Fatalf("the failure is no bounded UTF-8: %d bytes, %v", len(text), err)
			}
			return
		}
		must(t, err)
		info := diffpreview.Inspect(file)
		switch info.Encoding {
		case diffpreview.UTF8:
			if !utf8.Valid(got) {
				t.Fatalf("%q is not UTF-8", got)
			}
		case diffpreview.Bytes:
			if !bytes.Equal(highBytes(file), highBytes(got)) {
				t.Fatalf("bytes of another encoding changed: %q to %q", file, got)
			}
		}
		if info.BOM && !bytes.Equal(got[:2], file[:2]) {
			t.Fatalf("the mark is gone: %q", got)
		}
		if old == "" && !bytes.HasPrefix(got, file) {
			t.Fatalf("an append changed what was there: %q to %q", file, got)
		}
	})
}

func highBytes(data []byte) []byte {
	var out []byte
	for _, c := range data {
		if c >= utf8.RuneSelf {
			out = append(out, c)
		}
	}
	return out
}
