package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Bounds of what one file says. They are far beyond what a person writes, and
// keep the question which rule holds a change cheap.
const (
	maxRules = 200
	maxList  = 200 // entries of one condition
	maxText  = 200 // bytes of a name, a pattern, a tool
	maxLines = 1 << 30
)

// file is what one configuration file says.
type file struct {
	path         string
	exists       bool
	workspace    bool // it may only tighten, and what is more when it is trusted
	trusted      bool
	known        Known
	mode         Setting[Mode]
	wait         Setting[int] // seconds
	holdDefaults Setting[bool]
	memory       Setting[int64] // bytes
	logLevel     Setting[string]
	logFormat    Setting[string]
	search       WebSearch
	asked        *Oracle
	secrets      []Secret
	rules        []Rule
	tools        []Tool
	toolsets     []namedTools
	askWait      Setting[int] // seconds
	commandRules []CommandRule
	grants       []Grant
	problems     []Problem
}

// broken reports whether the file is not understood.
func (f *file) broken() bool { return Broken(f.problems) }

// parse makes sense of a file, for which f says who wrote it, with what stands
// above it. What is wrong is a problem, and the rest counts.
func (t text) parse(f file, above []Override) file {
	f.path, f.exists = t.path, t.stat.exists || t.failed != ""
	var doc document
	if t.failed != "" {
		f.problems = []Problem{{File: t.path, Text: "cannot be read: " + t.failed}}
	} else {
		var problem *Problem
		if doc, problem = parseDocument(t.data); problem != nil {
			problem.File = t.path
			f.problems = []Problem{*problem}
		}
	}
	doc.override(above)
	f.read(&section{file: &f, doc: &doc, table: doc.tree})
	sortProblems(f.problems)
	return f
}

// read reads the whole file. Every key that there can be is asked for here, or
// below, whatever the file says: the schema for editors is made of what is asked
// for.
func (f *file) read(whole *section) {
	if review := whole.sub("review"); review != nil {
		f.review(review)
	}
	if index := whole.sub("index"); index != nil {
		f.index(index)
	}
	if log := whole.sub("log"); log != nil {
		f.log(log)
	}
	f.readTools(whole)
	f.readToolsets(whole)
	if permission := whole.sub("permission"); permission != nil {
		f.permission(permission)
	}
	if grants := whole.sub("grants"); grants != nil {
		f.readGrants(grants)
	}
	f.services(whole)
	if secrets := whole.sub("secrets"); secrets != nil {
		f.readSecrets(secrets)
	}
	whole.done()
	f.checkTools(toolNames(f.tools))
}

// LogLevels and LogFormats are the values of log.level and log.format.
var (
	LogLevels  = []string{"debug", "info", "warn", "error"}
	LogFormats = []string{"text", "json"}
)

func (f *file) log(s *section) {
	for _, one := range []struct {
		key   string
		words []string
		into  *Setting[string]
	}{{"level", LogLevels, &f.logLevel}, {"format", LogFormats, &f.logFormat}} {
		word, ok := s.choice(one.key, one.words)
		switch {
		case ok && f.workspace:
			s.ignore(one.key, "ignored: only your own configuration says what is logged")
		case ok:
			*one.into = Setting[string]{word, s.source(one.key)}
		}
	}
	s.done()
}

func (f *file) index(s *section) {
	if n, ok := s.size("memory", minMemory, maxMemory); ok {
		if f.workspace {
			s.ignore("memory", "ignored: only your own configuration says how much memory the index takes")
		} else {
			f.memory = Setting[int64]{n, s.source("memory")}
		}
	}
	s.done()
}

func (f *file) review(s *section) {
	if mode, ok := s.choice("mode", []string{string(ModeAuto), string(ModeStaged), string(ModeBlocking)}); ok {
		f.mode = Setting[Mode]{Mode(mode), s.source("mode")}
	}
	if secs, ok := s.number("wait_secs", minWait, maxWait); ok {
		if f.workspace {
			s.ignore("wait_secs", "ignored: only your own configuration says how long a call waits")
		} else {
			f.wait = Setting[int]{secs, s.source("wait_secs")}
		}
	}
	if on, ok := s.truth("hold_defaults"); ok {
		if f.workspace {
			s.ignore("hold_defaults", "ignored: only your own configuration switches the built-in holds off")
		} else {
			f.holdDefaults = Setting[bool]{on, s.source("hold_defaults")}
		}
	}
	named := map[string]int{}
	for i, table := range s.tables("rule") {
		if i == maxRules {
			table.problem("", "more than %d rules", maxRules)
			break
		}
		f.rule(table, i, named)
	}
	s.done()
}

// rule reads one rule. A hold counts even when a condition of it cannot be
// read, as if it had none of that kind: it holds more than was meant. An accept
// that is not wholly understood does not count.
func (f *file) rule(s *section, i int, named map[string]int) {
	before := len(f.problems)
	r := Rule{Source: s.source("")}
	effect, _ := s.choice("effect", []string{EffectAccept, EffectHold})
	s.require("effect", `has no effect: say effect = "hold" or effect = "accept"`)
	r.Effect = effect
	r.Name = s.name(i, named)
	r.Paths, _ = s.list("paths", checkPattern)
	r.Kinds, _ = s.choices("kinds", Kinds)
	r.MinLines, _ = s.number("min_lines", 1, maxLines)
	r.MaxLines, _ = s.number("max_lines", 1, maxLines)
	r.MaxBytes, _ = s.number("max_bytes", 1, maxLines)
	r.Sessions, _ = s.list("sessions", checkGlob)
	r.Tools, _ = s.list("tools", checkTool)
	s.done()
	r.bounds(s)
	whole := len(f.problems) == before
	switch {
	case effect == EffectHold:
		f.rules = append(f.rules, r.widened(s, whole))
	case effect == EffectAccept && f.workspace:
		s.ignore("", "ignored: a workspace's own configuration cannot accept; put the rule into yours, or add it with loomd rules add")
	case effect == EffectAccept && whole:
		f.rules = append(f.rules, r)
	}
}

// bounds refuses a size that turns a rule into the opposite of what was meant.
func (r *Rule) bounds(s *section) {
	key, why := r.unbounded()
	if key == "" {
		return
	}
	s.problem(key, "%s", why)
	r.MinLines, r.MaxLines, r.MaxBytes = 0, 0, 0
}

// unbounded names a bound that does not go with the effect, and says why.
func (r *Rule) unbounded() (key, why string) {
	const reversed = "a hold with it would hold the small changes and let the large ones through: say min_lines"
	switch {
	case r.Effect == EffectHold && r.MaxLines > 0:
		return "max_lines", reversed
	case r.Effect == EffectHold && r.MaxBytes > 0:
		return "max_bytes", reversed
	case r.Effect == EffectAccept && r.MinLines > 0:
		return "min_lines", "an accept with it would let the large changes through and hold the small ones: say max_lines"
	}
	return "", ""
}

// Check holds a rule that is not from a file to what a file may say.
func (r Rule) Check() error {
	if r.Effect != EffectAccept && r.Effect != EffectHold {
		return fmt.Errorf("effect: %q is not accept or hold%s", cut(r.Effect), didYouMean(r.Effect, []string{EffectAccept, EffectHold}))
	}
	if r.Name != "" && (!plainText(r.Name) || isReserved(r.Name)) {
		return fmt.Errorf("name: %q is empty, long, loomd's own, or has control characters", cut(r.Name))
	}
	for _, list := range []struct {
		key    string
		values []string
		check  func(string) error
	}{
		{"paths", r.Paths, checkPattern}, {"kinds", r.Kinds, checkKind}, {"sessions", r.Sessions, checkGlob}, {"tools", r.Tools, checkTool},
	} {
		if len(list.values) > maxList {
			return fmt.Errorf("%s: more than %d entries", list.key, maxList)
		}
		for _, value := range list.values {
			if err := list.check(value); err != nil {
				return fmt.Errorf("%s: %q: %w", list.key, cut(value), err)
			}
		}
	}
	for key, n := range map[string]int{"min_lines": r.MinLines, "max_lines": r.MaxLines, "max_bytes": r.MaxBytes} {
		if n < 0 {
			return fmt.Errorf("%s: %d is negative", key, n)
		}
	}
	if key, why := r.unbounded(); key != "" {
		return fmt.Errorf("%s: %s", key, why)
	}
	return nil
}

// widened drops the conditions of a hold of which a part was not understood.
func (r Rule) widened(s *section, whole bool) Rule {
	if whole {
		return r
	}
	for key, list := range map[string]*[]string{"paths": &r.Paths, "kinds": &r.Kinds, "sessions": &r.Sessions, "tools": &r.Tools} {
		if array, _ := s.table[key].([]any); len(array) != len(*list) {
			*list = nil
		}
	}
	return r
}

// name is what results and the history call the rule: each in a file once.
func (s *section) name(i int, named map[string]int) string {
	name, ok := s.text("name")
	if !ok {
		name = fmt.Sprintf("rule %d", i+1)
	}
	if isReserved(name) {
		s.problem("name", "%q: names of loomd's own rules begin so", cut(name))
	}
	if line := named[name]; line > 0 {
		s.problem("name", "%q is the name of the rule in line %d, too", cut(name), line)
	}
	named[name] = s.line("")
	return name
}

func checkKind(kind string) error {
	if slices.Contains(Kinds, kind) {
		return nil
	}
	return fmt.Errorf("there is no such kind%s", didYouMean(kind, Kinds))
}

var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

func checkTool(name string) error {
	if len(name) > maxText || !toolName.MatchString(name) {
		return errors.New("not the name of a tool")
	}
	return nil
}
