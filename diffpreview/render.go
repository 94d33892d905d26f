package diffpreview

import (
	"strings"
	"unicode/utf8"
)

// diffContext is how many unchanged lines a displayed diff has around a
// change, as git's default.
const diffContext = 3

// RenderDiff is the unified diff of one file for display: valid UTF-8, UTF-16
// text decoded. lossy says that it shows U+FFFD for bytes that are not UTF-8.
func RenderDiff(name string, before, after Content) (diff string, lossy bool) {
	form := formBetween(before, after)
	if form == formBinary {
		return "Binary files " + sideName("a/", name, before) + " and " + sideName("b/", name, after) + " differ\n", false
	}
	old, new, spans := form.diff(before.Data, after.Data)
	if form != formBytes {
		old, new = decodeLines(old, form), decodeLines(new, form)
	}
	out := Unified(
		FileSide{Name: name, Exists: before.Exists, Lines: old},
		FileSide{Name: name, Exists: after.Exists, Lines: new},
		spans, diffContext)
	if utf8.Valid(out) {
		return string(out), false
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), true
}

func sideName(prefix, name string, c Content) string {
	if !c.Exists {
		return "/dev/null"
	}
	return prefix + name
}

func decodeLines(lines [][]byte, form lineForm) [][]byte {
	out := make([][]byte, len(lines))
	for i, line := range lines {
		text, _ := Decode(line, form.encoding())
		out[i] = []byte(text)
	}
	return out
}

// Diff is the unified diff of p's open hunks; see [RenderDiff].
func (p *Proposal) Diff() (diff string, lossy bool) {
	return RenderDiff(p.Name, p.Base, p.Proposed())
}

// Counts are the lines that the undecided hunks add and remove, and how many
// hunks those are.
func (p *Proposal) Counts() (added, removed, hunks int) {
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.decided() {
			continue
		}
		hunks++
		if h.Kind != KindBinary {
			added += len(p.form.split(h.New))
			removed += len(p.form.split(h.Old))
		}
	}
	return added, removed, hunks
}

// Place is where a hunk stands in lines from 0: the base's range and the
// proposed text's. A decided or conflicting hunk's new range is the base's.
type Place struct {
	OldStart, OldLines, NewStart, NewLines int
}

// Places returns the place of every hunk of p, in order.
func (p *Proposal) Places() []Place {
	out := make([]Place, len(p.Hunks))
	by := 0
	for i := range p.Hunks {
		h := &p.Hunks[i]
		out[i] = Place{h.Start, h.Count, h.Start + by, h.Count}
		switch h.State {
		case HunkOpen:
			out[i].NewLines = len(p.form.split(h.New))
			by += out[i].NewLines - h.Count
		case HunkConflict:
			out[i].NewLines = len(p.form.split(h.New))
		}
	}
	return out
}

// Text decodes a piece of p's file for display.
func (p *Proposal) Text(data []byte) (text string, lossy bool) {
	enc := p.form.encoding()
	if enc == Bytes && utf8.Valid(data) {
		enc = UTF8
	}
	return Decode(data, enc)
}

// TreeText is what the base holds where h stands: in a conflict the tree's own
// text.
func (p *Proposal) TreeText(h *Hunk) []byte {
	return h.stands(p.form.split(p.Base.Data))
}
