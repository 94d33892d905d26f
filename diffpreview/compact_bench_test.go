package diffpreview

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkCompact compacts a journal of 1,000 proposals on files of 20 kB, a
// half of them decided. paused is how long an agent can have to wait for it.
func BenchmarkCompact(b *testing.B) {
	w := &world{root: b.TempDir(), state: b.TempDir(), t: &testing.T{}}
	w.open()
	defer w.close()
	s := w.session("agent")
	for i := range 1000 {
		base := numbered(4000, map[int]string{1: fmt.Sprint("file ", i)})
		name := fmt.Sprintf("d%d/f%d", i%30, i)
		w.save(name, base)
		p := w.propose(s, name, numbered(4000, map[int]string{1: fmt.Sprint("file ", i), 5: "new", 2000: "new", 3999: "new"}))
		if i%2 == 0 {
			w.decide(p, i%4 == 0)
		}
	}
	var took, paused time.Duration
	var size int64
	for b.Loop() {
		c, err := w.store.compact()
		if err != nil {
			b.Fatal(err)
		}
		took, paused, size = took+c.Took, max(paused, c.Paused), c.After
	}
	b.ReportMetric(float64(paused.Microseconds())/1000, "paused-ms")
	b.ReportMetric(float64(size)/(1<<20), "MiB")
	b.ReportMetric(float64(w.store.journal.length())/(1<<20), "journal-MiB")
}
