package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// percentiles are of round trips, in the order they were made.
func percentiles(times []time.Duration) (p50, p99 time.Duration) {
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	return sorted[len(sorted)/2], sorted[len(sorted)*99/100]
}

// serveForBench runs a daemon for a folder until the benchmark ends and
// returns its socket.
func serveForBench(b *testing.B, root string) string {
	b.Helper()
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	socket := filepath.Join(b.TempDir(), "s")
	s, err := New(Options{Roots: []string{root}, Socket: socket})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.Serve(ctx, func() { close(ready) }) }()
	<-ready
	b.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			b.Error(err)
		}
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return socket
}

// agentFor connects an agent to a daemon.
func agentFor(b *testing.B, socket, label string) *rpc.Conn {
	b.Helper()
	pipe, err := net.Dial("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	conn := rpc.NewConn(pipe, rpc.Options{})
	done := make(chan error, 1)
	go func() {
		done <- conn.Run(context.Background(), func(context.Context, *rpc.Conn, *rpc.Request) (any, error) { return nil, nil })
	}()
	b.Cleanup(func() { conn.Close(); <-done })
	hello := json.RawMessage(`{"capabilities":{},"initializationOptions":{"loom":{"role":"agent","session":{"label":"` + label + `"}}}}`)
	if err := conn.Call(context.Background(), "initialize", hello, nil); err != nil {
		b.Fatal(err)
	}
	return conn
}

// bareEcho serves the library alone: its own stream, a handler that answers
// with its parameters.
func bareEcho(b *testing.B) jsonrpc2.Conn {
	b.Helper()
	listener, err := net.Listen("unix", filepath.Join(b.TempDir(), "echo"))
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		pipe, err := listener.Accept()
		if err != nil {
			return
		}
		conn := jsonrpc2.NewConn(jsonrpc2.NewStream(pipe))
		conn.Go(context.Background(), func(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
			return reply(ctx, req.Params(), nil)
		})
		<-conn.Done()
	}()
	pipe, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(pipe))
	conn.Go(context.Background(), jsonrpc2.MethodNotFoundHandler)
	b.Cleanup(func() { conn.Close(); listener.Close() })
	return conn
}

// A read_file of 4 KiB over the socket next to an echo of 4 KiB over the bare
// library, turn by turn. Goal: at most 2 times the echo's p50.
func BenchmarkReadFile4KiB(b *testing.B) {
	root := b.TempDir()
	text := strings.Repeat("a line of forty characters to be read.\n", 105) + "\n"
	if err := os.WriteFile(filepath.Join(root, "f"), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	agent := agentFor(b, serveForBench(b, root), "bench")
	echo := bareEcho(b)
	ctx := context.Background()
	call := protocol.ToolsCallParams{Name: "read_file", Arguments: json.RawMessage(`{"path":"f"}`)}
	var reads, echoes []time.Duration
	for b.Loop() {
		start := time.Now()
		var result protocol.ToolsCallResult
		if err := agent.Call(ctx, protocol.MethodToolsCall, call, &result); err != nil || result.IsError {
			b.Fatalf("%v %s", err, result.StructuredContent)
		}
		reads = append(reads, time.Since(start))
		start = time.Now()
		var back string
		if _, err := echo.Call(ctx, "echo", text, &back); err != nil {
			b.Fatal(err)
		}
		echoes = append(echoes, time.Since(start))
	}
	r50, r99 := percentiles(reads)
	e50, e99 := percentiles(echoes)
	b.ReportMetric(float64(time.Second)/float64(r50), "reads/s")
	b.ReportMetric(float64(r50.Microseconds()), "read-p50-µs")
	b.ReportMetric(float64(r99.Microseconds()), "read-p99-µs")
	b.ReportMetric(float64(time.Second)/float64(e50), "echoes/s")
	b.ReportMetric(float64(e50.Microseconds()), "echo-p50-µs")
	b.ReportMetric(float64(e99.Microseconds()), "echo-p99-µs")
	b.ReportMetric(float64(r50)/float64(e50), "ratio-p50")
	b.ReportMetric(0, "ns/op")
}

// An edit_file of one line in a file of 100,000 lines, journalled and answered
// over the socket, next to git showing the same change. Goal: faster than git.
func BenchmarkEditFile100kLines(b *testing.B) {
	root, before, after := b.TempDir(), filepath.Join(b.TempDir(), "before"), filepath.Join(b.TempDir(), "after")
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "line %d of a file that is long enough\n", i)
	}
	changed := strings.Replace(text.String(), "line 50000 of", "line fifty thousand of", 1)
	for path, s := range map[string]string{filepath.Join(root, "f"): text.String(), before: text.String(), after: changed} {
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	agent := agentFor(b, serveForBench(b, root), "bench")
	ctx := context.Background()
	edits := []string{
		`{"path":"f","edits":[{"old_str":"line 50000 of","new_str":"line fifty thousand of"}]}`,
		`{"path":"f","edits":[{"old_str":"line fifty thousand of","new_str":"line 50000 of"}]}`,
	}
	var ours, gits []time.Duration
	for n := 0; b.Loop(); n++ {
		start := time.Now()
		var result protocol.ToolsCallResult
		call := protocol.ToolsCallParams{Name: "edit_file", Arguments: json.RawMessage(edits[n%2])}
		if err := agent.Call(ctx, protocol.MethodToolsCall, call, &result); err != nil || result.IsError {
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
	o50, o99 := percentiles(ours)
	g50, g99 := percentiles(gits)
	b.ReportMetric(float64(o50.Microseconds())/1000, "edit-p50-ms")
	b.ReportMetric(float64(o99.Microseconds())/1000, "edit-p99-ms")
	b.ReportMetric(float64(g50.Microseconds())/1000, "git-p50-ms")
	b.ReportMetric(float64(g99.Microseconds())/1000, "git-p99-ms")
	b.ReportMetric(float64(o50)/float64(g50), "ratio-p50")
	b.ReportMetric(0, "ns/op")
}
