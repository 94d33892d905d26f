package tools

import (
	"context"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/index"
)

//go:embed list_files.md
var listFilesText string

type listArgs struct {
	Path      string `json:"path,omitempty" jsonschema:"The directory: relative to the workspace's root with /, or absolute inside it."`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"List what is below its directories too."`
	MaxDepth  int    `json:"max_depth,omitempty" jsonschema:"Needs recursive: how many levels; 1 is the directory's own entries."`
	Limit     int    `json:"limit,omitempty" jsonschema:"The most entries to return."`
	Hidden    bool   `json:"hidden,omitempty" jsonschema:"false leaves out names that begin with a dot, and what is below them."`
}

// check refuses a depth that would not be heeded: without recursive it is 1.
func (a *listArgs) check(given func(string) bool) error {
	if a.Recursive || a.MaxDepth == 1 || !given("max_depth") {
		return nil
	}
	f := badArgument("max_depth", "needs recursive: true")
	f.Hint = "set recursive: true, or leave out max_depth"
	return f
}

type listHead struct {
	Path string `json:"path" jsonschema:"the directory"`
	Via  string `json:"via,omitempty" jsonschema:"the link that path went through"`
}

type listTail struct {
	Ignored  int       `json:"ignored" jsonschema:"entries left out by ignore rules; an ignored directory counts once"`
	Warnings []warning `json:"warnings" jsonschema:"what could not be listed"`
	cut
}

type listResult struct {
	listHead
	Files []listedFile `json:"files"`
	listTail

	rows *fileRows // instead of Files, begun with the head
}

func (r *listResult) render() *rowWriter { return r.rows.end(r.listTail) }

func listFiles() (Tool, error) {
	return build(spec[listArgs, listResult]{
		name: "list_files", text: listFilesText,
		defaults: listArgs{Path: ".", MaxDepth: 10, Limit: 1000, Hidden: true},
		bounds: bounds{
			"path": {1, maxPath}, "max_depth": {1, 100}, "limit": {1, maxListed},
		},
		annotations: Annotations{ReadOnly: true, Idempotent: true},
		codes:       slices.Concat(ofPaths, []diffpreview.Code{diffpreview.CodeFileNotFound, diffpreview.CodeNotRegularFile}),
		call:        callListFiles,
	})
}

func callListFiles(ctx context.Context, tc *Context, args listArgs) (listResult, error) {
	if args.Recursive && len(tc.Index) > 0 {
		s, err := tc.open(ctx, args.Path)
		defer s.close()
		if err == nil && len(s.parts) == 1 && s.parts[0].direct == nil && !s.parts[0].file {
			defer s.tellBuilding()()
			out, err := listIndexed(ctx, s, args)
			if err != nil || out.rows.total > 0 {
				return out, err
			}
		}
	}
	return listWalked(ctx, tc, args) // which says why there is nothing
}

// listIndexed lists what an index has, below a directory.
func listIndexed(ctx context.Context, s *scope, args listArgs) (listResult, error) {
	p := s.parts[0]
	q := index.List{Under: p.under, Depth: args.MaxDepth, Hidden: args.Hidden, Dirs: true, Overlay: p.withDirs()}
	out := listResult{rows: newFileRows(listHead{s.path, s.via}, args.Limit)}
	sum, err := p.files(ctx, s, q, out.rows)
	if err != nil {
		return listResult{}, err
	}
	deeper := 0
	if sum.Deeper > 0 { // those that are empty are of no interest
		q.Depth++
		last := ""
		_, err = p.snap.Glob(ctx, q, func(e index.Entry) bool {
			if dir := path.Dir(e.Path); dir != last && levels(p.under, dir) == args.MaxDepth {
				last = dir
				deeper++
			}
			return true
		})
	}
	out.Ignored, out.Warnings = p.snap.Ignored(p.under, args.MaxDepth), s.warned.done()
	out.finish(args, deeper)
	return out, err
}

// levels is how many levels rel lies below the directory under.
func levels(under, rel string) int {
	if rel == under {
		return 0
	}
	if under != "." {
		rel = rel[len(under)+1:]
	}
	return 1 + strings.Count(rel, "/")
}

// withDirs are the overlays of p with the directories that only they make.
func (p *part) withDirs() []index.Overlay {
	out := slices.Clone(p.listed)
	made := map[string]bool{}
	for _, o := range p.listed {
		if !o.Exists {
			continue
		}
		for dir := path.Dir(o.Path); dir != "." && dir != p.under && !made[dir]; dir = path.Dir(dir) {
			if _, ok := p.snap.Lookup(dir); ok {
				break
			}
			made[dir] = true
			out = append(out, index.Overlay{Path: dir, Exists: true, Kind: watch.Dir})
		}
	}
	slices.SortFunc(out, func(a, b index.Overlay) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// listWalked lists what the directories have.
func listWalked(ctx context.Context, tc *Context, args listArgs) (listResult, error) {
	depth := 1
	if args.Recursive {
		depth = args.MaxDepth
	}
	roots := tc.View.Workspace().Roots()
	all := len(roots) > 1 && path.Clean(args.Path) == "."
	head, at := listHead{Path: "."}, diffpreview.Path{}
	if !all {
		var err error
		if at, head.Via, err = tc.View.Workspace().Resolve(args.Path); err != nil {
			return listResult{}, ofArgument("path", err)
		}
		head.Path = tc.View.Name(at)
	}
	out := listResult{rows: newFileRows(head, args.Limit)}
	l := &listing{
		view: tc.View, recursive: args.Recursive, depth: depth, hidden: args.Hidden,
		found: func(name string, e diffpreview.Entry) bool {
			out.rows.add("", index.Entry{Path: name, Size: e.Size, Kind: kindOf(e)})
			return true
		},
	}
	var err error
	if all {
		err = l.roots(ctx, roots)
	} else {
		err = l.directory(ctx, at)
	}
	if err != nil {
		return listResult{}, err
	}
	out.Ignored, out.Warnings = l.ignored, l.warned.done()
	out.finish(args, l.deeper)
	return out, nil
}

// finish says what was left out.
func (r *listResult) finish(args listArgs, deeper int) {
	var next []string
	if r.rows.shown < r.rows.total {
		if r.rows.shown == args.Limit && args.Limit < maxListed {
			next = append(next, fmt.Sprintf("raise limit to %d", min(r.rows.total, maxListed)))
		}
		next = append(next, "list one of the directories by path")
	}
	if deeper > 0 {
		next = append(next, fmt.Sprintf("%d directories at max_depth were not entered: raise max_depth or list one of them by path", deeper))
	}
	if len(next) > 0 {
		r.cut = cut{
			Truncated: true, Shown: int64(r.rows.shown), Total: int64(r.rows.total), Unit: "entries",
			Next: strings.Join(next, ", or "),
		}
	}
}

func notListable(view *diffpreview.View, p diffpreview.Path, err error) error {
	f := failureOf(err)
	switch diffpreview.Code(f.Code) {
	case diffpreview.CodeFileNotFound:
		f.Hint = missingHint(view, p)
	case diffpreview.CodeNotRegularFile:
		f.Hint = "read_file shows a file; list_files takes a directory"
	}
	return f
}
