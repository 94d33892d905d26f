package main

import (
	"fmt"
	"strings"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/protocol"
)

type rulesCmd struct {
	List   rulesListCmd   `cmd:"" default:"withargs" help:"List the rules in force (the default)."`
	Add    rulesAddCmd    `cmd:"" help:"Accept or hold from now on what fits, in this folder."`
	Remove rulesRemoveCmd `cmd:"" help:"Take a rule away that was added."`
}

func (rulesCmd) Help() string {
	return `A rule accepts what an agent proposes in your place, or holds it for you whatever else accepts it: hold beats accept. What a rule accepts is told to the agent, is in the history under the rule's name, and can be undone.

Rules come from three places: they are built in, they are in a configuration (loomd config), or they were added here, for this folder alone.`
}

type rulesListCmd struct {
	target
	JSON bool `name:"json" help:"Print the rules as JSON."`
}

func (c *rulesListCmd) Run(e *env) error {
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	res, err := cl.Rules(e.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return e.json(res)
	}
	return e.rules(res.Rules)
}

// rules prints a table of rules, each with its conditions below it.
func (e *env) rules(list []protocol.Rule) error {
	if len(list) == 0 {
		return e.printf("no rules: every change waits for you\n")
	}
	rows := make([][]string, len(list))
	for i, r := range list {
		id := r.ID
		if id == "" {
			id = "-"
		}
		rows[i] = []string{id, r.Effect, r.Name, r.Source}
	}
	for i, line := range table(rows) {
		if err := e.printf("%s\n", line); err != nil {
			return err
		}
		for _, condition := range ruleConditions(list[i]) {
			if err := e.printf("    %s\n", oneLine(condition)); err != nil {
				return err
			}
		}
	}
	return nil
}

func ruleConditions(r protocol.Rule) []string {
	out := conditions(config.Rule{
		Root: r.Root, Paths: r.Paths, Kinds: r.Kinds, MinLines: r.MinLines, MaxLines: r.MaxLines, MaxBytes: r.MaxBytes,
		Sessions: r.Sessions, Tools: r.Tools,
	})
	if r.Session != "" {
		out = append(out, "until session "+r.Session+" ends")
	}
	return out
}

type rulesAddCmd struct {
	target
	Effect     string   `arg:"" enum:"accept,hold" help:"accept or hold."`
	Paths      []string `arg:"" optional:"" name:"pattern" help:"Paths that fit, relative to the root: docs/**, or *.md at any depth. Quote them. Without any, every path."`
	Name       string   `placeholder:"TEXT" help:"What results and the history call it (default: its id)."`
	Kind       []string `placeholder:"KIND" help:"Only such changes: create, modify, delete, rename, mode, link, binary."`
	MaxLines   int      `placeholder:"N" help:"accept: at most so many lines added and removed."`
	MinLines   int      `placeholder:"N" help:"hold: at least so many lines."`
	MaxBytes   int      `placeholder:"N" help:"accept: at most so many bytes, old and new text together."`
	Sessions   []string `placeholder:"LABEL" help:"Only sessions with such a label; a pattern."`
	Tool       []string `placeholder:"NAME" help:"Only what these tools made."`
	ForSession string   `placeholder:"LABEL" help:"Only for this session, and until it ends (default: for every session, until it is removed)."`
	Everything bool     `help:"Needed for an accept without any condition."`
	JSON       bool     `name:"json" help:"Print the rule as JSON."`
}

func (rulesAddCmd) Help() string {
	return `It is for what is proposed from now on; what waits already goes on waiting.

    loomd rules add accept 'docs/**' '*.md' --max-lines 50
    loomd rules add accept --for-session claude --kind create 'test/**'
    loomd rules add hold 'deploy/**'`
}

func (c *rulesAddCmd) Run(e *env) error {
	r := protocol.Rule{
		Name: c.Name, Effect: c.Effect, Paths: c.Paths, Kinds: c.Kind, MinLines: c.MinLines, MaxLines: c.MaxLines,
		MaxBytes: c.MaxBytes, Sessions: c.Sessions, Tools: c.Tool, Session: c.ForSession,
	}
	if c.Effect == config.EffectAccept && len(ruleConditions(r)) == 0 && !c.Everything {
		return usagef("an accept without a condition accepts whatever no rule holds: say --everything if that is meant")
	}
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	res, err := cl.AddRule(e.ctx, protocol.RulesAddParams{Rule: r})
	if err != nil {
		return err
	}
	if c.JSON {
		return e.json(res)
	}
	if err := e.printf("added %s\n", res.Rule.ID); err != nil {
		return err
	}
	return e.rules([]protocol.Rule{res.Rule})
}

type rulesRemoveCmd struct {
	target
	ID []string `arg:"" name:"id" help:"The rule's id, which list shows."`
}

func (c *rulesRemoveCmd) Run(e *env) error {
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	for _, id := range c.ID {
		if err := cl.RemoveRule(e.ctx, protocol.RulesRemoveParams{ID: id}); err != nil {
			return fmt.Errorf("%s: %w", oneLine(id), err)
		}
		if err := e.printf("removed %s\n", oneLine(strings.TrimSpace(id))); err != nil {
			return err
		}
	}
	return nil
}
