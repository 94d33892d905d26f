package main

import (
	"context"

	"github.com/loomd/loomd/daemon/protocol"
)

type reviewCmd struct {
	Walk    walkCmd    `cmd:"" default:"withargs" hidden:"" help:"Go through the hunks and decide each (the default on a terminal)."`
	List    listCmd    `cmd:"" help:"List what waits for a decision."`
	Show    showCmd    `cmd:"" help:"Show the diff of one proposal, or of all."`
	Accept  acceptCmd  `cmd:"" help:"Write proposals, or some of their hunks, into the tree."`
	Reject  rejectCmd  `cmd:"" help:"Take proposals, or some of their hunks, out of the agent's view."`
	Split   splitCmd   `cmd:"" help:"Cut a hunk into several."`
	Undo    undoCmd    `cmd:"" help:"Reopen what was decided; accepted text is taken back out of the tree."`
	History historyCmd `cmd:"" help:"List what was decided, by whom or by which rule."`
}

func (reviewCmd) Help() string {
	return `Without an argument, on a terminal, every hunk is shown in turn and decided with one key, as "git add -p" does it; "?" lists the keys. Without a terminal the proposals are listed.

A proposal is named by its id (or the unique beginning of one) or by its path. With --seen VERSION, and hunk by hunk always, a decision holds only for what you looked at: when the agent has changed the hunk since, nothing is written and the present state is shown.`
}

// reviewer is what a review needs of the daemon; *client.Client is one.
type reviewer interface {
	Proposals(context.Context, protocol.ProposalsListParams) (protocol.ProposalsListResult, error)
	Proposal(context.Context, protocol.ProposalsGetParams) (protocol.ProposalsGetResult, error)
	Decide(context.Context, protocol.DecideParams) (protocol.DecideResult, error)
	Undo(context.Context, protocol.UndoParams) (protocol.DecideResult, error)
	Split(context.Context, protocol.SplitParams) (protocol.SplitResult, error)
}

// listPage is how many proposals are asked for at once: one message of half a
// megabyte.
const listPage = 1000

// allProposals lists all that match, page by page.
func allProposals(ctx context.Context, rev reviewer, p protocol.ProposalsListParams) ([]protocol.Proposal, error) {
	all := []protocol.Proposal{}
	for p.Limit = listPage; ; {
		res, err := rev.Proposals(ctx, p)
		if err != nil {
			return nil, err
		}
		all = append(all, res.Proposals...)
		if res.Next == "" || res.Next == p.After {
			return all, nil
		}
		p.After = res.Next
	}
}

type walkCmd struct {
	target
	Session string `placeholder:"LABEL" help:"Only this session's proposals."`
	JSON    bool   `name:"json" help:"List as JSON instead."`
}

func (c *walkCmd) Run(e *env) error {
	if c.JSON || !e.inIsTerm || !e.outIsTerm {
		list := listCmd{target: c.target, Session: c.Session, JSON: c.JSON}
		return list.Run(e)
	}
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer func() { cl.Close() }()
	w := newWalk(cl, newTerminal(e), e.paint, c.Session)
	w.reconnect = func(context.Context) (reviewer, error) {
		again, err := c.review(e)
		if err != nil {
			return nil, err
		}
		cl.Close()
		cl = again
		return cl, nil
	}
	return w.run(e.ctx)
}

// nothingPending is said when there is nothing to look at, which is no failure.
const nothingPending = "nothing to review"
