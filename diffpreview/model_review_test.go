package diffpreview

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// ruled is a hunk as it is now with what a reviewer says of it.
type ruled struct {
	hunk    Hunk
	verdict Verdict
	at      int // which of its proposal's hunks it is
}

// inOrder are hunks of one proposal as it has them: of two that stand at one place
// the first shown comes first.
func inOrder(named []ruled) []ruled {
	return slices.SortedFunc(slices.Values(named), func(a, b ruled) int { return a.at - b.at })
}

// text is what an accept writes.
func (r *ruled) text() string {
	if r.verdict.Text != nil {
		return *r.verdict.Text
	}
	return string(r.hunk.New)
}

func (r *ruled) takes() bool { return r.verdict.Accept && r.verdict.Side != SideTree }

// decides is a reviewer's decision about a proposal, made on what they have on
// their screen, which may be old.
func (m *model) decides() {
	seen := m.glance()
	if seen == nil {
		return
	}
	d := DecideFile{ID: seen.ID, Version: seen.Version, By: "rev"}
	if m.chance(15) {
		d.Version = 0
	}
	if m.chance(25) {
		d.Accept, d.Comment = m.chance(70), m.comment()
	} else {
		m.verdicts(&d, seen)
	}
	f := m.file(seen.Path)
	cur := m.now.shown[seen.ID]
	j := m.judge(f, cur, seen, &d)
	race := m.race(f, d.rejects())
	race.blind = d.Version == 0
	m.logf("%s of %s version %d (now %d) %s%s", said(&d), seen.ID, d.Version, cur.Version, f.name, race.name)
	race.start()
	q, written, err := m.store.Decide(context.Background(), d)
	race.end()
	m.logf("-> %v", err)
	m.sees(cur)
	if err != nil {
		m.refused(j, err, race)
		return
	}
	if j.refuse != "" {
		m.fail("a decision means what was seen", "%s was carried out: %s", said(&d), j.refuse)
	}
	m.carried(f, cur, q, j.named, race)
	if written != nil {
		m.writtenIs(race, []Written{*written}, f)
	} else {
		m.writtenIs(race, nil, f)
	}
}

// writtenIs checks what an answer says was written of these files.
func (m *model) writtenIs(race *race, written []Written, files ...*modelFile) {
	if race.fired {
		return
	}
	for _, f := range files {
		if race.clean[f] {
			continue
		}
		changed := m.tree(f) != race.base[f]
		i := slices.IndexFunc(written, func(w Written) bool { return w.Path == f.name })
		if changed != (i >= 0) {
			m.fail("what was written is named", "%s in %+v: %v to %v", f.name, written, race.base[f], m.tree(f))
		}
		if i >= 0 && (written[i].Hash != bodyHash(m.tree(f)) || written[i].Document != race.document[f]) {
			m.fail("what was written is named", "%+v of %v", written[i], m.tree(f))
		}
	}
}

func bodyHash(b body) string { return Content{Exists: b.exists, Data: []byte(b.text)}.Hash() }

// glance is a proposal on somebody's screen.
func (m *model) glance() *Proposal {
	rare := m.chance(5)
	if m.chance(25) {
		for _, p := range slices.Backward(m.seen) {
			if p.Path == m.f.path && m.now.shown[p.ID] != nil && m.chance(60) {
				return p
			}
		}
	}
	if rare {
		p, _ := m.somebodys(func(*Hunk) bool { return true })
		return p
	}
	p, _ := m.somebodys(func(h *Hunk) bool { return !h.decided() })
	return p
}

// sees puts a proposal on a screen where it stays for some time.
func (m *model) sees(p *Proposal) {
	m.seen = append(m.seen, p)
	if len(m.seen) > 40 {
		m.seen = m.seen[1:]
	}
}

func (m *model) comment() string {
	if m.chance(70) {
		return ""
	}
	return fmt.Sprintf("because of %d", m.step)
}

// verdicts are about one or more of the hunks that are seen.
func (m *model) verdicts(d *DecideFile, seen *Proposal) {
	for i := range seen.Hunks {
		h := &seen.Hunks[i]
		if h.decided() && !m.chance(3) || !m.chance(50) {
			continue
		}
		v := Verdict{Hunk: h.ID, Accept: m.chance(70), Comment: m.comment()}
		if v.Accept {
			m.takes(h, &v, m.file(seen.Path))
		}
		d.Verdicts = append(d.Verdicts, v)
	}
	if len(d.Verdicts) == 0 && len(seen.Hunks) > 0 {
		d.Verdicts = []Verdict{{Hunk: pickOf(m, seen.Hunks).ID, Accept: m.chance(70)}}
	}
	m.rng.Shuffle(len(d.Verdicts), func(i, j int) { d.Verdicts[i], d.Verdicts[j] = d.Verdicts[j], d.Verdicts[i] })
}

func (m *model) takes(h *Hunk, v *Verdict, f *modelFile) {
	switch {
	case (h.State == HunkConflict && m.chance(30) || m.chance(10)) && h.Kind != KindDelete:
		text := m.changed(f, string(h.New), 'r')
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += f.eol
		}
		v.Text = &text
	case h.State == HunkConflict && !m.chance(5):
		v.Side = pickOf(m, []Side{SideAgent, SideTree})
	}
}

func said(d *DecideFile) string {
	if len(d.Verdicts) == 0 {
		return fmt.Sprintf("all accept=%v", d.Accept)
	}
	var out []string
	for _, v := range d.Verdicts {
		s := fmt.Sprintf("%s accept=%v %s", v.Hunk, v.Accept, v.Side)
		if v.Text != nil {
			s += body{true, *v.Text}.String()
		}
		out = append(out, strings.TrimSpace(s))
	}
	return strings.Join(out, ", ")
}

// judgement is what may be answered to a decision.
type judgement struct {
	named  []ruled
	refuse string // why it must not be carried out, if so
	busy   string // why it may be refused, if so
}

// judge says what may be answered, from what was shown alone.
func (m *model) judge(f *modelFile, cur, seen *Proposal, d *DecideFile) (j judgement) {
	verdicts := d.Verdicts
	if len(verdicts) == 0 {
		for i := range cur.Hunks {
			if h := &cur.Hunks[i]; !h.decided() {
				verdicts = append(verdicts, Verdict{Hunk: h.ID, Accept: d.Accept, Comment: d.Comment})
			}
		}
		if len(verdicts) == 0 {
			j.refuse = "all is decided"
		}
	}
	for _, v := range verdicts {
		h, ok := cur.Hunk(v.Hunk)
		was, saw := seen.Hunk(v.Hunk)
		switch {
		case !ok:
			j.refuse = v.Hunk + " is gone"
			continue
		case h.decided():
			j.refuse = v.Hunk + " is decided"
		case d.Version > 0 && (!saw || !sameHunk(&was, &h) || h.State == HunkConflict && standing(seen, &was) != standing(cur, &h)):
			j.refuse = v.Hunk + " is another one now"
		case d.Version > 0 && m.since[cur.ID+v.Hunk] > d.Version:
			j.busy = v.Hunk + " was another one meanwhile"
		case h.State == HunkConflict && v.Accept && v.Side == "" && v.Text == nil:
			j.refuse = v.Hunk + " is in conflict"
		case h.State == HunkOpen && v.Side == SideTree:
			j.refuse = v.Hunk + " is not in conflict"
		case v.Text != nil && h.Kind == KindDelete:
			j.refuse = v.Hunk + " is taken whole"
		}
		j.named = append(j.named, ruled{h, v, cur.index(v.Hunk)})
	}
	j.named = inOrder(j.named)
	if m.landing(m.agent(cur.Session), f, &m.now) {
		j.busy = "nobody knows yet what the file holds"
	}
	if m.texts(f) > 1 {
		j.busy = "two editors have it unsaved"
	}
	unended := false
	for _, r := range j.named {
		switch {
		case !r.takes():
		case unended && r.text() != "":
			j.busy = r.hunk.ID + " would run into a line without an end"
		case r.hunk.Kind == KindDelete && m.dirty(f) != nil:
			j.busy = "a buffer with unsaved changes cannot be deleted"
		case !fitsModel(m.tree(f), &r):
			j.busy = r.hunk.ID + " has a line without an end"
		}
		unended = unended || r.takes() && r.text() != "" && !strings.HasSuffix(r.text(), "\n")
	}
	return j
}

// standing is the tree's text where a hunk stands.
func standing(p *Proposal, h *Hunk) string {
	return strings.Join(linesOf(string(p.Base.Data))[h.Start:h.Start+h.Count], "")
}

func sameHunk(a, b *Hunk) bool {
	return a.State == b.State && a.Kind == b.Kind && a.Whole == b.Whole && string(a.Old) == string(b.Old) && string(a.New) == string(b.New)
}

func fitsModel(tree body, r *ruled) bool {
	lines := linesOf(tree.text)
	end := r.hunk.Start + r.hunk.Count
	ended := func(s string) bool { return s == "" || strings.HasSuffix(s, "\n") }
	return (r.hunk.Start == 0 || len(lines) < r.hunk.Start || ended(lines[r.hunk.Start-1])) && (end >= len(lines) || ended(r.text()))
}

// refused checks a refusal: it must have a reason, and nothing has happened.
func (m *model) refused(j judgement, err error, race *race) {
	if j.refuse == "" && j.busy == "" && !race.on {
		m.fail("no refusal without a reason", "%v", err)
	}
	m.nothingHappened(race)
}

func (m *model) nothingHappened(race *race) {
	for _, f := range m.files {
		clean := func(e *modelEditor) bool { // taken back it is what was saved
			b := e.bufs[f]
			return race.document[f] && b != nil && !b.dirty && b.text == race.base[f].text
		}
		if got := m.tree(f); got != race.base[f] && !slices.ContainsFunc(m.editors, clean) {
			m.fail("a refusal changes nothing", "%s: %v to %v", f.name, race.base[f], got)
		}
	}
}
