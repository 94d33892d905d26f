package tools

import (
	"context"
	_ "embed"
	"os"
	"slices"

	"github.com/loomd/loomd/diffpreview"
)

//go:embed delete_file.md
var deleteFileText string

type deleteArgs struct {
	Path string `json:"path" jsonschema:"The file: relative to the workspace's root with /, or absolute inside it."`
}

type deleteResult struct {
	Path          string `json:"path"`
	OriginalBytes int    `json:"original_bytes" jsonschema:"size of the file in your view before"`
	proposed
}

func deleteFile() (Tool, error) {
	return build(spec[deleteArgs, deleteResult]{
		name: "delete_file", text: deleteFileText,
		bounds:      bounds{"path": {1, maxPath}},
		annotations: Annotations{Destructive: true},
		codes:       slices.Concat(ofPaths, ofChanges, []diffpreview.Code{diffpreview.CodeFileNotFound, diffpreview.CodeStale}),
		call:        callDeleteFile,
	})
}

func callDeleteFile(ctx context.Context, tc *Context, args deleteArgs) (deleteResult, error) {
	p, err := entry(tc, "path", args.Path)
	if err != nil {
		return deleteResult{}, err
	}
	name := tc.View.Name(p)
	step, err := reviewed(ctx, tc, func() (diffpreview.Step, error) {
		return tc.View.Propose(ctx, p, diffpreview.Call{ID: tc.CallID, Tool: "delete_file"},
			func(now diffpreview.Content) (diffpreview.Content, error) {
				if !now.Exists {
					return now, noSuchFile(tc, p)
				}
				return diffpreview.Content{}, unlessSeen(tc, p, now)
			})
	})
	if err != nil {
		return deleteResult{}, notWhole(err)
	}
	return deleteResult{Path: name, OriginalBytes: len(step.Before.Data), proposed: describeStep(tc, step, maxDiff)}, nil
}

// entry finds the place that a name means, where a link means the link itself.
// field is the argument that the name came in.
func entry(tc *Context, field, name string) (diffpreview.Path, error) {
	p, err := tc.View.ResolveEntry(name)
	if err == nil && os.IsPathSeparator(name[len(name)-1]) {
		f := failf(diffpreview.CodeIsDirectory, "%s names a directory", name).with("path", name)
		f.Hint = "name a file"
		return p, f.with("field", field)
	}
	return p, ofArgument(field, err)
}

// notWhole says of a directory what can be done in its place.
func notWhole(err error) error {
	if diffpreview.CodeOf(err) != diffpreview.CodeIsDirectory {
		return err
	}
	f := failureOf(err)
	f.Hint = "directories come and go with their files: list_files with recursive names them, one call takes one"
	return f
}
