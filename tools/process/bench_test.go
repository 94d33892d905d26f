package process

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func p50(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkRunTrue is `bash -c true` here, next to the bare os/exec.
func BenchmarkRunTrue(b *testing.B) {
	c := bash(b, "true")
	var ours, bare []time.Duration
	for b.Loop() {
		start := time.Now()
		if r, err := Run(context.Background(), c); err != nil || r.ExitCode != 0 {
			b.Fatal(err, r)
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		cmd := exec.Command("bash", "-c", "true")
		cmd.Dir = c.Dir
		if _, err := cmd.Output(); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(start))
	}
	b.ReportMetric(float64(p50(ours).Microseconds()), "ours-p50-µs")
	b.ReportMetric(float64(p50(bare).Microseconds()), "bare-p50-µs")
	b.ReportMetric(float64(p50(ours))/float64(p50(bare)), "ratio-p50")
}
