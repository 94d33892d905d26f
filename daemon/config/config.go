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

// Setting is a value and where it was set: "default", or file:line.
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
	Memory Setting[int64] `json:"memory"`
	Rules  []Rule         `json:"rules"`
	// Secrets are those of the user's file that are understood, sorted by name,
	// whatever else is wrong in it: to know more of them shows nothing.
	Secrets []Secret `json:"secrets"`
	Files   []File   `json:"files"`
}

// File is a place where configuration was looked for.
type File struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

// Problem is something that is not as its writer meant it. One that is Ignored
// is a setting which is understood and does not count where it stands; any
// other makes its file one that is not understood.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0: of the whole file
	Key     string `json:"key,omitempty"`  // dotted
	Text    string `json:"text"`
	Ignored bool   `json:"ignored,omitempty"`
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

// Load reads the user's file (none when userPath is "") and those of the
// workspaces at roots, which are absolute. Files that do not exist say nothing.
// The configuration is always usable: a problem only makes it stricter.
func Load(userPath string, roots []string) (Config, []Problem) {
	var user text
	if userPath != "" {
		user = readUser(userPath)
	}
	workspaces := make([]text, len(roots))
	for i, root := range roots {
		workspaces[i] = readWorkspace(root)
	}
	return merge(user, workspaces, userPath, roots)
}

// merge makes the configuration of what the files say.
func merge(user text, workspaces []text, userPath string, roots []string) (Config, []Problem) {
	out := Config{
		Mode:         Setting[Mode]{ModeStaged, sourceDefault},
		WaitSecs:     Setting[int]{defWait, sourceDefault},
		HoldDefaults: Setting[bool]{true, sourceDefault},
		Memory:       Setting[int64]{0, sourceDefault},
		Rules:        []Rule{}, Secrets: []Secret{}, Files: []File{},
	}
	said := user.parse(false)
	problems := said.problems
	out.user(said, userPath)
	if out.HoldDefaults.Value {
		out.Rules = append(out.Rules, builtIn()...)
	}
	out.Rules = append(out.Rules, ownFile(userPath, roots)...)
	out.Rules = append(out.Rules, said.rules...)
	if said.broken() {
		out.Rules = append(out.Rules, holdAll(userPath, ""))
	}
	for i, root := range roots {
		w := workspaces[i].parse(true)
		problems = append(problems, w.problems...)
		out.workspace(w, root)
	}
	return out, problems
}

// user takes over what the user's file says. One with problems loosens nothing.
func (c *Config) user(said file, path string) {
	if path != "" {
		c.Files = append(c.Files, File{path, said.exists})
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
	c.Secrets = append(c.Secrets, said.secrets...)
	if said.holdDefaults.Source != "" && !said.broken() {
		c.HoldDefaults = said.holdDefaults
	}
}

// workspace takes over what a workspace's own file may say.
func (c *Config) workspace(said file, root string) {
	c.Files = append(c.Files, File{WorkspacePath(root), said.exists})
	if said.mode.Source != "" {
		c.tighten(said.mode)
	}
	for _, r := range said.rules {
		r.Root = root
		c.Rules = append(c.Rules, r)
	}
	if said.broken() {
		c.Rules = append(c.Rules, holdAll(WorkspacePath(root), root))
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

// sortProblems puts problems in the order of their lines.
func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
}
