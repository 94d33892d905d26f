package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch/index"
	"github.com/loomd/loomd/watch/match"
)

//go:embed grep.md
var grepText string

const (
	// maxMatches bounds the rows of one result; what they take is bounded by
	// maxRowBytes, which is reached first where lines are long.
	maxMatches = 1_000_000

	// maxPattern bounds a pattern in characters.
	maxPattern = 16_384

	// maxLine is how much of a line is shown, in bytes: enough for what people
	// write, and little of what programs do.
	maxLine = 1000

	// maxContext bounds the lines of context before and after a match.
	maxContext = 100

	// searchTime bounds one search. A search of a gigabyte on a cold disk takes
	// a few seconds.
	searchTime = time.Minute
)

type grepArgs struct {
	Pattern   string `json:"pattern" jsonschema:"A regular expression in RE2's dialect, or with fixed a plain string."`
	Path      string `json:"path,omitempty" jsonschema:"The directory or file to search: relative to the workspace's root with /, or absolute inside it."`
	Glob      string `json:"glob,omitempty" jsonschema:"Only files whose path from the workspace's root fits this pattern; with ! in front only those that do not."`
	Type      string `json:"type,omitempty" jsonschema:"Only files of this type: go, py, js, ts, rust, java, c, cpp, md, yaml and so on."`
	Mode      string `json:"mode,omitempty" jsonschema:"content: the lines; files: the paths; count: paths with the number of lines."`
	Limit     int    `json:"limit,omitempty" jsonschema:"The most matching lines, or files, to return."`
	Offset    int    `json:"offset,omitempty" jsonschema:"How many of them to pass over first."`
	Context   int    `json:"context,omitempty" jsonschema:"Lines to show before and after each match."`
	Case      string `json:"case,omitempty" jsonschema:"smart ignores case when the pattern has no capital letter."`
	Word      bool   `json:"word,omitempty" jsonschema:"Match whole words only."`
	Fixed     bool   `json:"fixed,omitempty" jsonschema:"The pattern is a plain string."`
	Invert    bool   `json:"invert,omitempty" jsonschema:"Find the lines that do not match."`
	Multiline bool   `json:"multiline,omitempty" jsonschema:"Matches may reach over line ends."`
	Hidden    bool   `json:"hidden,omitempty" jsonschema:"false leaves out names that begin with a dot, and what is below them."`
}

func grep() (Tool, error) {
	return build(spec[grepArgs, grepResult]{
		name: "grep", text: grepText,
		defaults: grepArgs{Path: ".", Mode: "content", Limit: 200, Case: "sensitive", Hidden: true},
		bounds: bounds{
			"pattern": {0, maxPattern}, "path": {1, maxPath}, "glob": {1, maxGlob}, "type": {1, 40},
			"limit": {1, maxMatches}, "offset": {0, maxInteger}, "context": {0, maxContext},
		},
		choices:     map[string][]string{"mode": {"content", "files", "count"}, "case": {"sensitive", "insensitive", "smart"}},
		annotations: Annotations{ReadOnly: true, Idempotent: true},
		codes: slices.Concat(ofPaths, []diffpreview.Code{
			diffpreview.CodeFileNotFound, diffpreview.CodeNotRegularFile, CodeUnsupportedPattern, CodeTimeout,
		}),
		call: callGrep,
	})
}

func callGrep(ctx context.Context, tc *Context, args grepArgs) (grepResult, error) {
	q, err := args.query()
	if err != nil {
		return grepResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	s, err := tc.open(ctx, args.Path)
	defer s.close()
	if err != nil {
		return grepResult{}, err
	}
	defer s.tellBuilding()()
	rows := newMatchRows(q.Mode, args.Limit, tc.redactor())
	for _, p := range s.parts {
		here := q
		here.Under, here.Overlay = p.under, p.listed
		here.Limit, here.Offset = args.Limit-rows.shown, max(0, args.Offset-rows.counted())
		var ok bool
		if here.Glob, rows.narrow, ok, err = s.names(p, args); err != nil {
			return grepResult{}, err
		}
		if !ok {
			continue
		}
		if err := rows.search(ctx, s, p, here); err != nil {
			return grepResult{}, err
		}
	}
	return rows.result(s, args), nil
}

// query is the part of a search that is the same for every root.
func (a *grepArgs) query() (index.Query, error) {
	q := index.Query{
		Hidden: a.Hidden, Before: a.Context, After: a.Context, MaxLine: maxLine, Verify: true,
		Mode: map[string]index.Mode{"content": index.Content, "files": index.Files, "count": index.Count}[a.Mode],
	}
	var err error
	q.Pattern, err = compilePattern(match.Options{
		Pattern: a.Pattern, Fixed: a.Fixed, Word: a.Word, Multiline: a.Multiline, Invert: a.Invert,
		IgnoreCase: a.Case == "insensitive" || a.Case == "smart" && !capital(a.Pattern, a.Fixed),
	})
	var unsupported *match.UnsupportedError
	var syntax *match.SyntaxError
	switch {
	case errors.As(err, &unsupported):
		f := &Failure{
			Code: CodeUnsupportedPattern, Hint: unsupported.Instead,
			Message: fmt.Sprintf("pattern: %s (at byte %d) is not supported", unsupported.Feature, unsupported.Offset),
		}
		return index.Query{}, f.with("field", "pattern")
	case errors.As(err, &syntax):
		f := badArgument("pattern", "%s (at byte %d)", syntax.Reason, syntax.Offset)
		if f.Hint = syntax.Instead; !a.Fixed && !strings.Contains(a.Pattern, "\n") {
			f.Hint += "; to search for the text itself set fixed: true"
		}
		return index.Query{}, f
	case err != nil:
		return index.Query{}, badArgument("pattern", "%v", err)
	}
	return q, nil
}

// capital reports whether a pattern names a capital letter: one after a
// backslash is a class.
func capital(pattern string, fixed bool) bool {
	escaped := false
	return strings.ContainsFunc(pattern, func(r rune) bool {
		if escaped && !fixed {
			escaped = false
			return false
		}
		escaped = r == '\\'
		return unicode.IsUpper(r)
	})
}

// names are the globs of a search in p's root. A type beside a glob that wants
// something is another demand: narrow then is what a path must fit, too. ok is
// false when nothing can fit.
func (s *scope) names(p *part, args grepArgs) (globs []string, narrow *index.Globs, ok bool, err error) {
	if args.Type != "" {
		kind, err := typeGlob(args.Type)
		if err != nil {
			return nil, nil, false, err
		}
		globs = append(globs, kind)
	}
	if args.Glob == "" {
		return globs, nil, true, nil
	}
	pattern, ok, err := s.globs(p, "glob", args.Glob)
	if err != nil || !ok || pattern == "" {
		return globs, nil, ok, err
	}
	if args.Type != "" && !strings.HasPrefix(pattern, "!") {
		narrow, err = index.CompileGlobs(globs)
		globs = nil
	}
	return append(globs, pattern), narrow, true, err
}

// search adds what one root has.
func (r *matchRows) search(ctx context.Context, s *scope, p *part, q index.Query) error {
	r.begin(p)
	if q.Limit == 0 {
		q.Limit = 1 // only to see whether there is one
	}
	if r.narrow != nil {
		r.passing, q.Limit, q.Offset = q.Offset, 0, 0
	}
	sum, err := p.snap.Search(ctx, q, r.add)
	if err != nil {
		return err
	}
	if sum.Files == 0 && p.under != "." && p.direct == nil && s.ignored(p) {
		if p.file {
			p.direct = &scan{view: s.tc.View, part: p}
			if sum, err = p.direct.Search(ctx, q, r.add); err != nil {
				return err
			}
		} else {
			s.warned.add(s.path, "the directory itself is ignored, so nothing in it is searched: name a file in it")
		}
	}
	s.warn(p, p.snap.Unread(p.under))
	s.warn(p, sum.Warnings)
	s.warned.all += sum.MoreWarnings
	r.end(sum)
	return nil
}
