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
	return renderChange(name, name, before, after)
}

// renderChange is RenderDiff of a file that may have another name afterwards.
func renderChange(oldName, newName string, before, after Content) (diff string, lossy bool) {
	if before.Exists && after.Exists && before.IsLink() != after.IsLink() { // as git shows it: one goes, the other comes
		goes, lossyOld := renderChange(oldName, oldName, before, Content{})
		comes, lossyNew := renderChange(newName, newName, Content{}, after)
		return goes + comes, lossyOld || lossyNew
	}
	if after.Mode == 0 && before.Exists && after.Exists {
		after.Mode = before.Mode
	}
	a := FileSide{Name: oldName, Exists: before.Exists, Mode: before.Mode}
	b := FileSide{Name: newName, Exists: after.Exists, Mode: after.Mode}
	form := formBetween(before, after)
	if before.IsLink() || after.IsLink() {
		form = formBytes
	}
	if form == formBinary {
		head := ""
		if oldName != newName || before.Exists && after.Exists {
			head = string(Unified(a, b, nil, diffContext))
		}
		if sameContent(before, after) {
			return head, false
		}
		return head + "Binary files " + sideName("a/", oldName, before) + " and " + sideName("b/", newName, after) + " differ\n", false
	}
	old, new, spans := form.diff(before.Data, after.Data)
	if form != formBytes {
		old, new = decodeLines(old, form), decodeLines(new, form)
	}
	a.Lines, b.Lines = old, new
	out := Unified(a, b, spans, diffContext)
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
	return renderChange(p.Name, p.newName(), p.Base, p.Proposed())
}

// newName is the wire's name of the place that the view shows p at.
func (p *Proposal) newName() string {
	if h := p.rename(); h != nil && h.State == HunkOpen {
		return strings.TrimSuffix(p.Name, p.Path.rel) + h.To.rel
	}
	return p.Name
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
		if h.Kind != KindBinary && !h.property() {
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
