package process

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// peak is the most memory that this process has used since it was asked last, and now,
// in bytes.
func memory(t *testing.T) (now, peak int64) {
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

// Much output takes little memory, keeps its head and its tail, and is counted.
func TestMuchOutput(t *testing.T) {
	lines := int64(4_000_000) // 256 MB
	if os.Getenv("LOOMD_SOAK") != "" {
		lines = 32_000_000 // 2 GB
	}
	const line = "a line of sixty-four bytes, such as there are in many programs.\n"
	for _, clean := range []bool{false, true} {
		debug.FreeOSMemory()
		before, _ := memory(t)
		c := bash(t, fmt.Sprintf("echo first; yes '%s' | head -n %d; echo last", line[:len(line)-1], lines))
		c.Clean = clean
		r := run(t, c)
		_, peak := memory(t)
		t.Logf("cleaned %v: %d MB in %v, %d KiB of memory", clean, r.Stdout.Total/1e6, r.Duration, (peak-before)/1024)
		if used := peak - before; used > 64<<20 {
			t.Errorf("cleaned %v: %d MiB of memory", clean, used>>20)
		}
		if want := lines*int64(len(line)) + 11; r.Stdout.Total != want || r.Stdout.Dropped != want-256<<10 {
			t.Errorf("cleaned %v: %d of %d bytes, %d dropped", clean, r.Stdout.Total, want, r.Stdout.Dropped)
		}
		if !bytes.HasPrefix(r.Stdout.Head, []byte("first\n"+line)) || !bytes.HasSuffix(r.Stdout.Tail, []byte("\n"+line+"last\n")) {
			t.Errorf("cleaned %v: the ends are not there", clean)
		}
	}
}
