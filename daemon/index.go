package daemon

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/tools"
	"github.com/loomd/loomd/watch"
)

func (c *client) indexStatus(context.Context, protocol.Empty) (protocol.IndexStatusResult, error) {
	return c.server.indexes.status(), nil
}

// states are those of an index, what most needs to be said first.
var states = []protocol.IndexState{protocol.IndexBuilding, protocol.IndexStale, protocol.IndexPolling, protocol.IndexLive}

// status is that of all roots together.
func (x *indexes) status() protocol.IndexStatusResult {
	out := protocol.IndexStatusResult{State: protocol.IndexLive, Problems: []protocol.IndexProblem{}}
	for _, r := range x.list {
		if r == nil {
			continue
		}
		st := r.Index.Status()
		state := protocol.IndexState(st.State)
		if done, total, ok := r.Building(); ok {
			state = protocol.IndexBuilding
			if out.Build == nil {
				out.Build = &protocol.IndexBuild{}
			}
			out.Build.Done, out.Build.Total = out.Build.Done+done, out.Build.Total+total
		}
		if slices.Index(states, state) < slices.Index(states, out.State) {
			out.State = state
		}
		out.Generation += int64(min(st.Generation, math.MaxInt64/2))
		out.Files, out.Dirs, out.Watches = out.Files+st.Files, out.Dirs+st.Dirs, out.Watches+st.Watches
		out.Bytes, out.Memory, out.Budget = out.Bytes+st.Bytes, out.Memory+st.Kept+st.Rows, out.Budget+st.Budget
		out.OnDemand, out.Binary = out.OnDemand+st.OnDemand, out.Binary+st.Binary
		for _, p := range st.Problems {
			out.Problems = append(out.Problems, r.wireProblem(p))
		}
	}
	return out
}

func (r *rootIndex) wireProblem(p watch.Problem) protocol.IndexProblem {
	return protocol.IndexProblem{Path: r.prefix + p.Path, Message: p.Message, Hint: p.Hint, Since: p.Since.UTC().Format(time.RFC3339)}
}

// indexSync waits until the indexes hold what was finished before the call.
func (c *client) indexSync(ctx context.Context, p protocol.IndexSyncParams) (protocol.IndexStatusResult, error) {
	told := &progress{conn: c.conn, token: p.WorkDoneToken, title: "indexing", clean: c.server.shown}
	defer told.end()
	stop := tools.TellBuilding(c.server.indexes.searchers(), told.report)
	defer stop()
	for _, r := range c.server.indexes.list {
		if r == nil {
			continue
		}
		snapshot, err := r.Index.Snapshot(ctx)
		if err != nil {
			return protocol.IndexStatusResult{}, err
		}
		snapshot.Release()
		if p.Built {
			if err := r.Index.Settle(ctx); err != nil {
				return protocol.IndexStatusResult{}, err
			}
		}
	}
	return c.server.indexes.status(), nil
}

// Bounds of what one search of a picker returns: more than fits a screen several
// times over nobody reads.
const (
	defaultFound = 100
	maxFound     = 1000
	maxFindQuery = 1000 // bytes
)

func (c *client) indexFind(ctx context.Context, p protocol.IndexFindParams) (protocol.IndexFindResult, error) {
	limit := defaultFound
	if p.Limit != nil {
		limit = *p.Limit
	}
	switch {
	case limit < 1 || limit > maxFound:
		return protocol.IndexFindResult{}, invalid("limit is %d: it is from 1 to %d", limit, maxFound)
	case len(p.Query) > maxFindQuery:
		return protocol.IndexFindResult{}, invalid("query has %d bytes: at most %d are taken", len(p.Query), maxFindQuery)
	}
	out := protocol.IndexFindResult{Files: []protocol.FoundFile{}}
	for _, r := range c.server.indexes.list {
		if r == nil {
			continue
		}
		found, err := r.Index.Find(ctx, p.Query, limit)
		if err != nil {
			return protocol.IndexFindResult{}, err
		}
		for _, f := range found {
			out.Files = append(out.Files, protocol.FoundFile{Path: r.prefix + f.Path, Score: f.Score})
		}
	}
	slices.SortStableFunc(out.Files, func(a, b protocol.FoundFile) int { return cmp.Compare(b.Score, a.Score) })
	out.Files = out.Files[:min(len(out.Files), limit)]
	return out, nil
}
