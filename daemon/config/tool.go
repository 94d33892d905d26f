package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Tool is a [[tool]]: a command that agents may run by a name, with parameters. Of
// one with [[tool.with]] there are as many as that has tables.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Command     []string        `json:"command"` // as it was written
	Schema      json.RawMessage `json:"-"`       // of the arguments: JSON schema
	Cwd         string          `json:"cwd,omitempty"`
	TimeoutSecs int             `json:"timeoutSecs"`
	ReadOnly    bool            `json:"readOnly"` // it says of itself that it changes nothing
	Source      string          `json:"source"`

	template []argument
}

// Bounds of what a file says of tools.
const (
	maxTools       = 100
	maxToolSecs    = 300
	defToolSecs    = 60
	maxDescription = 8 << 10 // bytes
	maxWord        = 4 << 10 // bytes of an element of a command
)

var (
	ownToolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	paramName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

// readTools reads the [[tool]] tables.
func (f *file) readTools(whole *section) {
	if !f.adds(whole, "tool") {
		return
	}
	for i, s := range whole.tables("tool") {
		if i == maxTools {
			s.problem("", "more than %d tools", maxTools)
			break
		}
		f.tool(s)
	}
}

// tool reads one. It counts only when all of it is understood.
func (f *file) tool(s *section) {
	before := len(f.problems)
	t := Tool{Source: s.source(""), TimeoutSecs: defToolSecs}
	s.require("name", `has no name: say name = "…"`)
	s.require("description", "has no description: a model knows of the tool what it says")
	s.require("command", `has no command: say command = ["program", "{parameter}"]`)
	t.Name, _ = s.text("name")
	t.Description, _ = s.long("description", maxDescription)
	t.Command, _ = s.list("command", checkWord)
	t.Cwd, _ = s.text("cwd")
	if secs, ok := s.number("timeout_secs", 1, maxToolSecs); ok {
		t.TimeoutSecs = secs
	}
	t.ReadOnly, _ = s.truth("read_only")
	parameters := s.free("parameters")
	with := f.optionsOf(s)
	s.done()
	if s.shape != nil || len(f.problems) > before {
		return
	}
	properties := t.schema(s, parameters, f.known.CheckSchema)
	for i, word := range t.Command {
		a, err := parseArgument(word)
		if err != nil {
			s.problem(element("command", i), "%v", err)
		}
		t.template = append(t.template, a)
	}
	if len(f.problems) > before {
		return
	}
	for _, options := range with {
		f.toolWith(s, t, options, properties)
	}
}

// schema makes the schema of the arguments and returns its properties. Unless it
// says otherwise it is of an object that has no others.
func (t *Tool) schema(s *section, parameters map[string]any, check func([]byte) error) map[string]any {
	schema := maps.Clone(parameters)
	if schema == nil {
		schema = map[string]any{}
	}
	for key, value := range map[string]any{"type": "object", "additionalProperties": false} {
		if _, said := schema[key]; !said {
			schema[key] = value
		}
	}
	text, err := json.Marshal(schema)
	if err == nil && check != nil {
		err = check(text)
	}
	if err != nil {
		s.problem("parameters", "%s", cut(err.Error()))
	}
	t.Schema = text
	properties, _ := schema["properties"].(map[string]any)
	return properties
}

// optionsOf are the tables of [[tool.with]], an empty one when there are none.
func (f *file) optionsOf(s *section) []map[string]string {
	var out []map[string]string
	for _, one := range s.tables("with") {
		options := map[string]string{}
		one.shape.texts()
		for _, key := range slices.Sorted(maps.Keys(one.table)) {
			if value, ok := one.text(key); ok {
				options[key] = value
			}
			if !paramName.MatchString(key) {
				one.problem(key, "not the name of an option: letters, digits and _")
			}
		}
		out = append(out, options)
	}
	if out == nil {
		out = []map[string]string{{}}
	}
	return out
}

// toolWith adds the tool that t is with these options.
func (f *file) toolWith(s *section, t Tool, options map[string]string, properties map[string]any) {
	before := len(f.problems)
	var pairs []string
	for name, value := range options {
		pairs = append(pairs, "{"+name+"}", value)
		if _, both := properties[name]; both {
			s.problem("with", "%s is a parameter, too", name)
		}
	}
	put := strings.NewReplacer(pairs...)
	t.Name, t.Description = put.Replace(t.Name), put.Replace(t.Description)
	template := t.template
	t.template = nil
	for i, a := range template {
		a = a.with(options)
		if why := unknownParam(a, properties); why != "" {
			s.problem(element("command", i), "%s", why)
		}
		t.template = append(t.template, a)
	}
	named := func(other Tool) bool { return other.Name == t.Name }
	switch {
	case len(t.template[0].params()) > 0:
		s.problem(element("command", 0), "the program itself is no parameter")
	case !ownToolName.MatchString(t.Name):
		s.problem("name", "%q: a name has letters, digits, _ and -, at most 64, and begins with a letter", cut(t.Name))
	case strings.HasPrefix(t.Name, "command_"):
		s.problem("name", "%q: names of grants begin so", cut(t.Name))
	case slices.Contains(f.known.Tools, t.Name):
		s.problem("name", "there is a tool %s already: choose another name", t.Name)
	case slices.ContainsFunc(f.tools, named):
		s.problem("name", "%q is a tool of this file already", t.Name)
	}
	if len(f.problems) == before {
		f.tools = append(f.tools, t)
	}
}

// checkWord checks an element of a command.
func checkWord(word string) error {
	switch {
	case len(word) > maxWord:
		return fmt.Errorf("%d bytes: at most %d", len(word), maxWord)
	case strings.IndexByte(word, 0) >= 0:
		return errors.New("no argument holds a NUL byte")
	}
	return nil
}

// toolNames are the names of tools.
func toolNames(tools []Tool) []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}
