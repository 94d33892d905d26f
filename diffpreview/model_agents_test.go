package diffpreview

import (
	"context"
	"slices"
	"strings"
)

// agentEdits is a tool call of a session that changes a file.
func (m *model) agentEdits() {
	a, f := m.a, m.f
	if m.landing(a, f, &m.now) {
		return
	}
	before := m.now.views[a][f]
	want, what := m.wish(a, f, before)
	m.logf("agent %c %s %s: %v", a.letter, what, f.name, want)
	calls := 0
	step, err := m.store.View(a.id).Propose(context.Background(), f.path, Call{ID: "c", Tool: "test"}, func(now Content) (Content, error) {
		calls++
		if got := bodyOf(now); got != before {
			m.fail("the tool sees the view", "%s is %v, not %v", f.name, got, before)
		}
		now.Exists, now.Data = want.exists, []byte(want.text)
		return now, nil
	})
	switch code := CodeOf(err); {
	case err == nil && before == want, code == CodeNoChange && before != want:
		m.fail("a change is a change", "%v from %v to %v", err, before, want)
	case code == CodeNoChange:
		return
	case err != nil:
		m.fail("an agent may edit", "%s: %v", f.name, err)
	}
	if calls != 1 || bodyOf(step.Before) != before || bodyOf(step.After) != want {
		m.fail("a step is what was done", "%d calls, %v to %v", calls, bodyOf(step.Before), bodyOf(step.After))
	}
	m.effect.operated[step.Proposal.ID] = true
	m.expectView(a, f, want)
	m.blur(want.text)
	m.knows(a, f, want)
}

// wish is what an agent makes of what it sees.
func (m *model) wish(a *agent, f *modelFile, sees body) (body, string) {
	switch n := m.rng.IntN(100); {
	case !sees.exists:
		return body{true, m.lines(f, a.letter, m.rng.IntN(6))}, "creates"
	case n < 6:
		return body{}, "deletes"
	case n < 10:
		return m.now.trees[f], "takes back"
	case n < 13:
		return body{true, m.lines(f, a.letter, 1+m.rng.IntN(5))}, "rewrites"
	case n < 17:
		if text, ok := m.insists(a, f, sees.text); ok {
			return body{true, text}, "proposes again in"
		}
	case n < 27:
		if text, ok := m.overConflict(a, f, sees.text); ok {
			return body{true, text}, "writes over the conflict in"
		}
	}
	return body{true, m.changed(f, sees.text, a.letter)}, "edits"
}

// insists puts a rejected line in again.
func (m *model) insists(a *agent, f *modelFile, sees string) (string, bool) {
	has := setOf(sees, m.tree(f).text)
	for _, p := range m.now.of(a, f) {
		for i := range p.Hunks {
			h := &p.Hunks[i]
			lines := linesOf(string(h.New))
			if h.State == HunkRejected && len(lines) > 0 && !has[lines[0]] && lines[0][0] == a.letter && strings.HasSuffix(lines[0], "\n") && !m.undecided(a, f)[lines[0]] {
				at := m.rng.IntN(len(linesOf(sees)) + 1)
				if at > 0 && sees[len(sees)-1] != '\n' {
					at = 0
				}
				return overlay(sees, []strip{{at, 0, lines[0]}}), true
			}
		}
	}
	return "", false
}

// overConflict changes lines where the view shows the tree because of a
// conflict.
func (m *model) overConflict(a *agent, f *modelFile, sees string) (string, bool) {
	for _, p := range m.now.of(a, f) {
		for i := range p.Hunks {
			h := &p.Hunks[i]
			if h.State != HunkConflict || h.wholeFile() || h.Count == 0 {
				continue
			}
			line := linesOf(string(p.Base.Data))[h.Start]
			at := slices.Index(linesOf(sees), line)
			if at >= 0 && line[len(line)-1] == '\n' {
				return overlay(sees, []strip{{at, 1, m.lines(f, a.letter, 1)}}), true
			}
		}
	}
	return "", false
}

// undecided are the lines that a session's undecided hunks on a file bring.
func (m *model) undecided(a *agent, f *modelFile) lineSet {
	s := lineSet{}
	for _, p := range m.now.of(a, f) {
		for i := range p.Hunks {
			if !p.Hunks[i].decided() {
				s.add(string(p.Hunks[i].New))
			}
		}
	}
	return s
}

func (m *model) expectView(a *agent, f *modelFile, want body) {
	if m.effect.views[a] == nil {
		m.effect.views[a] = map[*modelFile]body{}
	}
	m.effect.views[a][f] = want
}

// knows makes an agent's intent what its view says, and what the conflicts say
// that are left of those there were.
func (m *model) knows(a *agent, f *modelFile, view body) {
	in := a.intents[f]
	kept, keptOld, open := lineSet{}, lineSet{}, 0
	for _, q := range m.store.those(func(p *Proposal) bool { return p.Session == a.id && p.Path == f.path }) {
		for i := range q.Hunks {
			h := &q.Hunks[i]
			if h.State == HunkConflict || h.State == HunkAccepted && h.Decision.By == treeName {
				h.asks(keptOld, kept)
			}
			if !h.decided() {
				open++
			}
		}
		m.conflictsLeft(q)
	}
	tree := m.tree(f)
	has, sees := setOf(tree.text), setOf(view.text)
	wrote, cut := setOf(), setOf()
	for _, l := range sees.minus(has) {
		wrote[l] = true
	}
	for _, l := range has.minus(sees) {
		cut[l] = true
	}
	for l := range in.wrote {
		if kept[l] {
			wrote[l] = true
		}
	}
	for l := range in.cut {
		if keptOld[l] {
			cut[l] = true
		}
	}
	in.wrote, in.cut = wrote, cut
	if open == 0 {
		clear(in.loose)
	}
	for _, l := range reordered(tree.text, view.text) {
		in.loose[l] = true
	}
	for l := range wrote {
		if has[unended(l)] {
			in.loose[l] = true
		}
	}
}

// conflictsLeft fails when an agent's step took a conflict away that it did not
// write over.
func (m *model) conflictsLeft(q *Proposal) {
	was := m.now.shown[q.ID]
	if was == nil {
		return
	}
	for i := range was.Hunks {
		h := &was.Hunks[i]
		now, ok := q.Hunk(h.ID)
		if h.State != HunkConflict || ok && now.State == HunkConflict || m.effect.raced && m.keeps(q, h) {
			continue
		}
		over := slices.ContainsFunc(q.Hunks, func(o Hunk) bool {
			before, ok := was.Hunk(o.ID)
			if ok && before.State == HunkOpen && before.Start == o.Start && sameHunk(&before, &o) {
				return false // it stood there before
			}
			return o.State == HunkOpen && (h.wholeFile() || o.wholeFile() || o.Start <= h.Start+h.Count && h.Start <= o.Start+o.Count)
		})
		if !over {
			m.fail("a conflict stays until it is written over", "%s of %s is gone", h.ID, q.ID)
		}
	}
}

// keeps reports whether all that a conflict was about is in hunks of q that nobody
// has decided, or in the tree: when the tree moves during a step, a conflict may
// become part of another one.
func (m *model) keeps(q *Proposal, h *Hunk) bool {
	olds, news, allOld, allNew := lineSet{}, lineSet{}, lineSet{}, lineSet{}
	h.asks(olds, news)
	for i := range q.Hunks {
		if o := &q.Hunks[i]; !o.decided() || o.State == HunkAccepted && o.Decision.By == treeName {
			allOld.add(string(o.Old))
			allNew.add(string(o.New))
		}
	}
	tree := setOf(string(q.Base.Data))
	gone := func(l string) bool { return !tree[l] }
	return len(m.plain(news).minus(allNew, tree)) == 0 && len(slices.DeleteFunc(m.plain(olds).minus(allOld), gone)) == 0
}

// agentListens is what every tool call ends with: the agent is told what was
// decided. The daemon may be killed before or after.
func (m *model) agentListens() {
	a := m.a
	told := m.store.Reviews(a.id)
	m.logf("agent %c is told %d things", a.letter, len(told))
	again := told
	switch {
	case m.chance(10):
		m.logf("but the daemon is killed just then")
		m.restarts()
		return
	case m.chance(20): // two calls of a session end at once
		again = m.store.Reviews(a.id)
	}
	m.must(m.store.Told(a.id, told))
	m.must(m.store.Told(a.id, again))
	for _, r := range told {
		if r.seq == 0 {
			a.told[conflict{r.Proposal, r.Hunk, r.since}] = true
		}
	}
	a.queue = nil
	if m.chance(10) {
		m.restarts()
	}
}
