package main

import (
	"github.com/loomd/loomd/daemon/protocol"
)

type showCmd struct {
	target
	Which   []string `arg:"" optional:"" name:"id|path" help:"What to show; without it, all that waits."`
	Session string   `placeholder:"LABEL" help:"Only this session's proposals."`
	Numbers bool     `short:"n" help:"Name each changed line as --lines of accept, reject and split takes it."`
	JSON    bool     `name:"json" help:"Print the proposals as JSON."`
}

func (c *showCmd) Run(e *env) error {
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	f, err := newFinder(e, cl, cl.Info().Roots, c.Session)
	if err != nil {
		return err
	}
	list := f.waiting
	if len(c.Which) > 0 {
		if list, err = f.show(e.ctx, c.Which); err != nil {
			return err
		}
	}
	whole := protocol.ProposalsListResult{Proposals: []protocol.Proposal{}}
	for _, p := range list {
		res, err := cl.Proposal(e.ctx, protocol.ProposalsGetParams{ID: p.ID})
		if err != nil {
			return err
		}
		whole.Proposals = append(whole.Proposals, res.Proposal)
	}
	if c.JSON {
		return e.json(whole)
	}
	if len(whole.Proposals) == 0 {
		return e.printf("%s\n", nothingPending)
	}
	view := diffView{w: e.stdout, paint: e.paint, width: e.width(), numbers: c.Numbers}
	for i, p := range whole.Proposals {
		if i > 0 && view.width > 0 {
			view.line("")
		}
		view.proposal(p)
	}
	return nil
}
