package tools

import (
	"context"
	_ "embed"
	"slices"

	"github.com/loomd/loomd/diffpreview"
)

//go:embed move_file.md
var moveFileText string

type moveArgs struct {
	Path string `json:"path" jsonschema:"The file: relative to the workspace's root with /, or absolute inside it."`
	To   string `json:"to" jsonschema:"Its new path, name included, in the same root. There must be nothing yet."`
}

type moveResult struct {
	Path string `json:"path" jsonschema:"where your view has the file now"`
	From string `json:"from" jsonschema:"where it was"`
	proposed
}

func moveFile() (Tool, error) {
	return build(spec[moveArgs, moveResult]{
		name: "move_file", text: moveFileText,
		bounds:      bounds{"path": {1, maxPath}, "to": {1, maxPath}},
		annotations: Annotations{Destructive: true},
		codes:       slices.Concat(ofPaths, ofChanges, []diffpreview.Code{diffpreview.CodeFileNotFound, diffpreview.CodeConflict, diffpreview.CodeDenied}),
		call:        callMoveFile,
	})
}

func callMoveFile(ctx context.Context, tc *Context, args moveArgs) (moveResult, error) {
	from, err := entry(tc, "path", args.Path)
	if err != nil {
		return moveResult{}, err
	}
	to, err := entry(tc, "to", args.To)
	if err != nil {
		return moveResult{}, err
	}
	step, err := reviewed(ctx, tc, func() (diffpreview.Step, error) {
		return tc.View.Rename(ctx, from, to, diffpreview.Call{ID: tc.CallID, Tool: "move_file"})
	})
	switch {
	case diffpreview.CodeOf(err) == diffpreview.CodeFileNotFound:
		return moveResult{}, noSuchFile(tc, from)
	case err != nil:
		return moveResult{}, notWhole(ofArgument("to", err))
	}
	return moveResult{Path: tc.View.Name(step.Proposal.Shown()), From: tc.View.Name(from), proposed: describeStep(tc, step, maxDiff)}, nil
}
