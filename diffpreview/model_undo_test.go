package diffpreview

import (
	"context"
	"slices"
	"strings"
)

// decidesSet is a decision about all that a session has open.
func (m *model) decidesSet() {
	a := m.a
	d := DecideSet{Session: a.id, Accept: m.chance(75), Comment: m.comment(), By: "rev", SkipConflicts: m.chance(30)}
	named, busy, blocked := map[string][]ruled{}, false, 0
	var order []*Proposal
	for _, id := range sortedKeys(m.now.shown) {
		p := m.now.shown[id]
		switch {
		case p.Session != a.id || !p.Undecided():
			continue
		case d.Accept && p.State() == StateConflict:
			blocked++
			continue
		}
		order = append(order, p)
		j := m.judge(m.file(p.Path), p, p, &DecideFile{Accept: d.Accept, Comment: d.Comment})
		named[p.ID], busy = j.named, busy || j.busy != ""
	}
	if len(order)+blocked == 0 {
		return
	}
	race := m.race(m.f, !d.Accept)
	race.blind = true
	m.logf("all of agent %c accept=%v, skipping %v %s", a.letter, d.Accept, d.SkipConflicts, race.name)
	race.start()
	done, err := m.store.DecideSession(context.Background(), d)
	race.end()
	m.logf("-> %v", err)
	if err != nil {
		if (blocked == 0 || d.SkipConflicts) && !busy && !race.on {
			m.fail("no refusal without a reason", "%v", err)
		}
		m.nothingHappened(race)
		return
	}
	if !race.fired && (blocked > 0 && !d.SkipConflicts || len(done.Proposals) != len(order) || len(done.Skipped) != blocked) {
		m.fail("a change set is all of it", "%d and %d in conflict: %d decided, %d skipped", len(order), blocked, len(done.Proposals), len(done.Skipped))
	}
	m.carriedSet(order, done, named, race)
}

// carriedSet is carried for each proposal of a change set.
func (m *model) carriedSet(order []*Proposal, done SetResult, named map[string][]ruled, race *race) {
	seen := map[string]bool{}
	for _, q := range done.Proposals {
		i := slices.IndexFunc(order, func(p *Proposal) bool { return p.ID == q.ID })
		if i < 0 {
			m.fail("a change set is all of it", "%s is no part", q.ID)
		}
		if seen[q.ID] {
			m.fail("a change set is decided once", "%s", q.ID)
		}
		seen[q.ID] = true
		m.carried(m.file(q.Path), order[i], q, named[q.ID], race)
	}
	m.writtenIs(race, done.Written, m.files...)
}

// undoes opens again what was decided.
func (m *model) undoes() {
	p, f := m.somebodys(func(h *Hunk) bool { return h.decided() })
	if p == nil || m.landing(m.agent(p.Session), f, &m.now) {
		return
	}
	hunk := ""
	if h := pickOf(m, p.Hunks); m.chance(60) {
		hunk = h.ID
	}
	a := m.agent(p.Session)
	was := m.now.views[a][f]
	race := m.race(f, false)
	if race.stage > 0 {
		race = m.race(f, true) // which text is taken out where is known without one
	}
	m.logf("undo %s %s %s %s", p.ID, hunk, f.name, race.name)
	race.start()
	q, _, err := m.store.Undo(context.Background(), p.ID, hunk, "rev")
	race.end()
	m.logf("-> %v", err)
	if err != nil {
		m.nothingHappened(race)
		return
	}
	m.effect.operated[q.ID] = true
	reopened := m.reopened(a, p, hunk)
	m.takenOut(f, reopened, race)
	c, err := m.store.View(a.id).Read(f.path)
	m.must(err)
	conflict := func(h Hunk) bool { return len(h.Was) > 0 } // again; there the view shows the tree
	if view := bodyOf(c); !race.fired && !race.clean[f] && !slices.ContainsFunc(reopened, func(h Hunk) bool { return conflict(h) && h.State == HunkAccepted }) {
		if without, ok := swapped(view, was, slices.DeleteFunc(slices.Clone(reopened), conflict), HunkRejected); !ok {
			m.fail("undo brings back what was proposed", "%s: %v to %v: %v", f.name, was, view, without)
		}
	}
	f.unsaved = slices.DeleteFunc(f.unsaved, func(u *accepted) bool {
		return u.proposal == p.ID && slices.ContainsFunc(reopened, func(h Hunk) bool { return h.ID == u.hunk.ID })
	})
	m.blur(string(c.Data))
	m.knows(a, f, bodyOf(c))
	m.conflictsAgain(a, f, q, slices.DeleteFunc(reopened, func(h Hunk) bool { return !conflict(h) }))
}

// takenOut checks that hunks of f that are open again are in its tree no more, and
// notes what an undo made of that.
func (m *model) takenOut(f *modelFile, reopened []Hunk, race *race) {
	got := m.onDisk(f)
	switch {
	case !race.document[f]:
	case m.dirty(f) != nil:
		got = m.tree(f)
	case !race.fired: // as in moveTree: it led back to what was saved
		race.clean[f] = got != body{true, race.buffer.text}
		got = body{true, race.buffer.text}
	}
	if !race.fired {
		if without, ok := swapped(race.base[f], got, reopened, HunkAccepted); !ok {
			m.fail("undo takes out what was put in", "%s: %v to %v: %v", f.name, race.base[f], got, without)
		}
	}
	if m.dirty(f) == nil {
		f.disk = m.onDisk(f)
		m.follow(f)
	}
}

// conflictsAgain checks that hunks that were conflicts are again, and notes that
// their agent asks for them.
func (m *model) conflictsAgain(a *agent, f *modelFile, p *Proposal, hunks []Hunk) {
	for _, h := range hunks {
		if now, ok := p.Hunk(h.ID); ok {
			if now.State != HunkConflict {
				m.fail("what was a conflict is one again", "%s of %s", h.ID, summary(p))
			}
			now.asks(a.intents[f].cut, a.intents[f].wrote)
		}
	}
}

// reopened are the hunks of p that the agent is now told are open again, as
// they were while decided.
func (m *model) reopened(a *agent, p *Proposal, hunk string) []Hunk {
	var out []Hunk
	told := m.store.Reviews(a.id)
	for _, r := range told[min(len(told), len(a.queue)):] {
		if r.seq == 0 || r.By == treeName {
			continue
		}
		h, ok := p.Hunk(r.Hunk)
		if r.Decision != "reopened" || r.Proposal != p.ID || !ok || !h.decided() || h.Decision.By == treeName || hunk != "" && hunk != h.ID {
			m.fail("undo opens what was decided", "%+v", r)
		}
		out = append(out, h)
		m.effect.expected[a] = append(m.effect.expected[a], r)
	}
	if len(out) == 0 {
		m.fail("undo opens what was decided", "nothing")
	}
	return out
}

// swapped reports whether b is a with the old text of hunks of that state in
// the place of the new one. A line that an agent moved and a person put back by
// half stands in a file twice, so every place is tried.
func swapped(a, b body, hunks []Hunk, state HunkState) (string, bool) {
	if len(hunks) == 0 {
		return a.String() + " and " + b.String(), a == b
	}
	h, rest := hunks[0], hunks[1:]
	old, new := string(h.Old), string(h.New)
	switch {
	case h.State != state:
		return swapped(a, b, rest, state)
	case h.Kind == KindCreate:
		if !a.exists || a.text != new {
			return "created", false
		}
		return swapped(body{}, b, rest, state)
	case h.Kind == KindDelete:
		if a.exists {
			return "deleted", false
		}
		return swapped(body{true, old}, b, rest, state)
	case new == "":
		return anywhere(b.text, old, "", func(text string) (string, bool) { return swapped(a, body{b.exists, text}, rest, state) })
	}
	if !strings.Contains(a.text, new) { // a person may have put it in as well
		return "", unclear(new) || strings.Contains(b.text, new)
	}
	return anywhere(a.text, new, old, func(text string) (string, bool) { return swapped(body{a.exists, text}, b, rest, state) })
}

// anywhere calls fits with each text that has by in one of the places of what.
func anywhere(text, what, by string, fits func(string) (string, bool)) (why string, ok bool) {
	for from := 0; ; {
		at := strings.Index(text[from:], what)
		if at < 0 {
			return why, unclear(what)
		}
		at += from
		if why, ok = fits(text[:at] + by + text[at+len(what):]); ok {
			return why, true
		}
		from = at + 1
	}
}

// unclear reports whether a text has only lines that stand in a file many
// times, or an end that is none.
func unclear(text string) bool {
	for _, l := range linesOf(text) {
		if !filler(l) && strings.HasSuffix(l, "\n") {
			return false
		}
	}
	return true
}
