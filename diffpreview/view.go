package diffpreview

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
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

// Name is the wire form of a path.
func (v *View) Name(p Path) string { return v.store.ws.Name(p) }

// Workspace is the tree below the view.
func (v *View) Workspace() *Workspace { return v.store.ws }

// proposal returns the session's undecided proposal at p, standing on the
// tree as it is now, or nil.
func (v *View) proposal(p Path) (*Proposal, error) {
	mine := v.store.at(p, v.session)
	if len(mine) == 0 {
		return nil, nil
	}
	return v.store.refreshed(mine[len(mine)-1].ID)
}

// Read returns the file at p whole; Exists is false where there is none. It
// fails with is_directory, not_regular_file, permission_denied or too_large
// (over [MaxEdit] bytes).
func (v *View) Read(p Path) (Content, error) {
	mine, err := v.proposal(p)
	if err != nil {
		return Content{}, err
	}
	if mine != nil && mine.Undecided() {
		return mine.Proposed(), nil
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
	// Size is the length in bytes; -1 when only reading to the end tells it.
	Size() int64
}

type bytesSource struct{ *bytes.Reader }

func (bytesSource) Close() error { return nil }

type fileSource struct {
	*os.File
	size int64
}

func (f fileSource) Size() int64 { return f.size }

// Open opens the file at p for reading parts of it. It fails with
// file_not_found, is_directory, not_regular_file or permission_denied.
func (v *View) Open(p Path) (Source, error) {
	if len(v.store.at(p, v.session)) > 0 || len(v.store.docs.unsaved(p)) > 0 {
		c, err := v.Read(p)
		if err != nil {
			return nil, err
		}
		if !c.Exists {
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
	size := info.Size()
	if size == 0 {
		size = -1 // as files of /proc say
	}
	return fileSource{f, size}, nil
}

// prefixOf is what paths below a directory begin with.
func prefixOf(dir Path) string {
	if dir.rel == "." {
		return ""
	}
	return dir.rel + "/"
}

// below returns the session's undecided proposals under a directory.
func (v *View) below(dir Path) []*Proposal {
	prefix := prefixOf(dir)
	var out []*Proposal
	for _, p := range v.store.snapshot() {
		if p.Session == v.session && p.Path.index == dir.index && strings.HasPrefix(p.Path.rel, prefix) && p.Undecided() {
			out = append(out, p)
		}
	}
	return out
}

func (v *View) hasBelow(dir Path) bool {
	return slices.ContainsFunc(v.below(dir), func(p *Proposal) bool { return p.Proposed().Exists })
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
	for _, p := range below {
		name, rest, deeper := strings.Cut(strings.TrimPrefix(p.Path.rel, prefixOf(dir)), "/")
		now := p.Proposed()
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

// Saw notes which bytes the session read or wrote last at p.
func (v *View) Saw(p Path, hash string) {
	v.store.mu.Lock()
	defer v.store.mu.Unlock()
	if sess := v.store.sessions[v.session]; sess != nil {
		if sess.seen == nil {
			sess.seen = map[Path]string{}
		}
		sess.seen[p] = hash
	}
}

// LastSeen returns what Saw noted last. A daemon that was restarted has
// forgotten it.
func (v *View) LastSeen(p Path) (hash string, ok bool) {
	v.store.mu.Lock()
	defer v.store.mu.Unlock()
	if sess := v.store.sessions[v.session]; sess != nil {
		hash, ok = sess.seen[p]
	}
	return hash, ok
}

// Propose makes the file at p in the view what change returns of it. Nobody
// else changes the file's proposal in between; the step is in the journal when
// Propose returns. change must not keep or modify what it is given; its errors
// pass through. Failures: no_change, protected_path, permission_denied (the
// tree's file could not be written), too_large, not_regular_file, and those of
// Read.
func (v *View) Propose(ctx context.Context, p Path, call Call, change func(now Content) (Content, error)) (Step, error) {
	s := v.store
	name := v.Name(p)
	if err := protect(name, p); err != nil {
		return Step{}, err
	}
	unlock := s.paths.lock(p)
	defer unlock()
	if err := s.refresh(p, false); err != nil {
		return Step{}, err
	}
	proposal, now, err := v.current(p, call)
	if err != nil {
		return Step{}, err
	}
	want, err := change(now)
	if err != nil {
		return Step{}, err
	}
	if err := v.allowed(p, proposal.Base, want); err != nil {
		return Step{}, err
	}
	if sameContent(now, want) {
		return Step{}, &Error{Code: CodeNoChange, Path: name, Message: "the edit changes nothing"}
	}
	if err := ctx.Err(); err != nil {
		return Step{}, err
	}
	if proposal.ID == "" {
		proposal.ID = s.nextProposalID()
	}
	next := proposal.step(want)
	next.Steps = append(slices.Clip(next.Steps), StepRecord{Call: call, Time: s.now().UTC()})
	if err := s.keep([]*Proposal{next}, nil); err != nil {
		return Step{}, err
	}
	v.Saw(p, want.Hash())
	step := Step{Proposal: next, Before: now, After: want}
	step.Diff, step.Lossy = RenderDiff(name, now, want)
	return step, nil
}

// current returns the session's proposal at p, a new one without an id when
// there is none, and what the view holds there.
func (v *View) current(p Path, call Call) (*Proposal, Content, error) {
	if mine := v.store.at(p, v.session); len(mine) > 0 {
		p := mine[len(mine)-1]
		return p, p.Proposed(), nil
	}
	now, err := v.store.tree(p)
	if err == nil && now.IsLink() {
		err = becameLink(v.Name(p))
	}
	if err != nil {
		return nil, Content{}, err
	}
	fresh := &Proposal{
		Session: v.session, Path: p, Name: v.Name(p), Via: call.Via,
		Base: now, Created: v.store.now().UTC(), form: formBytes,
	}
	return fresh, now, nil
}

// allowed refuses a change that could not be written if it were accepted.
func (v *View) allowed(p Path, base, want Content) error {
	name := v.Name(p)
	if len(want.Data) > MaxEdit {
		return tooLarge(name, int64(len(want.Data)))
	}
	if base.Exists && !base.Document {
		return v.store.ws.writable(p)
	}
	if want.Exists && v.hasBelow(p) {
		return failf(CodeIsDirectory, name, "is a directory")
	}
	for at := path.Dir(p.rel); at != "."; at = path.Dir(at) {
		parent := Path{p.index, at}
		if mine := v.store.at(parent, v.session); len(mine) > 0 && mine[0].Proposed().Exists {
			return failf(CodeNotRegularFile, name, "%s is a file, not a directory", v.Name(parent))
		}
		info, err := v.store.ws.root(p).Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return ioError(name, err)
		case !info.IsDir():
			return failf(CodeNotRegularFile, name, "%s is a file, not a directory", v.Name(parent))
		}
		return nil
	}
	return nil
}
