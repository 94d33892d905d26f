package daemon

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/tools"
	"github.com/loomd/loomd/tools/grant"
)

// configureTools makes the tools of what is configured: loomd's own, and one for
// each grant. A grant that cannot be made is left out, and is a problem. Its caller
// holds configuring.
func (s *Server) configureTools(c config.Config) {
	var more []tools.Tool
	s.hostTools, s.grantProblems = map[string]bool{}, nil
	for _, configured := range c.Grants {
		g, err := s.grant(configured)
		if err == nil {
			var tool tools.Tool
			if tool, err = tools.Command(g); err == nil {
				more = append(more, tool)
				s.hostTools[tool.Name] = g.Host
				continue
			}
		}
		s.grantProblems = append(s.grantProblems, fmt.Sprintf("%s: grants.%s: %v", configured.Source, configured.Name, err))
	}
	registry, err := s.ownTools.With(more...)
	if err != nil { // names of grants differ, and no own tool begins as theirs do
		s.logger.Error("The configured grants do not count", "error", err)
		registry = s.ownTools
	}
	s.tools.Store(registry)
}

// grant makes a grant of what is configured.
func (s *Server) grant(c config.Grant) (grant.Grant, error) {
	var g grant.Grant
	program := c.Path
	if c.Preset == "" {
		g.Policy = ownPolicy(c)
	} else {
		preset, name, err := grant.Preset(c.Preset)
		if err != nil {
			return grant.Grant{}, err
		}
		if g = preset; program == "" {
			program = name
		}
		if c.Commands != nil {
			if err := g.Policy.Narrow(c.Commands); err != nil {
				return grant.Grant{}, fmt.Errorf("commands: %w", err)
			}
		}
		g.Policy.Refuse(c.Refuse)
	}
	var err error
	if g.Path, err = s.findProgram(program); err != nil {
		return grant.Grant{}, err
	}
	if c.Description != "" {
		g.Description = c.Description
	}
	g.Name, g.Secrets, g.Host = c.Name, c.Secrets, c.Host
	g.Env = append(g.Env[:len(g.Env):len(g.Env)], c.Env...)
	return g, nil
}

// findProgram is where a program is. One inside a root could be changed by what a
// person accepts there, and is refused.
func (s *Server) findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("the program %s is not there, or cannot be run", name)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("the program %s was found as %s, which is not absolute", name, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("the program %s: %w", path, err)
	}
	for _, root := range s.place.Roots {
		for _, p := range []string{path, real} {
			if rel, err := filepath.Rel(root, p); err == nil && filepath.IsLocal(rel) {
				return "", errors.New("the program lies in the workspace, where agents propose changes: name one outside")
			}
		}
	}
	return path, nil
}

// ownPolicy is the policy of a program that is not a preset's.
func ownPolicy(c config.Grant) grant.Policy {
	var p grant.Policy
	allowed := c.Options
	for _, o := range c.Options {
		name := strings.TrimSuffix(strings.SplitN(o, "=", 2)[0], "[")
		p.Words = p.Words || !strings.HasPrefix(name, "--") && len(name) > 2
	}
	if p.Words {
		allowed = nil
		for _, o := range c.Options {
			allowed = append(allowed, "-"+strings.TrimLeft(o, "-"))
		}
	}
	names := c.Commands
	if names == nil {
		names = []string{""}
	}
	operands := []string{"any"}
	switch c.Operands {
	case "":
	case "none":
		operands = nil
	default:
		operands = []string{c.Operands}
	}
	for _, name := range names {
		p.Commands = append(p.Commands, grant.Command{
			Name: strings.Join(strings.Fields(name), " "), Options: allowed, Any: c.Options == nil, Refused: c.Refuse, Operands: operands,
		})
	}
	return p
}

// sessionTools are the tools of a toolset as they are configured now.
func (s *Server) sessionTools(toolset string) (*tools.Registry, error) {
	s.configure()
	return s.tools.Load().Toolset(toolset)
}
