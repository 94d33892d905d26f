package diffpreview

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// check is what must be true after every step.
func (m *model) check(was, now *picture) {
	for _, f := range m.files {
		if got := m.onDisk(f); got != f.disk {
			m.fail("the disk is what people and accepts made it", "%s is\n%v, and should be\n%v", f.name, got, f.disk)
		}
		m.blur(now.trees[f].text)
		m.checkBuffers(f)
		m.landed(f, now)
	}
	var others []*Proposal // that are not what they were; a proposal is a value
	for _, id := range sortedKeys(now.shown) {
		p := now.shown[id]
		if f := m.file(p.Path); was.shown[id] == p && was.trees[f] == now.trees[f] && unsavedIDs(p) == "" {
			continue
		}
		others = append(others, p)
		m.checkProposal(p, now)
		m.checkUnmoved(was.shown[id], p, was, now)
		m.noteSince(was.shown[id], p)
	}
	for _, a := range m.agents {
		m.checkReviews(a, was, now)
		for _, f := range m.files {
			if !m.landing(a, f, now) {
				m.checkView(a, f, now)
				m.checkIntent(a, f, now)
			}
		}
	}
	for _, p := range others {
		m.checkEpoch(p, was, now)
	}
	m.published.Lock()
	defer m.published.Unlock()
	for id, p := range now.shown {
		if v, ok := m.published.version[id]; ok && v != p.Version && !m.effect.restart {
			m.fail("everybody is told of the last version", "%s is at %d, told was %d", id, p.Version, v)
		}
	}
	if m.step%50 == 0 {
		m.checkStray()
	}
}

// end is the last check of a run.
func (m *model) end() {
	m.restarts()
	after := m.look()
	m.effect = effect{restart: true}
	m.check(&m.now, &after)
	m.checkStray()
}

func (m *model) checkStray() {
	m.must(filepath.WalkDir(m.root(), func(path string, d fs.DirEntry, err error) error {
		known := slices.ContainsFunc(m.files, func(f *modelFile) bool { return filepath.Join(m.root(), f.name) == path })
		if err == nil && !d.IsDir() && !known {
			m.fail("nothing is left behind", "%s", path)
		}
		return err
	}))
}

// blur takes lines that stand in a text twice out of what the model can tell
// by a line's bytes.
func (m *model) blur(text string) {
	for _, l := range repeated(text) {
		if filler(l) || m.blurred[l] {
			continue
		}
		m.blurred[l] = true
		for _, a := range m.agents {
			for _, in := range a.intents {
				delete(in.wrote, l)
				delete(in.cut, l)
			}
		}
	}
}

// plain are the lines of s that can be told by their bytes. A last line without
// an end gets one when something comes behind it.
func (m *model) plain(s lineSet) lineSet {
	out := lineSet{}
	for l := range s {
		if !filler(l) && !m.blurred[l] && strings.HasSuffix(l, "\n") {
			out[l] = true
		}
	}
	return out
}

func (m *model) checkBuffers(f *modelFile) {
	for _, e := range m.editors {
		text, version, ok := m.store.Document(e, f.path)
		b := e.bufs[f]
		switch {
		case ok != (b != nil && e.online):
			m.fail("open buffers are known", "%s of %s: %v", f.name, e.name, ok)
		case ok && (b.text != text || b.version != version):
			m.fail("no typed byte is lost", "%s of %s is %q, the store has %q", f.name, e.name, b.text, text)
		}
	}
}

// checkProposal checks that a proposal makes sense where it stands.
func (m *model) checkProposal(p *Proposal, now *picture) {
	f := m.file(p.Path)
	tree := now.trees[f]
	if !p.Undecided() {
		return
	}
	if m.landing(m.agent(p.Session), f, now) {
		return
	}
	if got := bodyOf(p.Base); got != tree {
		m.fail("a proposal stands on the tree", "%s of %s stands on\n%v, not on\n%v", p.ID, f.name, got, tree)
	}
	end, ids, lines := 0, map[string]bool{}, linesOf(tree.text)
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if ids[h.ID] || i > 0 && h.Start < p.Hunks[i-1].Start {
			m.fail("hunks are in order", "%s", summary(p))
		}
		ids[h.ID] = true
		if h.decided() != (h.Decision != nil) {
			m.fail("who decided is known", "%s of %s", h.ID, p.ID)
		}
		if h.decided() {
			continue
		}
		if h.Start < end || h.Start+h.Count > len(lines) {
			m.fail("undecided hunks lie beside each other", "%s", summary(p))
		}
		end = h.Start + h.Count
		if h.State == HunkOpen && h.Kind == KindText && strings.Join(lines[h.Start:end], "") != string(h.Old) {
			m.fail("a hunk shows what it replaces", "%s of %s", h.ID, summary(p))
		}
		if h.State == HunkOpen && h.Kind == KindText && string(h.Old) == string(h.New) {
			m.fail("a hunk changes something", "%s of %s", h.ID, summary(p))
		}
	}
}

// checkUnmoved checks that nothing happens to a proposal for no reason.
func (m *model) checkUnmoved(was, now *Proposal, before, after *picture) {
	if was == nil || m.effect.operated[now.ID] {
		return
	}
	if was == now {
		return
	}
	f := m.file(now.Path)
	same := before.trees[f] == after.trees[f] && !m.effect.raced && unsavedIDs(was) == unsavedIDs(now) && !m.adopted(now)
	resting := m.effect.tick || was.restless || now.restless
	switch {
	case now.Version < was.Version:
		m.fail("versions grow", "%s from %d to %d", now.ID, was.Version, now.Version)
	case same && !resting && summary(was) != summary(now):
		m.fail("no change for no reason", "%s was\n%s\nand is\n%s", f.name, summary(was), summary(now))
	case !was.Undecided() && unsavedIDs(was) == "" && summary(was) != summary(now):
		m.fail("what is decided stays decided", "%s was\n%s\nand is\n%s", f.name, summary(was), summary(now))
	}
}

// adopted reports whether hunks of an older proposal may have come to p.
func (m *model) adopted(p *Proposal) bool {
	for _, q := range m.now.shown {
		if q.Session == p.Session && q.Path == p.Path && q.ID != p.ID && (q.Undecided() || unsavedIDs(q) != "") {
			return true
		}
	}
	return false
}

func unsavedIDs(p *Proposal) string {
	var ids []string
	for i := range p.Hunks {
		if p.Hunks[i].Unsaved {
			ids = append(ids, p.Hunks[i].ID)
		}
	}
	return strings.Join(ids, " ")
}

// noteSince notes from which version on each hunk is what it is now.
func (m *model) noteSince(was, now *Proposal) {
	for i := range now.Hunks {
		h := &now.Hunks[i]
		if was != nil {
			if old, ok := was.Hunk(h.ID); ok && sameHunk(&old, h) && (h.State != HunkConflict || standing(was, &old) == standing(now, h)) &&
				now.Version <= was.Version+1 {
				continue
			}
		}
		m.since[now.ID+h.ID] = now.Version
	}
}

// checkView checks that a session sees the tree with its open hunks laid over.
func (m *model) checkView(a *agent, f *modelFile, now *picture) {
	want, open := now.trees[f], ""
	for _, p := range now.of(a, f) {
		rest := undecidedRest(p, nil)
		if len(rest) > 0 && open != "" {
			m.fail("what a session has open on a file is one proposal", "%s and %s", open, p.ID)
		}
		if len(rest) > 0 {
			want, open = after(want, rest), p.ID
		}
	}
	got := now.views[a][f]
	if got != want {
		m.fail("a view is the tree with the open hunks", "%c sees %s as\n%v, not as\n%v", a.letter, f.name, got, want)
	}
	if want, ok := m.effect.views[a][f]; ok && got != want {
		m.fail("a view stays what was made of it", "%c sees %s as\n%v, not as\n%v", a.letter, f.name, got, want)
	}
	m.blur(got.text)
	for _, l := range linesOf(got.text) {
		if !filler(l) && strings.Count(l, ".") != 1 {
			m.fail("lines do not run together", "%c sees %q in %s\n%v on\n%v", a.letter, l, f.name, got, now.trees[f])
		}
	}
}

// checkIntent checks that everything an agent did and nobody decided is in its
// hunks, and nothing else is.
func (m *model) checkIntent(a *agent, f *modelFile, now *picture) {
	newOpen, oldOpen, newAll, oldAll := lineSet{}, lineSet{}, lineSet{}, lineSet{}
	for _, p := range now.of(a, f) {
		for i := range p.Hunks {
			h := &p.Hunks[i]
			if h.State == HunkOpen {
				newOpen.add(string(h.New))
				oldOpen.add(string(h.Old))
			}
			if !h.decided() || h.State == HunkAccepted && h.Decision.By == treeName {
				oldAll.add(string(h.Old))
				newAll.add(string(h.New))
			}
		}
	}
	in, tree := a.intents[f], m.plain(setOf(now.trees[f].text))
	story := func() string {
		s := fmt.Sprintf("agent %c, %s: %v", a.letter, f.name, now.trees[f])
		for _, p := range now.of(a, f) {
			s += "\n" + summary(p)
		}
		return s
	}
	if lost := m.plain(in.wrote).minus(newAll, in.loose, tree); len(lost) > 0 {
		m.fail("what an agent wrote is in its hunks", "%q is not\n%s", lost, story())
	}
	var lost []string
	for _, l := range m.plain(in.cut).minus(oldAll, in.loose) {
		if tree[l] {
			lost = append(lost, l)
		}
	}
	if len(lost) > 0 {
		m.fail("what an agent took out is in its hunks", "%q is not\n%s", lost, story())
	}
	// A diff may find a line beside filler that stands there twice moved.
	if more := m.plain(newOpen).minus(in.wrote, in.loose, tree, oldAll); len(more) > 0 {
		m.fail("an open hunk holds what its agent wrote", "%q is no more asked for\n%s", more, story())
	}
	if more := m.plain(oldOpen).minus(in.cut, in.loose, newAll); len(more) > 0 {
		m.fail("an open hunk takes out what its agent took out", "%q is to stay\n%s", more, story())
	}
}

// summary is all that can be seen of a proposal.
func summary(p *Proposal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, version %d, %s, %s on %v", p.ID, p.Session, p.Version, p.State(), p.Kind, bodyOf(p.Base))
	for i := range p.Hunks {
		h := &p.Hunks[i]
		fmt.Fprintf(&b, "\n  %s %s %s %d+%d %v -> %v since %d", h.ID, h.Kind, h.State, h.Start, h.Count, body{true, string(h.Old)}, body{true, string(h.New)}, h.Since)
		if h.Lost {
			b.WriteString(" lost")
		}
		if h.Unsaved {
			b.WriteString(" unsaved")
		}
		if h.Whole {
			b.WriteString(" whole")
		}
		if d := h.Decision; d != nil {
			fmt.Fprintf(&b, " by %s %q modified=%v", d.By, d.Comment, d.Modified)
		}
	}
	return b.String()
}
