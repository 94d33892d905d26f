package tools

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"

	"github.com/loomd/loomd/diffpreview"
)

//go:embed write_file.md
var writeFileText string

type writeArgs struct {
	Path    string `json:"path" jsonschema:"The file: relative to the workspace's root with /, or absolute inside it."`
	Content string `json:"content" jsonschema:"The whole new text of the file."`
}

type writeResult struct {
	Path          string `json:"path"`
	Via           string `json:"via,omitempty" jsonschema:"the link that path went through"`
	Created       bool   `json:"created" jsonschema:"there was no such file in your view"`
	OriginalBytes int    `json:"original_bytes" jsonschema:"size of the file in your view before"`
	NewBytes      int    `json:"new_bytes" jsonschema:"size of the file in your view now"`
	proposed
}

func writeFile() (Tool, error) {
	return build(spec[writeArgs, writeResult]{
		name: "write_file", text: writeFileText,
		bounds:      bounds{"path": {1, maxPath}},
		annotations: Annotations{Destructive: true, Idempotent: true},
		codes:       slices.Concat(ofPaths, ofChanges, ofTexts),
		call:        callWriteFile,
	})
}

func callWriteFile(ctx context.Context, tc *Context, args writeArgs) (writeResult, error) {
	change := func(p diffpreview.Path, now diffpreview.Content) ([]byte, error) {
		data, err := rewrite(now.Data, args.Content)
		if err != nil {
			return nil, err
		}
		if now.Exists && string(data) == string(now.Data) {
			return data, nil
		}
		return data, unlessSeen(tc, p, now)
	}
	p, via, step, err := propose(ctx, tc, "write_file", args.Path, change)
	if err != nil {
		return writeResult{}, inFile(args.Path, err)
	}
	return writeResult{
		Path: tc.View.Name(p), Via: via, Created: !step.Before.Exists,
		OriginalBytes: len(step.Before.Data), NewBytes: len(step.After.Data), proposed: describeStep(tc, step, maxDiff),
	}, nil
}

// rewrite is content as the new text of a file that held old: in its encoding,
// with its byte order mark, and, when all of its lines ended in CR LF and content
// has none, with CR LF.
func rewrite(old []byte, content string) ([]byte, error) {
	info := diffpreview.Inspect(old)
	if info.Encoding == diffpreview.Binary {
		return nil, notShowable("binary data: a reviewer could not see what is replaced", "no tool here changes binary files")
	}
	if info.EOL == "crlf" && !strings.Contains(content, "\r\n") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	if info.BOM {
		content = strings.TrimPrefix(content, "\ufeff") // the file's own mark is kept
	}
	data, err := diffpreview.Encode(content, old)
	if errors.Is(err, diffpreview.ErrUnsupportedEncoding) {
		f := failf(diffpreview.CodeUnsupportedEncoding,
			"content holds a character outside ASCII, but the file is neither UTF-8 nor UTF-16").with("field", "content")
		f.Hint = "use edit_file on the ASCII parts of this file; its other bytes are kept as they are"
		return nil, f
	}
	return data, err
}
