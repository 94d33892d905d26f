package diffpreview

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// State is where a proposal stands. It follows from its hunks.
type State string

// A proposal is undecided while it is open or in conflict.
const (
	StateOpen      State = "open"
	StateConflict  State = "conflict"
	StateApplied   State = "applied"
	StateRejected  State = "rejected"
	StateWithdrawn State = "withdrawn"
)

// Proposal is one file's pending change in one session. It is a value: every
// operation returns a new one, so a reader never sees half a change.
type Proposal struct {
	ID      string
	Session string
	Path    Path   // where the tree has the file; see [Proposal.Shown]
	Name    string // the path on the wire
	Via     string // the link the agent named, "" when it named the file
	Kind    HunkKind
	Version int // raised by every change
	Base    Content
	Hunks   []Hunk       // sorted by Start
	Steps   []StepRecord // the first and the newest ones; see addStep
	// StepCount is how many there were.
	StepCount int
	Created   time.Time

	form  lineForm
	hunks int // hunk ids given out
	// origin is p as agent and reviewer left it, before the tree moved under its
	// hunks; nil when it has not moved since. Every rebase starts from there.
	origin *Proposal
	// restless is set while a conflict may only be a file caught half written.
	restless bool
}

// StepRecord is one call that extended a proposal.
type StepRecord struct {
	Call Call
	Time time.Time
}

// State follows from the hunks: a conflict before an open one before the
// decided ones.
func (p *Proposal) State() State {
	seen := map[HunkState]bool{}
	for i := range p.Hunks {
		seen[p.Hunks[i].State] = true
	}
	switch {
	case seen[HunkConflict]:
		return StateConflict
	case seen[HunkOpen]:
		return StateOpen
	case seen[HunkAccepted]:
		return StateApplied
	case seen[HunkRejected]:
		return StateRejected
	}
	return StateWithdrawn
}

// Undecided reports whether somebody is still asked about p.
func (p *Proposal) Undecided() bool {
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return !h.decided() })
}

// Hunk finds a hunk by its id.
func (p *Proposal) Hunk(id string) (Hunk, bool) {
	i := p.index(id)
	if i < 0 {
		return Hunk{}, false
	}
	return p.Hunks[i], true
}

// indexes is where each hunk stands, by its id.
func (p *Proposal) indexes() map[string]int {
	out := make(map[string]int, len(p.Hunks))
	for i := range p.Hunks {
		out[p.Hunks[i].ID] = i
	}
	return out
}

func (p *Proposal) index(id string) int {
	return slices.IndexFunc(p.Hunks, func(h Hunk) bool { return h.ID == id })
}

// Proposed is what the session's view holds at [Proposal.Shown]: the base with
// the open hunks.
func (p *Proposal) Proposed() Content {
	out := p.Base
	out.Document = false
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.State != HunkOpen {
			continue
		}
		switch h.Kind {
		case KindCreate, KindLink:
			return h.agent()
		case KindDelete:
			return Content{}
		case KindMode:
			out.Mode = h.NewMode
		}
	}
	edits := p.openEdits()
	if len(edits) > 0 {
		out.Data = p.form.patch(p.Base.Data, edits)
	}
	return out
}

// openEdits are what the open hunks do to the lines of the base, in order.
func (p *Proposal) openEdits() []edit {
	var edits []edit
	for i := range p.Hunks {
		if h := &p.Hunks[i]; h.State == HunkOpen && (h.Kind == KindText || h.Kind == KindBinary) {
			edits = append(edits, edit{h.Start, h.Count, h.New})
		}
	}
	return edits
}

// Shown is where the session's view has the file: its new name while a rename is
// open, else Path.
func (p *Proposal) Shown() Path {
	if h := p.rename(); h != nil && h.State == HunkOpen {
		return h.To
	}
	return p.Path
}

// rename is p's undecided new name, nil when it has none.
func (p *Proposal) rename() *Hunk {
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if !h.property() { // they come first
			break
		}
		if h.Kind == KindRename && !h.decided() {
			return h
		}
	}
	return nil
}

// paths are the places in the tree that a decision about p may change.
func (p *Proposal) paths() []Path {
	out := []Path{p.Path}
	for i := range p.Hunks {
		if h := &p.Hunks[i]; h.Kind == KindRename {
			out = append(out, h.From, h.To)
		}
	}
	return out
}

// next is a copy of p at its next version, whose hunks may be changed.
func (p *Proposal) next() *Proposal {
	q := p.after()
	q.Hunks = slices.Clone(p.Hunks)
	return q
}

// after is next without hunks.
func (p *Proposal) after() *Proposal {
	q := *p
	q.Version++
	q.origin, q.restless, q.Hunks = nil, false, nil
	return &q
}

// step returns p after the agent made the view's content want. Hunks that did
// not change keep their id and Since; changed ones keep their id; a conflict
// that the agent wrote over is replaced. The proposal is withdrawn when it
// changes nothing any more. A Mode of 0 in want leaves the mode as it is.
func (p *Proposal) step(want Content) *Proposal {
	q := p.next()
	q.fit(want)
	return q
}

// fit makes the undecided hunks of p anew, so that they lead from its base to
// want, which its agent made: a conflict that it wrote over is gone.
func (p *Proposal) fit(want Content) { p.remake(want, true) }

// refit is fit for what a reviewer or the tree made: p has open hunks that lead to
// want already, but that may touch each other. A conflict stays whatever comes to
// lie beside it; where a diff finds a change in its lines, which stand there twice,
// the hunks stay as they are.
func (p *Proposal) refit(want Content) {
	known, form, kind := slices.Clone(p.Hunks), p.form, p.Kind
	p.remake(want, false)
	if p.overlaps() {
		p.Hunks, p.form, p.Kind = known, form, kind
	}
}

// overlaps reports whether undecided hunks of p stand on the same lines.
func (p *Proposal) overlaps() bool {
	end := 0
	return slices.ContainsFunc(p.Hunks, func(h Hunk) bool {
		if h.decided() || h.property() {
			return false
		}
		over := h.Start < end
		end = h.Start + h.Count
		return over
	})
}

func (p *Proposal) remake(want Content, agent bool) {
	form := formBetween(p.Base, want)
	previous := p.Hunks
	p.Hunks = nil
	for _, h := range previous {
		if h.decided() {
			h.Lost = h.Lost || form != p.form
			p.Hunks = append(p.Hunks, h)
		}
	}
	p.form = form
	fresh := p.compare(want)
	p.inherit(fresh, previous, agent)
	fresh = resplit(fresh, previous)
	for _, h := range previous {
		// What lies beside a conflict as it did before was not written over it.
		over := func(f Hunk) bool { return agent && f.Since == p.Version && meets(&f, &h) }
		if h.Kind == KindRename && !h.decided() && want.Exists ||
			h.State == HunkConflict && h.Kind != KindRename && !slices.ContainsFunc(fresh, over) {
			p.Hunks = append(p.Hunks, h)
		}
	}
	p.Hunks = append(p.Hunks, fresh...)
	p.sortLike(previous)
	p.Kind = p.kind(want)
}

// kind is what p does to its file as a whole.
func (p *Proposal) kind(want Content) HunkKind {
	switch {
	case !p.Base.Exists && want.IsLink(), p.Base.Exists && want.Exists && (p.Base.IsLink() || want.IsLink()):
		return KindLink
	case !p.Base.Exists:
		return KindCreate
	case !want.Exists:
		return KindDelete
	case p.rename() != nil:
		return KindRename
	case !slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return h.Kind != KindMode }) && len(p.Hunks) > 0:
		return KindMode
	case p.form == formBinary:
		return KindBinary
	}
	return KindText
}

// compare returns the open hunks, without ids, that lead from the base to want.
func (p *Proposal) compare(want Content) []Hunk {
	open := Hunk{Kind: KindText, State: HunkOpen, Since: p.Version}
	whole := open
	whole.Old, whole.New = p.Base.Data, want.Data
	whole.OldMode, whole.NewMode = p.Base.Mode, want.Mode
	if !p.Base.Exists || !want.Exists || p.Base.IsLink() || want.IsLink() {
		whole.Count = p.form.count(p.Base.Data)
	}
	switch {
	case !p.Base.Exists && !want.Exists:
		return nil
	case !p.Base.Exists:
		whole.Kind = KindCreate
		return []Hunk{whole}
	case !want.Exists:
		whole.Kind = KindDelete
		return []Hunk{whole}
	case p.Base.IsLink() || want.IsLink():
		if sameContent(p.Base, want) {
			return nil
		}
		whole.Kind = KindLink
		return []Hunk{whole}
	}
	if p.form == formBinary {
		open.Kind = KindBinary
	}
	diff := p.form.compare(p.Base.Data, want.Data)
	hunks := make([]Hunk, 0, len(diff.spans)+1)
	if want.Mode != 0 && want.Mode.Perm() != p.Base.Mode.Perm() {
		mode := Hunk{Kind: KindMode, State: HunkOpen, Since: p.Version, OldMode: p.Base.Mode, NewMode: want.Mode.Perm()}
		hunks = append(hunks, mode)
	}
	for _, s := range diff.spans {
		h := open
		h.Start, h.Count = s.OldStart, s.OldLines
		h.Old, h.New = diff.oldText(s), diff.newText(s)
		hunks = append(hunks, h)
	}
	return hunks
}

// meets reports whether two undecided hunks over one base are about the same
// lines: they overlap, or one is an insertion at the other's border.
func meets(a, b *Hunk) bool {
	if a.property() || b.property() {
		return a.Kind == b.Kind
	}
	if a.wholeFile() || b.wholeFile() {
		return true
	}
	aEnd, bEnd := a.Start+a.Count, b.Start+b.Count
	if a.Count > 0 && b.Count > 0 {
		return max(a.Start, b.Start) < min(aEnd, bEnd)
	}
	return max(a.Start, b.Start) <= min(aEnd, bEnd)
}

// inherit gives the fresh hunks the ids of the undecided ones they continue,
// each id once, and new ids to the rest. Both lists are sorted, so that of a
// hundred thousand hunks each is compared with its neighbours only. A conflict
// is continued by what the agent writes over it, else it stays beside them.
func (p *Proposal) inherit(fresh, previous []Hunk, agent bool) {
	old := slices.DeleteFunc(slices.Clone(previous), func(h Hunk) bool {
		return h.decided() || h.Kind == KindRename || h.State == HunkConflict && !agent
	})
	whole := slices.ContainsFunc(append(fresh[:len(fresh):len(fresh)], old...), func(h Hunk) bool { return h.wholeFile() })
	used := map[string]bool{}
	for _, same := range []func(f, h *Hunk) bool{unchanged, meets} {
		from := 0
		for i := range fresh {
			f := &fresh[i]
			for !whole && from < len(old) && old[from].Start+old[from].Count < f.Start {
				from++
			}
			for j := from; f.ID == "" && j < len(old) && (whole || old[j].Start <= f.Start+f.Count); j++ {
				h := &old[j]
				if used[h.ID] || !same(f, h) {
					continue
				}
				f.ID, f.Held, used[h.ID] = h.ID, h.Held, true
				if unchanged(f, h) {
					f.Since = h.Since
				}
			}
		}
	}
	for i := range fresh {
		if f := &fresh[i]; f.ID == "" {
			p.hunks++
			f.ID = hunkID(p.hunks)
		}
	}
}

func unchanged(f, h *Hunk) bool {
	return h.State == HunkOpen && f.Kind == h.Kind && f.Start == h.Start && f.Count == h.Count &&
		f.NewMode == h.NewMode && bytes.Equal(f.New, h.New)
}

// sortLike is sort after p's hunks were made anew: those that stand at one place
// keep the order that they had, in which they would be put in.
func (p *Proposal) sortLike(previous []Hunk) {
	if slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return h.State != HunkOpen }) { // a diff's stand apart
		was := make(map[string]int, len(previous))
		for i := range previous {
			was[previous[i].ID] = i - len(previous)
		}
		slices.SortStableFunc(p.Hunks, func(a, b Hunk) int { return was[a.ID] - was[b.ID] })
	}
	p.sort()
}

// sort orders the hunks by place, properties first. What is put in before a line
// comes before what stands on that line: whoever takes lines out counts on the
// order. Pieces of a split hunk that stand at one place keep theirs.
func (p *Proposal) sort() {
	slices.SortStableFunc(p.Hunks, func(a, b Hunk) int {
		if a.property() != b.property() {
			if a.property() {
				return -1
			}
			return 1
		}
		return cmp.Or(a.Start-b.Start, min(a.Count, 1)-min(b.Count, 1))
	})
}
