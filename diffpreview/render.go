package diffpreview

import (
	"io/fs"
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
	r := render{old: a, new: b, form: form}
	return r.unified(r.text(before.Data), r.text(after.Data), form.compare(before.Data, after.Data).spans)
}

func sideName(prefix, name string, c Content) string {
	if !c.Exists {
		return "/dev/null"
	}
	return prefix + name
}

// render prints a diff for display.
type render struct {
	old, new FileSide
	form     lineForm
	lossy    bool
}

// text shows the lines of a text.
func (r *render) text(data []byte) lineText {
	lines := r.form.lines(data)
	return func(from, to int) []byte { return r.decode(lines.text(from, to), from == 0) }
}

// decode makes UTF-8 of UTF-16. Only the first line of a file has a byte order mark.
func (r *render) decode(text []byte, first bool) []byte {
	enc := r.form.encoding()
	if enc != UTF16LE && enc != UTF16BE {
		return text
	}
	if _, bom := BOMOf(text); first && bom == 2 {
		text = text[bom:]
	}
	out, lossy := decodeUTF16(text, enc)
	r.lossy = r.lossy || lossy
	return []byte(out)
}

func (r *render) unified(old, new lineText, spans []Span) (diff string, lossy bool) {
	out := appendHunks(appendHeader(nil, r.old, r.new, spans), old, new, spans, diffContext)
	if utf8.Valid(out) {
		return string(out), r.lossy
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), true
}

// Diff is the unified diff of p's open hunks; see [RenderDiff].
func (p *Proposal) Diff() (diff string, lossy bool) {
	open := make([]Hunk, 0, len(p.Hunks))
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.State != HunkOpen || h.property() {
			continue
		}
		if h.wholeFile() {
			return renderChange(p.Name, p.newName(), p.Base, p.Proposed())
		}
		open = append(open, *h)
	}
	if len(open) == 0 {
		after := p.Base
		after.Mode = p.mode()
		return renderChange(p.Name, p.newName(), p.Base, after)
	}
	r := render{
		old: FileSide{Name: p.Name, Exists: true, Mode: p.Base.Mode},
		new: FileSide{Name: p.newName(), Exists: true, Mode: p.mode()}, form: p.form,
	}
	spans, added := r.hunks(open)
	return r.unified(r.text(p.Base.Data), added, spans)
}

// mode is that of the file in the view.
func (p *Proposal) mode() fs.FileMode {
	for i := range p.Hunks {
		if h := &p.Hunks[i]; h.Kind == KindMode && h.State == HunkOpen {
			return h.NewMode
		}
	}
	return p.Base.Mode
}

// newName is the wire's name of the place that the view shows p at.
func (p *Proposal) newName() string {
	if h := p.rename(); h != nil && h.State == HunkOpen {
		return strings.TrimSuffix(p.Name, p.Path.rel) + h.To.rel
	}
	return p.Name
}

// hunks are the spans of open hunks of lines, those that stand side by side joined, and what they put in.
func (r *render) hunks(open []Hunk) (spans []Span, added lineText) {
	by := 0
	for i := range open {
		h := &open[i]
		n := r.form.count(h.New)
		s := Span{h.Start, h.Count, h.Start + by, n}
		by += n - h.Count
		if last := len(spans) - 1; last >= 0 && spans[last].OldStart+spans[last].OldLines >= s.OldStart {
			spans[last].OldLines += s.OldLines
			spans[last].NewLines += s.NewLines
			continue
		}
		spans = append(spans, s)
	}
	next := 0 // hunk to be printed
	return spans, func(from, to int) []byte {
		var text []byte
		for lines := 0; lines < to-from; next++ {
			lines += r.form.count(open[next].New)
			text = append(text, open[next].New...)
		}
		return r.decode(text, from == 0)
	}
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
			added += p.form.count(h.New)
			removed += p.form.count(h.Old)
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
			out[i].NewLines = p.form.count(h.New)
			by += out[i].NewLines - h.Count
		case HunkConflict:
			out[i].NewLines = p.form.count(h.New)
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
	return h.stands(p.form.lines(p.Base.Data))
}
