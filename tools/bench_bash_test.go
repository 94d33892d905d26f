//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/diffpreview"
)

// sideBySide runs ours and theirs turn by turn and reports the medians and how they
// compare.
func sideBySide(b *testing.B, ours, theirs func()) {
	b.Helper()
	var times [2][]time.Duration
	for b.Loop() {
		for i, do := range []func(){ours, theirs} {
			start := time.Now()
			do()
			times[i] = append(times[i], time.Since(start))
		}
	}
	var p50 [2]time.Duration
	for i := range times {
		slices.Sort(times[i])
		p50[i] = times[i][len(times[i])/2]
	}
	b.ReportMetric(float64(p50[0].Microseconds()), "ours-p50-µs")
	b.ReportMetric(float64(p50[1].Microseconds()), "theirs-p50-µs")
	b.ReportMetric(float64(p50[0])/float64(p50[1]), "ratio-p50")
	b.ReportMetric(0, "ns/op")
}

// caller runs one call that must succeed.
func (b *bench) caller(tool, raw string) func() {
	tc := Context{View: b.view, Sandbox: b.sandbox}
	return func() {
		out, err := b.registry.Run(context.Background(), tool, "", json.RawMessage(raw), tc)
		if err != nil || out.IsError {
			b.t.Fatal(err, string(out.Structured))
		}
		if out.Release != nil {
			out.Release()
		}
	}
}

// standing is a place for commands that costs nothing: one directory, of which nothing
// is proposed.
type standing struct{ dir string }

func (s standing) Begin(context.Context, string) (Workdir, error)             { return s, nil }
func (s standing) Dir() string                                                { return s.dir }
func (s standing) Env() []string                                              { return nil }
func (s standing) Name(path string) string                                    { return path }
func (s standing) End(context.Context, diffpreview.Call) (left Left, _ error) { return left, nil }

// A call of bash that runs true, without the cost of a sandbox, next to the bare
// os/exec. Goal: at most 1.3 times.
func BenchmarkBashTrue(b *testing.B) {
	bench := newBench(b, nil)
	bench.sandbox = standing{b.TempDir()}
	dir := b.TempDir()
	sideBySide(b, bench.caller("bash", `{"command":"true"}`), func() {
		cmd := exec.Command("bash", "-c", "true")
		cmd.Dir = dir
		if _, err := cmd.Output(); err != nil {
			b.Fatal(err)
		}
	})
}

// A read_file of 1 MiB, which is in the result twice, next to cat. Goal: at most twice as
// long.
func BenchmarkReadFile1MiB(b *testing.B) {
	bench := newBench(b, map[string]string{"f": strings.Repeat("a line of sixty-four bytes, such as there are in many programs.\n", 1<<14)})
	sideBySide(b, bench.caller("read_file", `{"path":"f"}`), func() {
		cmd := exec.Command("cat", filepath.Join(bench.dir, "f"))
		out, err := cmd.Output()
		if err != nil || len(out) != 1<<20 {
			b.Fatal(err, len(out))
		}
	})
}

// 256 MB of output, kept and cleaned, next to cat >/dev/null at the other end of a
// pipe. Goal: at most twice as long.
func BenchmarkBashOutput(b *testing.B) {
	bench := newBench(b, nil)
	bench.sandbox = standing{b.TempDir()}
	const produce = "yes 'a line of sixty-four bytes, such as there are in many programs.' | head -c 256000000"
	text, err := encode(args{"command": produce})
	must(b, err)
	sideBySide(b, bench.caller("bash", string(text)), func() {
		cmd := exec.Command("bash", "-c", produce+" | cat >/dev/null")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	})
}
