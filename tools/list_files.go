package tools

import (
	"context"
	_ "embed"
	"fmt"
	"path"
	"strings"

	"github.com/loomd/loomd/diffpreview"
)

//go:embed list_files.md
var listFilesText string

// maxListed bounds the entries of one result, maxListedBytes what they take in
// the reply: one frame of at most 64 MiB, with room for the rest of it.
const (
	maxListed      = 100_000
	maxListedBytes = 48 << 20
)

// maxWarnings bounds the warnings of one listing; the last one says how many
// more there were.
const maxWarnings = 20

type listArgs struct {
	Path      string `json:"path,omitempty" jsonschema:"The directory: relative to the workspace's root with /, or absolute inside it."`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"List what is below its directories too."`
	MaxDepth  int    `json:"max_depth,omitempty" jsonschema:"With recursive: how many levels; 1 is the directory's own entries."`
	Limit     int    `json:"limit,omitempty" jsonschema:"The most entries to return."`
	Hidden    bool   `json:"hidden,omitempty" jsonschema:"false leaves out names that begin with a dot, and what is below them."`
}

// listedFile is one entry. Links are not followed.
type listedFile struct {
	Path  string `json:"path"`
	Size  int64  `json:"size" jsonschema:"bytes; 0 for a directory"`
	IsDir bool   `json:"is_dir"`
	Kind  string `json:"kind,omitempty" jsonschema:"link, or special for a FIFO, socket or device"`
}

// warning is something that could not be listed.
type warning struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

type listResult struct {
	Path     string       `json:"path" jsonschema:"the directory"`
	Via      string       `json:"via,omitempty" jsonschema:"the link that path went through"`
	Files    []listedFile `json:"files"`
	Ignored  int          `json:"ignored" jsonschema:"entries left out by ignore rules; an ignored directory counts once"`
	Warnings []warning    `json:"warnings" jsonschema:"what could not be listed"`
	cut
}

func listFiles() (Tool, error) {
	return build(spec[listArgs, listResult]{
		name: "list_files", text: listFilesText,
		defaults: listArgs{Path: ".", MaxDepth: 10, Limit: 1000, Hidden: true},
		bounds: bounds{
			"path": {1, maxPath}, "max_depth": {1, 100}, "limit": {1, maxListed},
		},
		annotations: Annotations{ReadOnly: true, Idempotent: true},
		call:        callListFiles,
	})
}

func callListFiles(ctx context.Context, tc *Context, args listArgs) (listResult, error) {
	depth := 1
	if args.Recursive {
		depth = args.MaxDepth
	}
	l := &listing{
		view: tc.View, recursive: args.Recursive, depth: depth, limit: args.Limit, hidden: args.Hidden,
		out: listResult{Files: []listedFile{}, Warnings: []warning{}},
	}
	var err error
	if roots := tc.View.Workspace().Roots(); len(roots) > 1 && path.Clean(args.Path) == "." {
		l.out.Path = "."
		err = l.roots(ctx, roots)
	} else {
		err = l.directory(ctx, args.Path)
	}
	if err != nil {
		return listResult{}, err
	}
	l.finish(args)
	return l.out, nil
}

// finish says what was left out.
func (l *listing) finish(args listArgs) {
	if l.warnings > len(l.out.Warnings) {
		l.out.Warnings = append(l.out.Warnings, warning{".", fmt.Sprintf("%d more warnings", l.warnings-len(l.out.Warnings))})
	}
	var next []string
	if shown := len(l.out.Files); shown < l.total {
		if shown == args.Limit && args.Limit < maxListed {
			next = append(next, fmt.Sprintf("raise limit to %d", min(l.total, maxListed)))
		}
		next = append(next, "list one of the directories by path")
	}
	if l.deeper > 0 {
		next = append(next, fmt.Sprintf("%d directories at max_depth were not entered: raise max_depth or list one of them by path", l.deeper))
	}
	if len(next) > 0 {
		l.out.cut = cut{
			Truncated: true, Shown: int64(len(l.out.Files)), Total: int64(l.total), Unit: "entries",
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
