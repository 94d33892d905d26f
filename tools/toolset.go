package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Toolset is a named list of tools; with Tools nil it is all of them.
type Toolset struct {
	Name  string
	Tools []string
}

// ownToolsets are those that every registry has. read_only can neither change a
// view nor start a process.
var ownToolsets = []Toolset{
	{"coding", nil},
	{"read_only", []string{"read_file", "list_files", "glob", "grep", "web_search", "oracle"}},
	{"read_only_shell", []string{"read_file", "list_files", "glob", "grep", "bash", "job_output", "job_kill", "web_search", "oracle"}},
}

// Toolsets lists the names that [Registry.Toolset] knows in every registry.
func Toolsets() []string { return namesOf(ownToolsets) }

// Toolsets lists the names that r.Toolset knows.
func (r *Registry) Toolsets() []string { return namesOf(r.sets) }

func namesOf(sets []Toolset) []string {
	var names []string
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return names
}

// WithToolsets is r with more toolsets. A name that there is already is refused;
// a tool that there is not is left out.
func (r *Registry) WithToolsets(more ...Toolset) (*Registry, error) {
	out := *r
	out.sets = slices.Clone(r.sets)
	for _, s := range more {
		if slices.Contains(out.Toolsets(), s.Name) {
			return nil, fmt.Errorf("toolset %s: there is one of this name", s.Name)
		}
		out.sets = append(out.sets, Toolset{s.Name, append([]string{}, s.Tools...)})
	}
	return &out, nil
}

// With is r with more tools, which come last. A name that r has is refused.
func (r *Registry) With(more ...Tool) (*Registry, error) {
	out, err := NewRegistry(slices.Concat(r.order, more)...)
	if err != nil {
		return nil, err
	}
	out.sets = r.sets
	return out, nil
}

// UnknownToolsetError says that there is no toolset of this name.
type UnknownToolsetError struct {
	Name  string
	Known []string
}

func (e *UnknownToolsetError) Error() string {
	return fmt.Sprintf("unknown toolset %q: known are %s", short(e.Name), strings.Join(e.Known, ", ")) + orNothing("; ", didYouMean(e.Name, e.Known))
}

// Toolset is the part of r that a session with this toolset may call. "" means
// "coding". The error is an *UnknownToolsetError.
func (r *Registry) Toolset(name string) (*Registry, error) {
	if name == "" {
		name = "coding"
	}
	i := slices.IndexFunc(r.sets, func(s Toolset) bool { return s.Name == name })
	if i < 0 {
		return nil, &UnknownToolsetError{name, r.Toolsets()}
	}
	var tools []Tool
	for _, t := range r.order {
		if r.sets[i].Tools == nil || slices.Contains(r.sets[i].Tools, t.Name) {
			tools = append(tools, t)
		}
	}
	part, err := NewRegistry(tools...)
	if err != nil {
		return nil, err
	}
	part.toolset, part.all, part.sets = name, r.all, r.sets
	return part, nil
}
