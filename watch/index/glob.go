package index

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

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
	base    bool     // matched against the last name
	pattern string   // what doublestar gets
	prefix  string   // what a matching path begins with
	ending  string   // what it ends with
	text    string   // a suffix, a name or a path, by form
	steps   []string // its names between the slashes
}

type globForm int

const (
	globAny    globForm = iota // doublestar decides
	globAll                    // prefix, then anything
	globSuffix                 // prefix, anything, text
	globName                   // prefix, directories, a name that is text
	globPath                   // a path that is text
	globSteps                  // the names of steps, "**" for directories, the last perhaps "*" and its ending
)

// CompileGlobs compiles patterns. They are matched against a path relative to
// the root, one without "/" against its last name, and match files only.
func CompileGlobs(patterns []string) (*Globs, error) {
	gs := &Globs{}
	for _, p := range patterns {
		rest, negative := strings.CutPrefix(p, "!")
		ways, err := compileGlob(rest)
		if err != nil {
			return nil, err.in(p)
		}
		if negative {
			gs.without = append(gs.without, ways...)
		} else {
			gs.with = append(gs.with, ways...)
		}
	}
	return gs, nil
}

// compileGlob returns the globs that a pattern stands for: several where braces
// make of it as many whose matching is comparing strings.
func compileGlob(pattern string) ([]glob, *GlobError) {
	whole := GlobError{Pattern: pattern, Offset: -1}
	switch {
	case pattern == "":
		whole.Reason, whole.Instead = "it is empty", "write ** for everything"
		return nil, &whole
	case len(pattern) > maxGlob:
		whole.Reason = fmt.Sprintf("it has %d bytes, at most %d are allowed", len(pattern), maxGlob)
		whole.Instead = "use * for a part of it"
		return nil, &whole
	case braceWays(pattern) > maxBraceWays:
		whole.Reason = fmt.Sprintf("its braces stand for more than %d patterns", maxBraceWays)
		whole.Instead = "use * in place of some of them, or several calls"
		return nil, &whole
	}
	if err := malformed(pattern); err != nil {
		return nil, err
	}
	base := !strings.Contains(pattern, "/") // "./a" is the root's a alone
	pattern = strings.TrimPrefix(pattern, "./")
	var ways []glob
	for _, way := range expandBraces(pattern) {
		g := globOf(way, base)
		if g.form == globAny {
			return []glob{globOf(pattern, base)}, nil
		}
		ways = append(ways, g)
	}
	return ways, nil
}

// maxExpanded bounds the patterns that one with braces is expanded to.
const maxExpanded = 32

// expandBraces returns the patterns that one with braces stands for; itself when
// there are many, or something makes it hard to tell what belongs to the braces.
func expandBraces(pattern string) []string {
	if !strings.Contains(pattern, "{") || strings.ContainsAny(pattern, `\[`) || braceWays(pattern) > maxExpanded {
		return []string{pattern}
	}
	open := strings.IndexByte(pattern, '{')
	depth, from := 0, open+1
	var alternatives []string
	for i := open; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '{':
			depth++
		case c == '}' && depth > 1:
			depth--
		case c == ',' && depth == 1:
			alternatives = append(alternatives, pattern[from:i])
			from = i + 1
		case c == '}':
			var out []string
			for _, a := range append(alternatives, pattern[from:i]) {
				out = append(out, expandBraces(pattern[:open]+a+pattern[i+1:])...)
			}
			return out
		}
	}
	return []string{pattern}
}

func globOf(pattern string, anywhere bool) glob {
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
	case !g.base:
		g.asSteps()
	}
	g.ending = literalEnding(pattern)
	return g
}

// maxTries bounds the "**" of a pattern that is matched step by step: each may
// have to be tried at every directory.
const maxTries = 3

// asSteps gives a pattern that form if it can have it.
func (g *glob) asSteps() {
	steps := strings.Split(g.pattern, "/")
	tries := 0
	for i, step := range steps {
		last := i == len(steps)-1
		switch {
		case step == "**":
			tries++
		case step == "" || hasMeta(strings.TrimPrefix(step, "*")) || step[0] == '*' && !last:
			return
		}
	}
	if tries <= maxTries {
		g.form, g.steps = globSteps, steps
	}
}

func matchSteps(steps []string, path string) bool {
	for i, step := range steps {
		last := i == len(steps)-1
		if step == "**" {
			for !last && !matchSteps(steps[i+1:], path) {
				slash := strings.IndexByte(path, '/')
				if slash < 0 {
					return false
				}
				path = path[slash+1:]
			}
			return true
		}
		name, below, more := strings.Cut(path, "/")
		ending, star := strings.CutPrefix(step, "*")
		switch {
		case last:
			return !more && (name == step || star && strings.HasSuffix(name, ending))
		case name != step:
			return false
		case !more:
			return i+2 == len(steps) && steps[i+1] == "**"
		}
		path = below
	}
	return false
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
	case globSteps:
		return matchSteps(g.steps, p)
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

// endings returns what matches end with.
func (gs *Globs) endings() (list endings) {
	if gs == nil {
		return nil
	}
	for i := range gs.with {
		suffix := gs.with[i].suffix()
		if suffix == "" {
			return nil
		}
		list = append(list, endingOf(suffix))
	}
	return list
}

// suffix returns what all matches end with.
func (g *glob) suffix() string {
	switch g.form {
	case globSuffix, globName, globPath:
		return g.text
	case globAny, globSteps:
		return g.ending
	case globAll:
	}
	return ""
}

// within returns a directory that all matches are, or lie below; "" is the root.
func (gs *Globs) within() string {
	if gs == nil || len(gs.with) == 0 {
		return ""
	}
	common := gs.with[0].directory()
	for i := range gs.with[1:] {
		for other := gs.with[1+i].directory() + "/"; !strings.HasPrefix(other, common+"/"); {
			common = common[:max(strings.LastIndexByte(common, '/'), 0)]
			if common == "" {
				return ""
			}
		}
	}
	return common
}

// directory is what matches are, or lie below; "" is the root.
func (g *glob) directory() string {
	if g.form != globPath {
		return strings.TrimSuffix(g.prefix, "/")
	}
	return g.text
}
