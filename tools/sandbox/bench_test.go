package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/diffpreview"
)

// bigWorld is a workspace with the source tree of Go.
func bigWorld(b *testing.B) *world {
	b.Helper()
	w := newWorld(b, nil)
	src, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no go command")
	}
	if out, err := exec.Command("cp", "-a", strings.TrimSpace(string(src))+"/.", w.root).CombinedOutput(); err != nil {
		b.Skipf("no source tree of Go: %v: %s", err, out)
	}
	os.RemoveAll(filepath.Join(w.root, "pkg"))
	return w
}

// What a command costs that changes nothing, and the first copy.
func BenchmarkBeginEnd(b *testing.B) {
	w := bigWorld(b)
	started := time.Now()
	w.end(w.begin())
	first := time.Since(started)
	records := len(w.copy.roots[0].records)
	for b.Loop() {
		d := w.begin()
		if _, err := d.End(b.Context(), diffpreview.Call{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(first.Milliseconds()), "first-ms")
	b.ReportMetric(float64(records), "entries")
}
