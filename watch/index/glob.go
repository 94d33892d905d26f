package index

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ErrGlob is what a pattern's error wraps.
var ErrGlob = errors.New("glob pattern")

// The bounds of a pattern. Braces multiply: a pattern with many of them would be
// tried in as many ways.
const (
	maxGlob      = 4096 // bytes
	maxBraceWays = 1024
)

// Globs are compiled patterns. A path matches if one of those without "!" in
// front matches it, or there is none, and none of those with "!" does.
type Globs struct{ with, without []glob }

// glob is one pattern in doublestar's dialect. The common shapes are told apart
// so that matching them is comparing strings; doublestar decides the others.
type glob struct {
	form    globForm
	base    bool   // matched against the last name
	pattern string // what doublestar gets
	prefix  string // what a matching path begins with
	ending  string // what it ends with
	text    string // a suffix, a name or a path, by form
}

type globForm int

const (
	globAny    globForm = iota // doublestar decides
	globAll                    // prefix, then anything
	globSuffix                 // prefix, anything, text
	globName                   // prefix, directories, a name that is text
	globPath                   // a path that is text
)

// CompileGlobs compiles patterns. They are matched against a path relative to
// the root, one without "/" against its last name, and match files only.
func CompileGlobs(patterns []string) (*Globs, error) {
	gs := &Globs{}
	for _, p := range patterns {
		rest, negative := strings.CutPrefix(p, "!")
		g, err := compileGlob(rest)
		if err != nil {
			return nil, err
		}
		if negative {
			gs.without = append(gs.without, g)
		} else {
			gs.with = append(gs.with, g)
		}
	}
	return gs, nil
}

func compileGlob(pattern string) (glob, error) {
	switch {
	case pattern == "":
		return glob{}, fmt.Errorf("%w is empty", ErrGlob)
	case len(pattern) > maxGlob:
		return glob{}, fmt.Errorf("%w has %d bytes, at most %d are allowed", ErrGlob, len(pattern), maxGlob)
	case !doublestar.ValidatePattern(pattern):
		return glob{}, fmt.Errorf("%w %q is malformed", ErrGlob, pattern)
	case braceWays(pattern) > maxBraceWays:
		return glob{}, fmt.Errorf("%w %q stands for more than %d patterns", ErrGlob, pattern, maxBraceWays)
	}
	anywhere := !strings.Contains(pattern, "/") // "./a" is the root's a alone
	pattern = strings.TrimPrefix(pattern, "./")
	g := glob{pattern: pattern, base: anywhere}
	if !g.base {
		g.prefix = literalPrefix(pattern)
	}
	rest := pattern[len(g.prefix):]
	if g.base {
		rest = "**/" + rest
	}
	deep, anyDepth := strings.CutPrefix(rest, "**/")
	star, suffix := strings.CutPrefix(deep, "*")
	switch {
	case !hasMeta(rest):
		g.form, g.text = globPath, pattern
	case rest == "**/**", rest == "**/*", rest == "**" && g.prefix == "":
		g.form = globAll
	case anyDepth && suffix && !hasMeta(star) && !strings.Contains(star, "/"):
		g.form, g.text = globSuffix, star
	case anyDepth && !hasMeta(deep) && !strings.Contains(deep, "/"):
		g.form, g.text = globName, deep
	case rest == pattern && anyDepth && staysInName(deep):
		g.base, g.pattern = true, deep
	}
	g.ending = literalEnding(pattern)
	return g, nil
}

const globMeta = `*?[]{}\`

func hasMeta(s string) bool { return strings.ContainsAny(s, globMeta) }

// staysInName reports whether all that the pattern matches is one name. To
// doublestar "/" may be one of the characters that a class names by a range, or
// by others.
func staysInName(pattern string) bool {
	if strings.Contains(pattern, "[") && strings.ContainsAny(pattern, `-!^\`) {
		return false
	}
	return !strings.Contains(pattern, "/")
}

// literalPrefix returns the directories that a pattern begins with, "/" included.
func literalPrefix(pattern string) string {
	if i := strings.IndexAny(pattern, globMeta); i >= 0 {
		pattern = pattern[:i]
	} else {
		return ""
	}
	return pattern[:strings.LastIndexByte(pattern, '/')+1]
}

// literalEnding returns what all matches end with.
func literalEnding(pattern string) string {
	if strings.HasSuffix(pattern, "/**") || strings.Contains(pattern, `\`) {
		return "" // "dir/**" matches dir itself
	}
	return pattern[strings.LastIndexAny(pattern, globMeta+"/")+1:] // "**/" may be nothing
}

// braceWays returns how many patterns one with braces stands for, or more than
// maxBraceWays.
func braceWays(pattern string) int {
	type level struct{ sum, product int }
	stack := []level{{0, 1}}
	for i := 0; i < len(pattern); i++ {
		top := &stack[len(stack)-1]
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			stack = append(stack, level{0, 1})
		case c == ',' && len(stack) > 1:
			top.sum += top.product
			top.product = 1
		case c == '}' && len(stack) > 1:
			ways := top.sum + top.product
			stack = stack[:len(stack)-1]
			stack[len(stack)-1].product *= ways
		}
		if t := stack[len(stack)-1]; t.product > maxBraceWays || t.sum > maxBraceWays {
			return maxBraceWays + 1
		}
	}
	return stack[0].product
}

// Match reports whether a file's path matches.
func (gs *Globs) Match(p string) bool {
	if gs == nil {
		return true
	}
	for i := range gs.without {
		if gs.without[i].match(p) {
			return false
		}
	}
	for i := range gs.with {
		if gs.with[i].match(p) {
			return true
		}
	}
	return len(gs.with) == 0
}

// all reports whether everything matches.
func (gs *Globs) all() bool {
	if gs == nil {
		return true
	}
	for i := range gs.with {
		if g := &gs.with[i]; g.form == globAll && g.prefix == "" {
			return len(gs.without) == 0
		}
	}
	return len(gs.with)+len(gs.without) == 0
}

func (g *glob) match(p string) bool {
	if !strings.HasPrefix(p, g.prefix) {
		// "dir/**" matches what is called dir, too.
		return len(p) == len(g.prefix)-1 && strings.HasPrefix(g.prefix, p) && doublestar.MatchUnvalidated(g.pattern, p)
	}
	switch g.form {
	case globAll:
		return true
	case globSuffix:
		return len(p) >= len(g.prefix)+len(g.text) && strings.HasSuffix(p, g.text)
	case globName:
		rest := p[len(g.prefix):]
		return strings.HasSuffix(rest, g.text) && (len(rest) == len(g.text) || rest[len(rest)-len(g.text)-1] == '/')
	case globPath:
		return p == g.text
	case globAny:
	}
	if !strings.HasSuffix(p, g.ending) {
		return false
	}
	if g.base {
		p = p[strings.LastIndexByte(p, '/')+1:]
	}
	return doublestar.MatchUnvalidated(g.pattern, p)
}

// ending returns what all matches end with.
func (gs *Globs) ending() string {
	if gs == nil || len(gs.with) != 1 {
		return ""
	}
	switch g := &gs.with[0]; g.form {
	case globSuffix, globName, globPath:
		return g.text
	case globAny:
		return g.ending
	case globAll:
	}
	return ""
}

// within returns a directory that all matches are, or lie below; "" is the root.
func (gs *Globs) within() string {
	if gs == nil || len(gs.with) != 1 {
		return ""
	}
	if g := &gs.with[0]; g.form != globPath {
		return strings.TrimSuffix(g.prefix, "/")
	}
	return gs.with[0].text
}
