package rpc

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// payloads are what the echo benchmarks send: an empty-handed message, and a
// 4 KiB file's worth of source text.
var payloads = []struct {
	name   string
	params []string
}{
	{"100B", []string{strings.Repeat("x", 100)}},
	{"4KiB", []string{strings.Repeat("\tif err := read(path); err != nil {\n", 4096/36)}},
}

// socketOf gives both ends of a Unix socket.
func socketOf(b *testing.B) (server, client net.Conn) {
	b.Helper()
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("unix", l.Addr().String()); err != nil {
		b.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		b.Fatal(err)
	}
	return server, client
}

// bareEcho serves and calls an echo with nothing but jsonrpc2 v0.10.0: its
// Conn, its Stream, its JSON. It is the yardstick for what the guard costs.
func bareEcho(b *testing.B) (call func(params, result any) error, end func()) {
	b.Helper()
	near, far := socketOf(b)
	server, client := jsonrpc2.NewConn(jsonrpc2.NewStream(near)), jsonrpc2.NewConn(jsonrpc2.NewStream(far))
	server.Go(context.Background(), func(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
		return reply(ctx, req.Params(), nil)
	})
	client.Go(context.Background(), jsonrpc2.MethodNotFoundHandler)
	call = func(params, result any) error {
		_, err := client.Call(context.Background(), "echo", params, result)
		return err
	}
	return call, func() {
		client.Close()
		<-server.Done()
		<-client.Done()
	}
}

// guardedEcho is the same over this package.
func guardedEcho(b *testing.B) (call func(params, result any) error, end func()) {
	b.Helper()
	near, far := socketOf(b)
	server, client := NewConn(near, Options{}), NewConn(far, Options{})
	var wg sync.WaitGroup
	for _, c := range []*Conn{server, client} {
		wg.Go(func() {
			_ = c.Run(context.Background(), func(_ context.Context, _ *Conn, req *Request) (any, error) { return req.Params, nil })
		})
	}
	call = func(params, result any) error { return client.Call(context.Background(), "echo", params, result) }
	return call, func() {
		client.Close()
		wg.Wait()
	}
}

func BenchmarkBareEcho(b *testing.B) { echoes(b, bareEcho) }

func BenchmarkEcho(b *testing.B) { echoes(b, guardedEcho) }

func echoes(b *testing.B, open func(*testing.B) (func(params, result any) error, func())) {
	for _, p := range payloads {
		b.Run(p.name, func(b *testing.B) {
			call, end := open(b)
			defer end()
			took := make([]time.Duration, 0, 1<<16)
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				var result []string
				if err := call(p.params, &result); err != nil || len(result) != 1 {
					b.Fatalf("got %d strings, %v", len(result), err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
	b.Run("16-way", func(b *testing.B) {
		call, end := open(b)
		defer end()
		var wg sync.WaitGroup
		work := make(chan struct{})
		for range 16 {
			wg.Go(func() {
				for range work {
					var result []string
					if err := call(payloads[0].params, &result); err != nil {
						b.Errorf("calling: %v", err)
					}
				}
			})
		}
		for b.Loop() {
			work <- struct{}{}
		}
		close(work)
		wg.Wait()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, p := range payloads {
		text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": p.params})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(p.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, refused := decode(text); refused != nil {
					b.Fatal(refused)
				}
			}
		})
	}
}
