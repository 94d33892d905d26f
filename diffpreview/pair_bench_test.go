package diffpreview

import (
	"slices"
	"testing"
	"time"
)

// pair measures ours and theirs turn by turn, so that a busy machine slows down both, and reports the medians and their
// ratio. prepare, when there is one, comes before each and is not measured.
func pair(b *testing.B, theirName string, prepare, ours, theirs func()) {
	b.Helper()
	var times [2][]time.Duration
	for b.Loop() {
		for i, run := range []func(){ours, theirs} {
			if prepare != nil {
				prepare()
			}
			start := time.Now()
			run()
			times[i] = append(times[i], time.Since(start))
		}
	}
	p50 := func(of []time.Duration) time.Duration {
		slices.Sort(of)
		return of[len(of)/2]
	}
	our, their := p50(times[0]), p50(times[1])
	b.ReportMetric(float64(our.Microseconds())/1000, "ours-p50-ms")
	b.ReportMetric(float64(their.Microseconds())/1000, theirName+"-p50-ms")
	b.ReportMetric(float64(our)/float64(their), "ratio-p50")
	b.ReportMetric(0, "ns/op")
}
