package diffpreview

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
)

// Call names the tool call that an edit came from.
type Call struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	Via  string `json:"via,omitempty"` // the link that the agent named
}

// Step is what one call changed.
type Step struct {
	Proposal      *Proposal // after the step; withdrawn when nothing is left of it
	Before, After Content
	Diff          string // unified, of this step alone, valid UTF-8
	Rule          string // that accepted it, "" when a person is asked
	Lossy         bool   // Diff shows U+FFFD for bytes that are not UTF-8
}

// View is what a session's tools see: documents over disk, then the session's
// open proposals over both. All file I/O of tools goes through it.
type View struct {
	store   *Store
	session string
}

// View returns the view of a session.
func (s *Store) View(session string) *View { return &View{s, session} }

// Resolve finds the place that a name means; see [Workspace.Resolve].
func (v *View) Resolve(name string) (Path, error) {
	p, _, err := v.store.ws.Resolve(name)
	return p, err
}

// ResolveEntry is Resolve for a link itself; see [Workspace.ResolveEntry].
func (v *View) ResolveEntry(name string) (Path, error) { return v.store.ws.ResolveEntry(name) }

// Name is the wire form of a path.
func (v *View) Name(p Path) string { return v.store.ws.Name(p) }

// Workspace is the tree below the view.
func (v *View) Workspace() *Workspace { return v.store.ws }

// overlay is the session's undecided proposal that the view shows at p, nil for
// none. gone is one whose file the tree has at p and the view elsewhere.
func (v *View) overlay(p Path) (shown, gone *Proposal) {
	for _, mine := range v.store.thoseAt(p, func(o *Proposal) bool { return o.Session == v.session && o.Undecided() }) {
		switch p {
		case mine.Shown():
			shown = mine
		case mine.Path:
			gone = mine
		}
	}
	return shown, gone
}

// proposal is overlay on the tree as it is now.
func (v *View) proposal(p Path) (shown, gone *Proposal, err error) {
	shown, gone = v.overlay(p)
	for _, mine := range []*Proposal{shown, gone} {
		if mine == nil {
			continue
		}
		if _, err := v.store.refreshed(mine.ID); err != nil {
			return nil, nil, err
		}
	}
	if shown != nil || gone != nil {
		shown, gone = v.overlay(p)
	}
	return shown, gone, nil
}

// Read returns the file at p whole; Exists is false where there is none. It
// fails with is_directory, not_regular_file, permission_denied or too_large
// (over [MaxEdit] bytes).
func (v *View) Read(p Path) (Content, error) {
	mine, gone, err := v.proposal(p)
	switch {
	case err != nil:
		return Content{}, err
	case mine != nil && mine.Proposed().IsLink():
		return Content{}, failf(CodeNotRegularFile, v.Name(p), "is a link")
	case mine != nil:
		return mine.Proposed(), nil
	case gone != nil:
		return Content{}, nil
	}
	c, err := v.store.tree(p)
	switch {
	case err != nil:
		return Content{}, err
	case c.IsLink():
		return Content{}, becameLink(v.Name(p))
	case !c.Exists && v.hasBelow(p):
		return Content{}, failf(CodeIsDirectory, v.Name(p), "is a directory")
	}
	return c, nil
}

// Source reads parts of a file.
type Source interface {
	io.ReaderAt
	io.Closer
	// Size is the length in bytes when it was opened; -1 when only reading to the
	// end tells it.
	Size() int64
	// Changed is when the file was written last before it was opened; the zero time
	// for a text that is in memory.
	Changed() time.Time
	// Now is what the file's length in bytes is by now, and whether it was written
	// since it was opened, as far as its length and its time of change tell.
	Now() (size int64, changed bool, err error)
}

type bytesSource struct{ *bytes.Reader }

func (bytesSource) Close() error                { return nil }
func (bytesSource) Changed() time.Time          { return time.Time{} }
func (b bytesSource) Now() (int64, bool, error) { return b.Size(), false, nil }

type fileSource struct {
	*os.File
	opened fs.FileInfo
}

func (f fileSource) Size() int64 {
	if size := f.opened.Size(); size > 0 {
		return size
	}
	return -1 // as files of /proc say
}

func (f fileSource) Changed() time.Time { return f.opened.ModTime() }

func (f fileSource) Now() (int64, bool, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, ioError(f.opened.Name(), err)
	}
	return info.Size(), info.Size() != f.opened.Size() || !info.ModTime().Equal(f.opened.ModTime()), nil
}

// Open opens the file at p for reading parts of it. It fails with
// file_not_found, is_directory, not_regular_file or permission_denied.
func (v *View) Open(p Path) (Source, error) {
	if shown, gone := v.overlay(p); shown != nil || gone != nil || len(v.store.docs.unsaved(p)) > 0 {
		c, err := v.Read(p)
		switch {
		case err != nil:
			return nil, err
		case !c.Exists:
			return nil, failf(CodeFileNotFound, v.Name(p), "no such file")
		}
		return bytesSource{bytes.NewReader(c.Data)}, nil
	}
	f, info, err := v.store.ws.open(p)
	if err != nil {
		if CodeOf(err) == CodeFileNotFound && v.hasBelow(p) {
			return nil, failf(CodeIsDirectory, v.Name(p), "is a directory")
		}
		return nil, err
	}
	return fileSource{f, info}, nil
}

// prefixOf is what paths below a directory begin with.
func prefixOf(dir Path) string {
	if dir.rel == "." {
		return ""
	}
	return dir.rel + "/"
}

// overlaid is a place below a directory where the view is not the tree.
type overlaid struct {
	path Path
	now  Content
}

// below returns what the session's undecided proposals put under a directory,
// and what they take from there.
func (v *View) below(dir Path) []overlaid {
	prefix := prefixOf(dir)
	under := func(p Path) bool { return p.index == dir.index && strings.HasPrefix(p.rel, prefix) }
	var gone, shown []overlaid
	for _, p := range v.store.thoseUnder(dir, func(p *Proposal) bool {
		return p.Session == v.session && p.Undecided() && (under(p.Path) || under(p.Shown()))
	}) {
		if p.Path != p.Shown() && under(p.Path) {
			gone = append(gone, overlaid{path: p.Path})
		}
		if under(p.Shown()) {
			shown = append(shown, overlaid{p.Shown(), p.Proposed()})
		}
	}
	return append(gone, shown...)
}

func (v *View) hasBelow(dir Path) bool {
	return slices.ContainsFunc(v.below(dir), func(o overlaid) bool { return o.now.Exists })
}

// List returns the entries of a directory sorted by name bytes, with the
// session's created files and their directories, without its deleted ones.
// Links are listed, not followed.
func (v *View) List(dir Path) ([]Entry, error) {
	entries, err := v.store.ws.list(dir)
	below := v.below(dir)
	if err != nil && (CodeOf(err) != CodeFileNotFound || !v.hasBelow(dir)) {
		return nil, err
	}
	byName := map[string]Entry{}
	for _, e := range entries {
		byName[e.Name] = e
	}
	for _, o := range below {
		name, rest, deeper := strings.Cut(strings.TrimPrefix(o.path.rel, prefixOf(dir)), "/")
		now := o.now
		_, known := byName[name]
		switch {
		case !now.Exists && !deeper:
			delete(byName, name)
		case !now.Exists, deeper && known:
		case deeper && rest != "":
			byName[name] = Entry{Name: name, IsDir: true, Mode: fs.ModeDir | 0o777}
		default:
			e := byName[name]
			e.Name, e.Size = name, int64(len(now.Data))
			if now.Mode != 0 {
				e.Mode = now.Mode
			}
			byName[name] = e
		}
	}
	out := make([]Entry, 0, len(byName))
	for _, e := range byName {
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}
