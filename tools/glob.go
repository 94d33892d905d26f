package tools

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch/index"
)

//go:embed glob.md
var globText string

type globArgs struct {
	Pattern string `json:"pattern" jsonschema:"The pattern, matched against paths relative to the workspace's root."`
	Path    string `json:"path,omitempty" jsonschema:"The directory to look in: relative to the workspace's root with /, or absolute inside it."`
	Limit   int    `json:"limit,omitempty" jsonschema:"The most files to return."`
	Hidden  bool   `json:"hidden,omitempty" jsonschema:"false leaves out names that begin with a dot, and what is below them."`
}

type globTail struct {
	Hint       string    `json:"hint,omitempty" jsonschema:"when nothing was found: what may have been meant"`
	Ignored    int       `json:"ignored" jsonschema:"entries left out by ignore rules; an ignored directory counts once"`
	Generation uint64    `json:"generation,omitempty" jsonschema:"of the index that answered; absent when the disk was read"`
	Warnings   []warning `json:"warnings" jsonschema:"what could not be listed"`
	cut
}

type globResult struct {
	Path  string       `json:"path" jsonschema:"where it was looked"`
	Via   string       `json:"via,omitempty" jsonschema:"the link that path went through"`
	Files []listedFile `json:"files"`
	globTail

	rows *fileRows // instead of Files, begun with what stands before them
}

func (r *globResult) render() *rowWriter { return r.rows.end(r.globTail) }

func glob() (Tool, error) {
	return build(spec[globArgs, globResult]{
		name: "glob", text: globText,
		defaults:    globArgs{Path: ".", Limit: 1000, Hidden: true},
		bounds:      bounds{"pattern": {1, maxGlob}, "path": {1, maxPath}, "limit": {1, maxListed}},
		annotations: Annotations{ReadOnly: true, Idempotent: true},
		codes:       slices.Concat(ofPaths, []diffpreview.Code{diffpreview.CodeFileNotFound, diffpreview.CodeNotRegularFile}),
		call:        callGlob,
	})
}

func callGlob(ctx context.Context, tc *Context, args globArgs) (globResult, error) {
	s, err := tc.open(ctx, args.Path)
	defer s.close()
	if err != nil {
		return globResult{}, err
	}
	defer s.tellBuilding()()
	out := globResult{rows: newFileRows(listHead{s.path, s.via}, args.Limit)}
	for _, p := range s.parts {
		pattern, ok, err := s.globs(p, "pattern", args.Pattern)
		if err != nil {
			return globResult{}, err
		}
		if !ok {
			continue
		}
		q := index.List{Under: p.under, Patterns: []string{pattern}, Hidden: args.Hidden, Overlay: p.listed}
		sum, err := p.files(ctx, s, q, out.rows)
		if err != nil {
			return globResult{}, err
		}
		out.Ignored += p.snap.Ignored(p.under, 0)
		out.Generation += sum.Generation
	}
	out.finish(s, args)
	if brackets := bracketsAsTheyAre(args.Pattern); out.rows.total == 0 && brackets != "" && s.hasFile(ctx, brackets, args.Hidden) {
		out.Hint = fmt.Sprintf("[ ] stand for one character of those between them: did you mean %s, where they are part of the name?", short(brackets))
	}
	return out, nil
}

// bracketsAsTheyAre is a pattern in which classes are names with brackets, such as
// those of routes; "" when it has none.
func bracketsAsTheyAre(pattern string) string {
	if !strings.Contains(pattern, "[") || strings.Contains(pattern, `\`) {
		return ""
	}
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(pattern)
}

// hasFile reports whether a pattern finds anything.
func (s *scope) hasFile(ctx context.Context, pattern string, hidden bool) bool {
	found := false
	for _, p := range s.parts {
		pattern, ok, err := s.globs(p, "pattern", pattern)
		if err != nil || !ok || found {
			continue
		}
		q := index.List{Under: p.under, Patterns: []string{pattern}, Hidden: hidden, Overlay: p.listed}
		_, err = p.snap.Glob(ctx, q, func(index.Entry) bool { found = true; return false })
		found = found && err == nil
	}
	return found
}

// files adds the entries of one root to rows.
func (p *part) files(ctx context.Context, s *scope, q index.List, rows *fileRows) (index.Listed, error) {
	before := rows.total
	sum, err := p.snap.Glob(ctx, q, func(f index.Entry) bool {
		if !f.Plain && !validName(f.Path) {
			s.warned.add(p.prefix+strings.ToValidUTF8(f.Path, "\uFFFD"), notUTF8)
			return true
		}
		rows.add(p.prefix, f)
		return true
	})
	if err != nil {
		return sum, err
	}
	s.warn(p, p.snap.Unread(p.under))
	if rows.total == before && p.direct == nil && !p.file && s.ignored(p) {
		s.warned.add(s.path, ignoredItself)
	}
	return sum, nil
}

// finish says what was left out.
func (r *globResult) finish(s *scope, args globArgs) {
	r.Warnings = s.warned.done()
	if r.rows.total == 0 && s.path != "." && strings.Contains(args.Pattern, "/") {
		r.Hint = fmt.Sprintf("patterns count from the workspace's root: did you mean %s?", short(s.path+"/"+strings.TrimPrefix(args.Pattern, "./")))
	}
	if r.rows.shown == r.rows.total {
		return
	}
	next := "narrow the pattern or the path"
	if r.rows.shown == args.Limit && args.Limit < maxListed {
		next = fmt.Sprintf("raise limit to %d, or %s", min(r.rows.total, maxListed), next)
	}
	r.cut = cut{Truncated: true, Shown: int64(r.rows.shown), Total: int64(r.rows.total), Unit: "files", Next: next}
}
