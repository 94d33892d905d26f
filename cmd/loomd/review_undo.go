package main

import (
	"errors"
	"slices"

	"github.com/loomd/loomd/daemon/protocol"
)

type undoCmd struct {
	target
	Which   string   `arg:"" name:"id|path" help:"The proposal, by id or path. When something was decided in several proposals at a path, only an id will do."`
	Hunk    []string `placeholder:"H" sep:"none" help:"Only this hunk; may be given several times."`
	Session string   `placeholder:"LABEL" help:"Only this session's proposals, by its label or id."`
	JSON    bool     `name:"json" help:"Print the daemon's answers as JSON."`
}

func (c *undoCmd) Run(e *env) error {
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	f, err := newFinder(e, cl, cl.Info().Roots, c.Session)
	if err != nil {
		return err
	}
	p, err := c.find(e, f)
	if err != nil {
		return err
	}
	hunks := []string{""} // all of it
	if len(c.Hunk) > 0 {
		hunks = c.Hunk
	}
	d := &deciding{e: e, rev: cl, json: c.JSON}
	for _, h := range hunks {
		res, err := cl.Undo(e.ctx, protocol.UndoParams{ID: p.ID, Hunk: h})
		if err != nil {
			d.refused(err)
			break
		}
		d.answers = append(d.answers, res)
		if c.JSON {
			continue
		}
		what := "reopened " + pathName(p.Path)
		if h != "" {
			what += " " + oneLine(h)
		}
		e.printf("%s\n", what)
		if h == "" {
			notReopened(e, res.Proposal)
		}
		d.wrote(res)
	}
	return d.finish()
}

// notReopened names what an undo of a whole proposal left as it was decided.
func notReopened(e *env, p *protocol.Proposal) {
	for _, h := range p.Hunks {
		if !pending(h) && h.By != "tree" {
			e.printf("%s stays %s: it was changed since, or what it stood in\n", oneLine(h.ID), h.State)
		}
	}
}

// find returns the proposal that is meant: the only one of that name in which
// something was decided.
func (c *undoCmd) find(e *env, f *finder) (protocol.Proposal, error) {
	list, err := f.decided(e.ctx)
	if err != nil {
		return protocol.Proposal{}, err
	}
	var decided []protocol.Proposal
	for _, p := range f.match(list, c.Which) {
		res, err := f.rev.Proposal(e.ctx, protocol.ProposalsGetParams{ID: p.ID})
		if err != nil {
			return p, err
		}
		if slices.ContainsFunc(res.Proposal.Hunks, func(h protocol.Hunk) bool { return !pending(h) }) {
			decided = append(decided, p)
		}
	}
	switch len(decided) {
	case 0:
		return protocol.Proposal{}, errors.New("nothing was decided about " + pathName(c.Which))
	case 1:
		return decided[0], nil
	}
	return protocol.Proposal{}, ambiguous(c.Which, decided)
}
