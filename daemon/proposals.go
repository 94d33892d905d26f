package daemon

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
)

// textPage is how many bytes of a text one answer of loom/proposals/get
// carries: large enough for nearly every source file, small beside the limit
// of a frame.
const textPage = 1 << 20

func (c *client) proposalsList(_ context.Context, p protocol.ProposalsListParams) (protocol.ProposalsListResult, error) {
	if c.session != "" {
		p.Session = c.session // an agent sees its own
	}
	if p.State != "" && !slices.Contains(proposalStates, p.State) {
		return protocol.ProposalsListResult{}, invalid("state is %q: it is open, conflict, applied, rejected or withdrawn", p.State)
	}
	found, err := c.server.store.List(diffpreview.Filter{Session: p.Session, Path: p.Path, State: diffpreview.State(p.State)})
	if err != nil {
		return protocol.ProposalsListResult{}, err
	}
	limit := p.Limit
	switch {
	case limit < 0 || limit > maxList:
		return protocol.ProposalsListResult{}, invalid("limit is %d: it is 1 to %d", limit, maxList)
	case limit == 0:
		limit = defaultList
	}
	out := protocol.ProposalsListResult{Proposals: []protocol.Proposal{}, Total: len(found)}
	for _, proposal := range found {
		switch {
		case p.After != "" && placeInList(proposal) <= p.After:
			continue
		case len(out.Proposals) == limit:
			out.Truncated = true
			return out, nil
		}
		out.Proposals = append(out.Proposals, c.server.wireProposal(proposal, summary))
		out.Next = placeInList(proposal)
	}
	out.Next = ""
	return out, nil
}

var proposalStates = []protocol.ProposalState{
	protocol.ProposalOpen, protocol.ProposalConflict, protocol.ProposalApplied, protocol.ProposalRejected, protocol.ProposalWithdrawn,
}

// A list carries this many proposals when not asked for another number, and at
// most that many: some 400 bytes each, which is two megabytes.
const (
	defaultList = 500
	maxList     = 5000
)

// placeInList orders proposals as [diffpreview.Store.List] does. It outlives the
// proposal that it is of.
func placeInList(p *diffpreview.Proposal) string {
	return fmt.Sprintf("%s\x00%02d%s", p.Name, len(p.ID), p.ID)
}

// visible returns a proposal that this connection may see.
func (c *client) visible(id string) (*diffpreview.Proposal, error) {
	proposal, err := c.server.store.Get(id)
	if err != nil {
		return nil, err
	}
	if c.session != "" && proposal.Session != c.session {
		return nil, &diffpreview.Error{Code: diffpreview.CodeUnknownProposal, Message: "no proposal " + id + " in this session"}
	}
	return proposal, nil
}

func (c *client) proposalsGet(_ context.Context, p protocol.ProposalsGetParams) (protocol.ProposalsGetResult, error) {
	proposal, err := c.visible(p.ID)
	if err != nil {
		return protocol.ProposalsGetResult{}, err
	}
	out := protocol.ProposalsGetResult{Proposal: c.server.wireProposal(proposal, whole)}
	if p.Words {
		c.addWords(proposal, out.Proposal.Hunks)
	}
	if p.Texts {
		out.Base = page(proposal, proposal.Base, p.Offset)
		out.Proposed = page(proposal, proposal.Proposed(), p.Offset)
	}
	return out, nil
}

// page cuts the part of a text that one answer carries, at character borders.
func page(p *diffpreview.Proposal, c diffpreview.Content, offset int) *protocol.Text {
	text, lossy := p.Text(c.Data)
	out := &protocol.Text{Lossy: lossy, Exists: c.Exists}
	offset = min(max(offset, 0), len(text))
	for offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset++
	}
	end := offset + textPage
	if end >= len(text) {
		out.Text = text[offset:]
		return out
	}
	for !utf8.RuneStart(text[end]) {
		end--
	}
	out.Text, out.NextOffset = text[offset:end], end
	return out
}

func (c *client) proposalsDecide(ctx context.Context, p protocol.DecideParams) (*protocol.DecideResult, error) {
	if err := checkDecide(p); err != nil {
		return nil, err
	}
	if p.Session != "" {
		return c.decideSession(ctx, p)
	}
	d := diffpreview.DecideFile{
		ID: p.ID, Version: p.Version, Accept: p.Decision == protocol.Accept, Text: p.Text, Comment: p.Comment, By: c.name,
	}
	for _, h := range p.Decisions {
		d.Verdicts = append(d.Verdicts, diffpreview.Verdict{
			Hunk: h.Hunk, Accept: h.Decision == protocol.Accept, Text: h.Text,
			Side: diffpreview.Side(h.Side), Comment: h.Comment, Lines: (*diffpreview.Lines)(h.Lines),
		})
	}
	proposal, written, err := c.server.store.Decide(ctx, d)
	if err != nil {
		return nil, err
	}
	return c.decided(proposal, written), nil
}

func checkDecide(p protocol.DecideParams) error {
	known := func(d protocol.Decision) bool { return d == protocol.Accept || d == protocol.Reject }
	switch {
	case p.ID == "" && p.Session == "":
		return invalid("id: which proposal? Or session, for a change set")
	case p.ID != "" && p.Session != "":
		return invalid("session: a proposal's id is given already")
	case p.Session != "" && len(p.Decisions) > 0:
		return invalid("decisions: a change set is decided whole")
	case len(p.Decisions) > 0 && p.Decision != "":
		return invalid("decision: decisions of hunks are given already")
	case len(p.Decisions) == 0 && !known(p.Decision):
		return invalid("decision is %q: it is accept or reject", p.Decision)
	case p.Version < 0:
		return invalid("version is negative")
	case p.Text != nil && (p.ID == "" || p.Decision != protocol.Accept):
		return invalid("text: it is what a whole file that is accepted shall be")
	case p.SkipConflicts && p.Session == "":
		return invalid("skipConflicts: it is for a change set")
	case p.ID != "" && p.Version == 0 && accepts(p):
		return invalid("version: which version of the proposal was looked at? Without it text could be accepted that nobody saw")
	}
	for i, d := range p.Decisions {
		if d.Hunk == "" {
			return invalid("decisions[%d].hunk: which hunk?", i)
		}
		if !known(d.Decision) {
			return invalid("decisions[%d].decision is %q: it is accept or reject", i, d.Decision)
		}
	}
	return nil
}

func accepts(p protocol.DecideParams) bool {
	return p.Decision == protocol.Accept ||
		slices.ContainsFunc(p.Decisions, func(d protocol.HunkDecision) bool { return d.Decision == protocol.Accept })
}

func (c *client) decideSession(ctx context.Context, p protocol.DecideParams) (*protocol.DecideResult, error) {
	sess, err := c.server.sessionNamed(p.Session)
	if err != nil {
		return nil, err
	}
	set, err := c.server.store.DecideSession(ctx, diffpreview.DecideSet{
		Session: sess.ID, Accept: p.Decision == protocol.Accept, Comment: p.Comment, By: c.name,
		SkipConflicts: p.SkipConflicts,
	})
	if err != nil {
		return nil, err
	}
	out := &protocol.DecideResult{}
	for _, proposal := range set.Proposals {
		out.Proposals = append(out.Proposals, c.server.wireProposal(proposal, withHunks))
	}
	for _, w := range set.Written {
		out.WrittenFiles = append(out.WrittenFiles, protocol.Written(w))
	}
	for _, proposal := range set.Skipped {
		out.Skipped = append(out.Skipped, c.server.wireProposal(proposal, summary))
	}
	return out, nil
}

func (c *client) proposalsSplit(_ context.Context, p protocol.SplitParams) (protocol.SplitResult, error) {
	if p.ID == "" || p.Hunk == "" {
		return protocol.SplitResult{}, invalid("id and hunk: which hunk of which proposal?")
	}
	proposal, err := c.server.store.Split(p.ID, p.Version, p.Hunk, (*diffpreview.Lines)(p.Lines))
	if err != nil {
		return protocol.SplitResult{}, err
	}
	return protocol.SplitResult{Proposal: c.server.wireProposal(proposal, whole)}, nil
}

func (c *client) proposalsUndo(ctx context.Context, p protocol.UndoParams) (*protocol.DecideResult, error) {
	proposal, written, err := c.server.store.Undo(ctx, p.ID, p.Hunk, c.name)
	if err != nil {
		return nil, err
	}
	return c.decided(proposal, written), nil
}

func (c *client) decided(p *diffpreview.Proposal, written *diffpreview.Written) *protocol.DecideResult {
	wire := c.server.wireProposal(p, whole)
	out := &protocol.DecideResult{Proposal: &wire}
	if written != nil {
		out.Written = (*protocol.Written)(written)
	}
	return out
}
