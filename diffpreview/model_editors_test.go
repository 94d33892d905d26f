package diffpreview

import (
	"time"
)

// typist is an editor that somebody may type in: two at once in one file are
// rare.
func (m *model) typist(f *modelFile) *modelEditor {
	calm := m.chance(95)
	for _, e := range m.editors {
		if b := e.bufs[f]; b != nil && b.dirty && calm {
			return e
		}
	}
	for _, e := range append([]*modelEditor{m.e}, m.editors...) {
		if e.bufs[f] != nil {
			return e
		}
	}
	return nil
}

func (m *model) types() {
	f := m.f
	e := m.typist(f)
	if e == nil {
		e = m.e
		e.open(f)
	}
	if m.chance(90) {
		e.reload(f)
	}
	e.set(f, m.changed(f, e.bufs[f].text, 'p'))
	m.logf("%s types in %s: %v", e.name, f.name, body{true, e.bufs[f].text})
}

// buffer is a buffer of the step's file that fits, rather in the step's editor.
func (m *model) buffer(fit func(*buffer) bool) (*modelEditor, *buffer) {
	for _, e := range append([]*modelEditor{m.e}, m.editors...) {
		if b := e.bufs[m.f]; b != nil && fit(b) {
			return e, b
		}
	}
	return nil, nil
}

func (m *model) savesBuffer() {
	if e, _ := m.buffer(func(b *buffer) bool { return b.dirty }); e != nil {
		e.save(m.f, m.chance(50), m.chance(35))
		m.logf("%s saves %s: %v", e.name, m.f.name, m.f.disk)
		m.follow(m.f)
	}
}

func (m *model) undoesTyping() {
	if e, b := m.buffer(func(b *buffer) bool { return len(b.undo) > 0 }); e != nil {
		text := b.undo[len(b.undo)-1]
		e.set(m.f, text)
		b.undo = b.undo[:max(0, len(b.undo)-2)]
		m.logf("%s goes back in %s: %v", e.name, m.f.name, body{true, b.text})
	}
}

func (m *model) opens() {
	if m.e.bufs[m.f] == nil {
		m.e.open(m.f)
		m.logf("%s opens %s", m.e.name, m.f.name)
	}
}

func (m *model) closes() {
	if e, b := m.buffer(func(*buffer) bool { return true }); e != nil {
		m.logf("%s closes %s, unsaved: %v", e.name, m.f.name, b.dirty)
		e.close(m.f)
	}
}

func (m *model) reloads() {
	for _, f := range m.files {
		for _, e := range m.editors {
			e.reload(f)
		}
	}
}

func (m *model) waits() {
	m.clock.Add(int64(pickOf(m, []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, time.Hour})))
	m.effect.tick = true
	m.logf("time passes")
}

func (m *model) connects() {
	for _, e := range m.editors {
		if !e.online {
			e.connect()
			m.logf("%s is there again", e.name)
		}
	}
}

// restarts stops the engine and starts it anew; files may change meanwhile.
func (m *model) restarts() {
	before := map[string]string{}
	for id, p := range m.now.shown {
		before[id] = summary(p)
	}
	m.must(m.store.Close())
	m.must(m.ws.Close())
	m.store = nil
	away := m.chance(40)
	m.logf("the engine restarts")
	if away {
		for _, f := range []*modelFile{m.f, pickOf(m, m.files)} {
			for _, e := range m.editors {
				e.online = false
			}
			if f.disk.exists {
				b := body{true, m.changed(f, f.disk.text, 'p')}
				m.logf("meanwhile %s is saved %s: %v", f.name, m.place(f, b), b)
			}
		}
	}
	m.open()
	m.effect.restart = true
	for _, p := range m.store.snapshot() {
		if got := summary(p); got != before[p.ID] {
			m.fail("a restart changes nothing", "%s was\n%s\nand is\n%s", p.ID, before[p.ID], got)
		}
		delete(before, p.ID)
	}
	for id := range before {
		if len(m.now.shown[id].Hunks) > 0 {
			m.fail("a restart loses nothing", "%s is gone", id)
		}
	}
	for _, a := range m.agents {
		clear(a.told)
	}
	defer m.alone()()
	for _, e := range m.editors {
		if e.online = false; m.chance(80) {
			e.connect()
		} else {
			m.logf("%s is not there yet", e.name)
		}
	}
}
