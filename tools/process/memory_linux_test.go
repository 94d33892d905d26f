package process

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// memory is how much this process has now, and the most that it had since it was asked
// last, in bytes.
func memory(t testing.TB) (now, peak int64) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	must(t, err)
	for name, to := range map[string]*int64{"VmRSS:": &now, "VmHWM:": &peak} {
		_, rest, _ := bytes.Cut(data, []byte(name))
		_, err := fmt.Sscan(string(rest), to)
		must(t, err)
		*to *= 1024
	}
	must(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
	return now, peak
}

const (
	mostMemory = 64 << 20
	longLine   = "a line of sixty-four bytes, such as there are in many programs.\n"
)

// muchOutput runs a command that writes so many lines, and says how much memory this
// process needed for it at the most.
func muchOutput(t testing.TB, lines int64, clean bool) (r Result, used int64) {
	t.Helper()
	debug.FreeOSMemory()
	before, _ := memory(t)
	c := bash(t, fmt.Sprintf("echo first; yes '%s' | head -n %d; echo last", longLine[:len(longLine)-1], lines))
	c.Clean = clean
	r = run(t, c)
	_, peak := memory(t)
	return r, peak - before
}

// The memory that 2 GB of output take, next to the 64 MiB that they may.
func BenchmarkOutputMemory(b *testing.B) {
	var most int64
	for b.Loop() {
		r, used := muchOutput(b, 32_000_000, true)
		if r.Stdout.Total < 2e9 {
			b.Fatal(r.Stdout.Total)
		}
		most = max(most, used)
	}
	b.ReportMetric(float64(most)/(1<<20), "MiB")
	b.ReportMetric(float64(most)/mostMemory, "ratio-p50")
	b.ReportMetric(0, "ns/op")
}

// Much output takes little memory, keeps its head and its tail, and is counted.
func TestMuchOutput(t *testing.T) {
	lines := int64(4_000_000) // 256 MB
	if os.Getenv("LOOMD_SOAK") != "" {
		lines = 32_000_000 // 2 GB
	}
	for _, clean := range []bool{false, true} {
		r, used := muchOutput(t, lines, clean)
		t.Logf("cleaned %v: %d MB in %v, %d KiB of memory", clean, r.Stdout.Total/1e6, r.Duration, used>>10)
		if used > mostMemory {
			t.Errorf("cleaned %v: %d MiB of memory", clean, used>>20)
		}
		if want := lines*int64(len(longLine)) + 11; r.Stdout.Total != want || r.Stdout.Dropped != want-256<<10 {
			t.Errorf("cleaned %v: %d of %d bytes, %d dropped", clean, r.Stdout.Total, want, r.Stdout.Dropped)
		}
		if !bytes.HasPrefix(r.Stdout.Head, []byte("first\n"+longLine)) || !bytes.HasSuffix(r.Stdout.Tail, []byte("\n"+longLine+"last\n")) {
			t.Errorf("cleaned %v: the ends are not there", clean)
		}
	}
}
