package main

import (
	"context"
	"errors"
	"slices"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

func (w *walk) accept(ctx context.Context, it *walkItem) (bool, error) {
	return w.decide(ctx, it, protocol.HunkDecision{Decision: protocol.Accept})
}

func (w *walk) reject(ctx context.Context, it *walkItem) (bool, error) {
	return w.decide(ctx, it, protocol.HunkDecision{Decision: protocol.Reject})
}

func (w *walk) takeAgent(ctx context.Context, it *walkItem) (bool, error) {
	return w.decide(ctx, it, protocol.HunkDecision{Decision: protocol.Accept, Side: "agent"})
}

func (w *walk) takeTree(ctx context.Context, it *walkItem) (bool, error) {
	return w.decide(ctx, it, protocol.HunkDecision{Decision: protocol.Accept, Side: sideTree})
}

func (w *walk) rejectWithComment(ctx context.Context, it *walkItem) (bool, error) {
	comment, err := w.line(ctx, "comment for the agent: ")
	if err != nil {
		return false, err
	}
	if comment == "" {
		w.say("no comment: nothing was decided")
		return false, nil
	}
	return w.decide(ctx, it, protocol.HunkDecision{Decision: protocol.Reject, Comment: comment})
}

func (w *walk) acceptRest(ctx context.Context, it *walkItem) (bool, error) {
	return w.decideRest(ctx, it, protocol.Accept, func(it *walkItem) bool { return !it.conflict() })
}

func (w *walk) rejectRest(ctx context.Context, it *walkItem) (bool, error) {
	return w.decideRest(ctx, it, protocol.Reject, func(*walkItem) bool { return true })
}

func (w *walk) decideRest(ctx context.Context, it *walkItem, what protocol.Decision, wanted func(*walkItem) bool) (bool, error) {
	var all []protocol.HunkDecision
	left := 0
	for _, later := range w.items[w.at:] {
		switch {
		case later.file != it.file || !later.undecided():
		case wanted(later):
			all = append(all, protocol.HunkDecision{Hunk: later.hunk.ID, Decision: what})
		default:
			left++
		}
	}
	show, err := w.send(ctx, it, all)
	if left > 0 && err == nil {
		w.say(plural(left, "conflict") + " left: each wants a decision of its own")
	}
	return show, err
}

// laterInFile counts the hunks of the same proposal that wait after it.
func (w *walk) laterInFile(it *walkItem) int {
	n := 0
	for _, later := range w.items[w.at+1:] {
		if later.file == it.file && later.undecided() {
			n++
		}
	}
	return n
}

func (w *walk) decide(ctx context.Context, it *walkItem, d protocol.HunkDecision) (bool, error) {
	d.Hunk = it.hunk.ID
	return w.send(ctx, it, []protocol.HunkDecision{d})
}

// send makes decisions about hunks of it's proposal. What the daemon refuses is
// told, with the present state, and can be decided again.
func (w *walk) send(ctx context.Context, it *walkItem, all []protocol.HunkDecision) (bool, error) {
	p := it.file.p
	res, err := w.rev.Decide(ctx, protocol.DecideParams{ID: p.ID, Version: p.Version, Decisions: all})
	if err != nil {
		return w.refused(ctx, it, err)
	}
	for _, d := range all {
		if d.Hunk == it.hunk.ID {
			it.draft = ""
		}
	}
	done := pastDecision{proposal: p.ID, decision: all[0].Decision, kept: all[0].Side == sideTree}
	for _, d := range all {
		if d.Lines != nil && res.Proposal != nil { // the lines are hunks of their own now
			done.hunks = append(done.hunks, decidedNow(p, *res.Proposal)...)
			continue
		}
		done.hunks = append(done.hunks, d.Hunk)
	}
	w.past = append(w.past, done)
	w.back = nil
	if done.kept {
		w.say(w.view.paint.faint(keptTree))
	}
	w.settled(it.file, res)
	w.mark(it.file, done)
	return true, nil
}

// settled takes in the daemon's answer to a decision or an undo.
func (w *walk) settled(file *walkFile, res protocol.DecideResult) {
	if res.Proposal != nil {
		w.take(*res.Proposal)
	}
	w.lost = false
	if res.Written == nil {
		return
	}
	w.say(w.view.paint.faint(writtenLine(*res.Written)))
}

// mark notes a decision on items that the answer no longer lists.
func (w *walk) mark(file *walkFile, done pastDecision) {
	state := protocol.HunkAccepted
	if done.decision == protocol.Reject || done.kept {
		state = protocol.HunkRejected
	}
	for _, it := range w.items {
		if it.file == file && it.gone && slices.Contains(done.hunks, it.hunk.ID) {
			it.hunk.State, it.gone = state, false
		}
	}
}

// refused tells why a decision did not come about. Errors that are not the
// daemon's answer end the walk.
func (w *walk) refused(ctx context.Context, it *walkItem, err error) (bool, error) {
	var answer *client.Error
	if !errors.As(err, &answer) {
		return false, err
	}
	present := answer.Data.Proposal
	if present == nil || present.ID != it.file.p.ID {
		if got, err := w.rev.Proposal(ctx, protocol.ProposalsGetParams{ID: it.file.p.ID}); err == nil {
			present = &got.Proposal
		}
	}
	if present != nil {
		w.take(*present)
	}
	w.say(w.view.paint.warn("not decided: " + oneLine(answer.Message)))
	if answer.Data.Hint != "" {
		w.say(oneLine(answer.Data.Hint))
	}
	switch {
	case it.gone:
		w.say("the hunk is no longer proposed")
	case it.undecided() && it.conflict():
		w.say(conflictKeys)
	}
	return true, nil
}

// undo takes back the decision on the hunk that is shown, or else the last one.
func (w *walk) undo(ctx context.Context, it *walkItem) (bool, error) {
	what := pastDecision{proposal: it.file.p.ID, hunks: []string{it.hunk.ID}}
	if it.undecided() || it.gone {
		what = w.past[len(w.past)-1]
		what.hunks = slices.Clone(what.hunks) // forget changes the other
	}
	for _, hunk := range what.hunks {
		res, err := w.rev.Undo(ctx, protocol.UndoParams{ID: what.proposal, Hunk: hunk})
		if err != nil {
			return w.refused(ctx, it, err)
		}
		w.forget(what.proposal, hunk)
		w.settled(it.file, res)
	}
	w.back = nil
	first := func(o *walkItem) bool {
		return o.file.p.ID == what.proposal && o.undecided() && slices.Contains(what.hunks, o.hunk.ID)
	}
	if i := w.next(-1, 1, first); i >= 0 {
		w.at = i
	}
	return true, nil
}

// forget takes a hunk out of what u would take back.
func (w *walk) forget(proposal, hunk string) {
	for i := len(w.past) - 1; i >= 0; i-- {
		d := &w.past[i]
		at := slices.Index(d.hunks, hunk)
		if d.proposal != proposal || at < 0 {
			continue
		}
		d.hunks = slices.Delete(d.hunks, at, at+1)
		if len(d.hunks) == 0 {
			w.past = slices.Delete(w.past, i, i+1)
		}
		return
	}
}
