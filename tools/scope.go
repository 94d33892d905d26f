package tools

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/index"
)

// scope is what one call searches: a place in one root, or every root.
type scope struct {
	tc     *Context
	path   string // as the result says it
	via    string // the link that it went through
	parts  []*part
	warned warnings
}

// part is where a call searches in one root.
type part struct {
	root    diffpreview.Root
	index   int    // of root
	prefix  string // of its paths on the wire: "", or the root's name with "/"
	under   string // relative to the root: ".", a directory, or one file
	file    bool   // it is one file
	at      diffpreview.Path
	overlay []index.Overlay // the session's own text and that of open documents, sorted by path
	listed  []index.Overlay // those that the ignore rules leave in
	snap    Snapshot
	direct  *scan // snap, when it reads the view from the disk
}

// open resolves the path of a call and takes a snapshot of each root that it
// reaches into; one of several that is missing is warned of. The caller closes the scope, also after an error.
func (tc *Context) open(ctx context.Context, name string) (*scope, error) {
	s := &scope{tc: tc, path: "."}
	ws := tc.View.Workspace()
	roots := ws.Roots()
	if len(roots) > 1 && path.Clean(name) == "." {
		var missing error
		for i, r := range roots {
			at, err := tc.View.Resolve(r.Name)
			if err != nil {
				missing = err
				s.warned.add(r.Name, failureOf(err).Message)
				continue
			}
			s.parts = append(s.parts, &part{root: r, index: i, prefix: r.Name + "/", under: ".", at: at})
		}
		if len(s.parts) == 0 {
			return s, missing
		}
		slices.SortFunc(s.parts, func(a, b *part) int { return strings.Compare(a.prefix, b.prefix) })
	} else if err := s.resolve(name); err != nil {
		return s, err
	}
	s.overlay()
	for _, p := range s.parts {
		if err := s.snapshot(ctx, p); err != nil {
			return s, err
		}
	}
	return s, nil
}

// resolve makes the one place that a name means.
func (s *scope) resolve(name string) error {
	view := s.tc.View
	at, via, err := view.Workspace().Resolve(name)
	if err != nil {
		return ofArgument("path", err)
	}
	s.path, s.via = view.Name(at), via
	root, rel := view.Workspace().Place(at)
	roots := view.Workspace().Roots()
	p := &part{root: roots[root], index: root, under: rel, at: at}
	if len(roots) > 1 {
		p.prefix = roots[root].Name + "/"
	}
	s.parts = []*part{p}
	if rel == "." {
		return nil
	}
	entry, err := view.Stat(at)
	switch {
	case diffpreview.CodeOf(err) == diffpreview.CodeFileNotFound:
		f := failureOf(err)
		f.Hint = missingHint(view, at)
		return f
	case err != nil:
		return err
	case entry.IsDir:
	case entry.Mode.Type() != 0:
		return failf(diffpreview.CodeNotRegularFile, "%s: not a regular file", s.path).with("path", s.path)
	default:
		p.file = true
	}
	return nil
}

// overlay finds where the view is not the disk.
func (s *scope) overlay() {
	for _, o := range s.tc.View.Overlaid() {
		root, rel := s.tc.View.Workspace().Place(o.Path)
		i := slices.IndexFunc(s.parts, func(p *part) bool { return p.index == root })
		if i < 0 {
			continue
		}
		p := s.parts[i]
		layer := index.Overlay{Path: rel, Exists: o.Now.Exists, Kind: watch.File, Text: o.Now.Data}
		switch code := diffpreview.CodeOf(o.Err); {
		case code == diffpreview.CodeIsDirectory || code == diffpreview.CodeNotRegularFile:
			continue // the disk has something else there, which is what the view shows
		case code != "":
			s.warned.add(p.prefix+rel, failureOf(o.Err).Message)
		case o.Now.IsLink():
			layer.Kind, layer.Text = watch.Link, nil
		}
		p.overlay = append(p.overlay, layer)
	}
}

// name is the root's name as paths begin with it, "" where there is one root.
func (p *part) name() string { return strings.TrimSuffix(p.prefix, "/") }

// within reports whether rel is dir or lies below it.
func within(rel, dir string) bool {
	return dir == "." || rel == dir || strings.HasPrefix(rel, dir+"/")
}

// changesRules reports whether the view has ignore rules of its own for what p
// reaches: then what the index lists is not what the view does.
func (p *part) changesRules() bool {
	return slices.ContainsFunc(p.overlay, func(o index.Overlay) bool {
		dir, name := path.Split(o.Path)
		dir = path.Clean(dir)
		return (name == ".gitignore" || name == ".ignore") && (within(p.under, dir) || within(dir, p.under))
	})
}

// snapshot takes the snapshot that answers for p. Where there is no index, or
// not of these rules, it is the view itself.
func (s *scope) snapshot(ctx context.Context, p *part) (err error) {
	if p.index >= len(s.tc.Index) || s.tc.Index[p.index] == nil || p.changesRules() {
		p.direct = &scan{view: s.tc.View, part: p}
		p.snap = p.direct
		return nil
	}
	if p.snap, err = s.tc.Index[p.index].Snapshot(ctx); err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.tc.Logger.Warn("Searching without the index", "root", p.root.Path, "error", err)
		p.direct = &scan{view: s.tc.View, part: p}
		p.snap = p.direct
		return nil
	}
	p.listed = s.listed(p)
	return nil
}

// listed are the overlays of p that the ignore rules leave in, below p.under.
func (s *scope) listed(p *part) []index.Overlay {
	l := &listing{view: s.tc.View}
	known := map[string]rules{}
	return slices.DeleteFunc(slices.Clone(p.overlay), func(o index.Overlay) bool {
		if !within(o.Path, p.under) {
			return true
		}
		if _, there := p.snap.Lookup(o.Path); there || !o.Exists {
			return false // what the index has no rule leaves out
		}
		return p.snap.Remember(o.Path, func() bool {
			dir := path.Dir(o.Path)
			r, ok := known[dir]
			if !ok {
				r = l.rulesIn(p.name(), dir)
				known[dir] = r
			}
			return r.leaveOut(path.Base(o.Path), false)
		})
	})
}

// warn takes over the warnings of p's snapshot.
func (s *scope) warn(p *part, told []index.Warning) {
	for _, w := range told {
		s.warned.add(path.Join(p.name(), strings.ToValidUTF8(w.Path, "\uFFFD")), w.Message)
	}
}

// close gives the snapshots back.
func (s *scope) close() {
	for _, p := range s.parts {
		if p.snap != nil {
			p.snap.Release()
		}
	}
}

// ignored reports whether the rules leave the place itself out.
func (s *scope) ignored(p *part) bool {
	if p.under == "." {
		return false
	}
	l := &listing{view: s.tc.View}
	return l.rulesIn(p.name(), path.Dir(p.under)).leaveOut(path.Base(p.under), !p.file)
}

// leaveOut reports whether an entry of the rules' directory is ignored.
func (r rules) leaveOut(name string, isDir bool) bool { return r.ignored || r.dir.Ignored(name, isDir) }

// globs makes a call's globs those of p's root; ok is false when they leave
// nothing of it.
func (s *scope) globs(p *part, field, glob string) (pattern string, ok bool, err error) {
	if err := checkGlob(field, glob); err != nil {
		return "", false, err
	}
	out, negated := strings.CutPrefix(glob, "!")
	pattern, ok, err = globFor(s.tc.View.Workspace(), p.root, field, out)
	if err != nil || !negated {
		return pattern, ok, err
	}
	if !ok { // it keeps out what is elsewhere
		return "", true, nil
	}
	return "!" + pattern, true, nil
}

// tellBuilding has the client told how far the first build of the index is,
// until the function it returns is called.
func (s *scope) tellBuilding() (stop func()) { return TellBuilding(s.tc.Index, s.tc.Progress) }
