package diffpreview

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
)

// Side names whose text a conflict is settled with.
type Side string

// The sides of a conflict.
const (
	SideAgent Side = "agent"
	SideTree  Side = "tree"
)

// Verdict is what a reviewer says of one hunk. Accepting a conflict needs Side
// or Text.
type Verdict struct {
	Hunk    string
	Accept  bool
	Text    *string // UTF-8, to be accepted in place of the agent's lines
	Side    Side
	Comment string
	Lines   *Lines // of a text hunk, a new or a deleted file: only these
}

// check refuses verdicts that do not fit p: unknown hunks, decided ones, ones
// that changed since the reviewer's version, conflicts without a side.
func (p *Proposal) check(version int, verdicts []Verdict) error {
	seen := map[string]bool{}
	place := p.indexes()
	for _, v := range verdicts {
		at, ok := place[v.Hunk]
		var h Hunk
		if ok {
			h = p.Hunks[at]
		}
		switch {
		case !ok && version > 0 && version < p.Version:
			return p.refuse(CodeChangedSince, "hunk %s is gone: the proposal changed since version %d", v.Hunk, version)
		case !ok:
			return p.refuse(CodeUnknownHunk, "no hunk %s in proposal %s", v.Hunk, p.ID)
		case seen[v.Hunk]:
			return p.refuse(CodeInvalidArguments, "hunk %s is decided twice in one request", v.Hunk)
		case h.decided():
			return p.refuse(CodeAlreadyDecided, "hunk %s was already %s by %s", h.ID, h.State, h.Decision.By)
		case version > 0 && h.Since > version:
			return p.refuse(CodeChangedSince, "hunk %s changed since version %d", h.ID, version)
		case version > p.Version:
			return p.refuse(CodeChangedSince, "the proposal is at version %d, not %d", p.Version, version)
		case h.State == HunkConflict && h.Kind == KindRename && v.Accept && v.Side != SideTree:
			return &Error{
				Code: CodeConflict, Path: p.Name, Proposal: p, Message: "hunk " + h.ID + ": the file is gone, or its new name is taken",
				Hint: "make that name free, or reject the hunk: the file then keeps its own",
			}
		case h.State == HunkConflict && v.Accept && v.Text == nil && v.Side == "":
			return p.refuse(CodeConflict, "hunk %s is in conflict: take the agent's side, the tree's, or give a text", h.ID)
		case v.Side != "" && v.Side != SideAgent && v.Side != SideTree:
			return p.refuse(CodeInvalidArguments, "side is %q: it is agent or tree", string(v.Side))
		case !v.Accept && (v.Text != nil || v.Side != ""):
			return p.refuse(CodeInvalidArguments, "hunk %s: a reject has no text and no side", h.ID)
		case h.State == HunkOpen && v.Side == SideTree:
			return p.refuse(CodeInvalidArguments, "hunk %s is not in conflict: reject it to keep the tree's text", h.ID)
		case v.Text != nil && v.Side != "":
			return p.refuse(CodeInvalidArguments, "hunk %s: give a side or a text", h.ID)
		case v.Text != nil && h.Kind != KindText && h.Kind != KindCreate:
			return p.refuse(CodeInvalidArguments, "hunk %s is a %s: it is taken or refused whole", h.ID, h.Kind)
		case v.Text != nil && h.NewMode&fs.ModeSymlink != 0:
			return p.refuse(CodeInvalidArguments, "hunk %s makes a link: it is taken or refused whole", h.ID)
		case v.Lines != nil && (v.Text != nil || v.Side != "" || h.State != HunkOpen):
			return p.refuse(CodeInvalidArguments, "hunk %s: lines are chosen of an open hunk, without a side or a text", h.ID)
		}
		seen[v.Hunk] = true
	}
	return nil
}

func (p *Proposal) refuse(code Code, format string, args ...any) error {
	e := failf(code, p.Name, format, args...)
	e.Proposal = p
	return e
}

// decide returns p with the verdicts carried out: accepted text is part of its
// base, which is what the tree shall hold. The verdicts have passed check.
func (p *Proposal) decide(verdicts []Verdict, by Decision) (q *Proposal, decided []Hunk, err error) {
	if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Lines != nil }) {
		return p.decideLines(verdicts, by)
	}
	q = p.next()
	var taken []int // hunks whose text is taken, in order
	said := make(map[string]*Verdict, len(verdicts))
	for i := range verdicts {
		said[verdicts[i].Hunk] = &verdicts[i]
	}
	for i := range q.Hunks {
		h := &q.Hunks[i]
		v := said[h.ID]
		if v == nil {
			continue
		}
		h.Since = q.Version
		said := by
		said.Comment = v.Comment
		h.Decision = &said
		if h.State == HunkConflict {
			q.face(h)
		}
		if !v.Accept || v.Side == SideTree {
			h.State = HunkRejected
			continue
		}
		if v.Text != nil {
			text, err := q.encode(h, *v.Text)
			if err != nil {
				return nil, nil, err
			}
			h.Decision.Modified = !bytes.Equal(text, h.New)
			h.New = text
		}
		taken = append(taken, i)
	}
	if err := q.take(taken); err != nil {
		return nil, nil, err
	}
	q.parkUnfit()
	for i := range q.Hunks {
		if h := &q.Hunks[i]; said[h.ID] != nil {
			decided = append(decided, *h)
		}
	}
	return q, decided, nil
}

// face makes a conflict that is being decided an ordinary change of the tree's
// text into the agent's, so that it can be taken, refused and undone like one.
func (p *Proposal) face(h *Hunk) {
	was := *h
	was.Decision = nil
	h.Was = []Hunk{was}
	switch h.Kind {
	case KindRename:
		return
	case KindMode:
		h.OldMode = p.Base.Mode
		return
	}
	if h.Whole {
		agent := h.agent()
		p.form = formBetween(p.Base, agent)
		if h.Kind = p.kind(agent); !agent.Exists {
			h.Kind = KindDelete // of a file that is gone too
		}
		if h.Kind == KindRename || h.Kind == KindMode {
			h.Kind = KindText
		}
		h.OldMode = p.Base.Mode
		h.Start, h.Count = 0, p.form.count(p.Base.Data)
	}
	h.Old = bytes.Clone(h.stands(p.form.lines(p.Base.Data)))
	h.Whole, h.Parts = false, nil
}

// encode turns a reviewer's text into the file's encoding.
func (p *Proposal) encode(h *Hunk, text string) ([]byte, error) {
	like := p.Base.Data
	if !p.Base.Exists {
		like = h.New
	}
	if strings.ContainsRune(text, 0) {
		return nil, p.refuse(CodeInvalidArguments, "hunk %s: a text with a NUL character would make the file binary, which nobody could review", h.ID)
	}
	data, err := Encode(text, like)
	if err != nil {
		return nil, p.refuse(CodeUnsupportedEncoding, "the text cannot be written in the file's encoding")
	}
	_, mark := BOMOf(data)
	if _, had := BOMOf(h.New); had == 0 || h.Start > 0 {
		data = data[mark:]
	}
	return data, nil
}

// take makes what the hunks named by index propose part of the base, and of
// where it is.
func (p *Proposal) take(taken []int) error {
	for len(taken) > 0 && p.Hunks[taken[0]].property() { // they come first
		p.takeProperty(&p.Hunks[taken[0]])
		taken = taken[1:]
	}
	if len(taken) == 0 {
		p.sort()
		return nil
	}
	if h := &p.Hunks[taken[0]]; h.wholeFile() {
		p.takeWhole(taken[0])
		return nil
	}
	var edits []edit
	for _, i := range taken {
		edits = append(edits, edit{p.Hunks[i].Start, p.Hunks[i].Count, p.Hunks[i].New})
	}
	if err := p.replace(edits, taken); err != nil {
		return err
	}
	for _, i := range taken {
		p.Hunks[i].State, p.Hunks[i].Unsaved = HunkAccepted, p.Base.Document
	}
	p.sort()
	return nil
}

func (p *Proposal) takeProperty(h *Hunk) {
	h.State = HunkAccepted
	if h.Kind == KindMode {
		p.Base.Mode = h.NewMode
		return
	}
	p.Path = h.To
}

// takeWhole makes the file what the hunk of this index says.
func (p *Proposal) takeWhole(at int) {
	h, before := &p.Hunks[at], p.Base
	p.Base = h.agent()
	p.Base.Document = before.Document
	if !h.agent().IsLink() && before.Exists && !before.IsLink() {
		p.Base.Mode = before.Mode
	}
	if !p.Base.Exists {
		p.Base.Data, p.Base.Mode = nil, 0
	}
	h.State, h.Start, h.Count = HunkAccepted, 0, p.form.count(p.Base.Data)
	h.Unsaved, h.Lost = before.Document, !before.Exists && !p.Base.Exists // an undo would find nothing to bring back
	for i := range p.Hunks {
		if i != at && !p.Hunks[i].property() {
			p.Hunks[i].Lost = true
		}
	}
}

// replace edits the base and moves every hunk along; mine are the indexes of the
// hunks that the edits came from, in order. A text without a line end that lines
// would follow is refused: they would run together.
func (p *Proposal) replace(edits []edit, mine []int) error {
	if p.form.misfit(edits, p.Base.Data) >= 0 {
		return p.refuse(CodeConflict, "a line without its end would run into the next one: give a text that ends its lines")
	}
	spans := make([]Span, len(edits))
	by := 0
	for i, e := range edits {
		n := p.form.count(e.text)
		spans[i] = Span{OldStart: e.start, OldLines: e.count, NewStart: e.start + by, NewLines: n}
		by += n - e.count
	}
	p.Base.Data = p.form.patch(p.Base.Data, edits)
	m, next := newMoves(spans), 0
	for i := range p.Hunks {
		h := &p.Hunks[i]
		switch {
		case h.property():
		case next < len(mine) && mine[next] == i:
			h.Start, h.Count = spans[next].NewStart, spans[next].NewLines
			next++
		case h.decided() && (h.Count > 0 || !m.onlyInserted(h.Start)):
			*h = m.moved(*h)
		default:
			h.Start += m.by[next] // pieces of a split hunk can stand at one place: their order tells
		}
	}
	return nil
}
