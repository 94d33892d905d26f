package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What a rule for commands does with those that it is about. Deny beats ask, ask
// beats allow.
const (
	EffectAllow = "allow"
	EffectAsk   = "ask"
	EffectDeny  = "deny"
)

// CommandRule is one [[permission.rule]].
type CommandRule struct {
	Name     string   `json:"name"`
	Effect   string   `json:"effect"`             // allow, ask or deny
	Command  []string `json:"command,omitempty"`  // patterns of words: "*" is any text, "**" at the end any words; none: every command
	Tools    []string `json:"tools,omitempty"`    // bash, command_NAME
	Sessions []string `json:"sessions,omitempty"` // patterns of labels
	Source   string   `json:"source"`
}

// Grant is one [grants.NAME]: a program that agents may call as command_NAME.
type Grant struct {
	Name        string   `json:"name"`
	Preset      string   `json:"preset,omitempty"` // one of Presets; "": a program of the user's own
	Description string   `json:"description,omitempty"`
	Path        string   `json:"path,omitempty"`     // of the executable, absolute; "": the preset's, looked up
	Commands    []string `json:"commands,omitempty"` // allowed sub-commands; of a preset, some of its own
	Options     []string `json:"options,omitempty"`  // allowed ones; of a program of the user's own only
	Refuse      []string `json:"refuse,omitempty"`   // options that are refused
	Operands    string   `json:"operands,omitempty"` // what other arguments may be; of a program of the user's own only
	Env         []string `json:"env,omitempty"`      // "NAME=value", sorted
	Secrets     []string `json:"secrets,omitempty"`  // names of secrets that it gets
	Host        bool     `json:"host,omitempty"`     // it runs on the host, not in the session's sandbox
	Source      string   `json:"source"`
}

// Presets are the policies that are shipped. They are the names that package
// grant has.
var Presets = []string{"git-read", "git-write", "gh", "go", "npm", "find"}

// OperandClasses are the values of a grant's operands.
var OperandClasses = []string{"none", "any", "inside", "name", "number"}

const (
	defAskWait = 30 // seconds: a person who is there has decided by then
	maxAskWait = 3600
	maxGrants  = 50
)

// askAll is the rule that stands in for a file that is not understood: nobody
// knows what it would have denied.
func askAll(path string) CommandRule {
	return CommandRule{Name: brokenTag, Effect: EffectAsk, Source: path}
}

// commands takes over what the user's file says of commands. One with problems
// allows and grants nothing.
func (c *Config) commands(said file) {
	if said.askWait.Source != "" {
		c.AskWaitSecs = said.askWait
	}
	if !said.broken() {
		c.CommandRules = append(c.CommandRules, said.commandRules...)
		c.Grants = append(c.Grants, said.grants...)
		return
	}
	c.tightenCommands(said)
}

// tightenCommands takes over the rules of a file that deny and ask.
func (c *Config) tightenCommands(said file) {
	for _, r := range said.commandRules {
		if r.Effect != EffectAllow {
			c.CommandRules = append(c.CommandRules, r)
		}
	}
	if said.broken() {
		c.CommandRules = append(c.CommandRules, askAll(said.path))
	}
}

func (f *file) permission(s *section) {
	if secs, ok := s.number("wait_secs", 0, maxAskWait); ok {
		if f.workspace {
			s.ignore("wait_secs", "ignored: only your own configuration says how long a call waits")
		} else {
			f.askWait = Setting[int]{secs, s.source("wait_secs")}
		}
	}
	named := map[string]int{}
	for i, table := range s.tables("rule") {
		if i == maxRules {
			table.problem("", "more than %d rules", maxRules)
			break
		}
		f.commandRule(table, i, named)
	}
	s.done()
}

// commandRule reads one rule. A deny or an ask counts even when a condition
// beside its command cannot be read, as if it had none of that kind. An allow that
// is not wholly understood does not count.
func (f *file) commandRule(s *section, i int, named map[string]int) {
	before := len(f.problems)
	r := CommandRule{Source: s.source("")}
	effect, known := s.choice("effect", []string{EffectAllow, EffectAsk, EffectDeny})
	if !known && s.table["effect"] == nil {
		s.problem("", `has no effect: say effect = "allow", "ask" or "deny"`)
	}
	r.Effect, r.Name = effect, s.name(i, named)
	var words bool
	r.Command, words = s.list("command", checkPatternWord)
	words = s.table["command"] == nil || words && s.restLast(r.Command)
	r.Tools, _ = s.list("tools", checkTool)
	r.Sessions, _ = s.list("sessions", checkGlob)
	s.done()
	whole := len(f.problems) == before
	switch {
	case !known || !words:
	case effect == EffectAllow && f.workspace:
		s.ignore("", "ignored: a workspace's own configuration allows no commands; put the rule into yours")
	case whole:
		f.commandRules = append(f.commandRules, r)
	case effect != EffectAllow:
		f.commandRules = append(f.commandRules, CommandRule{Name: r.Name, Effect: effect, Command: r.Command, Source: r.Source})
	}
}

// restLast refuses a "**" that is not at the end.
func (s *section) restLast(words []string) bool {
	if i := slices.Index(words, "**"); i >= 0 && i < len(words)-1 {
		s.problem(element("command", i), `"**" stands for all further words: it comes last`)
		return false
	}
	return true
}

// checkPatternWord checks a word that commands are matched with.
func checkPatternWord(word string) error {
	switch {
	case len(word) > maxText:
		return fmt.Errorf("%d bytes: at most %d", len(word), maxText)
	case strings.ContainsRune(word, 0):
		return errors.New("no word holds a NUL byte")
	case word != "**" && strings.Contains(word, "**"):
		return errors.New(`write "*" for any text, and "**" alone for any further words`)
	}
	return nil
}

var (
	grantName  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	optionText = regexp.MustCompile(`^(-[A-Za-z0-9?@#]|--?[A-Za-z0-9][A-Za-z0-9_.-]*)(\[?=[^\]]*\]?)?$`)
	variable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// readGrants reads the [grants.NAME] tables.
func (f *file) readGrants(s *section) {
	names := slices.Sorted(maps.Keys(s.table))
	for i, name := range names {
		table := s.sub(name)
		switch {
		case table == nil:
		case f.workspace:
			s.ignore(name, "ignored: only your own configuration grants programs")
		case i >= maxGrants:
			s.problem(name, "more than %d grants", maxGrants)
		case !grantName.MatchString(name):
			s.problem(name, "is to be the end of a tool's name: small letters, digits and _, at most 40")
		default:
			f.grant(table, name)
		}
	}
}

// grant reads one grant, which counts only when all of it is understood.
func (f *file) grant(s *section, name string) {
	before := len(f.problems)
	g := Grant{Name: name, Source: s.source("")}
	g.Preset, _ = s.choice("preset", Presets)
	g.Description, _ = s.text("description")
	g.Path, _ = s.text("path")
	g.Commands, _ = s.list("commands", checkPatternWord)
	g.Options, _ = s.list("options", checkOptionText)
	g.Refuse, _ = s.list("refuse", checkOptionText)
	g.Operands, _ = s.choice("operands", OperandClasses)
	g.Secrets, _ = s.list("secrets", checkVariable)
	g.Host, _ = s.truth("host")
	g.Env = s.environment("env")
	s.done()
	own := g.Preset == "" && s.table["preset"] == nil
	switch {
	case own && g.Path == "" && s.table["path"] == nil:
		s.problem("", "has neither a preset nor the path of a program")
	case g.Path != "" && !filepath.IsAbs(g.Path):
		s.problem("path", "%q is not absolute: it is the program that is meant, wherever a command runs", cut(g.Path))
	case !own && g.Options != nil:
		s.problem("options", "a preset has its own: take some away with refuse")
	case !own && g.Operands != "":
		s.problem("operands", "a preset has its own")
	case own && g.Options == nil && g.Refuse == nil:
		s.problem("", "says nothing of options: name those that are allowed in options, or those that are not in refuse")
	case own && g.Options != nil && g.Refuse != nil:
		s.problem("refuse", "what is not in options is refused already")
	case own && g.Description == "":
		s.problem("", "has no description, which tells the agent what the program is for")
	}
	if len(f.problems) == before {
		f.grants = append(f.grants, g)
	}
}

func checkOptionText(text string) error {
	if len(text) > maxText || !optionText.MatchString(text) {
		return errors.New("not an option: write --name, --name=CLASS or --name[=CLASS]")
	}
	return nil
}

func checkVariable(name string) error {
	if len(name) > maxText || !variable.MatchString(name) {
		return errors.New("not a name: letters, digits and _")
	}
	return nil
}

// environment reads a table of variables as sorted "NAME=value".
func (s *section) environment(key string) []string {
	table := s.sub(key)
	if table == nil {
		return nil
	}
	table.shape.texts()
	var env []string
	for name, v := range table.table {
		value, ok := v.(string)
		switch {
		case checkVariable(name) != nil:
			table.problem(name, "not the name of a variable")
		case !ok:
			table.problem(name, "%s, not a text", kindOf(v))
		case strings.ContainsRune(value, 0) || len(value) > maxFile:
			table.problem(name, "too long, or with a NUL byte")
		default:
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return env
}
