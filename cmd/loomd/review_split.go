package main

import (
	"slices"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

type splitCmd struct {
	target
	Which   string `arg:"" name:"id|path" help:"The proposal, by id or path."`
	Hunk    string `required:"" placeholder:"H" help:"The hunk to split."`
	Lines   string `placeholder:"LIST" help:"With --seen: cut these lines from the others, as show -n names them: -3 is taken away, +5 put in, 4-6 both. Write --lines=-3."`
	Seen    int    `placeholder:"VERSION" help:"Split only if the hunk has not changed since this version, which show prints."`
	Session string `placeholder:"LABEL" help:"Only this session's proposals, by its label or id."`
	JSON    bool   `name:"json" help:"Print the proposal as JSON."`
}

func (splitCmd) Help() string {
	return `Cuts a hunk into several that are decided by themselves: at its empty lines, or into single lines where there are none. With --lines, into what is named and the rest.

    loomd review show -n f.go
    loomd review split f.go --hunk h1
    loomd review split f.go --hunk h1 --seen 2 --lines=-3,+3-5

Nothing is decided by it. To accept lines at once, give --lines to accept.`
}

func (c *splitCmd) Run(e *env) error {
	switch {
	case c.Lines != "" && c.Seen == 0:
		return usagef("--lines needs --seen with the version that you looked at: the numbers are those of its diff")
	case c.Seen < 0:
		return usagef("--seen %d: must be positive", c.Seen)
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
	found, err := f.one(e.ctx, c.Which)
	if err != nil {
		return err
	}
	got, err := cl.Proposal(e.ctx, protocol.ProposalsGetParams{ID: found.ID})
	if err != nil {
		return err
	}
	before := got.Proposal
	hunks, err := chosenHunks(before, []string{c.Hunk})
	if err != nil {
		return err
	}
	params := protocol.SplitParams{ID: before.ID, Version: before.Version, Hunk: c.Hunk}
	if c.Seen != 0 {
		params.Version = c.Seen
	}
	if params.Lines, err = chosenLines(before, hunks, c.Lines, c.Seen); err != nil {
		return err
	}
	res, err := cl.Split(e.ctx, params)
	if err != nil {
		d := &deciding{e: e, rev: cl, json: c.JSON}
		d.refused(err)
		if c.JSON {
			return d.finish()
		}
		return errReported
	}
	if c.JSON {
		return e.json(res)
	}
	return e.pieces(before, res.Proposal, c.Hunk)
}

// pieces shows what a hunk was split into.
func (e *env) pieces(before, after protocol.Proposal, hunk string) error {
	ids := piecesOf(before, after, hunk)
	if err := e.printf("split %s %s: %s\n", placeName(after), hunk, strings.Join(ids, " ")); err != nil {
		return err
	}
	view := diffView{w: e.stdout, paint: e.paint, width: e.width()}
	diff := parseDiff(after.Diff)
	for _, h := range after.Hunks {
		if r, ok := diff.find(h); ok && slices.Contains(ids, h.ID) {
			view.hunk(r, h.ID, 0)
		}
	}
	return nil
}
