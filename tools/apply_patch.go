package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/patch"
)

//go:embed apply_patch.md
var applyPatchText string

// maxPatch bounds a patch in bytes, and maxPatchFiles the files that it may change.
const (
	maxPatch      = 4 << 20
	maxPatchFiles = 1000
)

type patchArgs struct {
	Patch string `json:"patch" jsonschema:"The patch: a unified diff, the *** Begin Patch form, or SEARCH/REPLACE blocks."`
}

type patchResult struct {
	Files []patchedFile `json:"files" jsonschema:"what was changed, in the order of the patch"`
}

type patchedFile struct {
	Path          string `json:"path" jsonschema:"where your view has the file now; of a deleted one, had it"`
	From          string `json:"from,omitempty" jsonschema:"where it was before"`
	Via           string `json:"via,omitempty" jsonschema:"the link that path went through"`
	Action        string `json:"action" jsonschema:"created, modified, deleted or moved"`
	HunksApplied  int    `json:"hunks_applied" jsonschema:"hunks of the patch"`
	OriginalBytes int    `json:"original_bytes" jsonschema:"size of the file in your view before"`
	NewBytes      int    `json:"new_bytes" jsonschema:"size of the file in your view now"`
	proposed
}

func applyPatch() (Tool, error) {
	return build(spec[patchArgs, patchResult]{
		name: "apply_patch", text: applyPatchText,
		bounds:      bounds{"patch": {1, maxPatch}},
		annotations: Annotations{Destructive: true},
		codes: slices.Concat(ofPaths, ofChanges, ofTexts, []diffpreview.Code{
			diffpreview.CodeFileNotFound, diffpreview.CodeStale, diffpreview.CodeConflict, CodeNoMatch, CodeAmbiguousMatch,
		}),
		call: callApplyPatch,
	})
}

func callApplyPatch(ctx context.Context, tc *Context, args patchArgs) (patchResult, error) {
	files, err := patch.Parse(args.Patch)
	if err != nil {
		f := badArgument("patch", "%v", err)
		f.Hint = "a patch begins with --- and +++ lines, with *** Begin Patch, or with a file's path above <<<<<<< SEARCH"
		return patchResult{}, f
	}
	if len(files) > maxPatchFiles {
		return patchResult{}, badArgument("patch", "it changes %d files, at most %d are allowed", len(files), maxPatchFiles)
	}
	patched, err := placeFiles(tc, files)
	if err != nil {
		return patchResult{}, err
	}
	changes := make([]diffpreview.Change, len(patched))
	for i, p := range patched {
		changes[i] = diffpreview.Change{Path: p.path, To: p.to, Via: p.via, Make: func(now diffpreview.Content) (diffpreview.Content, error) {
			want, err := p.make(ctx, tc, now)
			return want, inFile(p.Path, err)
		}}
	}
	steps, err := reviewedAll(ctx, tc, func() ([]diffpreview.Step, error) {
		return proposeUnseen(ctx, tc, "apply_patch", changes)
	})
	if err != nil {
		return patchResult{}, notWhole(err)
	}
	var out patchResult
	left := maxDiff
	for i, step := range steps {
		p := patched[i]
		file := patchedFile{
			Path: tc.View.Name(step.Proposal.Shown()), Via: p.via, Action: p.action(&step), HunksApplied: p.hunks(),
			OriginalBytes: len(step.Before.Data), NewBytes: len(step.After.Data), proposed: describeStep(tc, step, left),
		}
		if was := tc.View.Name(p.path); was != file.Path {
			file.From = was
		}
		left -= len(file.Diff)
		out.Files = append(out.Files, file)
	}
	return out, nil
}

// patchedFiles is what a patch does to one file; parts of it are several where the
// patch names the file again.
type patchedFiles struct {
	patch.File
	path, to diffpreview.Path
	via      string
	again    []patch.File
}

// placeFiles finds the files that a patch names.
func placeFiles(tc *Context, files []patch.File) ([]*patchedFiles, error) {
	var list []*patchedFiles
	at := map[diffpreview.Path]*patchedFiles{}
	for _, f := range files {
		p, err := placeFile(tc, f)
		if err != nil {
			return nil, err
		}
		first := at[p.path]
		switch {
		case first == nil:
			list, at[p.path] = append(list, p), p
		case f.Kind == patch.Update && f.To == "" && first.Kind == patch.Update && first.To == "" && f.Mode == 0:
			first.again = append(first.again, f)
		default:
			return nil, badArgument("patch", "line %d: %s is named a second time: all that is done to a file goes into one part of the patch", f.Line, f.Path).with("path", f.Path)
		}
	}
	return list, nil
}

func placeFile(tc *Context, f patch.File) (*patchedFiles, error) {
	p := &patchedFiles{File: f}
	var err error
	if f.Kind == patch.Delete || f.To != "" {
		p.path, err = entry(tc, "patch", f.Path)
	} else {
		p.path, p.via, err = tc.View.Workspace().Resolve(f.Path)
	}
	if err == nil && f.To != "" {
		p.to, err = entry(tc, "patch", f.To)
	}
	if err == nil && strings.HasSuffix(f.Path, "/") {
		err = failf(diffpreview.CodeIsDirectory, "%s names a directory", f.Path).with("path", f.Path)
	}
	return p, err
}

func (p *patchedFiles) hunks() int {
	n := len(p.Hunks)
	for i := range p.again {
		n += len(p.again[i].Hunks)
	}
	return n
}

func (p *patchedFiles) action(step *diffpreview.Step) string {
	switch {
	case p.To != "":
		return "moved"
	case !step.After.Exists:
		return "deleted"
	case !step.Before.Exists:
		return "created"
	}
	return "modified"
}

// make is what the patch makes of a file.
func (p *patchedFiles) make(ctx context.Context, tc *Context, now diffpreview.Content) (diffpreview.Content, error) {
	switch {
	case p.Kind == patch.Create && now.Exists:
		f := failf(diffpreview.CodeConflict, "there is a file already")
		f.Hint = "update it, or choose another path"
		return now, f
	case p.Kind == patch.Create || p.appends() && !now.Exists:
		return p.create()
	case !now.Exists:
		return now, noSuchFile(tc, p.path)
	case now.IsLink() && p.Kind == patch.Update && p.hunks() > 0:
		return now, failf(diffpreview.CodeNotRegularFile, "is a link")
	case p.Kind == patch.Delete && len(p.Hunks) == 0:
		return diffpreview.Content{}, unlessSeen(tc, p.path, now)
	case p.hunks() == 0:
		return p.withMode(now), nil
	}
	text, err := openText(now.Data)
	if err != nil {
		return now, err
	}
	text.secrets = tc.redactor()
	for _, part := range append([]patch.File{p.File}, p.again...) {
		if err := text.patch(ctx, &part); err != nil {
			return now, err
		}
	}
	if p.Kind == patch.Delete {
		if len(text.text) > 0 {
			f := failf(diffpreview.CodeStale, "the file holds more than what the patch deletes").with("hash", now.Hash())
			f.Hint = "read the file and decide again"
			return now, f
		}
		return diffpreview.Content{}, nil
	}
	now.Data, err = text.bytes(), nil
	return p.withMode(now), checkText(now.Data)
}

// appends reports whether all that is done is to put text at the end, which also
// makes the file.
func (p *patchedFiles) appends() bool {
	return p.Anywhere && len(p.Hunks) == 1 && len(p.Hunks[0].Old) == 0 && len(p.again) == 0
}

func (p *patchedFiles) create() (diffpreview.Content, error) {
	text := ""
	for _, h := range p.Hunks {
		if len(h.Old) > 0 {
			return diffpreview.Content{}, badArgument("patch", "line %d: a new file has no old lines", h.Line)
		}
		text += joined(h.New, h.NewOpen)
	}
	return p.withMode(diffpreview.Content{Exists: true, Data: []byte(text)}), checkText([]byte(text))
}

// withMode gives a file the mode that the patch names. As to git, that is about who
// may run it: those who may read it, or nobody.
func (p *patchedFiles) withMode(c diffpreview.Content) diffpreview.Content {
	switch {
	case p.Mode == 0 || c.IsLink():
	case c.Mode == 0:
		c.Mode = p.Mode
	case p.Mode&0o100 != 0:
		c.Mode |= c.Mode & 0o444 >> 2
	default:
		c.Mode &^= 0o111
	}
	return c
}

// joined is lines as text. An open one has no end.
func joined(lines []string, open bool) string {
	if len(lines) == 0 {
		return ""
	}
	text := strings.Join(lines, "\n")
	if open {
		return text
	}
	return text + "\n"
}

// hunkName is what failures call a hunk.
func hunkName(number int, h *patch.Hunk) string {
	return fmt.Sprintf("hunk %d (line %d of the patch)", number, h.Line)
}

// inHunk says in a failure which hunk it is of.
func inHunk(number int, h *patch.Hunk, err error) error {
	var f *Failure
	if errors.As(err, &f) {
		f.with("field", "patch").with("hunk", number).with("patch_line", h.Line)
	}
	return err
}
