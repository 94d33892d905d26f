package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/loomd/loomd/diffpreview"
)

//go:embed edit_file.md
var editFileText string

// maxEdits bounds the list of one call. Each edit searches the whole file.
const maxEdits = 1000

type editArgs struct {
	Path         string `json:"path" jsonschema:"The file: relative to the workspace's root with /, or absolute inside it."`
	Edits        []edit `json:"edits" jsonschema:"The edits, made one after the other; all of them or none."`
	ExpectedHash string `json:"expected_hash,omitempty" jsonschema:"The hash that read_file returned. When the file has another one by now, nothing is changed and the call fails as stale."`
}

type editResult struct {
	Path          string `json:"path"`
	Via           string `json:"via,omitempty" jsonschema:"the link that path went through"`
	EditsApplied  int    `json:"edits_applied" jsonschema:"entries of edits"`
	OriginalBytes int    `json:"original_bytes" jsonschema:"size of the file in your view before"`
	NewBytes      int    `json:"new_bytes" jsonschema:"size of the file in your view now"`
	proposed
}

func editFile() (Tool, error) {
	return build(spec[editArgs, editResult]{
		name: "edit_file", text: editFileText,
		bounds:      bounds{"path": {1, maxPath}, "edits": {1, maxEdits}, "expected_hash": {64, 64}},
		annotations: Annotations{Destructive: true},
		codes:       slices.Concat(ofPaths, ofChanges, ofTexts, []diffpreview.Code{diffpreview.CodeFileNotFound, CodeNoMatch, CodeAmbiguousMatch}),
		call:        callEditFile,
	})
}

func callEditFile(ctx context.Context, tc *Context, args editArgs) (editResult, error) {
	change := func(p diffpreview.Path, now diffpreview.Content) ([]byte, error) {
		name := tc.View.Name(p)
		if args.ExpectedHash != "" && args.ExpectedHash != now.Hash() {
			return nil, stale(name, now, "%s is not the file that expected_hash names")
		}
		if !now.Exists && args.Edits[0].OldStr != "" {
			f := noSuchFile(tc, p)
			if f.Hint != "" {
				f.Hint += " "
			}
			f.Hint += "(an edit with an empty old_str creates the file)"
			return nil, f
		}
		return applyEdits(ctx, tc.redactor(), now.Data, args.Edits)
	}
	p, via, step, err := propose(ctx, tc, "edit_file", args.Path, change)
	if err != nil {
		return editResult{}, inFile(args.Path, err)
	}
	return editResult{
		Path: tc.View.Name(p), Via: via, EditsApplied: len(args.Edits),
		OriginalBytes: len(step.Before.Data), NewBytes: len(step.After.Data), proposed: describeStep(tc, step, maxDiff),
	}, nil
}

// inFile names the file in a failure that does not.
func inFile(name string, err error) error {
	var f *Failure
	if errors.As(err, &f) && f.Extra["path"] == nil {
		f.Message = fmt.Sprintf("%s: %s", name, f.Message)
		f.with("path", name)
	}
	return err
}
