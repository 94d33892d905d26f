package main

import (
	"errors"
	"slices"

	"github.com/loomd/loomd/daemon/protocol"
)

type undoCmd struct {
	target
	Which   string   `arg:"" name:"id|path" help:"The proposal, by id or path; of several at a path, the one decided in last."`
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
		what := "reopened " + oneLine(p.Path)
		if h != "" {
			what += " " + oneLine(h)
		}
		e.printf("%s\n", what)
		d.wrote(res)
	}
	return d.finish()
}

// find returns the proposal that is meant. Of several that one session made at
// one path over time only the newest can have its text still standing.
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
	switch {
	case len(decided) == 0:
		return protocol.Proposal{}, errors.New("nothing was decided about " + oneLine(c.Which))
	case slices.ContainsFunc(decided, func(p protocol.Proposal) bool { return p.Session != decided[0].Session }):
		return protocol.Proposal{}, ambiguous(c.Which, decided)
	}
	return slices.MaxFunc(decided, func(a, b protocol.Proposal) int {
		return compareAge(a, b)
	}), nil
}

// compareAge orders proposals by their last step.
func compareAge(a, b protocol.Proposal) int {
	last := func(p protocol.Proposal) string {
		if len(p.Steps) == 0 {
			return ""
		}
		return p.Steps[len(p.Steps)-1].Time
	}
	switch la, lb := last(a), last(b); {
	case la < lb:
		return -1
	case la > lb:
		return 1
	}
	return 0
}
