package main

import (
	"errors"
	"strings"
)

// Marks of a conflict in the text that is edited, as git writes them.
const (
	markTree  = "<<<<<<< tree: what stands there now"
	markBase  = "||||||| base: what the agent saw"
	markMid   = "======="
	markAgent = ">>>>>>> agent: what it proposes"
)

// editable returns nil when the hunk's text can be edited, else why not.
func (it *walkItem) editable() error {
	switch {
	case it.file.p.DiffLossy:
		return errors.New("not UTF-8: edit the file itself after deciding")
	case isProperty(it.hunk):
		return errors.New("there are no lines to edit")
	case it.conflict() && it.hunk.Conflict != nil && it.hunk.Conflict.Omitted:
		return errors.New("its texts are too long to be edited here: edit the file itself after deciding")
	case it.conflict() && it.hunk.Conflict != nil:
		return nil
	case it.hunk.Kind == "delete" || it.hunk.Kind == "binary" || it.hunk.Kind == "link" || !it.hasText:
		return errors.New("there are no lines to edit")
	}
	return nil
}

// editText is what the editor is given: the lines that would be written, or
// for a conflict all three texts.
func (it *walkItem) editText() string {
	if !it.conflict() {
		return it.text.newText()
	}
	c := it.hunk.Conflict
	var b strings.Builder
	for _, part := range []struct{ mark, text string }{
		{markTree, c.Tree},
		{markBase, c.Base},
		{markMid, c.Agent},
		{markAgent, ""},
	} {
		b.WriteString(part.mark + "\n")
		b.WriteString(part.text)
		if part.text != "" && !strings.HasSuffix(part.text, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// settle makes the text to be written of what the person left in the editor.
// Editors end a last line whether the file does or not, so the end is as the
// hunk has it: without a line feed only when the agent's text is.
func (it *walkItem) settle(edited string) (string, error) {
	like := it.text.newText()
	if it.conflict() {
		like = it.hunk.Conflict.Agent
	}
	for line := range strings.Lines(edited) { // a draft may be of a conflict that is none any more
		line = strings.TrimRight(line, "\r\n")
		if line == markTree || line == markBase || line == markMid && it.conflict() || line == markAgent {
			return "", errors.New("the marks of the conflict are still there")
		}
	}
	if edited == "" || like == "" && !it.conflict() {
		return endLine(edited, "\n"), nil
	}
	if strings.HasSuffix(like, "\n") {
		return endLine(edited, eolOf(like)), nil
	}
	if like == "" {
		return endLine(edited, eolOf(it.hunk.Conflict.Tree)), nil
	}
	return strings.TrimSuffix(edited, "\n"), nil
}

func eolOf(text string) string {
	if strings.HasSuffix(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func endLine(text, eol string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + eol
}
