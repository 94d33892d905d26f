package diffpreview

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// DocumentEdit replaces bytes [Start, End) of a document's UTF-8 text.
type DocumentEdit struct {
	Start, End int
	Text       string
}

// EditReason says what an edit of a document is, for the editor's history.
type EditReason int

// The reasons of edits. A take-back undoes an edit of a change set of which not all
// could be made.
const (
	EditAccept EditReason = iota
	EditRule
	EditUndo
	EditTakeBack
)

// DocumentOwner is an editor that has documents open.
type DocumentOwner interface {
	// ApplyEdits asks the editor to edit the document if it still has that
	// version. text is the text the edits' places refer to. It returns when the
	// editor has answered, or with an error when it refused, went away, or took
	// too long.
	ApplyEdits(ctx context.Context, path Path, version int32, text string, edits []DocumentEdit, why EditReason) error
}

// A WriteListener is a [DocumentOwner] that wants to hear when the file of one of
// its buffers was written on disk. FileWritten must not block and must not call
// the store. hash is "" when the file is gone.
type WriteListener interface {
	FileWritten(path Path, hash string)
}

// tellWritten tells the editors that have a file open that it was written.
func (s *Store) tellWritten(path Path, hash string) {
	s.docs.mu.Lock()
	docs := slices.Clone(s.docs.byPath[path])
	s.docs.mu.Unlock()
	for _, doc := range docs {
		if l, ok := doc.owner.(WriteListener); ok {
			l.FileWritten(path, hash)
		}
	}
}

// keystrokeWait is how long a refused edit waits to hear of a newer version of
// its buffer, which was sent before the refusal.
const keystrokeWait = 200 * time.Millisecond

// document is one editor's buffer of a file.
type document struct {
	owner   DocumentOwner
	version int32
	text    string // UTF-8, without a BOM
	saved   string // the text when the buffer last was what the disk has
	dirty   bool   // text is neither saved nor the disk's
}

// documents are the open buffers. A buffer with unsaved changes shadows the
// disk; a clean one does not, because an editor may show other bytes than the
// file has (a BOM left out, mixed line ends made one).
type documents struct {
	mu      sync.Mutex // guards the fields below
	byPath  map[Path][]*document
	changed chan struct{} // closed and renewed at every change
}

func newDocuments() *documents {
	return &documents{byPath: map[Path][]*document{}, changed: make(chan struct{})}
}

// update changes the buffers under the lock and wakes those who wait.
func (d *documents) update(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *documents) find(owner DocumentOwner, path Path) *document {
	for _, doc := range d.byPath[path] {
		if doc.owner == owner {
			return doc
		}
	}
	return nil
}

func (d *documents) paths() []Path {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Path, 0, len(d.byPath))
	for p := range d.byPath {
		out = append(out, p)
	}
	return out
}

// unsaved returns copies of the buffers of a path with unsaved changes, one
// per text.
func (d *documents) unsaved(path Path) []document {
	return d.buffers(path, func(doc *document) bool { return doc.dirty })
}

// buffers returns copies of the buffers of a path that fit, one per text.
func (d *documents) buffers(path Path, fit func(*document) bool) []document {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []document
	for _, doc := range d.byPath[path] {
		if fit(doc) && !slices.ContainsFunc(out, func(o document) bool { return o.text == doc.text }) {
			out = append(out, *doc)
		}
	}
	return out
}

// over lays the unsaved text of a path, the last one when there are several,
// over what is on disk.
func (d *documents) over(path Path, disk Content) (Content, error) {
	dirty := d.unsaved(path)
	if len(dirty) == 0 {
		return disk, nil
	}
	text := dirty[len(dirty)-1].text
	if disk.IsLink() { // which took the place of the buffer's file
		disk = Content{}
	}
	data, err := Encode(text, disk.Data)
	if err != nil {
		return Content{}, &Error{
			Code: CodeUnsupportedEncoding, Message: "the open buffer has unsaved text that the file's encoding cannot be told for",
			Hint: "save the file in the editor first", Err: err,
		}
	}
	return Content{Exists: true, Data: data, Mode: disk.Mode, Document: true}, nil
}

// sameText compares texts as an editor that makes line ends one would.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	one := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	return one.Replace(a) == one.Replace(b)
}

// OpenDocument takes over a buffer that an editor opened. A text that differs
// from the disk's is an unsaved change.
func (s *Store) OpenDocument(owner DocumentOwner, path Path, version int32, text string) {
	disk := s.diskText(path)
	s.docs.update(func() {
		s.docs.remove(owner, path)
		doc := &document{owner: owner, version: version, text: text, saved: disk, dirty: !sameText(text, disk)}
		s.docs.byPath[path] = append(s.docs.byPath[path], doc)
	})
	s.Stale(path)
}

// ChangeDocument gives a buffer its new text. It reports false for a buffer
// that is not open.
func (s *Store) ChangeDocument(owner DocumentOwner, path Path, version int32, text string) bool {
	disk := s.diskText(path)
	found := false
	s.docs.update(func() {
		doc := s.docs.find(owner, path)
		if doc == nil {
			return
		}
		found = true
		doc.version, doc.text = version, text
		if sameText(text, disk) { // the editor has loaded the file again
			doc.saved = text
		}
		doc.dirty = !sameText(text, doc.saved)
		// The last one to change is the one that counts: move it to the end.
		docs := s.docs.byPath[path]
		i := slices.Index(docs, doc)
		s.docs.byPath[path] = append(slices.Delete(docs, i, i+1), doc)
	})
	s.Stale(path)
	return found
}

// SaveDocument notes that a buffer's text is on disk.
func (s *Store) SaveDocument(owner DocumentOwner, path Path) {
	s.docs.update(func() {
		if doc := s.docs.find(owner, path); doc != nil {
			doc.saved, doc.dirty = doc.text, false
		}
	})
	s.Stale(path)
}

// CloseDocument forgets a buffer, saved or not.
func (s *Store) CloseDocument(owner DocumentOwner, path Path) {
	s.docs.update(func() { s.docs.remove(owner, path) })
	s.Stale(path)
}

// CloseDocuments forgets all buffers of an editor that is gone.
func (s *Store) CloseDocuments(owner DocumentOwner) {
	var paths []Path
	s.docs.update(func() {
		for path := range s.docs.byPath {
			if s.docs.find(owner, path) != nil {
				s.docs.remove(owner, path)
				paths = append(paths, path)
			}
		}
	})
	for _, path := range paths {
		s.Stale(path)
	}
}

// Document returns the text and version of an editor's open buffer.
func (s *Store) Document(owner DocumentOwner, path Path) (text string, version int32, ok bool) {
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	doc := s.docs.find(owner, path)
	if doc == nil {
		return "", 0, false
	}
	return doc.text, doc.version, true
}

func (d *documents) remove(owner DocumentOwner, path Path) {
	docs := slices.DeleteFunc(d.byPath[path], func(doc *document) bool { return doc.owner == owner })
	if len(docs) == 0 {
		delete(d.byPath, path)
		return
	}
	d.byPath[path] = docs
}

func (s *Store) diskText(path Path) string {
	disk, err := s.ws.read(path)
	if err != nil || !disk.Exists || disk.IsLink() {
		return ""
	}
	text, _ := Decode(disk.Data, Inspect(disk.Data).Encoding)
	return text
}

// editDocument carries a change of a path's unsaved text into the editor and
// waits until the buffer has moved on.
func (s *Store) editDocument(ctx context.Context, path Path, form lineForm, before, after Content, why EditReason) error {
	name := s.ws.Name(path)
	dirty := s.docs.unsaved(path)
	if len(dirty) == 0 && why == EditTakeBack { // the edit made it what is saved
		dirty = s.docs.buffers(path, func(*document) bool { return true })
	}
	if len(dirty) > 1 {
		return &Error{
			Code: CodeConflict, Path: name, Message: "is open in two editors with different unsaved changes",
			Hint: "save or revert it in one of them",
		}
	}
	if len(dirty) == 0 {
		return failf(CodeStale, name, "the buffer was saved or closed meanwhile")
	}
	if !after.Exists {
		return &Error{
			Code: CodeConflict, Path: name, Message: "has unsaved changes in an editor, which a deletion would throw away",
			Hint: "save it or close it in the editor first",
		}
	}
	doc := dirty[0]
	if now, err := Encode(doc.text, before.Data); err != nil || string(now) != string(before.Data) {
		return failf(CodeStale, name, "the buffer changed meanwhile")
	}
	edits := documentEdits(form, before.Data, after.Data)
	if err := doc.owner.ApplyEdits(ctx, path, doc.version, doc.text, edits, why); err != nil {
		if s.docs.movesSoon(ctx, doc, path) { // a keystroke came in between
			return failf(CodeStale, name, "the buffer changed meanwhile")
		}
		return &Error{Code: CodeUnavailable, Path: name, Message: "the editor did not take the change: " + err.Error(), Err: err}
	}
	return s.docs.await(ctx, doc, path)
}

// movesSoon reports whether the buffer is no longer at doc's version, or will
// not be within keystrokeWait.
func (d *documents) movesSoon(ctx context.Context, doc document, path Path) bool {
	ctx, cancel := context.WithTimeout(ctx, keystrokeWait)
	defer cancel()
	return d.await(ctx, doc, path) == nil
}

// await returns when the buffer is no longer at doc's version.
func (d *documents) await(ctx context.Context, doc document, path Path) error {
	for {
		d.mu.Lock()
		now := d.find(doc.owner, path)
		moved := now == nil || now.version != doc.version
		changed := d.changed
		d.mu.Unlock()
		if moved {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &Error{Code: CodeUnavailable, Message: "the editor took the change but did not report it", Err: ctx.Err()}
		}
	}
}

// documentEdits are the changes from before to after in a buffer's text.
func documentEdits(form lineForm, before, after []byte) []DocumentEdit {
	old, new, spans := form.diff(before, after)
	text := func(lines [][]byte) string {
		s, _ := Decode(joinLines(lines), form.encoding())
		return s
	}
	var edits []DocumentEdit
	line, at := 0, 0
	for _, span := range spans {
		at += len(text(old[line:span.OldStart]))
		end := at + len(text(old[span.OldStart:span.OldStart+span.OldLines]))
		edits = append(edits, DocumentEdit{Start: at, End: end, Text: text(new[span.NewStart : span.NewStart+span.NewLines])})
		line, at = span.OldStart+span.OldLines, end
	}
	return edits
}
