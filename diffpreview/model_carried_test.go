package diffpreview

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// carried checks that a decision did what was shown to be decided, and notes
// what follows for the agent.
func (m *model) carried(f *modelFile, cur, q *Proposal, named []ruled, race *race) {
	a := m.agent(cur.Session)
	m.effect.operated[q.ID] = true
	f.overtaken(named)
	if race.fired {
		// What the tree was found to have meanwhile, nobody had to write.
		named = slices.DeleteFunc(slices.Clone(named), func(r ruled) bool {
			h, ok := q.Hunk(r.hunk.ID)
			return ok && h.decided() && h.Decision.By == treeName
		})
		m.carriedOver(f, q, named, race)
	} else {
		m.moveTree(f, after(race.base[f], named), race)
		if !race.clean[f] && !m.adopted(cur) && !m.landing(a, f, &m.now) {
			m.expectView(a, f, after(race.base[f], append(slices.Clone(named), restBeside(cur, named)...)))
		}
	}
	if got := bodyOf(q.Base); got != m.tree(f) && !race.late && !race.clean[f] && !m.landing(a, f, &m.now) {
		m.fail("the base is the tree", "%v and %v", got, m.tree(f))
	}
	for i := range named {
		r := &named[i]
		m.tell(a, q, r)
		h, ok := q.Hunk(r.hunk.ID)
		if !ok || h.State != map[bool]HunkState{true: HunkAccepted, false: HunkRejected}[r.takes()] {
			m.fail("a decided hunk is decided", "%s is %v", r.hunk.ID, h.State)
		}
		m.gaveUp(a, &r.hunk, f)
		m.gaveUp(a, &h, f) // a conflict may have grown meanwhile
		if r.takes() && (m.dirty(f) != nil || race.clean[f]) {
			u := &accepted{agent: a, proposal: q.ID, hunk: h}
			u.prev, u.next = neighbours(linesOf(string(q.Base.Data)), h.Start, h.Count)
			f.unsaved = append(f.unsaved, u)
		}
	}
}

// overtaken notes which hunks in a buffer a decision undid: it puts in what they
// took out, or takes out what they put in.
func (f *modelFile) overtaken(named []ruled) {
	for _, u := range f.unsaved {
		olds, news := setOf(string(u.hunk.Old)), setOf(string(u.hunk.New))
		for i := range named {
			r := &named[i]
			back := func(lines []string, of lineSet) bool {
				return slices.ContainsFunc(lines, func(l string) bool { return of[l] && !filler(l) })
			}
			if r.takes() && (back(linesOf(r.text()), olds) || back(linesOf(string(r.hunk.Old)), news)) {
				u.touched = true
			}
		}
	}
}

// moveTree notes what a decision made of a file. A buffer that took it has it.
func (m *model) moveTree(f *modelFile, want body, race *race) {
	if race.document[f] {
		if m.dirty(f) == nil && m.tree(f) != want {
			// The hunk led back to what the editor had saved, but the disk has
			// changed since: to the editor there is nothing unsaved any more.
			race.clean[f] = true
			return
		}
		if got := m.tree(f); got != want {
			m.fail("what was shown is what is written", "the buffer of %s is\n%v, and should be\n%v", f.name, got, want)
		}
		return
	}
	f.disk = want
	if want != race.base[f] {
		m.follow(f)
	}
}

// carriedOver is carried for a decision during which the tree moved: the hunks
// are what was shown, at the places that the answer names.
func (m *model) carriedOver(f *modelFile, q *Proposal, named []ruled, race *race) {
	if race.document[f] && m.dirty(f) == nil && race.base[f] != f.disk {
		race.clean[f] = true // it led back to what was saved
		return
	}
	got := m.tree(f)
	if m.dirty(f) == nil {
		got = m.onDisk(f)
	}
	if race.late && got == race.base[f] {
		return // somebody saved over it
	}
	was, lines := got, linesOf(got.text)
	var pieces []strip
	for _, r := range named {
		h, _ := q.Hunk(r.hunk.ID)
		if !r.takes() {
			continue
		}
		whole := h.Kind == KindCreate || h.Kind == KindDelete
		if string(h.New) != r.text() && !race.blind || !whole && strings.Join(lines[h.Start:h.Start+h.Count], "") != string(h.New) {
			m.fail("what was shown is what is written", "%s in %v", h.ID, got)
		}
		if whole {
			was = body{h.Kind == KindDelete, string(h.Old)}
			break
		}
		pieces = append(pieces, strip{h.Start, h.Count, string(h.Old)})
	}
	slices.SortStableFunc(pieces, func(a, b strip) int { return cmp.Or(a.start-b.start, a.count-b.count) })
	if len(pieces) > 0 {
		was.text = overlay(got.text, pieces)
	}
	if was != race.base[f] {
		m.fail("nothing but the hunks is written", "%s is %v, without them %v, and was %v", f.name, got, was, race.base[f])
	}
	if m.dirty(f) == nil {
		f.disk = got
	}
}

// after is a tree with what was decided in it.
func after(tree body, named []ruled) body {
	var pieces []strip
	for _, r := range inOrder(named) {
		if !r.takes() {
			continue
		}
		if r.hunk.Whole || r.hunk.Kind == KindCreate || r.hunk.Kind == KindDelete {
			if r.hunk.Kind == KindDelete {
				return body{}
			}
			return body{true, r.text()}
		}
		pieces = append(pieces, strip{r.hunk.Start, r.hunk.Count, r.text()})
	}
	return body{tree.exists, overlay(tree.text, pieces)}
}

// restBeside are the open hunks that a decision leaves open: those that would run
// into a last line without an end, or whose own line would, become conflicts.
func restBeside(p *Proposal, named []ruled) []ruled {
	runs := func(before, behind ruled) bool {
		return before.at < behind.at && before.text() != "" && !strings.HasSuffix(before.text(), "\n") && behind.text() != ""
	}
	return slices.DeleteFunc(undecidedRest(p, named), func(r ruled) bool {
		return slices.ContainsFunc(named, func(n ruled) bool { return n.takes() && (runs(n, r) || runs(r, n)) })
	})
}

// undecidedRest are the open hunks that a decision did not name, as if they
// were accepted: with them a tree is the view.
func undecidedRest(p *Proposal, named []ruled) (rest []ruled) {
	for i, h := range p.Hunks {
		if h.State == HunkOpen && !slices.ContainsFunc(named, func(r ruled) bool { return r.hunk.ID == h.ID }) {
			rest = append(rest, ruled{h, Verdict{Accept: true}, i})
		}
	}
	return rest
}

// tell notes that an agent is to hear of a decision.
func (m *model) tell(a *agent, p *Proposal, r *ruled) {
	decision := "accepted"
	switch {
	case !r.takes():
		decision = "rejected"
	case r.verdict.Text != nil && *r.verdict.Text != string(r.hunk.New):
		decision = "modified"
	}
	m.effect.expected[a] = append(m.effect.expected[a], Review{
		Proposal: p.ID, Path: filepath.ToSlash(p.Name), Hunk: r.hunk.ID, Decision: decision, Comment: r.verdict.Comment, By: "rev", Hash: p.Base.Hash(),
	})
}
