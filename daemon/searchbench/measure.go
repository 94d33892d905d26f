package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// outcome is what one task took on one corpus.
type outcome struct {
	task
	rows    int
	pages   int           // that loomd's answer took
	wrong   int           // rows that loomd or rg alone has
	inOrder bool          // of path bytes
	ours    time.Duration // p50 over the rounds
	best    time.Duration
	bytes   int                // of loomd's answer
	ratios  map[string]float64 // of each peer: the median over the rounds of its time by ours
	peers   map[string]time.Duration
}

// bench is one corpus with all that is asked about it.
type bench struct {
	corpus
	rg     string
	loomd  *served
	peers  []*peer
	rounds int
}

// calls is how often loomd is asked in a round; a slow answer less often. The
// first ones after a peer's turn find the processor's caches full of its data.
func calls(took time.Duration) int {
	switch {
	case took > 200*time.Millisecond:
		return 2
	case took > 20*time.Millisecond:
		return 5
	}
	return 15
}

// slow is what a peer may take to be asked in every round; what is slower is
// asked in the first one alone.
const slow = 3 * time.Second

func median[T time.Duration | float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// once is one answer of loomd, to the last byte of the last page.
func (b *bench) once(t task, pages []int) (time.Duration, int, error) {
	size := 0
	start := time.Now()
	for _, offset := range pages {
		tool, args := t.arguments(offset)
		body, err := b.loomd.tool(tool, args)
		if err != nil {
			return 0, 0, err
		}
		size += len(body)
	}
	return time.Since(start), size, nil
}

// compare checks an answer with rg's and then measures: in every round loomd a
// few times, then each peer.
func (b *bench) compare(ctx context.Context, t task) (outcome, error) {
	o := outcome{task: t, ratios: map[string]float64{}, peers: map[string]time.Duration{}}
	got, pages, err := b.loomd.rowsOf(t)
	if err != nil {
		return o, err
	}
	want, err := rgRows(ctx, b.rg, b.dir, t)
	if err != nil {
		return o, err
	}
	o.rows, o.pages, o.wrong = len(want), len(pages), unlike(got, want)
	o.inOrder = slices.IsSortedFunc(got, byPath)
	var ours []time.Duration
	theirs, ratios := map[string][]time.Duration{}, map[string][]float64{}
	for range b.rounds {
		took, size, err := b.once(t, pages)
		if err != nil {
			return o, err
		}
		turn := []time.Duration{took}
		for range calls(took) - 1 {
			if took, _, err = b.once(t, pages); err != nil {
				return o, err
			}
			turn = append(turn, took)
		}
		o.bytes = size
		now := median(turn)
		ours = append(ours, now)
		for _, p := range b.peers {
			if last := theirs[p.name]; len(last) > 0 && last[0] > slow {
				continue
			}
			took, can, err := p.measure(ctx, b.dir, t)
			if err != nil {
				return o, err
			}
			if can {
				theirs[p.name] = append(theirs[p.name], took)
				ratios[p.name] = append(ratios[p.name], float64(took)/float64(now))
			}
		}
	}
	o.ours, o.best = median(ours), slices.Min(ours)
	for name := range theirs {
		o.peers[name], o.ratios[name] = median(theirs[name]), median(ratios[name])
	}
	return o, nil
}

func byPath(a, b string) int {
	pa, _ := cutRow(a)
	pb, _ := cutRow(b)
	switch {
	case pa < pb:
		return -1
	case pa > pb:
		return 1
	}
	return 0
}

func cutRow(row string) (path, rest string) {
	for i := range len(row) {
		if row[i] == 0 {
			return row[:i], row[i+1:]
		}
	}
	return row, ""
}

// roundTrip is the median time of a request that asks for nothing: of the socket,
// and of waking the two processes at its ends. No answer can be sooner.
func (b *bench) roundTrip() (time.Duration, error) {
	times := make([]time.Duration, 500)
	for i := range times {
		start := time.Now()
		if err := b.loomd.send(map[string]any{"jsonrpc": "2.0", "id": 0, "method": "searchbench/nothing"}); err != nil {
			return 0, err
		}
		if err := b.loomd.receive(); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	return median(times), nil
}

func (b *bench) run(ctx context.Context, only string) ([]outcome, error) {
	var all []outcome
	for _, t := range tasks {
		if only != "" && t.name != only && t.pattern != only {
			continue
		}
		o, err := b.compare(ctx, t)
		if err != nil {
			return all, fmt.Errorf("%s %q: %w", t.name, t.pattern, err)
		}
		fmt.Fprintln(os.Stderr, o)
		all = append(all, o)
	}
	return all, nil
}

func (o outcome) String() string {
	s := fmt.Sprintf("%-18s %-45.45q %8d rows  %10v", o.name, o.pattern, o.rows, o.ours.Round(time.Microsecond))
	for _, p := range peerNames {
		if r, ok := o.ratios[p]; ok {
			s += fmt.Sprintf("  %s %.1fx", p, r)
		}
	}
	if o.wrong > 0 {
		s += fmt.Sprintf("  WRONG: %d rows differ", o.wrong)
	}
	if !o.inOrder {
		s += "  NOT IN ORDER"
	}
	return s
}

// met says whether the goal was reached, "" when it was.
func (o outcome) met(textBytes int64) string {
	g := o.goalOf(o.rows)
	if g.per130 {
		g.millis *= max(1, float64(textBytes)/130e6)
	}
	missed := ""
	if g.ratio > 0 && o.ratios["rg"] < g.ratio {
		missed += fmt.Sprintf(" %.0f times rg", g.ratio)
	}
	if ms := float64(o.ours) / float64(time.Millisecond); g.millis > 0 && ms > g.millis {
		missed += fmt.Sprintf(" %.1f ms", g.millis)
	}
	for _, p := range peerNames {
		if r, ok := o.ratios[p]; ok && r < 1 {
			missed += " slower than " + p
		}
	}
	return missed
}
