package diffpreview

import (
	"context"
	"errors"
	"slices"
)

// modelEditor is an editor with buffers. It does as editors do: a buffer that
// was not typed in follows the file, one that was is the person's.
type modelEditor struct {
	m      *model
	name   string
	online bool // connected to the daemon
	bufs   map[*modelFile]*buffer
	mood   string        // how it takes the next edit that it is asked for
	typing func(*buffer) // what the person types meanwhile
	fired  func()        // called when the mood showed
}

type buffer struct {
	text, saved string
	version     int32
	dirty       bool
	undo        []string
	order       int // of its last change among all buffers
}

var errEditor = errors.New("the editor says no")

func (e *modelEditor) open(f *modelFile) {
	e.bufs[f] = &buffer{text: f.disk.text, saved: f.disk.text, version: 1}
	e.report(f, true)
}

// set gives a buffer another text, as a person does by typing.
func (e *modelEditor) set(f *modelFile, text string) {
	b := e.bufs[f]
	b.undo = append(b.undo, b.text)
	if len(b.undo) > 8 {
		b.undo = b.undo[1:]
	}
	b.become(f, text)
	e.report(f, false)
}

func (b *buffer) become(f *modelFile, text string) {
	b.text = text
	b.version++
	if text == f.disk.text {
		b.saved = text
	}
	b.dirty = text != b.saved
}

// report tells the store of a buffer.
func (e *modelEditor) report(f *modelFile, opened bool) {
	b := e.bufs[f]
	e.m.order++
	b.order = e.m.order
	switch {
	case !e.online:
	case opened:
		e.m.store.OpenDocument(e, f.path, b.version, b.text)
	default:
		if !e.m.store.ChangeDocument(e, f.path, b.version, b.text) {
			e.m.fail("open buffer", "the store does not know the buffer of %s", f.name)
		}
	}
}

// reload makes a buffer without changes follow the disk.
func (e *modelEditor) reload(f *modelFile) {
	if b := e.bufs[f]; b != nil && !b.dirty && b.text != f.disk.text {
		b.saved = f.disk.text
		e.set(f, f.disk.text)
	}
}

// save writes a buffer to its file.
func (e *modelEditor) save(f *modelFile, rename, fresh bool) {
	b := e.bufs[f]
	e.m.write(f, body{true, b.text}, rename, fresh)
	b.saved, b.dirty = b.text, false
	if e.online {
		e.m.store.SaveDocument(e, f.path)
	}
	if e.m.dirty(f) == nil { // else another editor's buffer is the tree, and what is in it can still go with it
		f.unsaved = slices.DeleteFunc(f.unsaved, func(u *accepted) bool { return intact(b.text, &u.hunk) })
	}
}

func (e *modelEditor) close(f *modelFile) {
	delete(e.bufs, f)
	if e.online {
		e.m.store.CloseDocument(e, f.path)
	}
}

// vanish is the connection's end: the editor was killed, with what was in it.
func (e *modelEditor) vanish() {
	clear(e.bufs)
	e.m.store.CloseDocuments(e)
}

// connect opens all buffers at a daemon that has just started.
func (e *modelEditor) connect() {
	e.online = true
	for _, f := range e.m.files {
		b := e.bufs[f]
		if b == nil {
			continue
		}
		if !b.dirty && b.text != f.disk.text {
			b.become(f, f.disk.text)
		}
		b.saved, b.dirty = f.disk.text, b.text != f.disk.text
		e.report(f, true)
	}
}

// ApplyEdits is an accept that reaches a buffer.
func (e *modelEditor) ApplyEdits(_ context.Context, path Path, version int32, text string, edits []DocumentEdit, _ EditReason) error {
	f := e.m.file(path)
	b := e.bufs[f]
	if b == nil || b.version != version {
		return errEditor
	}
	if b.text != text {
		e.m.fail("versioned edit", "version %d of %s is %q, the store thinks %q", version, f.name, b.text, text)
	}
	mood := e.mood
	e.mood = ""
	switch mood {
	case "refuses":
		return errEditor
	case "moved on":
		e.typing(b)
		e.fired()
		return errEditor
	case "vanishes":
		e.vanish()
		e.fired()
		return errEditor
	case "vanishes after":
		b.become(f, edited(e.m, text, edits))
		e.vanish()
		e.fired()
		return errEditor
	}
	b.undo = append(b.undo, b.text)
	b.become(f, edited(e.m, text, edits))
	if mood == "late" {
		e.m.order++
		b.order = e.m.order
		v, now := b.version, b.text
		e.m.async.Go(func() { e.m.store.ChangeDocument(e, path, v, now) })
		return nil
	}
	e.report(f, false)
	return nil
}

// edited is a text with an editor's edits in it.
func edited(m *model, text string, edits []DocumentEdit) string {
	end := len(text)
	for _, d := range slices.Backward(edits) {
		if d.Start < 0 || d.Start > d.End || d.End > end {
			m.fail("edits in order", "%+v in a text of %d bytes", edits, len(text))
		}
		text = text[:d.Start] + d.Text + text[d.End:]
		end = d.Start
	}
	return text
}
