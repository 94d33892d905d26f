package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/tools"
)

func joinIn(t *testing.T, h *host, label, toolset string) *daemontest.Peer {
	t.Helper()
	p := daemontest.New(t, h.dial())
	p.Must("initialize", map[string]any{"capabilities": args{}, "initializationOptions": args{"loom": protocol.LoomOptions{
		Role: protocol.RoleAgent, Session: &protocol.SessionOptions{Label: label, Toolset: toolset},
	}}}, nil)
	p.Notify("initialized", struct{}{})
	return p
}

// TestReadOnlyChangesNothing: a session of read_only calls everything there is,
// and neither the tree nor what is proposed is another after it. What it may call
// says of itself that it only reads.
func TestReadOnlyChangesNothing(t *testing.T) {
	h := newHost(t, map[string]string{"f": "one\n", "d/g": "two\n"})
	own, err := tools.All()
	must(t, err)
	part, err := own.Toolset("read_only")
	must(t, err)
	for _, tool := range part.List() {
		if a := tool.Annotations; !a.ReadOnly || a.Destructive {
			t.Errorf("%s is in read_only and says %+v", tool.Name, a)
		}
	}
	agent, reviewer := joinIn(t, h, "reader", "read_only"), h.reviewer()
	reviewer.Must(protocol.MethodToolsRegister, lending("all", "ticket"), nil)
	was := h.tree()
	calls := map[string]any{
		"read_file": args{"path": "f"}, "list_files": args{}, "glob": args{"pattern": "*"}, "grep": args{"pattern": "one"},
		"write_file": args{"path": "f", "content": "x"}, "edit_file": editOf("f", "one", "x"), "delete_file": args{"path": "f"},
		"move_file": args{"path": "f", "to": "h"}, "apply_patch": args{"patch": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+x\n"},
		"await_review": args{}, "ticket": args{"id": 1},
	}
	for _, tool := range own.List() {
		if calls[tool.Name] == nil {
			calls[tool.Name] = args{"command": "touch x", "args": []string{}, "job": "j1", "query": "q"}
		}
	}
	for name, arguments := range calls {
		_, may := part.Get(name)
		failure := agent.Call(protocol.MethodToolsCall, daemontest.ToolCall(name, arguments), nil)
		if may && failure != nil || !may && (failure == nil || failure.Data.Kind != "unknown_tool") {
			t.Errorf("%s, which is in read_only: %v: %s", name, may, failure)
		}
	}
	h.wantTree(was, "every tool")
	var list protocol.ProposalsListResult
	reviewer.Must(protocol.MethodProposalsList, protocol.ProposalsListParams{}, &list)
	if len(list.Proposals) > 0 {
		t.Errorf("proposed: %+v", list.Proposals)
	}
}

// A toolset of the user's configuration counts from the next call on, for a
// session that asked for it.
func TestConfiguredToolset(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "x"})
	const hello = `{"capabilities":{},"initializationOptions":{"loom":{"role":"agent","session":{"label":"l","toolset":"look"}}}}`
	h.configure("[toolsets.look]\ntools = [\"read_file\"]\n")
	g := h.connect(hello, nil)
	names := func() (names []string) {
		var list protocol.ToolsListResult
		g.must(protocol.MethodToolsList, protocol.Empty{}, &list)
		return namesIn(list)
	}
	if got := names(); !slices.Equal(got, []string{"read_file"}) {
		t.Errorf("%v", got)
	}
	h.configure("[toolsets.look]\ntools = [\"read_file\", \"glob\"]\n")
	if got := names(); !slices.Equal(got, []string{"read_file", "glob"}) {
		t.Errorf("after a change: %v", got)
	}
	if out, _ := g.tool("glob", `{"pattern":"*"}`); out["files"] == nil {
		t.Errorf("%v", out)
	}
	// One that is gone lets nothing through.
	must(t, os.Remove(h.config))
	err := g.call(protocol.MethodToolsCall, protocol.ToolsCallParams{Name: "read_file", Arguments: json.RawMessage(`{"path":"f"}`)}, nil)
	if err == nil || !strings.Contains(err.Error(), "unknown toolset \"look\": known are coding, read_only, read_only_shell") {
		t.Errorf("the toolset is gone: %v", err)
	}
}

// A workspace's toolset counts when the user trusts the file as it is.
func TestWorkspaceToolsetWaitsForTrust(t *testing.T) {
	h := newHouse(t, nil)
	h.save(".loom/config.toml", "[toolsets.look]\ntools = [\"read_file\"]\n")
	if _, err := h.server.toolbox.of("", "look"); err == nil {
		t.Error("it counts before it is trusted")
	}
	content, _, err := config.WorkspaceText(h.root)
	must(t, err)
	var trust config.Trust
	must(t, trust.Add(filepath.Join(h.root, ".loom/config.toml"), content, time.Now()))
	record, err := json.Marshal(trust)
	must(t, err)
	must(t, os.WriteFile(h.server.place.Trust, record, 0o600))
	h.server.configure()
	if _, err := h.server.toolbox.of("", "look"); err != nil {
		t.Errorf("trusted: %v", err)
	}
	h.save(".loom/config.toml", "[toolsets.look]\ntools = [\"read_file\", \"write_file\"]\n")
	h.server.configure()
	if _, err := h.server.toolbox.of("", "look"); err == nil {
		t.Error("it counts after it has changed")
	}
}
