package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/tools"
)

// The shared hard cases that speak of connections, each a test that has the
// case's id in its name, against a daemon on a real socket.

type args = map[string]any

func editOf(path string, pairs ...string) args {
	var edits []args
	for i := 0; i < len(pairs); i += 2 {
		edits = append(edits, args{"old_str": pairs[i], "new_str": pairs[i+1]})
	}
	return args{"path": path, "edits": edits}
}

// host is a daemon on a real socket with a folder of its own.
type host struct {
	t      *testing.T
	top    string // a directory above the root, for what lies beside it
	root   string
	state  string // the user's state directory
	socket string
	server *Server
	stop   func() // ends the daemon; set while it serves
}

// newHost serves a folder with these files. The daemon can be changed before it
// serves.
func newHost(t *testing.T, files map[string]string, change ...func(*host)) *host {
	t.Helper()
	h := &host{t: t, top: t.TempDir(), state: t.TempDir()}
	h.root = filepath.Join(h.top, "ws")
	must(t, os.Mkdir(h.root, 0o755))
	for name, text := range files {
		h.save(name, text)
	}
	h.serve(Options{}, change...)
	return h
}

// serve starts the daemon, which ends with the test or by stop.
func (h *host) serve(opts Options, change ...func(*host)) {
	h.t.Helper()
	h.t.Setenv("XDG_STATE_HOME", h.state)
	short, err := os.MkdirTemp("", "loomd") // a socket's path is short
	must(h.t, err)
	h.socket = filepath.Join(short, "s")
	opts.Roots, opts.Socket, opts.Version = []string{h.root}, h.socket, "test"
	h.server, err = New(opts)
	must(h.t, err)
	for _, f := range change {
		f(h)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- h.server.Serve(ctx, func() { close(ready) }) }()
	h.stop = sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			h.t.Error(err)
		}
		if err := h.server.Close(); err != nil {
			h.t.Error(err)
		}
		os.RemoveAll(short)
	})
	h.t.Cleanup(h.stop)
	select {
	case <-ready:
	case err := <-done:
		done <- nil
		h.t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *host) dial() net.Conn {
	h.t.Helper()
	nc, err := net.Dial("unix", h.socket)
	must(h.t, err)
	return nc
}

func (h *host) agent(label string) *daemontest.Peer {
	return daemontest.Agent(h.t, h.dial(), label)
}

// reviewer connects a reviewer that looks at nothing but its answers.
func (h *host) reviewer() *daemontest.Peer {
	p := daemontest.Reviewer(h.t, h.dial())
	p.Ignore(protocol.MethodProposalsDidChange, protocol.MethodSessionsDidChange)
	return p
}

func (h *host) save(name, text string) {
	h.t.Helper()
	full := filepath.Join(h.root, name)
	must(h.t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(h.t, os.WriteFile(full, []byte(text), 0o644))
}

func (h *host) wantDisk(name, want string) {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.root, name))
	if err != nil || string(data) != want {
		h.t.Errorf("%s on disk is %.300q (%v), want %.300q", name, data, err, want)
	}
}

// tree is what lies in and beside the root: bytes, mode, time and what it is.
// Files over 1 MiB count by their size.
func (h *host) tree() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(h.top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		state := info.Mode().String()
		switch {
		case info.Mode().IsRegular() && info.Size() <= 1<<20:
			data, err := os.ReadFile(name)
			if err != nil && !os.IsPermission(err) {
				return err
			}
			state += info.ModTime().String() + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			state += target
		case !info.IsDir():
			state += fmt.Sprint(info.ModTime(), info.Size())
		}
		all[strings.TrimPrefix(name, h.top)] = state
		return nil
	})
	must(h.t, err)
	return all
}

func (h *host) wantTree(was map[string]string, after string) {
	h.t.Helper()
	now := h.tree()
	if maps.Equal(was, now) {
		return
	}
	for name := range now {
		if was[name] != now[name] {
			h.t.Errorf("after %s, %s is %.200q, and was %.200q", after, name, now[name], was[name])
		}
	}
	for name := range was {
		if _, ok := now[name]; !ok {
			h.t.Errorf("%s took away %s", after, name)
		}
	}
}

// decideAll accepts or rejects a whole proposal as it is now.
func decideAll(p *daemontest.Peer, proposal string, decision protocol.Decision) *daemontest.Failure {
	var seen protocol.ProposalsGetResult
	if failure := p.Call(protocol.MethodProposalsGet, protocol.ProposalsGetParams{ID: proposal}, &seen); failure != nil {
		return failure
	}
	return p.Call(protocol.MethodProposalsDecide, protocol.DecideParams{
		ID: proposal, Version: seen.Proposal.Version, Decision: decision,
	}, nil)
}

// holding is a tool that runs until its call is cancelled.
type holding struct {
	started chan string // gets the call's id
	ended   chan string // gets it when the call's context has ended
}

// lend gives the daemon the tool "hold" beside its own.
func lend(hold *holding) func(*host) {
	return func(h *host) {
		own := h.server.tools.Load().List()
		for _, t := range own {
			if t.Name != "list_files" { // its arguments are all optional
				continue
			}
			t.Name = "hold"
			t.Call = func(ctx context.Context, tc *tools.Context, _ json.RawMessage) (tools.Result, error) {
				hold.started <- tc.CallID
				select {
				case <-ctx.Done():
					hold.ended <- tc.CallID
					return tools.Result{}, ctx.Err()
				case <-time.After(daemontest.Patience):
					return tools.Result{}, fmt.Errorf("call %s was never cancelled", tc.CallID)
				}
			}
			own = append(own, t)
		}
		registry, err := tools.NewRegistry(own...)
		must(h.t, err)
		h.server.tools.Store(registry)
	}
}

func newHolding() *holding {
	return &holding{started: make(chan string, 100), ended: make(chan string, 100)}
}

func (h *host) await(ch <-chan string, what string) string {
	h.t.Helper()
	select {
	case id := <-ch:
		return id
	case <-time.After(daemontest.Patience):
		h.t.Fatalf("waited in vain for %s", what)
		return ""
	}
}
