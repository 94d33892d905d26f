package tools

import (
	"context"
	_ "embed"
	"time"

	"github.com/loomd/loomd/diffpreview"
)

//go:embed await_review.md
var awaitReviewText string

// maxAwaited bounds the proposals that one call names, and those that a result
// lists.
const maxAwaited = 200

type awaitArgs struct {
	Proposals   []string `json:"proposals,omitempty" jsonschema:"Ids of the proposals to wait for; without it, all of yours."`
	TimeoutSecs int      `json:"timeout_secs,omitempty" jsonschema:"How long to wait at most."`
}

// pendingProposal is one proposal that is not wholly decided.
type pendingProposal struct {
	Proposal string `json:"proposal"`
	Path     string `json:"path" jsonschema:"where your view has the file"`
	State    string `json:"state" jsonschema:"open or conflict"`
	Hunks    int    `json:"hunks" jsonschema:"how many of its hunks are undecided"`
}

type awaitResult struct {
	State   string            `json:"state" jsonschema:"decided (nothing waits any more) or open"`
	Pending []pendingProposal `json:"pending" jsonschema:"what is undecided still"`
	cut
}

func awaitReviewTool() (Tool, error) {
	return build(spec[awaitArgs, awaitResult]{
		name: "await_review", text: awaitReviewText,
		defaults:    awaitArgs{TimeoutSecs: 60},
		bounds:      bounds{"proposals": {1, maxAwaited}, "timeout_secs": {1, 3600}},
		annotations: Annotations{ReadOnly: true, Idempotent: true},
		codes:       []diffpreview.Code{diffpreview.CodeUnknownProposal},
		call:        callAwaitReview,
	})
}

func callAwaitReview(ctx context.Context, tc *Context, args awaitArgs) (awaitResult, error) {
	for _, id := range args.Proposals {
		if _, err := tc.View.Proposal(id); err != nil {
			f := failureOf(err)
			f.Hint = "without proposals it waits for all of yours"
			return awaitResult{}, f.with("field", "proposals")
		}
	}
	waiting, cancel := context.WithTimeout(ctx, time.Duration(args.TimeoutSecs)*time.Second)
	defer cancel()
	tc.View.AwaitDecided(waiting, args.Proposals, tc.progress) // or the time is up
	if err := ctx.Err(); err != nil {
		return awaitResult{}, err
	}
	return describePending(tc.View, tc.View.Undecided(args.Proposals)), nil
}

func describePending(view *diffpreview.View, left []*diffpreview.Proposal) awaitResult {
	out := awaitResult{State: "decided", Pending: []pendingProposal{}}
	if len(left) > 0 {
		out.State = "open"
	}
	for _, p := range left[:min(len(left), maxAwaited)] {
		_, _, hunks := p.Counts()
		out.Pending = append(out.Pending, pendingProposal{
			Proposal: p.ID, Path: view.Name(p.Shown()), State: string(p.State()), Hunks: hunks,
		})
	}
	if len(left) > maxAwaited {
		out.cut = cut{
			Truncated: true, Shown: maxAwaited, Total: int64(len(left)), Unit: "proposals",
			Next: "name the proposals that you wait for",
		}
	}
	return out
}
