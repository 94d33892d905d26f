package daemon

import (
	"context"
	"slices"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
)

func (c *client) rulesList(context.Context, protocol.Empty) (protocol.RulesListResult, error) {
	c.server.configure()
	out := protocol.RulesListResult{Rules: []protocol.Rule{}}
	for _, r := range c.server.store.Rules() {
		out.Rules = append(out.Rules, wireRule(r))
	}
	return out, nil
}

func (c *client) rulesAdd(_ context.Context, p protocol.RulesAddParams) (protocol.RulesAddResult, error) {
	r := p.Rule
	if r.ID != "" || r.Source != "" {
		return protocol.RulesAddResult{}, invalid("id and source: a new rule has neither")
	}
	if r.Session != "" {
		sess, err := c.server.sessionNamed(r.Session)
		if err != nil {
			return protocol.RulesAddResult{}, err
		}
		r.Session = sess.ID
	}
	if err := c.server.checkRule(r); err != nil {
		return protocol.RulesAddResult{}, err
	}
	added, err := c.server.store.AddRule(diffpreview.Rule{
		Name: r.Name, Effect: diffpreview.Effect(r.Effect), Root: r.Root, Paths: r.Paths, Kinds: r.Kinds, MinLines: r.MinLines,
		MaxLines: r.MaxLines, MaxBytes: r.MaxBytes, Sessions: r.Sessions, Tools: r.Tools, Session: r.Session,
		Source: "added by " + c.name,
	})
	if err != nil {
		return protocol.RulesAddResult{}, err
	}
	c.server.logger.Info("Rule added", "rule", added.ID, "effect", added.Effect, "by", c.name)
	return protocol.RulesAddResult{Rule: wireRule(added)}, nil
}

func (c *client) rulesRemove(_ context.Context, p protocol.RulesRemoveParams) (protocol.Empty, error) {
	return protocol.Empty{}, c.server.store.RemoveRule(p.ID)
}

// checkRule holds a rule that a person adds to what a file may say.
func (s *Server) checkRule(r protocol.Rule) error {
	if r.Root != "" && !slices.ContainsFunc(s.ws.Roots(), func(root diffpreview.Root) bool { return root.Path == r.Root }) {
		return invalid("root: %s is not served here", r.Root)
	}
	err := config.Rule{
		Name: r.Name, Effect: r.Effect, Paths: r.Paths, Kinds: r.Kinds, MinLines: r.MinLines, MaxLines: r.MaxLines,
		MaxBytes: r.MaxBytes, Sessions: r.Sessions, Tools: r.Tools,
	}.Check()
	if err != nil {
		return invalid("%v", err)
	}
	return nil
}

func wireRule(r diffpreview.Rule) protocol.Rule {
	return protocol.Rule{
		ID: r.ID, Name: r.Name, Effect: string(r.Effect), Root: r.Root, Paths: r.Paths, Kinds: r.Kinds, MinLines: r.MinLines,
		MaxLines: r.MaxLines, MaxBytes: r.MaxBytes, Sessions: r.Sessions, Tools: r.Tools, Session: r.Session, Source: r.Source,
	}
}
