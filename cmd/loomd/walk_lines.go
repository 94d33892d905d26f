package main

import (
	"context"
	"errors"
	"strings"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// hasLines says whether the hunk is more than one line that takes the place of
// one.
func (it *walkItem) hasLines() bool {
	return it.undecided() && !it.conflict() && it.hasText && max(it.hunk.OldLines, it.hunk.NewLines) > 1 &&
		(it.hunk.Kind == "text" || it.hunk.Kind == "create" || it.hunk.Kind == "delete")
}

func canChoose(_ *walk, it *walkItem) bool { return it.hasLines() }
func canSplit(_ *walk, it *walkItem) bool  { return it.hasLines() && it.hunk.Kind == "text" }

// chooseLines shows the hunk with its lines numbered and accepts those that the
// person names. The others stay undecided.
func (w *walk) chooseLines(ctx context.Context, it *walkItem) (bool, error) {
	w.view.numbered(it.text)
	list, err := w.line(ctx, "accept which lines, such as 1,3-5? ")
	if err != nil {
		return false, err
	}
	if list == "" {
		w.say("nothing was decided")
		return false, nil
	}
	lines, err := it.text.numbered(list)
	if err != nil {
		w.say("nothing was decided: " + oneLine(err.Error()))
		return false, nil
	}
	d := protocol.HunkDecision{Decision: protocol.Accept, Lines: lines}
	if it.text.all(lines) {
		d.Lines = nil
	}
	return w.decide(ctx, it, d)
}

// split cuts the hunk into smaller ones, of which the first is shown next.
func (w *walk) split(ctx context.Context, it *walkItem) (bool, error) {
	p := it.file.p
	res, err := w.rev.Split(ctx, protocol.SplitParams{ID: p.ID, Version: p.Version, Hunk: it.hunk.ID})
	var answer *client.Error
	switch {
	case errors.As(err, &answer) && answer.Data.Kind == "invalid_arguments":
		w.say("not split: " + oneLine(answer.Message))
		return false, nil
	case err != nil:
		return w.refused(ctx, it, err)
	}
	pieces := piecesOf(p, res.Proposal, it.hunk.ID)
	w.take(res.Proposal)
	w.say("split into " + plural(len(pieces), "hunk") + ": " + strings.Join(pieces, " "))
	return true, nil
}

// piecesOf are the ids of the hunks that one hunk became: its own, and those that
// were not there before.
func piecesOf(before, after protocol.Proposal, id string) []string {
	known := map[string]bool{}
	for _, h := range before.Hunks {
		known[h.ID] = h.ID != id
	}
	var out []string
	for _, h := range after.Hunks {
		if pending(h) && !known[h.ID] {
			out = append(out, h.ID)
		}
	}
	return out
}

// decidedNow are the ids of the hunks that were decided between two states.
func decidedNow(before, after protocol.Proposal) []string {
	decided := map[string]bool{}
	for _, h := range before.Hunks {
		decided[h.ID] = !pending(h)
	}
	var out []string
	for _, h := range after.Hunks {
		if !pending(h) && !decided[h.ID] {
			out = append(out, h.ID)
		}
	}
	return out
}
