package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
)

// bigText is n bytes, or a little more, of lines that all differ.
func bigText(n int) []byte {
	var text bytes.Buffer
	text.Grow(n + 100)
	for i := 0; text.Len() < n; i++ {
		fmt.Fprintf(&text, "line %d of a file that is far too long\n", i)
	}
	return text.Bytes()
}

// An edit_file of one line in the middle of a file of 100 MB, journalled and
// answered over the socket, next to git showing the same change. Each edit is
// the first of a session, and of a text that the journal has not seen. Goal:
// faster than git.
func BenchmarkEditFile100MB(b *testing.B) {
	root, before, after := b.TempDir(), filepath.Join(b.TempDir(), "before"), filepath.Join(b.TempDir(), "after")
	text := bigText(100 << 20)
	changed := bytes.Replace(text, []byte("line 1000000 of"), []byte("line one million of"), 1)
	for path, s := range map[string][]byte{filepath.Join(root, "f"): text, before: text, after: changed} {
		if err := os.WriteFile(path, s, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	changed = nil
	socket := serveForBench(b, root)
	call := protocol.ToolsCallParams{Name: "edit_file", Arguments: json.RawMessage(
		`{"path":"f","edits":[{"old_str":"line 1000000 of","new_str":"line one million of"}]}`)}
	var ours, gits []time.Duration
	for n := 0; b.Loop(); n++ {
		copy(text, fmt.Sprintf("LINE %d", n%10))
		if err := os.WriteFile(filepath.Join(root, "f"), text, 0o644); err != nil {
			b.Fatal(err)
		}
		agent := agentFor(b, socket, fmt.Sprintf("bench %d", n))
		start := time.Now()
		var result protocol.ToolsCallResult
		if err := agent.Call(context.Background(), protocol.MethodToolsCall, call, &result); err != nil || result.IsError {
			b.Fatalf("%v %s", err, result.StructuredContent)
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		out, err := exec.Command("git", "diff", "--no-index", before, after).Output()
		if _, differs := err.(*exec.ExitError); !differs || len(out) == 0 {
			b.Fatalf("git: %v", err)
		}
		gits = append(gits, time.Since(start))
	}
	o50, _ := percentiles(ours)
	g50, _ := percentiles(gits)
	b.ReportMetric(float64(o50.Microseconds())/1000, "edit-p50-ms")
	b.ReportMetric(float64(g50.Microseconds())/1000, "git-p50-ms")
	b.ReportMetric(float64(o50)/float64(g50), "ratio-p50")
	b.ReportMetric(0, "ns/op")
}
