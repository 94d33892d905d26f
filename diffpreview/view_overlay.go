package diffpreview

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
)

// Overlaid is a file that the view may show otherwise than the disk has it.
type Overlaid struct {
	Path Path
	Now  Content // what the view has there; Exists is false where it has nothing
	Err  error   // Now could not be told: such a file cannot be read by a tool either
}

// Overlaid lists the files of the view that are not read from the disk: those of
// the session's undecided proposals, at their old and new places, and open
// buffers with unsaved changes. Each is brought up to date with the tree first.
// They are sorted by root and path bytes, each once.
func (v *View) Overlaid() []Overlaid {
	mine := v.undecided()
	dirty := v.store.docs.dirtyPaths()
	if len(mine) == 0 && len(dirty) == 0 {
		return nil
	}
	for _, p := range mine {
		// What goes wrong here goes wrong again, and is told, where the file is read.
		_, _ = v.store.refreshed(p.ID)
	}
	shown, gone, places := map[Path]*Proposal{}, map[Path]bool{}, map[Path]bool{}
	for _, p := range v.undecided() { // the newest of a path is what the view shows
		places[p.Path], places[p.Shown()] = true, true
		shown[p.Shown()] = p
		gone[p.Path] = gone[p.Path] || p.Path != p.Shown()
	}
	for _, p := range dirty {
		places[p] = true
	}
	out := make([]Overlaid, 0, len(places))
	for at := range places {
		o := Overlaid{Path: at}
		switch {
		case shown[at] != nil:
			o.Now = shown[at].Proposed()
		case gone[at]: // the view has the file elsewhere
		default:
			o.Now, o.Err = v.store.tree(at)
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b Overlaid) int {
		return cmp.Or(cmp.Compare(a.Path.index, b.Path.index), cmp.Compare(a.Path.rel, b.Path.rel))
	})
	return out
}

// undecided are the session's proposals that its view shows, the oldest first.
func (v *View) undecided() []*Proposal {
	return v.store.those(func(p *Proposal) bool { return p.Session == v.session && p.Undecided() })
}

// dirtyPaths are the paths of buffers with unsaved changes.
func (d *documents) dirtyPaths() []Path {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Path
	for p, docs := range d.byPath {
		if slices.ContainsFunc(docs, func(doc *document) bool { return doc.dirty }) {
			out = append(out, p)
		}
	}
	return out
}

// Place is where a path is: the index of its root in [Workspace.Roots], and the
// slash separated path from there, "." for the root itself.
func (w *Workspace) Place(p Path) (root int, rel string) { return p.index, p.rel }

// Stat is the entry at p: of a file, a directory, a link or what else is there.
// It fails with file_not_found.
func (v *View) Stat(p Path) (Entry, error) {
	shown, gone := v.overlay(p)
	entry := Entry{Name: path.Base(p.rel)}
	switch {
	case shown != nil:
		now := shown.Proposed()
		if now.Exists {
			entry.Size, entry.Mode = int64(len(now.Data)), now.Mode
			return entry, nil
		}
	case gone != nil:
	default:
		info, err := v.store.ws.root(p).Lstat(p.rel)
		if err == nil {
			entry.Size, entry.Mode, entry.IsDir = info.Size(), info.Mode(), info.IsDir()
			return entry, nil
		}
		if err := ioError(v.Name(p), err); CodeOf(err) != CodeFileNotFound {
			return Entry{}, err
		}
		if dirty := v.store.docs.unsaved(p); len(dirty) > 0 {
			entry.Size = int64(len(dirty[len(dirty)-1].text))
			return entry, nil
		}
	}
	if v.hasBelow(p) {
		entry.IsDir, entry.Mode = true, fs.ModeDir|0o777
		return entry, nil
	}
	return Entry{}, failf(CodeFileNotFound, v.Name(p), "no such file")
}
