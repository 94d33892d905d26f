package diffpreview

import (
	"cmp"
	"slices"
	"time"
)

// Limits bound what a store keeps. A member that is 0 has its default.
type Limits struct {
	Decided      int   // decided proposals, which can be undone; 1,000
	DecidedBytes int64 // of those, texts included, in memory as on disk; 128 MiB
	History      int64 // bytes of the history; 64 MiB
	// Journal is the size in bytes, long texts included, below which the journal
	// is not compacted; 16 MiB. Above it is when it is journalGrowth times as
	// large as what lives.
	Journal int64
}

// journalGrowth bounds the work of compactions: at 3, one is written for two
// that were appended.
const journalGrowth = 3

func (l Limits) orDefaults() Limits {
	return Limits{
		Decided:      cmp.Or(l.Decided, 1000),
		DecidedBytes: cmp.Or(l.DecidedBytes, 128<<20),
		History:      cmp.Or(l.History, 64<<20),
		Journal:      cmp.Or(l.Journal, 16<<20),
	}
}

// retention is which decided proposals there are, of which the oldest go when
// they are too many. It is guarded by Store.mu.
type retention struct {
	limits  Limits
	decided map[string]retained
	bytes   int64
}

type retained struct {
	bytes int64
	at    time.Time // when it was last decided about
}

// note takes account of a proposal's new state.
func (r *retention) note(p *Proposal) {
	r.forget(p.ID)
	if p.Undecided() || p.unsaved() {
		return
	}
	one := retained{bytes: p.bytes(), at: p.decidedAt()}
	r.decided[p.ID] = one
	r.bytes += one.bytes
}

func (r *retention) forget(id string) {
	r.bytes -= r.decided[id].bytes
	delete(r.decided, id)
}

// trim drops the decided proposals that are too many, the one that was decided
// first before the others, and says which. The newest one stays, however large.
func (r *retention) trim() []string {
	if len(r.decided) <= r.limits.Decided && r.bytes <= r.limits.DecidedBytes {
		return nil
	}
	ids := make([]string, 0, len(r.decided))
	for id := range r.decided {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(r.decided[a].at.Compare(r.decided[b].at), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	gone := 0
	for gone < len(ids)-1 && (len(r.decided) > r.limits.Decided || r.bytes > r.limits.DecidedBytes) {
		r.forget(ids[gone])
		gone++
	}
	return ids[:gone]
}

// decidedAt is when p was decided about last. One that is withdrawn has nothing
// to undo, and is the first to go.
func (p *Proposal) decidedAt() time.Time {
	var at time.Time
	for i := range p.Hunks {
		if d := p.Hunks[i].Decision; d != nil && d.Time.After(at) {
			at = d.Time
		}
	}
	if at.IsZero() && len(p.Hunks) > 0 {
		return p.Created
	}
	return at
}

// bytes is what p's texts take.
func (p *Proposal) bytes() int64 {
	size := int64(len(p.Base.Data)) + hunkBytes(p.Hunks)
	if p.origin != nil {
		size += p.origin.bytes()
	}
	return size
}

func hunkBytes(hunks []Hunk) int64 {
	size := int64(0)
	for i := range hunks {
		size += int64(len(hunks[i].Old)+len(hunks[i].New)) + hunkBytes(hunks[i].Parts) + hunkBytes(hunks[i].Was)
	}
	return size
}

// stamp gives the hunks that the tree has settled, which are told and p's own,
// the time at which that was seen.
func (p *Proposal) stamp(told []Hunk, at time.Time) {
	if len(told) == 0 {
		return
	}
	place := p.indexes()
	for i := range told {
		if told[i].Decision == nil || !told[i].Decision.Time.IsZero() {
			continue
		}
		d := *told[i].Decision
		d.Time = at
		told[i].Decision = &d
		if at, ok := place[told[i].ID]; ok && p.Hunks[at].decided() {
			p.Hunks[at].Decision = &d
		}
	}
}

// A proposal's steps are bounded: its first ones say where it comes from, the
// newest ones what happened last.
const (
	firstSteps  = 16
	newestSteps = 48
)

// addStep notes a call that changed p. p's steps may be shared with others.
func (p *Proposal) addStep(step StepRecord) {
	p.StepCount++
	p.Steps = boundedSteps(append(slices.Clip(p.Steps), step))
}

func boundedSteps(steps []StepRecord) []StepRecord {
	if len(steps) <= firstSteps+newestSteps {
		return steps
	}
	return slices.Concat(steps[:firstSteps], steps[len(steps)-newestSteps:])
}
