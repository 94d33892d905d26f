package daemon

import (
	"context"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
)

func (c *client) proposalsHistory(_ context.Context, p protocol.HistoryParams) (protocol.HistoryResult, error) {
	f := diffpreview.HistoryFilter{Session: p.Session, Path: p.Path, Proposal: p.Proposal, Before: p.Before, Limit: p.Limit}
	if p.Limit < 0 || p.Limit > maxHistory || p.Before < 0 {
		return protocol.HistoryResult{}, invalid("limit is 1 to %d, and before the seq of an entry", maxHistory)
	}
	if p.Since != "" {
		since, err := time.Parse(time.RFC3339, p.Since)
		if err != nil {
			return protocol.HistoryResult{}, invalid("since is %q: it is a time as in RFC 3339", p.Since)
		}
		f.Since = since
	}
	entries, more, err := c.server.store.History(f)
	if err != nil {
		return protocol.HistoryResult{}, err
	}
	out := protocol.HistoryResult{Entries: []protocol.HistoryEntry{}, Truncated: more}
	for _, e := range entries {
		out.Entries = append(out.Entries, protocol.HistoryEntry{
			Seq: e.Seq, Time: e.Time.UTC().Format(time.RFC3339), Proposal: e.Proposal, Session: e.Session, Label: e.Label,
			Path: e.Path, From: e.From, Hunk: e.Hunk, Kind: e.Kind, Decision: e.Decision, By: e.By, Rule: e.Rule, Comment: e.Comment,
			HashBefore: e.HashBefore, HashAfter: e.HashAfter, Added: e.Added, Removed: e.Removed,
			Tools: append([]string{}, e.Tools...),
		})
	}
	return out, nil
}

// maxHistory is how many entries one answer carries: the engine's own page.
const maxHistory = 1000
