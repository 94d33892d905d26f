package diffpreview

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// action is something that happens, weight times as often as others.
type action struct {
	weight int
	name   string
	do     func(*model)
	global bool // it may be about every file
	apart  bool // nothing of the store runs meanwhile
}

// The actions are a function because they lead back to the table.
func modelActions() []action {
	return []action{
		{26, "an agent edits", (*model).agentEdits, false, false},
		{5, "an agent's next call tells it", (*model).agentListens, true, false},
		{8, "a person saves on disk", (*model).savesOnDisk, false, true},
		{4, "a formatter runs", (*model).formats, false, true},
		{3, "a file is touched", (*model).touches, false, true},
		{2, "a branch is switched", (*model).switches, true, true},
		{2, "a person does by hand what is proposed", (*model).copies, false, true},
		{8, "a person types", (*model).types, false, true},
		{3, "a person saves a buffer", (*model).savesBuffer, false, true},
		{2, "a person undoes typing", (*model).undoesTyping, false, true},
		{2, "an editor opens a file", (*model).opens, false, true},
		{2, "an editor closes a file", (*model).closes, false, true},
		{1, "an editor reloads", (*model).reloads, true, true},
		{6, "time passes", (*model).waits, true, false},
		{2, "the engine restarts", (*model).restarts, true, false},
		{1, "an editor connects again", (*model).connects, true, true},
		{20, "a reviewer decides", (*model).decides, false, false},
		{3, "a reviewer decides a change set", (*model).decidesSet, true, false},
		{5, "a reviewer undoes", (*model).undoes, false, false},
	}
}

var actions, actionWeights = func() ([]action, int) {
	sum := 0
	for _, a := range modelActions() {
		sum += a.weight
	}
	return modelActions(), sum
}()

// act makes a step and checks what must be true after it.
func (m *model) act() {
	m.made = 0
	m.effect = effect{
		operated: map[string]bool{}, loosened: map[*modelFile]bool{}, expected: map[*agent][]Review{},
		views: map[*agent]map[*modelFile]body{},
	}
	n := m.rng.IntN(actionWeights)
	// What a step is about does not depend on the steps before, so that the
	// others can be left out.
	m.f, m.a, m.e = pickOf(m, m.files), pickOf(m, m.agents), pickOf(m, m.editors)
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			m.did[a.name]++
			if m.about = m.f; a.global {
				m.about = nil
			}
			m.do(&a)
			break
		}
	}
	after := m.look()
	m.check(&m.now, &after)
	m.now = after
}

// do makes a step. What people do is done before the store looks: it could see
// the half of it as well, but then a run could not be repeated.
func (m *model) do(a *action) {
	if a.apart {
		defer m.alone()()
	}
	a.do(m)
}

// alone keeps the store from looking at the files until what it returns is
// called.
func (m *model) alone() func() {
	var paths []Path
	for _, f := range m.files {
		paths = append(paths, f.path)
	}
	m.inside = true
	unlock := m.store.paths.lock(paths...)
	return func() {
		m.inside = false
		unlock()
	}
}

// changed is a text with one to three changes in its lines.
func (m *model) changed(f *modelFile, text string, author byte) string {
	lines := linesOf(text)
	for range 1 + m.rng.IntN(3) {
		at := m.rng.IntN(len(lines) + 1)
		n := min(1+m.rng.IntN(3), len(lines)-at)
		op := m.rng.IntN(10)
		if len(lines) > 30 {
			op = 9
		}
		switch {
		case op < 4 || n == 0:
			if at > 0 && at == len(lines) && !strings.HasSuffix(lines[at-1], "\n") {
				lines[at-1] += f.eol
			}
			lines = slices.Insert(lines, at, linesOf(m.lines(f, author, 1+m.rng.IntN(2)))...)
		case op < 7:
			lines = slices.Replace(lines, at, at+n, linesOf(m.lines(f, author, 1+m.rng.IntN(2)))...)
		case op == 7 && m.chance(30):
			last := len(lines) - 1
			if lines[last] = strings.TrimRight(lines[last], "\r\n"); lines[last] == "" {
				lines = lines[:last]
			}
		case op == 7:
			other := m.rng.IntN(len(lines))
			if strings.HasSuffix(lines[len(lines)-1], "\n") {
				lines[at], lines[other] = lines[other], lines[at]
			}
		default:
			lines = slices.Delete(lines, at, at+n)
		}
	}
	return strings.Join(lines, "")
}

// reformatted is a text with most of its lines written anew.
func (m *model) reformatted(f *modelFile, text string) string {
	share := pickOf(m, []int{10, 50, 100})
	lines := linesOf(text)
	for i := range lines {
		if m.chance(share) {
			lines[i] = m.lines(f, 'f', 1)
		}
	}
	return strings.Join(lines, "")
}

// place puts a text on disk in one of the ways in which programs save.
func (m *model) place(f *modelFile, b body) string {
	rename, fresh := m.chance(50), m.chance(35)
	m.write(f, b, rename, fresh)
	m.follow(f)
	how := "in place"
	if rename {
		how = "by a rename"
	}
	if fresh {
		how += ", just now"
	}
	return how
}

// follow lets editors see that a file changed; some see it later.
func (m *model) follow(f *modelFile) {
	for _, e := range m.editors {
		if m.chance(70) {
			e.reload(f)
		}
	}
}

func (m *model) savesOnDisk() {
	f := m.f
	switch {
	case f.disk.exists && m.chance(12):
		m.logf("%s is removed, %s", f.name, m.place(f, body{}))
	case !f.disk.exists:
		b := body{true, m.lines(f, 'p', m.rng.IntN(6))}
		m.logf("%s is made %s: %v", f.name, m.place(f, b), b)
	default:
		b := body{true, m.changed(f, f.disk.text, 'p')}
		m.logf("%s is saved %s: %v", f.name, m.place(f, b), b)
	}
}

func (m *model) formats() {
	f := m.f
	if e := m.typist(f); e != nil && m.chance(40) {
		e.set(f, m.reformatted(f, e.bufs[f].text))
		m.logf("%s formats its buffer of %s: %v", e.name, f.name, m.tree(f))
		return
	}
	if f.disk.exists {
		b := body{true, m.reformatted(f, f.disk.text)}
		m.logf("%s is formatted %s: %v", f.name, m.place(f, b), b)
	}
}

func (m *model) touches() {
	f := m.f
	m.logf("%s is saved unchanged %s", f.name, m.place(f, f.disk))
}

// branch keeps the tree as it is on disk, to come back to.
func (m *model) branch() {
	b := map[*modelFile]body{}
	for _, f := range m.files {
		b[f] = f.disk
	}
	m.branches = append(m.branches, b)
	if len(m.branches) > 3 {
		m.branches = m.branches[1:]
	}
}

func (m *model) switches() {
	to := maps.Clone(pickOf(m, m.branches))
	rng, keep := m.rng, m.chance(60)
	for i, f := range m.files {
		m.rng = rand.New(rand.NewPCG(m.seed, uint64(m.step)<<8+uint64(i)))
		switch {
		case m.chance(20):
			to[f] = f.disk
		case m.chance(20) && to[f].exists:
			to[f] = body{true, m.changed(f, to[f].text, 'p')}
		}
	}
	if keep {
		m.branch()
	}
	for i, f := range m.files {
		m.rng = rand.New(rand.NewPCG(m.seed, uint64(m.step)<<8+uint64(i)+64))
		if to[f] != f.disk || m.chance(50) {
			m.logf("the branch has %s, %s: %v", f.name, m.place(f, to[f]), to[f])
		}
	}
	m.rng = rng
}

// copies writes what an open hunk proposes, without loomd.
func (m *model) copies() {
	p, f := m.somebodys(func(h *Hunk) bool { return h.State == HunkOpen && h.Kind == KindText })
	if p == nil || m.landing(m.agent(p.Session), f, &m.now) {
		return
	}
	h := pickOf(m, p.Hunks)
	if h.State != HunkOpen || h.Kind != KindText {
		return
	}
	text := overlay(m.tree(f).text, []strip{{h.Start, h.Count, string(h.New)}})
	if e := m.typist(f); e != nil {
		if e.bufs[f].dirty || m.tree(f).text == e.bufs[f].text {
			e.set(f, text)
			m.logf("%s of %s is typed by hand in %s: %v", h.ID, p.ID, f.name, m.tree(f))
		}
		return
	}
	if m.dirty(f) == nil {
		m.logf("%s of %s is saved by hand %s: %v", h.ID, p.ID, m.place(f, body{true, text}), body{true, text})
	}
}

// somebodys is a proposal on the step's file with a hunk that fits, rather of
// the step's agent.
func (m *model) somebodys(fit func(*Hunk) bool) (*Proposal, *modelFile) {
	var found []*Proposal
	for _, a := range append([]*agent{m.a}, m.agents...) {
		for _, p := range m.now.of(a, m.f) {
			if slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return fit(&h) }) {
				found = append(found, p)
			}
		}
		if len(found) > 0 {
			return pickOf(m, found), m.f
		}
	}
	return nil, nil
}
