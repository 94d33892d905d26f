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

// grantTools makes a tool of each grant. One that cannot be made is left out, and
// is a problem. Its caller holds configuring.
func (s *Server) grantTools(c config.Config) (list []tools.Tool) {
	s.hostTools, s.grantProblems = map[string]bool{}, nil
	for _, configured := range c.Grants {
		tool, host, err := s.grantTool(configured)
		if err != nil {
			s.grantProblems = append(s.grantProblems, fmt.Sprintf("%s: grants.%s: %v", configured.Source, configured.Name, err))
			continue
		}
		list = append(list, tool)
		s.hostTools[tool.Name] = host
	}
	return list
}

func (s *Server) grantTool(c config.Grant) (tool tools.Tool, host bool, err error) {
	g, err := s.grant(c)
	if err == nil {
		tool, err = tools.Command(g)
	}
	return tool, g.Host, err
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
