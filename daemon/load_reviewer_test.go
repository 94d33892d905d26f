package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// loadReviewer looks at proposals and decides what it has seen.
type loadReviewer struct {
	loadClient
	comments int
	times    []time.Duration // of decide
}

// heard checks that each proposal's states come in order.
func (r *loadReviewer) heard() rpc.Handler {
	versions := map[string]int{}
	return func(_ context.Context, _ *rpc.Conn, req *rpc.Request) (any, error) {
		var p protocol.ProposalDidChangeParams
		if req.Method != protocol.MethodProposalsDidChange {
			return nil, nil
		}
		if err := json.Unmarshal(req.Params, &p); err != nil {
			return nil, err
		}
		if p.Proposal.Version <= versions[p.Proposal.ID] {
			r.load.t.Errorf("%s heard of version %d of %s after %d", r.name, p.Proposal.Version, p.Proposal.ID, versions[p.Proposal.ID])
		}
		versions[p.Proposal.ID] = p.Proposal.Version
		r.load.count("didChange")
		return nil, nil
	}
}

func (r *loadReviewer) work(ctx context.Context) error {
	for ctx.Err() == nil {
		act := r.review
		switch r.rnd.IntN(10) {
		case 0, 1:
			act = r.undo
		case 2:
			act = r.decideSet
		}
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

// decide calls a method and reports whether it was done. It is refused when
// somebody else was quicker, and then told what there is now.
func (r *loadReviewer) decide(method string, params any, fine ...string) (result protocol.DecideResult, ok bool, err error) {
	start := time.Now()
	err = r.call(method, params, &result)
	if method == protocol.MethodProposalsDecide {
		r.times = append(r.times, time.Since(start))
	}
	if err == nil {
		return result, true, nil
	}
	kind, data := refusal(err)
	if !slices.Contains(fine, kind) {
		return result, false, fmt.Errorf("%w (%q) after %+v", err, kind, params)
	}
	if data.Proposal == nil && len(data.Proposals) == 0 {
		return result, false, fmt.Errorf("%w (%q): the present proposal is not with it", err, kind)
	}
	r.load.count(strings.TrimPrefix(method, "loom/proposals/") + " " + kind)
	return result, false, nil
}

// seen is a hunk as the reviewer saw it.
type seen struct {
	protocol.Hunk
	tokens  []string // that the agent puts in
	over    []string // of the tree, that are replaced
	foreign []string // that the agent's text would bring back: it is older than an undo
}

// without are the tokens of a that b does not have.
func without(a []string, b string) (out []string) {
	for _, token := range a {
		if !strings.Contains(b, token) {
			out = append(out, token)
		}
	}
	return out
}

func (s *seen) find(base, agent, tree string) {
	s.tokens = without(tokensIn(agent), base)
	s.over = without(tokensIn(tree), agent)
	s.foreign = without(without(tokensIn(agent), tree), strings.Join(s.tokens, ""))
}

// look gets a proposal and finds the tokens of its undecided hunks.
func (r *loadReviewer) look(id string) (p protocol.Proposal, hunks []seen, err error) {
	var got protocol.ProposalsGetResult
	if err := r.call(protocol.MethodProposalsGet, protocol.ProposalsGetParams{ID: id, Texts: true}, &got); err != nil {
		return p, nil, err
	}
	base, proposed := lines(got.Base.Text), lines(got.Proposed.Text)
	for _, h := range got.Proposal.Hunks {
		s := seen{Hunk: h}
		switch {
		case h.State == protocol.HunkConflict:
			s.find(h.Conflict.Base, h.Conflict.Agent, h.Conflict.Tree)
		case h.State == protocol.HunkOpen:
			before := ranged(base, h.OldStart, h.OldLines)
			s.find(before, ranged(proposed, h.NewStart, h.NewLines), before)
		default:
			continue
		}
		for _, token := range s.tokens {
			if !strings.HasPrefix(token, "token "+got.Proposal.Label+" ") {
				return p, nil, fmt.Errorf("%s: %q in hunk %+v of %+v", r.name, token, h, got.Proposal)
			}
		}
		hunks = append(hunks, s)
	}
	for i := range hunks {
		r.load.count("seen " + string(hunks[i].State))
	}
	r.load.count("get")
	return got.Proposal, hunks, nil
}

func lines(text string) []string { return strings.SplitAfter(text, "\n") }

func ranged(lines []string, start, n int) string {
	if n == 0 {
		return ""
	}
	return strings.Join(lines[start-1:start-1+n], "")
}

func (r *loadReviewer) review() error {
	var list protocol.ProposalsListResult
	if err := r.call(protocol.MethodProposalsList, protocol.ProposalsListParams{}, &list); err != nil {
		return err
	}
	r.load.count("list")
	if len(list.Proposals) == 0 {
		return nil
	}
	p, hunks, err := r.look(list.Proposals[r.rnd.IntN(len(list.Proposals))].ID)
	if err != nil || len(hunks) == 0 {
		return err
	}
	r.comments++
	d := protocol.DecideParams{ID: p.ID, Version: p.Version}
	comment := fmt.Sprintf("%s %d", r.name, r.comments)
	ruled := map[string]ruledHunk{} // by hunk, what this decision would make of it
	if r.rnd.IntN(4) == 0 && !slices.ContainsFunc(hunks, func(s seen) bool { return s.State == protocol.HunkConflict }) {
		d.Decision, d.Comment = protocol.Reject, comment
		word := "rejected"
		if r.rnd.IntN(3) > 0 {
			d.Decision, word = protocol.Accept, "accepted"
		}
		for _, s := range hunks {
			ruled[s.ID] = s.as(word)
		}
	} else {
		for _, i := range r.rnd.Perm(len(hunks))[:1+r.rnd.IntN(min(3, len(hunks)))] {
			verdict, rule := r.verdict(&hunks[i])
			verdict.Comment = comment
			d.Decisions, ruled[verdict.Hunk] = append(d.Decisions, verdict), rule
		}
	}
	result, ok, err := r.decide(protocol.MethodProposalsDecide, d, "changed_since", "already_decided", "conflict")
	if !ok {
		return err
	}
	return r.done(p, result.Proposal, comment, ruled)
}

// verdict decides one hunk: of a conflict the agent's side, the tree's, or both
// in one text.
func (r *loadReviewer) verdict(s *seen) (protocol.HunkDecision, ruledHunk) {
	v, rule := protocol.HunkDecision{Hunk: s.ID, Decision: protocol.Accept}, s.as("accepted")
	roll := r.rnd.IntN(9)
	if len(s.foreign) > 0 {
		roll = 9 // a refusal would be undone into a hunk that brings them back
	}
	switch {
	case roll < 3:
		v.Decision, rule = protocol.Reject, s.as("rejected")
	case s.State == protocol.HunkOpen:
	case roll < 4:
		v.Side, rule = string("tree"), s.as("rejected")
	case roll < 6:
		v.Side = "agent"
	default:
		text := strings.Join(s.tokens, "") + s.Conflict.Tree
		rule.over = nil
		if v.Text = &text; text != s.Conflict.Agent {
			rule.word = "modified"
		}
	}
	return v, rule
}

// as is the hunk under a decision: a refused one replaces nothing.
func (s *seen) as(word string) ruledHunk {
	if word == "rejected" {
		return ruledHunk{s.ID, word, s.tokens, nil}
	}
	return ruledHunk{s.ID, word, s.tokens, s.over}
}

// done notes a decision: of what was seen, the hunks that the answer shows as
// decided by this reviewer. Of a whole file others may have decided some.
func (r *loadReviewer) done(p protocol.Proposal, after *protocol.Proposal, comment string, ruled map[string]ruledHunk) error {
	c := change{proposal: p.ID, session: p.Session, path: p.Path, version: after.Version, by: r.name, comment: comment}
	for _, h := range after.Hunks {
		rule, ok := ruled[h.ID]
		if !ok || h.By != r.name || h.Comment != comment {
			continue
		}
		want := protocol.HunkAccepted
		if rule.word == "rejected" {
			want = protocol.HunkRejected
		}
		if h.State != want {
			return fmt.Errorf("%s: hunk %s of %s is %s, want %s", r.name, h.ID, p.ID, h.State, want)
		}
		c.ruled = append(c.ruled, rule)
		r.load.count("hunk " + rule.word)
	}
	if len(c.ruled) == 0 {
		return fmt.Errorf("%s: a decision of %s that decided nothing: %+v", r.name, p.ID, after)
	}
	r.load.ledger.add(c)
	return nil
}

// undo reopens a hunk, or all of a proposal, of a decision that somebody made.
func (r *loadReviewer) undo() error {
	c, ok := r.load.ledger.some(r.rnd.IntN, func(c change) bool { return !r.load.alone[c.session] })
	if !ok {
		return nil
	}
	params, undone := protocol.UndoParams{ID: c.proposal}, "all"
	if r.rnd.IntN(3) > 0 {
		params.Hunk = c.ruled[r.rnd.IntN(len(c.ruled))].id
		undone = params.Hunk
	}
	result, ok, err := r.decide(protocol.MethodProposalsUndo, params, "conflict", "unknown_hunk")
	if !ok {
		return err
	}
	r.load.count("undo")
	r.load.ledger.add(change{
		proposal: c.proposal, session: c.session, path: c.path, version: result.Proposal.Version,
		by: r.name, undone: undone, after: result.Proposal.Hunks,
	})
	return nil
}

// decideSet decides all of an agent that works alone: several files at once, of
// which each token is known that can be in it.
func (r *loadReviewer) decideSet() error {
	r.comments++
	comment := fmt.Sprintf("%s %d", r.name, r.comments)
	d := protocol.DecideParams{Session: r.load.loner(r.rnd), Decision: protocol.Accept, Comment: comment}
	word := "accepted"
	if r.rnd.IntN(3) == 0 {
		d.Decision, word = protocol.Reject, "rejected"
	}
	result, ok, err := r.decide(protocol.MethodProposalsDecide, d)
	if !ok {
		return err
	}
	r.load.count(fmt.Sprintf("set %s", word))
	for _, p := range result.Proposals {
		c := change{proposal: p.ID, session: p.Session, path: p.Path, version: p.Version, by: r.name, comment: comment, set: true}
		for _, h := range p.Hunks {
			if h.By == r.name && h.Comment == comment {
				c.ruled = append(c.ruled, ruledHunk{id: h.ID, word: word})
			}
		}
		if len(c.ruled) == 0 {
			return fmt.Errorf("%s: a set that decided nothing of %s", r.name, p.ID)
		}
		r.load.ledger.add(c)
	}
	return nil
}
