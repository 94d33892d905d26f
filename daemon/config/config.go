// Package config reads what a person has configured: the user's config.toml and
// the .loom/config.toml of each workspace. It knows nothing of sessions and
// proposals; the daemon carries its values to where they count.
//
// The user's file is the person's own word. A workspace's file came with the
// workspace, so it can only tighten: hold more, accept less at once. What it
// says beyond that is passed over, with a problem that says so.
//
// A file that is not understood never loosens anything: while a user's file has
// a problem, a rule holds everything, and while a workspace's has one, a rule
// holds everything of that workspace.
package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Mode says when a tool call answers and what waits for a person.
type Mode string

// The modes, the laxest first.
const (
	ModeAuto     Mode = "auto"     // what no rule holds is accepted at once
	ModeStaged   Mode = "staged"   // what no rule accepts waits; the call answers at once
	ModeBlocking Mode = "blocking" // as staged, and the call waits for the decision
)

var modes = []Mode{ModeAuto, ModeStaged, ModeBlocking}

// Stricter returns the stricter of two modes. One that is not known is as
// strict as any.
func Stricter(a, b Mode) Mode {
	if b.strictness() > a.strictness() {
		return b
	}
	return a
}

func (m Mode) strictness() int {
	if i := slices.Index(modes, m); i >= 0 {
		return i
	}
	return len(modes)
}

// What a rule does with the proposals it matches. Hold beats accept.
const (
	EffectAccept = "accept"
	EffectHold   = "hold"
)

// Kinds are what a rule can ask of a change, as proposals and hunks name them.
var Kinds = []string{"create", "modify", "delete", "rename", "mode", "link", "binary"}

// Rule is one [[review.rule]], or a built-in one. A condition that is empty or
// zero is met by everything; all of a rule's conditions must be met. Of a list,
// every part of the change must meet it for an accept, one part for a hold.
type Rule struct {
	Name     string   `json:"name"`
	Effect   string   `json:"effect"`             // accept or hold
	Root     string   `json:"root,omitempty"`     // only paths in this root, absolute; "": in every root
	Paths    []string `json:"paths,omitempty"`    // doublestar, relative to the root; one without "/" matches at any depth
	Kinds    []string `json:"kinds,omitempty"`    // some of Kinds
	MinLines int      `json:"minLines,omitempty"` // added and removed together; of a hold
	MaxLines int      `json:"maxLines,omitempty"` // likewise; of an accept, as is MaxBytes
	MaxBytes int      `json:"maxBytes,omitempty"`
	Sessions []string `json:"sessions,omitempty"` // globs on the session's label
	Tools    []string `json:"tools,omitempty"`    // that made the steps
	Source   string   `json:"source"`             // "built-in", or file:line
}

// Setting is a value and where it was set: "default", file:line, the name of an
// environment variable, or a flag.
type Setting[T any] struct {
	Value  T      `json:"value"`
	Source string `json:"source"`
}

// sourceDefault is the Source of what nobody set, sourceBuiltIn that of rules
// that nobody wrote.
const (
	sourceDefault = "default"
	sourceBuiltIn = "built-in"
)

// Config is what holds for a set of workspaces. Rules are in the order built-in,
// the user's, each workspace's; it is that of their names in results, for which
// rule wins is decided by effect alone.
type Config struct {
	Mode         Setting[Mode] `json:"mode"`         // the laxest a session gets, and the default
	WaitSecs     Setting[int]  `json:"waitSecs"`     // in mode blocking: how long a call waits for the decision
	HoldDefaults Setting[bool] `json:"holdDefaults"` // the built-in holds are on
	// Memory is how many bytes of text the index keeps; 0: what it takes by
	// itself. It counts from the daemon's next start.
	Memory    Setting[int64]  `json:"memory"`
	LogLevel  Setting[string] `json:"logLevel"`  // one of LogLevels; from the daemon's next start, as is LogFormat
	LogFormat Setting[string] `json:"logFormat"` // one of LogFormats
	WebSearch WebSearch       `json:"webSearch"`
	Oracle    *Oracle         `json:"oracle,omitempty"` // nil: none is configured
	Rules     []Rule          `json:"rules"`
	// AskWaitSecs is how long a call waits for a person who is asked whether a
	// command may run.
	AskWaitSecs  Setting[int]  `json:"askWaitSecs"`
	CommandRules []CommandRule `json:"commandRules"`
	Grants       []Grant       `json:"grants"`
	Toolsets     []Toolset     `json:"toolsets"`
	Tools        []Tool        `json:"tools"` // of files that are understood
	// Secrets are those of the user's file that are understood, sorted by name,
	// whatever else is wrong in it: to know more of them shows nothing.
	Secrets []Secret `json:"secrets"`
	Files   []File   `json:"files"`
}

// File is a place where configuration was looked for.
type File struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	// Trust is, of a workspace's file that exists, "trusted", or "waits" when
	// something in it does not count before the user trusts it; else "".
	Trust string `json:"trust,omitempty"`
}

// The states of File.Trust.
const (
	TrustGiven = "trusted"
	TrustWaits = "waits"
)

// Problem is something that is not as its writer meant it. One that is Ignored
// is a setting which is understood and does not count where it stands; any
// other makes its file one that is not understood.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0: of the whole file
	Key     string `json:"key,omitempty"`  // dotted
	Text    string `json:"text"`
	Ignored bool   `json:"ignored,omitempty"`
	Waits   bool   `json:"waits,omitempty"` // ignored until the user trusts the file
}

// Broken reports whether a file has a problem for which it is not understood.
func Broken(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return !p.Ignored })
}

func (p Problem) String() string {
	out := at(p.File, p.Line) + ": "
	if p.Key != "" {
		out += p.Key + ": "
	}
	return out + p.Text
}

// at is a place in a file as compilers write it.
func at(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// UserPath is where the user's configuration is: config.toml in the folder
// loomd of os.UserConfigDir, which on Linux is XDG_CONFIG_HOME or ~/.config.
func UserPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("the user's configuration: %w", err)
	}
	return filepath.Join(dir, "loomd", fileName), nil
}

const (
	fileName  = "config.toml"
	loomDir   = ".loom"
	defWait   = 30   // seconds: a person who is there has decided by then
	minWait   = 1    // seconds
	maxWait   = 3600 // seconds: beyond an hour nobody waits at the other end
	brokenTag = "built-in: a configuration with problems"
)

// WorkspacePath is where the configuration of the workspace at root is.
func WorkspacePath(root string) string { return filepath.Join(root, loomDir, fileName) }

// Origin is where a configuration comes from.
type Origin struct {
	User      string     // path of the user's file; "": none
	Roots     []string   // of the workspaces, absolute
	Overrides []Override // what stands above the user's file, the weakest first
	Trust     string     // path of the record of trusted files; "": none is
	Known     Known
	Problems  []Problem // found before: told with the others
}

// Load reads the user's file (none when userPath is "") and those of the
// workspaces at roots, which are absolute. Files that do not exist say nothing.
// The configuration is always usable: a problem only makes it stricter.
func Load(userPath string, roots []string) (Config, []Problem) {
	return Origin{User: userPath, Roots: roots}.Load()
}

// Load is the configuration of an origin as it is now.
func (o Origin) Load() (Config, []Problem) {
	c, problems, _ := NewSourceOf(o).Current()
	return c, problems
}

// texts are the files of an origin as they were read.
type texts struct {
	trust, user text
	workspaces  []text
}

// merge makes the configuration of what the files say.
func (o Origin) merge(read texts) (Config, []Problem) {
	out := Config{
		Mode:         Setting[Mode]{ModeStaged, sourceDefault},
		WaitSecs:     Setting[int]{defWait, sourceDefault},
		HoldDefaults: Setting[bool]{true, sourceDefault},
		Memory:       Setting[int64]{0, sourceDefault},
		LogLevel:     Setting[string]{"info", sourceDefault},
		LogFormat:    Setting[string]{"text", sourceDefault},
		AskWaitSecs:  Setting[int]{defAskWait, sourceDefault},
		Rules:        []Rule{}, CommandRules: []CommandRule{}, Grants: []Grant{}, Toolsets: []Toolset{}, Tools: []Tool{}, Secrets: []Secret{}, Files: []File{},
		WebSearch: WebSearch{Provider: Setting[string]{"", sourceDefault}, TimeoutSecs: Setting[int]{defSearchSecs, sourceDefault}, Providers: []Provider{}},
	}
	said := read.user.parse(file{trusted: true, known: o.Known}, o.Overrides)
	problems := slices.Concat(o.Problems, said.problems)
	out.user(said, o.User)
	if out.HoldDefaults.Value {
		out.Rules = append(out.Rules, builtIn()...)
	}
	out.Rules = slices.Concat(out.Rules, ownFile(o.User, o.Roots), ownFile(o.Trust, o.Roots))
	out.Rules = append(out.Rules, said.rules...)
	if said.broken() {
		out.Rules = append(out.Rules, holdAll(said.firstBroken(), ""))
	}
	trust, err := read.trust.trust()
	if err != nil {
		problems = append(problems, Problem{File: o.Trust, Text: err.Error(), Ignored: true})
	}
	for i, root := range o.Roots {
		known := o.Known.with(out) // the first of a name counts
		w := read.workspaces[i]
		theirs := w.parse(file{workspace: true, trusted: w.stat.exists && trust.Has(w.path, w.data), known: known}, nil)
		problems = append(problems, theirs.problems...)
		out.workspace(theirs, root)
	}
	return out, problems
}

// user takes over what the user's file says. One with problems loosens nothing.
func (c *Config) user(said file, path string) {
	if path != "" {
		c.Files = append(c.Files, File{Path: path, Exists: said.exists})
	}
	switch {
	case said.mode.Source == "":
	case said.broken():
		c.tighten(said.mode)
	default:
		c.Mode = said.mode
	}
	if said.wait.Source != "" {
		c.WaitSecs = said.wait
	}
	if said.memory.Source != "" {
		c.Memory = said.memory
	}
	if said.logLevel.Source != "" {
		c.LogLevel = said.logLevel
	}
	if said.logFormat.Source != "" {
		c.LogFormat = said.logFormat
	}
	c.add(said)
	if len(said.search.Providers) > 0 {
		c.WebSearch = said.search
	}
	c.Oracle = said.asked
	c.Secrets = append(c.Secrets, said.secrets...)
	if said.holdDefaults.Source != "" && !said.broken() {
		c.HoldDefaults = said.holdDefaults
	}
	c.commands(said)
}

// workspace takes over what a workspace's own file may say.
func (c *Config) workspace(said file, root string) {
	f := File{Path: WorkspacePath(root), Exists: said.exists}
	switch {
	case slices.ContainsFunc(said.problems, func(p Problem) bool { return p.Waits }):
		f.Trust = TrustWaits
	case said.trusted:
		f.Trust = TrustGiven
	}
	c.Files = append(c.Files, f)
	if said.mode.Source != "" {
		c.tighten(said.mode)
	}
	c.add(said)
	for _, r := range said.rules {
		r.Root = root
		c.Rules = append(c.Rules, r)
	}
	if said.broken() {
		c.Rules = append(c.Rules, holdAll(WorkspacePath(root), root))
	}
	c.tightenCommands(said)
}

// add takes over what files define that is nobody's to tighten.
func (c *Config) add(said file) {
	for _, set := range said.toolsets {
		c.Toolsets = append(c.Toolsets, set.Toolset)
	}
	if !said.broken() {
		c.Tools = append(c.Tools, said.tools...)
	}
}

func (c *Config) tighten(mode Setting[Mode]) {
	if mode.Value.strictness() > c.Mode.Value.strictness() {
		c.Mode = mode
	}
}

// holdAll is the rule that stands in for a file that is not understood: nobody
// knows what it would have held.
func holdAll(path, root string) Rule {
	return Rule{Name: brokenTag, Effect: EffectHold, Root: root, Source: path}
}

// firstBroken is the place of the first problem for which the file is not
// understood: the file, or what stands above it.
func (f *file) firstBroken() string {
	for _, p := range f.problems {
		if !p.Ignored {
			return p.File
		}
	}
	return f.path
}

// sortProblems puts problems in the order of their lines.
func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
}
