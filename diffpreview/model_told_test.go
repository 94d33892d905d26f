package diffpreview

import (
	"fmt"
	"slices"
	"strings"
)

// landed is what follows when a file's tree is no buffer any more: what was
// accepted into it and went unsaved is asked for again.
func (m *model) landed(f *modelFile, now *picture) {
	if m.dirty(f) != nil {
		f.buffer = now.trees[f].text
		for _, u := range f.unsaved {
			u.touched = u.touched || !intact(f.buffer, &u.hunk)
		}
		return
	}
	if len(f.unsaved) == 0 || slices.ContainsFunc(m.agents, func(a *agent) bool { return m.landing(a, f, now) }) {
		return
	}
	has := setOf(now.trees[f].text)
	for _, u := range f.unsaved {
		if h, _ := now.shown[u.proposal].Hunk(u.hunk.ID); wentOver(&h) {
			continue // the agent has changed its lines, and is told
		}
		undecided, in := m.asked(u.agent, f), u.agent.intents[f]
		for _, l := range linesOf(string(u.hunk.New)) {
			if undecided.new[l] {
				in.wrote[l] = true
			}
			// The agent has gone on from it and puts in what it takes out, or gives it its end.
			if in.cut[l] || undecided.new[l] && has[unended(l)] {
				in.loose[l] = true
			}
		}
		for _, l := range linesOf(string(u.hunk.Old)) {
			if undecided.old[l] {
				in.cut[l] = true
			}
			if in.wrote[l] {
				in.loose[l] = true
			}
		}
		m.stillAsked(u, f, undecided, has, now)
	}
	f.unsaved = nil
}

// wentOver reports whether a hunk went with a buffer, while its agent had
// changed its lines.
func wentOver(h *Hunk) bool { return h.State == HunkRejected && h.Decision.By == treeName }

// intact reports whether a text has an accepted hunk's lines and none of those it
// took out.
func intact(text string, h *Hunk) bool {
	has, news := setOf(text), setOf(string(h.New))
	return len(news.minus(has)) == 0 && !slices.ContainsFunc(linesOf(string(h.Old)), func(l string) bool {
		return has[l] && !news[l] && !filler(l)
	})
}

// asked is what a session's undecided hunks on a file take out and put in, and
// all that they show.
type asked struct{ old, new, allOld, allNew lineSet }

func (m *model) asked(a *agent, f *modelFile) asked {
	s := asked{lineSet{}, lineSet{}, lineSet{}, lineSet{}}
	for _, p := range m.store.those(func(p *Proposal) bool { return p.Session == a.id && p.Path == f.path }) {
		for i := range p.Hunks {
			if h := &p.Hunks[i]; !h.decided() {
				h.asks(s.old, s.new)
				s.allOld.add(string(h.Old))
				s.allNew.add(string(h.New))
			}
		}
	}
	return s
}

// stillAsked checks that an accepted hunk whose buffer went is asked for again.
func (m *model) stillAsked(u *accepted, f *modelFile, undecided asked, has lineSet, now *picture) {
	if u.touched {
		return
	}
	news, olds, over := m.plain(setOf(string(u.hunk.New))), m.plain(setOf(string(u.hunk.Old))), lineSet{}
	for _, h := range now.shown[u.proposal].Hunks {
		if wentOver(&h) { // the line may have come to it
			over.add(string(h.Old))
			over.add(string(h.New))
		}
	}
	for _, l := range news.minus(has, over, olds) { // what is in both was there, and has gone with the buffer
		if !undecided.allNew[l] {
			m.fail("no accepted hunk is lost", "%s of %s: %q is neither in %s nor asked for\n%s", u.hunk.ID, u.proposal, l, f.name, summary(now.shown[u.proposal]))
		}
	}
	lines := linesOf(now.trees[f].text)
	for at, l := range lines {
		prev, next := neighbours(lines, at, 1)
		back := olds[l] && (prev == u.prev || next == u.next) // not put somewhere else by a person
		moved := u.agent.intents[f].loose[l]                  // its agent wants it elsewhere: the others may move around it
		if back && !news[l] && !over[l] && !moved && !undecided.allOld[l] {
			m.fail("no accepted hunk is lost", "%s of %s: %q is in %s and nobody is asked\n%s", u.hunk.ID, u.proposal, l, f.name, summary(now.shown[u.proposal]))
		}
	}
}

// checkReviews checks that an agent is told each decision once and in order.
func (m *model) checkReviews(a *agent, was, now *picture) {
	all := m.store.Reviews(a.id)
	at := slices.IndexFunc(all, func(r Review) bool { return r.seq == 0 })
	if at < 0 {
		at = len(all)
	}
	decisions, conflicts := all[:at], all[at:]
	if len(decisions) < len(a.queue) {
		m.fail("each decision is told", "%c is told %+v, and not %+v", a.letter, decisions, a.queue)
	}
	for i, r := range a.queue {
		if told(r) != told(decisions[i]) {
			m.fail("decisions are told in order", "%c is told %+v, and not %+v", a.letter, decisions, a.queue)
		}
	}
	expected := slices.Clone(m.effect.expected[a])
	settled := map[string]int{}
	for _, r := range decisions[len(a.queue):] {
		if i := slices.IndexFunc(expected, func(e Review) bool { return told(e) == told(r) }); i >= 0 {
			expected = slices.Delete(expected, i, i+1)
			continue
		}
		if r.By != treeName || now.shown[r.Proposal] == nil {
			m.fail("nothing else is told", "%c is told %+v, still to be told is %+v", a.letter, r, expected)
		}
		settled[r.Proposal+r.Hunk]++
	}
	if len(expected) > 0 {
		m.fail("each decision is told", "%c is not told %+v", a.letter, expected)
	}
	m.checkSettled(a, settled, was, now)
	m.checkConflicts(a, conflicts, now)
	a.queue = slices.Clone(decisions)
}

// told is a review as its agent sees it.
func told(r Review) string {
	return fmt.Sprintf("%s %s %s %s %q %s %.8s", r.Proposal, r.Path, r.Hunk, r.Decision, r.Comment, r.By, r.Hash)
}

// checkSettled checks that an agent is told of the hunks that the tree took.
func (m *model) checkSettled(a *agent, settled map[string]int, was, now *picture) {
	for id, p := range now.shown {
		if p.Session != a.id || was.shown[id] == p {
			continue
		}
		for i := range p.Hunks {
			h := &p.Hunks[i]
			if !h.decided() || h.Decision.By != treeName {
				continue
			}
			before := Hunk{}
			if q := was.shown[id]; q != nil {
				before, _ = q.Hunk(h.ID)
			}
			n := settled[id+h.ID]
			switch {
			case before.State == h.State && n > 0 && !m.effect.operated[id] && !m.effect.raced:
				m.fail("what the tree took is told once", "%s of %s is told again; it was\n%s\nand is\n%s", h.ID, id, summary(was.shown[id]), summary(p))
			case before.State != h.State && n != 1 && (n == 0 || !m.effect.raced):
				m.fail("what the tree took is told once", "%s is told %d times of\n%s", h.ID, n, summary(p))
			case before.State != h.State && h.State == HunkRejected: // its agent had changed its lines
				m.gaveUp(a, h, m.file(p.Path))
			}
		}
	}
}

// gaveUp notes that a hunk of an agent is no more asked for. Another one may ask
// for the same lines, when a closed buffer brought it back.
func (m *model) gaveUp(a *agent, h *Hunk, f *modelFile) {
	others, in := m.asked(a, f), a.intents[f]
	for _, l := range linesOf(string(h.New)) {
		if !others.new[l] {
			delete(in.wrote, l)
		}
	}
	for _, l := range linesOf(string(h.Old)) {
		if !others.old[l] {
			delete(in.cut, l)
		}
	}
}

// checkConflicts checks that an agent is told of the conflicts that it does not
// know, but of none that may be a file caught half written.
func (m *model) checkConflicts(a *agent, got []Review, now *picture) {
	var want, have []string
	for id, p := range now.shown {
		for i := range p.Hunks {
			h := &p.Hunks[i]
			if p.Session == a.id && !p.restless && h.State == HunkConflict && !a.told[conflict{id, h.ID, h.Since}] {
				want = append(want, fmt.Sprintf("%s %s %d", id, h.ID, h.Since))
			}
		}
	}
	for _, r := range got {
		have = append(have, fmt.Sprintf("%s %s %d", r.Proposal, r.Hunk, r.since))
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		m.fail("conflicts are told", "%c is told %v, and not %v", a.letter, have, want)
	}
}

// epoch is a proposal as its agent or a reviewer left it last. Until they touch
// it again, what becomes of it follows from the tree alone.
type epoch struct {
	tree  body
	p     *Proposal
	known map[string]string // what became of it, by the tree's text
}

// checkEpoch checks what the tree's changes did to a proposal.
func (m *model) checkEpoch(p *Proposal, was, now *picture) {
	f := m.file(p.Path)
	before := was.shown[p.ID]
	tree := now.trees[f]
	e := m.epochs[p.ID]
	switch {
	case m.effect.operated[p.ID] && m.effect.raced:
		delete(m.epochs, p.ID) // it was left on a tree that nobody saw
		return
	case m.effect.operated[p.ID] || before == nil:
		m.epochs[p.ID] = &epoch{tree, p, map[string]string{}}
		e = m.epochs[p.ID]
	case unsavedIDs(before) != unsavedIDs(p) || m.adopted(p):
		delete(m.epochs, p.ID)
		return
	}
	if e == nil || !p.Undecided() || m.landing(m.agent(p.Session), f, now) {
		return
	}
	if !p.restless {
		shown := hunksOnly(p)
		if known, ok := e.known[tree.String()+tree.text]; ok && known != shown {
			m.fail("what was visited leaves nothing behind", "%s on %v was\n%s\nand is\n%s", p.ID, tree, known, shown)
		}
		e.known[tree.String()+tree.text] = shown
	}
	if tree == e.tree || !tree.exists || !e.tree.exists {
		return
	}
	for i := range e.p.Hunks {
		h := &e.p.Hunks[i]
		if h.State == HunkOpen && h.Kind == KindText {
			m.checkPlace(e, h, p, tree)
		}
	}
}

func hunksOnly(p *Proposal) string {
	var out []string
	for i := range p.Hunks {
		h := &p.Hunks[i]
		out = append(out, fmt.Sprintf("%s %s %s %d+%d %q %q %v %v", h.ID, h.Kind, h.State, h.Start, h.Count, h.Old, h.New, h.Whole, h.Lost))
	}
	return strings.Join(out, "\n")
}

// checkPlace checks that an open hunk stands where it stood: beside a line that
// it stood beside. And that it is not in conflict when nobody came near.
func (m *model) checkPlace(e *epoch, h *Hunk, p *Proposal, tree body) {
	old, lines := linesOf(e.tree.text), linesOf(tree.text)
	prev, next := neighbours(old, h.Start, h.Count)
	now, ok := p.Hunk(h.ID)
	if ok && now.State == HunkOpen && h.Count == 0 && string(now.New) == string(h.New) {
		nowPrev, nowNext := neighbours(lines, now.Start, now.Count)
		if prev != nowPrev && next != nowNext {
			m.fail("a hunk stays in its place", "%s of %s stood in\n%v\nand stands in\n%v", h.ID, p.ID, e.tree, tree)
		}
	}
	if !comparableLines(e.tree.text, tree.text) || !strings.HasSuffix(string(h.New), "\n") && h.New != nil {
		return
	}
	from := max(0, h.Start-1)
	around := old[from:min(len(old), h.Start+h.Count+1)]
	for at := range lines {
		if at+len(around) > len(lines) || !slices.Equal(lines[at:at+len(around)], around) {
			continue
		}
		edge := (h.Start > 0 || at == 0) && (h.Start+h.Count < len(old) || at+len(around) == len(lines))
		if edge && (!ok || now.State != HunkOpen) {
			m.fail("no conflict without a reason", "%s of\n%s\nwas in\n%v", h.ID, summary(p), e.tree)
		}
	}
}

// neighbours are the lines beside a range; the ends of the file are none.
func neighbours(lines []string, start, count int) (prev, next string) {
	if start > 0 {
		prev = lines[start-1]
	}
	if start+count < len(lines) {
		next = lines[start+count]
	}
	return prev, next
}
