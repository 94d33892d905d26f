package main

import (
	"strconv"

	"github.com/loomd/loomd/daemon/protocol"
)

type listCmd struct {
	target
	Session string `placeholder:"LABEL" help:"Only this session's proposals."`
	JSON    bool   `name:"json" help:"Print the list as JSON."`
}

func (c *listCmd) Run(e *env) error {
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	list, err := allProposals(e.ctx, cl, protocol.ProposalsListParams{Session: c.Session})
	if err != nil {
		return err
	}
	if c.JSON {
		return e.json(protocol.ProposalsListResult{Proposals: list, Total: len(list)})
	}
	if len(list) == 0 {
		err = e.printf("%s\n", nothingPending)
	} else {
		err = e.proposals(list)
	}
	if err != nil {
		return err
	}
	asked, err := cl.Permissions(e.ctx, protocol.PermissionsListParams{State: protocol.PermissionAsked})
	if n := len(asked.Permissions); err == nil && n > 0 {
		e.note("%s", commandsWait(n))
	}
	return err
}

// proposals prints a table of proposals.
func (e *env) proposals(list []protocol.Proposal) error {
	const pathColumn = 1
	rows := [][]string{{"ID", "PATH", "LINES", "HUNKS", "SESSION", "STATE"}}
	for _, p := range list {
		lines := "+" + strconv.Itoa(p.Added) + " −" + strconv.Itoa(p.Removed)
		state := string(p.State)
		if p.Kind != "modify" {
			state += " (" + p.Kind + ")"
		}
		rows = append(rows, []string{p.ID, placeName(p), lines, strconv.Itoa(p.HunkCount), p.Label, state})
	}
	capColumn(rows, pathColumn, e.width())
	for i, line := range table(rows) {
		switch {
		case i == 0:
			line = e.paint.faint(line)
		case list[i-1].State == protocol.ProposalConflict:
			line = e.paint.warn(line)
		}
		if err := e.printf("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}
