package main

import (
	"fmt"
	"strings"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/protocol"
)

type permissionsCmd struct {
	List   permissionsListCmd   `cmd:"" default:"withargs" help:"List what waits, and what was decided and holds (the default)."`
	Allow  permissionsAllowCmd  `cmd:"" help:"Let a command run."`
	Deny   permissionsDenyCmd   `cmd:"" help:"Keep a command of the session from running."`
	Revoke permissionsRevokeCmd `cmd:"" help:"Take an allow or a deny back."`
}

func (permissionsCmd) Help() string {
	return `What runs in a session's sandbox runs without a question, unless a rule of yours denies or asks; what runs on the host asks unless a rule allows it. Rules for commands are in your configuration (docs/configuration.md).

What is allowed is the very text of the command, and no other. The agent does not wait for long: it is told, goes on, and calls again.`
}

// commandsWait tells how many commands a person has not decided about.
func commandsWait(n int) string {
	return plural(n, "command") + " to allow or deny: loomd permissions"
}

type permissionsListCmd struct {
	target
	Session string `placeholder:"LABEL" help:"Only this session's."`
	JSON    bool   `name:"json" help:"Print the list as JSON."`
}

func (c *permissionsListCmd) Run(e *env) error {
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	res, err := cl.Permissions(e.ctx, protocol.PermissionsListParams{Session: c.Session})
	if err != nil {
		return err
	}
	if c.JSON {
		return e.json(res)
	}
	if len(res.Permissions) == 0 {
		return e.printf("no command waits, and none was decided about\n")
	}
	for _, p := range res.Permissions {
		if err := e.permission(p); err != nil {
			return err
		}
	}
	return nil
}

// permission prints a request with its whole command: what is allowed is what was
// seen.
func (e *env) permission(p protocol.Permission) error {
	state := string(p.State)
	switch {
	case p.Scope != "":
		state += " " + string(p.Scope) + " by " + p.By
	case p.By != "":
		state += " by " + p.By
	}
	head := p.ID + "  " + state + "  " + p.Tool
	if p.Label != "" {
		head += "  session " + p.Label
	}
	lines := []string{oneLine(head)}
	if p.State == protocol.PermissionAsked {
		lines[0] = e.paint.warn(lines[0])
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(p.Command, "\n"), "\n") {
		lines = append(lines, "    "+visible(line))
	}
	if p.State == protocol.PermissionAsked && p.Why != "" {
		why := "asked because " + p.Why
		if p.Rule != "" {
			why = fmt.Sprintf("asked by the rule %q: %s", p.Rule, p.Why)
		}
		lines = append(lines, e.paint.faint("  "+oneLine(why)))
	}
	if p.Reason != "" {
		lines = append(lines, "  "+oneLine(p.Reason))
	}
	return e.printf("%s\n", strings.Join(lines, "\n"))
}

type permissionsAllowCmd struct {
	target
	ID      []string `arg:"" name:"id" help:"The request's id, which list shows."`
	Once    bool     `xor:"scope" help:"For the next such command of the session (the default)."`
	Session bool     `xor:"scope" help:"For every such command until the session ends."`
	Always  bool     `xor:"scope" help:"For every such command of every session in this folder, until it is revoked."`
	JSON    bool     `name:"json" help:"Print what was decided as JSON."`
}

func (c *permissionsAllowCmd) Run(e *env) error {
	scope := protocol.ScopeOnce
	switch {
	case c.Session:
		scope = protocol.ScopeSession
	case c.Always:
		scope = protocol.ScopeAlways
	}
	return c.decidePermissions(e, c.ID, protocol.PermissionsDecideParams{Decision: protocol.AllowCommand, Scope: scope}, c.JSON)
}

type permissionsDenyCmd struct {
	target
	ID     []string `arg:"" name:"id" help:"The request's id, which list shows."`
	Reason string   `placeholder:"TEXT" help:"What the agent is told."`
	JSON   bool     `name:"json" help:"Print what was decided as JSON."`
}

func (c *permissionsDenyCmd) Run(e *env) error {
	return c.decidePermissions(e, c.ID, protocol.PermissionsDecideParams{Decision: protocol.DenyCommand, Reason: c.Reason}, c.JSON)
}

// decidePermissions says the same of several requests, one after the other, and
// ends with the first that cannot be decided.
func (t target) decidePermissions(e *env, ids []string, p protocol.PermissionsDecideParams, asJSON bool) error {
	cl, err := t.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	done := protocol.PermissionsListResult{Permissions: []protocol.Permission{}}
	for _, id := range ids {
		p.ID = id
		res, err := cl.DecidePermission(e.ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", oneLine(id), err)
		}
		done.Permissions = append(done.Permissions, res.Permission)
		if asJSON {
			continue
		}
		if err := e.permission(res.Permission); err != nil {
			return err
		}
	}
	if asJSON {
		return e.json(done)
	}
	return nil
}

type permissionsRevokeCmd struct {
	target
	ID []string `arg:"" name:"id" help:"The id, which list shows."`
}

func (c *permissionsRevokeCmd) Run(e *env) error {
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	for _, id := range c.ID {
		if _, err := cl.RevokePermission(e.ctx, protocol.PermissionsRevokeParams{ID: id}); err != nil {
			return fmt.Errorf("%s: %w", oneLine(id), err)
		}
		if err := e.printf("revoked %s\n", oneLine(id)); err != nil {
			return err
		}
	}
	return nil
}

// commandLines are the rules for commands and the grants of a configuration.
func commandLines(c config.Config) []string {
	var out []string
	conditions := func(name string, values []string) {
		if len(values) > 0 {
			out = append(out, "    "+oneLine(name+" "+strings.Join(values, " ")))
		}
	}
	rows := make([][]string, len(c.CommandRules))
	for i, r := range c.CommandRules {
		rows[i] = []string{r.Effect, r.Name, r.Source}
	}
	for i, line := range table(rows) {
		out = append(out, line)
		conditions("command", c.CommandRules[i].Command)
		conditions("tools", c.CommandRules[i].Tools)
		conditions("sessions", c.CommandRules[i].Sessions)
	}
	rows = make([][]string, len(c.Grants))
	for i, g := range c.Grants {
		what := g.Preset
		if what == "" {
			what = g.Path
		}
		where := "in the sandbox"
		if g.Host {
			where = "on the host"
		}
		rows[i] = []string{"command_" + g.Name, what, where, g.Source}
	}
	for i, line := range table(rows) {
		g := c.Grants[i]
		out = append(out, line)
		if g.Preset != "" && g.Path != "" {
			conditions("path", []string{g.Path})
		}
		conditions("commands", g.Commands)
		conditions("options", g.Options)
		conditions("refuse", g.Refuse)
		if g.Operands != "" {
			conditions("operands", []string{g.Operands})
		}
		var names []string // values can be private
		for _, v := range g.Env {
			name, _, _ := strings.Cut(v, "=")
			names = append(names, name)
		}
		conditions("env", names)
		conditions("secrets", g.Secrets)
	}
	return out
}

// allowed prints the commands that are allowed for good.
func (e *env) allowed(path string, list []config.Allowed) error {
	if err := e.printf("# %s: allowed for good, see loomd permissions\n", pathName(path)); err != nil {
		return err
	}
	for _, a := range list {
		if err := e.printf("allow %s %s: %s\n", oneLine(a.ID), oneLine(a.Tool), oneLine(a.Command)); err != nil {
			return err
		}
	}
	return nil
}
