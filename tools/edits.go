package tools

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/secret"
)

// edit replaces OldStr by NewStr. An empty OldStr appends.
type edit struct {
	OldStr     string `json:"old_str" jsonschema:"The text to replace, exactly as it is in the file. It must occur there once, unless replace_all is set. Empty: append new_str to the file (and create the file if there is none)."`
	NewStr     string `json:"new_str" jsonschema:"The text to put in its place."`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence, left to right."`
}

// applyEdits applies the edits to a file's bytes one after the other, each to
// what the one before left, and returns the new bytes. When one of them fails
// there is no result, and the error is a *Failure that names it; it quotes the text
// without secrets. content is not changed.
//
// What no edit replaces is copied: the byte order mark, other encodings' bytes
// and every line end. See [editable.apply] for the meaning of one edit.
func applyEdits(ctx context.Context, secrets *secret.Redactor, content []byte, edits []edit) ([]byte, error) {
	text, err := openText(content)
	if err != nil {
		return nil, err
	}
	text.secrets = secrets
	for i, e := range edits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := text.apply(i, e); err != nil {
			return nil, err
		}
	}
	out := text.bytes()
	if len(out) > diffpreview.MaxEdit {
		return nil, failf(diffpreview.CodeTooLarge, "the edits make the file larger than %d bytes", diffpreview.MaxEdit)
	}
	return out, nil
}

// editable is a file's text in a form that strings can be searched in. UTF-16 is
// held as UTF-8 (see widen), all else as it is.
type editable struct {
	enc  diffpreview.Encoding
	bom  []byte
	text []byte

	secrets *secret.Redactor // for what failures quote
}

func openText(content []byte) (*editable, error) {
	info := diffpreview.Inspect(content)
	t := &editable{enc: info.Encoding, text: content}
	if t.enc == diffpreview.Binary {
		f := failf(diffpreview.CodeNotText, "the file is not text: %s", describeBinary(content))
		f.Hint = "edit_file changes text only"
		return nil, f
	}
	if info.BOM {
		_, n := diffpreview.BOMOf(content)
		t.bom, t.text = content[:n:n], content[n:]
	}
	if t.wide() {
		t.text = widen(t.text, t.enc)
	}
	return t, nil
}

func (t *editable) wide() bool {
	return t.enc == diffpreview.UTF16LE || t.enc == diffpreview.UTF16BE
}

// bytes is the text in the file's own form. It may be the very text that the
// last edit made.
func (t *editable) bytes() []byte {
	if len(t.bom) == 0 && !t.wide() {
		return t.text
	}
	out := append(make([]byte, 0, len(t.bom)+len(t.text)), t.bom...)
	if t.wide() {
		return narrow(out, t.text, t.enc)
	}
	return append(out, t.text...)
}

// apply makes edit number i, which counts from 0:
//
//   - an empty old_str appends new_str to the end as it is, without looking for
//     a final newline;
//   - old_str that occurs once is replaced; with replace_all every occurrence is,
//     from left to right, and what was put in is not searched again;
//   - old_str that occurs more than once, overlapping ones counted, or not at
//     all, is a failure, and so is one that equals new_str.
//
// Line ends of new_str: see [editable.fitLineEnds].
func (t *editable) apply(i int, e edit) error {
	if err := t.checkEncoding(i, e); err != nil {
		return err
	}
	if e.OldStr == "" {
		added := t.fitLineEnds(span{len(t.text), len(t.text)}, e)
		if err := t.checkSize(i, len(added)); err != nil {
			return err
		}
		t.text = append(t.text[:len(t.text):len(t.text)], added...)
		return nil
	}
	if e.OldStr == e.NewStr {
		f := failf(diffpreview.CodeNoChange, "edits[%d]: old_str and new_str are the same", i)
		return f.with("field", field(i, "new_str"))
	}
	places, found := t.find(e.OldStr)
	switch {
	case !found:
		f := t.noMatch(fmt.Sprintf("edits[%d].old_str was not found%s", i, afterEdits(i)), "old_str", e.OldStr)
		return f.with("field", field(i, "old_str")).with("edit", i)
	case e.ReplaceAll:
		return t.replaceAll(i, e, places)
	}
	var at span
	count := 0
	places(true, func(s span) bool {
		if count == 0 {
			at = s
		}
		count++
		return count < 2
	})
	if count > 1 {
		return t.ambiguous(i, places)
	}
	if err := t.checkPlace(i, at); err != nil {
		return err
	}
	added := t.fitLineEnds(at, e)
	if err := t.checkSize(i, len(added)-(at.end-at.start)); err != nil {
		return err
	}
	out := make([]byte, 0, len(t.text)+len(added)-(at.end-at.start))
	out = append(append(append(out, t.text[:at.start]...), added...), t.text[at.end:]...)
	t.text = out
	return nil
}

// replaceAll makes two passes, so that the memory it takes is known before it is
// taken.
func (t *editable) replaceAll(i int, e edit, places places) error {
	grown := 0
	var err error
	places(false, func(at span) bool {
		if err = t.checkPlace(i, at); err == nil {
			grown += len(t.fitLineEnds(at, e)) - (at.end - at.start)
			err = t.checkSize(i, grown)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	out := make([]byte, 0, len(t.text)+grown)
	done := 0
	places(false, func(at span) bool {
		out = append(append(out, t.text[done:at.start]...), t.fitLineEnds(at, e)...)
		done = at.end
		return true
	})
	t.text = append(out, t.text[done:]...)
	return nil
}

// maxListedLines is how many lines an ambiguous_match lists: enough to choose
// more context by.
const maxListedLines = 20

// maxCounted is where the count of an ambiguous match ends: a text that repeats
// itself can hold old_str at every byte.
const maxCounted = 10_000

func (t *editable) ambiguous(i int, places places) error {
	lines := []int{}
	count, distinct, line, last, done := 0, 0, 1, 0, 0
	places(true, func(s span) bool {
		count++
		line += bytes.Count(t.text[done:s.start], lf)
		done = s.start
		if line != last {
			distinct++
			last = line
			if len(lines) < maxListedLines {
				lines = append(lines, line)
			}
		}
		return count < maxCounted
	})
	where := "at line " + listed(lines)
	if distinct > 1 {
		where = "at lines " + listed(lines)
	}
	if distinct > len(lines) {
		where += fmt.Sprintf(" and %d more", distinct-len(lines))
	}
	f := &Failure{
		Code:    CodeAmbiguousMatch,
		Message: fmt.Sprintf("edits[%d].old_str was found %d times, %s%s", i, count, where, afterEdits(i)),
		Hint:    "add lines around it to old_str until it occurs once, or set replace_all",
	}
	if count == maxCounted {
		f.with("count_capped", true)
	}
	f.with("field", field(i, "old_str")).with("edit", i).with("count", count)
	return f.with("lines", lines).with("more_lines", distinct-len(lines))
}

// afterEdits says what the line numbers of a failure refer to.
func afterEdits(i int) string {
	switch i {
	case 0:
		return ""
	case 1:
		return " (with edits[0] made)"
	}
	return fmt.Sprintf(" (with edits[0] to edits[%d] made)", i-1)
}

func listed(lines []int) string {
	text := make([]string, len(lines))
	for i, line := range lines {
		text[i] = strconv.Itoa(line)
	}
	return strings.Join(text, ", ")
}

// checkEncoding: text in an unknown encoding is edited on its bytes, for which
// both strings must be ASCII.
func (t *editable) checkEncoding(i int, e edit) error {
	if t.enc != diffpreview.Bytes {
		return nil
	}
	for _, s := range []struct{ name, text string }{{"old_str", e.OldStr}, {"new_str", e.NewStr}} {
		if !ascii(s.text) {
			f := failf(diffpreview.CodeUnsupportedEncoding,
				"edits[%d].%s holds a character outside ASCII, but the file is neither UTF-8 nor UTF-16", i, s.name)
			f.Hint = "edit only the ASCII parts of this file; its other bytes are kept as they are"
			return f.with("field", field(i, s.name))
		}
	}
	return nil
}

// checkPlace refuses an ASCII match that can be the second half of a character:
// in Shift-JIS and GBK a byte from 0x80 on can be followed by an ASCII one.
func (t *editable) checkPlace(i int, at span) error {
	if t.enc != diffpreview.Bytes || at.start == 0 || t.text[at.start-1] < utf8.RuneSelf {
		return nil
	}
	line := 1 + bytes.Count(t.text[:at.start], []byte{'\n'})
	f := failf(diffpreview.CodeUnsupportedEncoding,
		"edits[%d].old_str was found right after a byte that is not ASCII (line %d), and the file is neither UTF-8 nor UTF-16", i, line)
	f.Hint = "begin old_str elsewhere: its first character could be half of another one"
	return f.with("field", field(i, "old_str")).with("line", line)
}

func (t *editable) checkSize(i, grown int) error {
	if len(t.text)+grown <= diffpreview.MaxEdit {
		return nil
	}
	f := failf(diffpreview.CodeTooLarge, "edits[%d] makes the file larger than %d bytes", i, diffpreview.MaxEdit)
	return f.with("field", field(i, "new_str"))
}

func field(i int, name string) string { return fmt.Sprintf("edits[%d].%s", i, name) }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
