package diffpreview

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// race is what may happen while a decision is carried out.
type race struct {
	m        *model
	f        *modelFile
	name     string
	on       bool // something may happen, so that a refusal has a reason
	fired    bool // it did
	late     bool // and when the change was visible already
	blind    bool // the decision is about what there is, not about what was seen
	stage    int  // at which stage of a write a person saves
	base     map[*modelFile]body
	document map[*modelFile]bool // whose tree is a buffer
	clean    map[*modelFile]bool // whose buffer is clean after it
	buffer   *buffer             // that is f's tree, if one is
}

// race draws what happens while a decision about f is carried out: mostly
// nothing.
func (m *model) race(f *modelFile, rejects bool) *race {
	r := &race{m: m, f: f, base: map[*modelFile]body{}, document: map[*modelFile]bool{}, clean: map[*modelFile]bool{}, buffer: m.dirty(f)}
	for _, g := range m.files {
		r.base[g], r.document[g] = m.tree(g), m.dirty(g) != nil
	}
	switch {
	case rejects:
	case r.document[f] && m.chance(25):
		// A refusal that no newer version explains costs the store 200 ms.
		r.name = pickOf(m, []string{"late", "late", "moved on", "moved on", "vanishes", "vanishes after"})
		if m.chance(3) {
			r.name = "refuses"
		}
		r.on = r.name != "late"
	case !r.document[f] && m.chance(15):
		r.name, r.on, r.stage = "a save meanwhile", true, 1+m.rng.IntN(14)
	}
	return r
}

func (r *race) start() {
	m := r.m
	m.inside = true
	for _, e := range m.editors {
		if b := e.bufs[r.f]; b != nil && b.dirty {
			held := []*modelFile{r.f} // what changes with the editor
			for g, other := range e.bufs {
				if r.name != "moved on" && other.dirty {
					held = append(held, g)
				}
			}
			e.mood = r.name
			e.typing = func(b *buffer) {
				e.set(r.f, m.changed(r.f, b.text, 'p'))
				m.logf("meanwhile %s types in %s: %v", e.name, r.f.name, body{true, b.text})
			}
			e.fired = func() { r.moved(held...) }
		}
	}
	if r.stage == 0 {
		return
	}
	stages := 0
	m.ws.step = func(stage string) {
		if stages++; stages == r.stage {
			r.save(stage)
		}
	}
}

// unseen are the stages of a write at which its change is not visible yet.
var unseen = []string{
	"checked", "prepare logged", "temporary file created", "temporary file written", "staged", "synced", "rechecked", "commit logged",
	"directory made",
}

func (r *race) save(stage string) {
	m := r.m
	b := body{true, m.changed(r.f, r.f.disk.text, 'p')}
	m.write(r.f, b, m.chance(50), m.chance(50))
	r.late = !slices.Contains(unseen, stage)
	m.logf("meanwhile, at %q, %s is saved: %v", stage, r.f.name, b)
	r.moved(r.f)
}

// moved notes that the trees of these files are others now.
func (r *race) moved(files ...*modelFile) {
	r.fired, r.m.effect.raced = true, true
	for _, g := range files {
		r.base[g] = r.m.tree(g)
	}
}

func (r *race) end() {
	m := r.m
	m.async.Wait()
	m.inside = false
	m.ws.step = func(string) {}
	for _, e := range m.editors {
		e.mood, e.typing, e.fired = "", nil, nil
	}
}

// onDisk is what a file holds.
func (m *model) onDisk(f *modelFile) body {
	data, err := os.ReadFile(filepath.Join(m.root(), f.name))
	if errors.Is(err, fs.ErrNotExist) {
		return body{}
	}
	m.must(err)
	return body{true, string(data)}
}
