package daemon

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/tools/process"
)

func TestMain(m *testing.M) {
	process.Supervise()
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of a test. Nothing takes a fraction of it unless
// it never comes.
const patience = 20 * time.Second

// house is a daemon on a folder, served over pipes in memory.
type house struct {
	t      *testing.T
	root   string
	config string // where the user's configuration would be
	server *Server
	ctx    context.Context
}

func newHouse(t *testing.T, files map[string]string) *house {
	t.Helper()
	h := &house{t: t, root: t.TempDir()}
	for name, text := range files {
		h.save(name, text)
	}
	return newHouseAt(t, h.root)
}

// newHouseAt is newHouse on folders that are there, the first of which is its root.
func newHouseAt(t *testing.T, roots ...string) *house {
	t.Helper()
	return newHouseKeeping(t, t.TempDir(), roots...)
}

// newHouseKeeping is newHouseAt whose state is kept in a folder.
func newHouseKeeping(t *testing.T, state string, roots ...string) *house {
	t.Helper()
	h := &house{t: t, root: roots[0], config: filepath.Join(t.TempDir(), "config.toml")}
	t.Setenv("XDG_STATE_HOME", state)
	var err error
	h.server, err = New(Options{Roots: roots, Socket: filepath.Join(t.TempDir(), "s"), Version: "test", UserConfig: h.config})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.ctx = ctx
	t.Cleanup(func() {
		cancel()
		if err := h.server.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// save writes a file as a person's editor does, at once.
func (h *house) save(name, text string) {
	h.t.Helper()
	path, fresh := filepath.Join(h.root, name), filepath.Join(h.t.TempDir(), "fresh")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(fresh, path); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) wantDisk(name, text string) {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.root, name))
	if err != nil || string(data) != text {
		h.t.Errorf("%s on disk is %q (%v), want %q", name, data, err, text)
	}
}

// guest is one connection to a house.
type guest struct {
	t       *testing.T
	conn    *rpc.Conn
	heard   chan protocol.Proposal // of didChange, in order
	answers map[string]func(params json.RawMessage) (any, error)
}

// connect greets the daemon with the initialize parameters given as JSON.
func (h *house) connect(hello string, answers map[string]func(json.RawMessage) (any, error)) *guest {
	h.t.Helper()
	ours, theirs := net.Pipe()
	g := &guest{t: h.t, conn: rpc.NewConn(ours, rpc.Options{}), heard: make(chan protocol.Proposal, 1000), answers: answers}
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- h.server.ServeConn(h.ctx, theirs) }()
	go func() { ran <- g.conn.Run(context.Background(), g.handle) }()
	h.t.Cleanup(func() {
		g.conn.Close()
		<-ran
		<-served
	})
	g.must("initialize", json.RawMessage(hello), nil)
	return g
}

const (
	helloAgent    = `{"capabilities":{},"initializationOptions":{"loom":{"role":"agent","session":{"label":"agent"}}}}`
	helloReviewer = `{"clientInfo":{"name":"alice"},"capabilities":{},"initializationOptions":{"loom":{"role":"reviewer"}}}`
	helloEditor   = `{"clientInfo":{"name":"ed"},"capabilities":{"workspace":{"applyEdit":true,"workspaceEdit":{"documentChanges":true}}}}`
)

func (g *guest) handle(_ context.Context, _ *rpc.Conn, req *rpc.Request) (any, error) {
	if req.Method == protocol.MethodProposalsDidChange {
		var p protocol.ProposalDidChangeParams
		if err := json.Unmarshal(req.Params, &p); err != nil {
			return nil, err
		}
		g.heard <- p.Proposal
		return nil, nil
	}
	if answer := g.answers[req.Method]; answer != nil {
		return answer(req.Params)
	}
	return nil, nil
}

func (g *guest) call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return g.conn.Call(ctx, method, params, result)
}

func (g *guest) must(method string, params, result any) {
	g.t.Helper()
	if err := g.call(method, params, result); err != nil {
		g.t.Fatalf("%s: %v", method, err)
	}
}

func (g *guest) notify(method string, params any) {
	g.t.Helper()
	if err := g.conn.Notify(method, params); err != nil {
		g.t.Fatalf("%s: %v", method, err)
	}
}

// tool calls a tool and returns its structured result.
func (g *guest) tool(name, args string) (map[string]any, protocol.ToolsCallResult) {
	g.t.Helper()
	var result protocol.ToolsCallResult
	g.must(protocol.MethodToolsCall, protocol.ToolsCallParams{Name: name, Arguments: json.RawMessage(args)}, &result)
	var structured map[string]any
	if err := json.Unmarshal(result.StructuredContent, &structured); err != nil {
		g.t.Fatal(err)
	}
	return structured, result
}

func (g *guest) get(id string) protocol.Proposal {
	g.t.Helper()
	var got protocol.ProposalsGetResult
	g.must(protocol.MethodProposalsGet, protocol.ProposalsGetParams{ID: id}, &got)
	return got.Proposal
}

// await returns the first proposal heard of that fits.
func (g *guest) await(what string, fits func(protocol.Proposal) bool) protocol.Proposal {
	g.t.Helper()
	end := time.After(patience)
	for {
		select {
		case p := <-g.heard:
			if fits(p) {
				return p
			}
		case <-end:
			g.t.Fatalf("never heard of %s", what)
		}
	}
}
