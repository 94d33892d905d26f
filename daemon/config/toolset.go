package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// maxNamed bounds the tables of one kind that have names of their own.
const maxNamed = 100

// Toolset is a [toolsets.NAME]: the tools that a session of it may call.
type Toolset struct {
	Name   string   `json:"name"`
	Tools  []string `json:"tools"`
	Source string   `json:"source"`
}

// Known is what there is beside the configuration, for what names it.
type Known struct {
	Tools    []string // nil: no name of a tool is checked
	Toolsets []string // loomd's own, which cannot be defined anew
	// CheckSchema says what is wrong with the schema of a tool's arguments; nil: none
	// is checked.
	CheckSchema func(schema []byte) error
}

// with is k with what is configured already.
func (k Known) with(c Config) Known {
	if k.Tools != nil {
		k.Tools = slices.Concat(k.Tools, toolNames(c.Tools))
	}
	k.Toolsets = slices.Clone(k.Toolsets)
	for _, set := range c.Toolsets {
		k.Toolsets = append(k.Toolsets, set.Name)
	}
	return k
}

var toolsetName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// toolsets reads the [toolsets.NAME] tables.
func (f *file) readToolsets(s *section) {
	if !f.adds(s, "toolsets") {
		return
	}
	names, tables := s.named("toolsets", func(name string) error {
		switch {
		case !toolsetName.MatchString(name):
			return errors.New("not the name of a toolset: small letters, digits and _, at most 40")
		case slices.Contains(f.known.Toolsets, name):
			return fmt.Errorf("there is a toolset %s already: choose another name", name)
		}
		return nil
	})
	for i, t := range tables {
		t.require("tools", `has no tools: say tools = ["read_file"]`)
		list, ok := t.list("tools", checkTool)
		t.done()
		if ok {
			f.toolsets = append(f.toolsets, namedTools{Toolset{names[i], list, t.source("")}, t})
		}
	}
}

// namedTools is a toolset, and where its names are complained of.
type namedTools struct {
	Toolset
	section *section
}

// checkTools complains of the tools of toolsets that there are not. It runs when
// all of the file has been read, since a file's own tools are among them.
func (f *file) checkTools(more []string) {
	if f.known.Tools == nil {
		return
	}
	known := slices.Concat(f.known.Tools, more)
	for _, set := range f.toolsets {
		for i, name := range set.Tools {
			if !slices.Contains(known, name) {
				set.section.problem(element("tools", i), "%q: there is no such tool%s", cut(name), didYouMean(name, known))
			}
		}
	}
}
