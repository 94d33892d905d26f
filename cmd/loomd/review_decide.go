package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// choice is the part of a command line that says what is decided.
type choice struct {
	target
	Which   []string `arg:"" optional:"" name:"id|path" help:"Proposals, by id or path."`
	All     bool     `help:"Every proposal of every session, one change set per session."`
	Hunk    []string `placeholder:"H" sep:"none" help:"Only this hunk of the proposal; may be given several times."`
	Lines   string   `placeholder:"LIST" help:"With one --hunk and --seen: only these lines, as show -n names them: -3 is taken away, +5 put in, 4-6 both. Write --lines=-3."`
	Session string   `placeholder:"LABEL" help:"Only this session's proposals, by its label or id."`
	Comment string   `placeholder:"TEXT" help:"Told to the agent with the decision."`
	Seen    int      `placeholder:"VERSION" help:"Decide only if what is decided has not changed since this version, which show prints."`
	JSON    bool     `name:"json" help:"Print the daemon's answers as JSON."`

	skipConflicts bool // of change sets
}

type acceptCmd struct {
	choice
	SkipConflicts bool   `help:"With --all: leave out each file that has a conflict, whole, and list it, instead of accepting nothing."`
	Side          string `enum:"agent,tree," default:"" placeholder:"agent|tree" help:"Settle conflicts by the agent's text or by what stands in the tree."`
}

type rejectCmd struct{ choice }

func (c *acceptCmd) Run(e *env) error {
	switch {
	case c.SkipConflicts && !c.All:
		return usagef("--skip-conflicts goes with --all; name hunks by --hunk")
	case c.Lines != "" && c.Side != "":
		return usagef("--lines and --side: a conflict is settled whole")
	}
	c.skipConflicts = c.SkipConflicts
	return c.run(e, protocol.Accept, c.Side)
}

func (c *rejectCmd) Run(e *env) error { return c.run(e, protocol.Reject, "") }

func (c *choice) check(side string) error {
	switch {
	case c.All && len(c.Which) > 0:
		return usagef("--all and %s: one or the other", oneLine(c.Which[0]))
	case !c.All && len(c.Which) == 0:
		return usagef("say which: an id, a path, or --all; loomd review list shows them")
	case len(c.Hunk) > 0 && (c.All || len(c.Which) > 1):
		return usagef("--hunk needs exactly one id or path: hunks are numbered per proposal")
	case c.Seen != 0 && (c.All || len(c.Which) > 1):
		return usagef("--seen needs exactly one id or path: versions are counted per proposal")
	case c.Seen < 0:
		return usagef("--seen %d: must be positive", c.Seen)
	case side != "" && c.All:
		return usagef("--side and --all: settle conflicts one proposal at a time")
	case c.Lines != "" && (len(c.Hunk) != 1 || c.Seen == 0):
		return usagef("--lines needs one --hunk, and --seen with the version that you looked at: the numbers are those of its diff")
	}
	return nil
}

func (c *choice) run(e *env, what protocol.Decision, side string) error {
	if err := c.check(side); err != nil {
		return err
	}
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	f, err := newFinder(e, cl, cl.Info().Roots, c.Session)
	if err != nil {
		return err
	}
	d := &deciding{e: e, rev: cl, json: c.JSON}
	if c.All {
		d.sessions(f.waiting, protocol.DecideParams{Decision: what, Comment: c.Comment, SkipConflicts: c.skipConflicts})
		return d.finish()
	}
	var targets []protocol.Proposal
	for _, name := range c.Which {
		p, err := f.one(e.ctx, name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(targets, func(t protocol.Proposal) bool { return t.ID == p.ID }) {
			targets = append(targets, p)
		}
	}
	for _, p := range targets {
		if err := d.one(p.ID, c, what, side); err != nil {
			return err
		}
		if d.lost {
			break
		}
	}
	return d.finish()
}

// deciding carries out decisions and tells what came of them.
type deciding struct {
	e        *env
	rev      reviewer
	json     bool
	answers  []protocol.DecideResult
	refusals []refusal
	lost     bool // the daemon has ended: there is nobody to ask any more
}

// refusal is why a decision did not come about, for --json.
type refusal struct {
	Message string              `json:"message"`
	Data    *protocol.ErrorData `json:"data,omitempty"`
}

// one decides one proposal, or the named hunks of it. A refusal is told and
// remembered; the error is for a command line that makes no sense.
func (d *deciding) one(id string, c *choice, what protocol.Decision, side string) error {
	got, err := d.rev.Proposal(d.e.ctx, protocol.ProposalsGetParams{ID: id})
	if err != nil {
		return err
	}
	p := got.Proposal
	params := protocol.DecideParams{ID: id, Version: p.Version}
	if c.Seen != 0 {
		params.Version = c.Seen
	}
	if len(c.Hunk) == 0 && side == "" {
		params.Decision, params.Comment = what, c.Comment
		d.send(params, p)
		return nil
	}
	hunks, err := chosenHunks(p, c.Hunk)
	if err != nil {
		return err
	}
	lines, err := chosenLines(p, hunks, c.Lines, c.Seen)
	if err != nil {
		return err
	}
	for _, h := range hunks {
		hd := protocol.HunkDecision{Hunk: h.ID, Decision: what, Comment: c.Comment, Lines: lines}
		if h.State == protocol.HunkConflict {
			hd.Side = side
		}
		params.Decisions = append(params.Decisions, hd)
	}
	d.send(params, p)
	return nil
}

// chosenHunks returns the pending hunks that are named, all of them when none
// is.
func chosenHunks(p protocol.Proposal, ids []string) ([]protocol.Hunk, error) {
	open := pendingHunks(p)
	if len(ids) == 0 {
		return open, nil
	}
	var out []protocol.Hunk
	for _, id := range ids {
		i := slices.IndexFunc(p.Hunks, func(h protocol.Hunk) bool { return h.ID == id })
		switch {
		case i < 0:
			return nil, usagef("%s has no hunk %s; it has %s", pathName(p.Path), oneLine(id), strings.Join(hunkIDs(open), ", "))
		case !pending(p.Hunks[i]):
			return nil, fmt.Errorf("hunk %s of %s was %s already", id, pathName(p.Path), p.Hunks[i].State)
		case !slices.ContainsFunc(out, func(h protocol.Hunk) bool { return h.ID == id }):
			out = append(out, p.Hunks[i])
		}
	}
	return out, nil
}

func (d *deciding) send(params protocol.DecideParams, before protocol.Proposal) {
	res, err := d.rev.Decide(d.e.ctx, params)
	if err != nil {
		if !slices.ContainsFunc(params.Decisions, func(h protocol.HunkDecision) bool { return h.Side != "" }) {
			adviseSides(err)
		}
		d.refused(err)
		return
	}
	d.answers = append(d.answers, res)
	if d.json {
		return
	}
	d.tell(params, before)
	d.wrote(res)
}

// tell says what was decided.
func (d *deciding) tell(params protocol.DecideParams, before protocol.Proposal) {
	hunks := hunkIDs(pendingHunks(before))
	what := params.Decision
	var kept []string // of the tree
	if len(params.Decisions) > 0 {
		hunks, what = nil, params.Decisions[0].Decision
		for _, h := range params.Decisions {
			if h.Side == sideTree {
				kept = append(kept, h.Hunk)
				continue
			}
			hunks = append(hunks, h.Hunk)
			if l := h.Lines; l != nil {
				hunks = append(hunks, "("+plural(len(l.Old)+len(l.New), "line")+")")
			}
		}
	}
	if len(hunks) > 0 || len(kept) == 0 {
		d.e.printf("%sed %s %s\n", what, placeName(before), strings.Join(hunks, " "))
	}
	if len(kept) > 0 {
		d.e.printf("%s: %s %s\n", keptTree, placeName(before), strings.Join(kept, " "))
	}
}

// sideTree settles a conflict by what stands in the tree, which is no accept of
// anything: the agent's text is rejected.
const (
	sideTree = "tree"
	keptTree = "kept the tree's text"
)

// sessions decides the change set of each session that has something waiting.
func (d *deciding) sessions(waiting []protocol.Proposal, params protocol.DecideParams) {
	var order []string
	bySession := map[string][]protocol.Proposal{}
	for _, p := range waiting {
		if bySession[p.Session] == nil {
			order = append(order, p.Session)
		}
		bySession[p.Session] = append(bySession[p.Session], p)
	}
	for _, id := range order {
		set := bySession[id]
		params.Session = id
		res, err := d.rev.Decide(d.e.ctx, params)
		if err != nil {
			adviseSides(err)
			d.refused(fmt.Errorf("session %s: %w", set[0].Label, err))
			if d.lost {
				return
			}
			continue
		}
		d.answers = append(d.answers, res)
		if d.json {
			continue
		}
		d.e.printf("%sed %s of session %s\n", params.Decision, plural(len(res.Proposals), "file"), oneLine(set[0].Label))
		d.wrote(res)
		for _, p := range res.Skipped {
			d.e.printf("skipped %s %s: in conflict\n", p.ID, placeName(p))
		}
	}
}

// wrote tells which files an answer says were written.
func (d *deciding) wrote(res protocol.DecideResult) {
	files := res.WrittenFiles
	if res.Written != nil {
		files = append([]protocol.Written{*res.Written}, files...)
	}
	for _, w := range files {
		d.e.printf("%s\n", writtenLine(w))
	}
}

// hashDigits is how much of a hash people are shown.
const hashDigits = 12

func writtenLine(w protocol.Written) string {
	if w.Hash == "" {
		return "deleted " + pathName(w.Path)
	}
	if w.From != "" {
		return "moved " + pathName(w.From) + " to " + pathName(w.Path) + " " + w.Hash[:min(hashDigits, len(w.Hash))]
	}
	if w.Document {
		return "edited " + pathName(w.Path) + " in the editor, where it is not saved yet"
	}
	return "wrote " + pathName(w.Path) + " " + w.Hash[:min(hashDigits, len(w.Hash))]
}

// refused tells why a decision did not come about and shows how things stand.
func (d *deciding) refused(err error) {
	if d.lost = errors.Is(err, client.ErrClosed); d.lost {
		err = errLost
	}
	d.e.complain(err)
	d.refusals = append(d.refusals, refusal{Message: err.Error()})
	var answer *client.Error
	if !errors.As(err, &answer) || d.e.ctx.Err() != nil {
		return
	}
	d.refusals[len(d.refusals)-1].Data = &answer.Data
	if d.json {
		return
	}
	view := diffView{w: d.e.stderr, paint: d.e.paint}
	if answer.Data.Proposal != nil {
		view.proposal(*answer.Data.Proposal)
	}
	for _, p := range answer.Data.Proposals {
		view.title(p)
	}
}

// adviseSides gives a refusal because of conflicts the hint how to settle them.
func adviseSides(err error) {
	var answer *client.Error
	if !errors.As(err, &answer) || answer.Data.Kind != "conflict" || answer.Data.Hint != "" {
		return
	}
	var which []string
	if p := answer.Data.Proposal; p != nil {
		for _, h := range p.Hunks {
			if h.State == protocol.HunkConflict {
				which = append(which, p.ID+" --hunk "+h.ID)
			}
		}
	}
	for _, p := range answer.Data.Proposals {
		switch {
		case p.State == protocol.ProposalConflict && p.Kind == "rename":
			answer.Data.Hint = fmt.Sprintf("%s: make the new name free, or refuse it: loomd review reject %s", placeName(p), p.ID)
		case p.State == protocol.ProposalConflict:
			which = append(which, p.ID)
		}
	}
	if len(which) == 0 {
		return
	}
	more := ""
	if len(which) > 1 {
		more = fmt.Sprintf(" (and so on: %s)", strings.Join(which[1:], ", "))
	}
	answer.Data.Hint = fmt.Sprintf("loomd review accept %s --side agent takes the agent's text, --side tree keeps what stands there%s; with e in loomd review you give a text of your own",
		which[0], more)
}

// finish prints what is left and returns errReported when something failed.
func (d *deciding) finish() error {
	if d.json {
		if err := d.e.json(struct {
			Results []protocol.DecideResult `json:"results"`
			Errors  []refusal               `json:"errors"`
		}{append([]protocol.DecideResult{}, d.answers...), append([]refusal{}, d.refusals...)}); err != nil {
			return err
		}
	} else if !d.lost {
		if err := d.left(); err != nil {
			return err
		}
	}
	if len(d.refusals) > 0 {
		return errReported
	}
	return nil
}

func (d *deciding) left() error {
	if d.e.ctx.Err() != nil {
		return context.Cause(d.e.ctx)
	}
	waiting, err := allProposals(d.e.ctx, d.rev, protocol.ProposalsListParams{})
	if err != nil {
		return err
	}
	return d.e.printf("%s\n", leftLine(waiting))
}

// leftLine sums up what waits.
func leftLine(list []protocol.Proposal) string {
	if len(list) == 0 {
		return "nothing left to review"
	}
	hunks := 0
	for _, p := range list {
		hunks += p.HunkCount
	}
	return fmt.Sprintf("left: %s in %s", plural(hunks, "hunk"), plural(len(list), "proposal"))
}
