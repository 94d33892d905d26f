package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// workshop is a house whose granted git only says that it ran.
type workshop struct{ *house }

const gitGrant = "[permission]\nwait_secs = 0\n[grants.git]\npreset = \"git-read\"\npath = \"PROGRAM\"\nhost = true\n"

func newWorkshop(t *testing.T, configuration string) *workshop {
	t.Helper()
	return workshopOf(t, newHouse(t, map[string]string{"a.txt": "a\n"}), configuration)
}

func workshopOf(t *testing.T, h *house, configuration string) *workshop {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "git")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.configure(strings.ReplaceAll(configuration, "PROGRAM", program))
	h.server.sandboxOf = func(diffpreview.Session) tools.Sandbox { return folder{dir} }
	return &workshop{h}
}

// git calls the grant and reports whether it ran, and else how it was refused.
func (w *workshop) git(agent *guest, args ...string) (ran bool, failure map[string]any) {
	w.t.Helper()
	encoded, err := json.Marshal(map[string]any{"args": args})
	if err != nil {
		w.t.Fatal(err)
	}
	m, result := agent.tool("command_git", string(encoded))
	if !result.IsError {
		if m["stdout"] != "ran\n" {
			w.t.Errorf("%v", m)
		}
		return true, nil
	}
	if m["code"] != "denied" || m["hint"] == "" {
		w.t.Errorf("%v", m)
	}
	return false, m
}

func (w *workshop) wantAsked(agent *guest, args ...string) (id string) {
	w.t.Helper()
	ran, m := w.git(agent, args...)
	id, _ = m["permission"].(string)
	if ran || m["state"] != "asked" || id == "" {
		w.t.Fatalf("%q: ran %v, %v", args, ran, m)
	}
	return id
}

func (w *workshop) wantRan(agent *guest, args ...string) {
	w.t.Helper()
	if ran, m := w.git(agent, args...); !ran {
		w.t.Errorf("%q: %v", args, m)
	}
}

func decide(t *testing.T, g *guest, p protocol.PermissionsDecideParams) protocol.Permission {
	t.Helper()
	var got protocol.PermissionResult
	g.must(protocol.MethodPermissionsDecide, p, &got)
	return got.Permission
}

func TestAskIsStateThatAPersonDecides(t *testing.T) {
	w := newWorkshop(t, gitGrant)
	told := make(chan protocol.Permission, 100)
	agent, alice := w.connect(helloAgent, nil), w.connect(helloReviewer, map[string]func(json.RawMessage) (any, error){
		protocol.MethodPermissionsDidChange: func(params json.RawMessage) (any, error) {
			var p protocol.PermissionResult
			err := json.Unmarshal(params, &p)
			told <- p.Permission
			return nil, err
		},
	})
	id := w.wantAsked(agent, "log", "-1")
	if again := w.wantAsked(agent, "log", "-1"); again != id {
		t.Errorf("asked twice: %s and %s", id, again)
	}
	other := w.wantAsked(agent, "log", "-2")
	var list protocol.PermissionsListResult
	alice.must(protocol.MethodPermissionsList, protocol.PermissionsListParams{State: protocol.PermissionAsked}, &list)
	if len(list.Permissions) != 2 || list.Permissions[0].Command != "git log -1" || list.Permissions[0].Tool != "command_git" ||
		list.Permissions[0].Label != "agent" || !slices.Equal(list.Permissions[0].Runs, []string{"git log -1"}) {
		t.Fatalf("%+v", list)
	}
	var status protocol.StatusResult
	alice.must(protocol.MethodStatus, protocol.Empty{}, &status)
	if status.Commands != 2 {
		t.Errorf("%d commands wait", status.Commands)
	}

	decide(t, alice, protocol.PermissionsDecideParams{ID: id, Decision: protocol.AllowCommand})
	w.wantRan(agent, "log", "-1")
	id = w.wantAsked(agent, "log", "-1") // that was once
	got := decide(t, alice, protocol.PermissionsDecideParams{ID: id, Decision: protocol.AllowCommand, Scope: protocol.ScopeSession})
	if got.By != "alice" || got.State != protocol.PermissionAllowed {
		t.Errorf("%+v", got)
	}
	w.wantRan(agent, "log", "-1")
	w.wantRan(agent, "log", "-1")
	decide(t, alice, protocol.PermissionsDecideParams{ID: other, Decision: protocol.DenyCommand, Reason: "not now"})
	if _, m := w.git(agent, "log", "-2"); m["state"] != "denied" || m["message"] != "alice denied this command: not now" {
		t.Errorf("%v", m)
	}
	err := alice.call(protocol.MethodPermissionsDecide, protocol.PermissionsDecideParams{ID: other, Decision: protocol.AllowCommand}, nil)
	if err == nil || !strings.Contains(err.Error(), "denied already, by alice") {
		t.Errorf("a second decision: %v", err)
	}
	var states []string
	for range 7 {
		select {
		case p := <-told:
			states = append(states, p.ID+" "+string(p.State))
		case <-time.After(patience):
			t.Fatalf("told %q", states)
		}
	}
	if want := []string{"q1 asked", "q2 asked", "q1 allowed", "q1 used", "q3 asked", "q3 allowed", "q2 denied"}; !slices.Equal(states, want) {
		t.Errorf("told %q", states)
	}
}

// A call that is asked about waits for a while, and then for nobody.
func TestAskedCallWaits(t *testing.T) {
	w := newWorkshop(t, strings.Replace(gitGrant, "wait_secs = 0", "wait_secs = 3600", 1))
	asked := make(chan string, 10)
	agent, alice := w.connect(helloAgent, nil), w.connect(helloReviewer, map[string]func(json.RawMessage) (any, error){
		protocol.MethodPermissionsDidChange: func(params json.RawMessage) (any, error) {
			var p protocol.PermissionResult
			err := json.Unmarshal(params, &p)
			if p.Permission.State == protocol.PermissionAsked {
				asked <- p.Permission.ID
			}
			return nil, err
		},
	})
	for _, decision := range []protocol.PermissionDecision{protocol.AllowCommand, protocol.DenyCommand} {
		done := make(chan bool)
		go func() {
			ran, _ := w.git(agent, "show", string(decision))
			done <- ran
		}()
		var id string
		select {
		case id = <-asked:
		case <-time.After(patience):
			t.Fatal("nobody is asked")
		}
		agent.tool("read_file", `{"path":"a.txt"}`) // nothing waits for a person
		decide(t, alice, protocol.PermissionsDecideParams{ID: id, Decision: decision})
		if ran := <-done; ran != (decision == protocol.AllowCommand) {
			t.Errorf("%s: ran %v", decision, ran)
		}
	}
}

// A call that is given up, or whose session ends, waits no longer.
func TestAskedCallIsGivenUp(t *testing.T) {
	w := newWorkshop(t, strings.Replace(gitGrant, "wait_secs = 0", "wait_secs = 3600", 1))
	agent := w.connect(helloAgent, nil)
	asked := make(chan string, 10)
	alice := w.connect(helloReviewer, map[string]func(json.RawMessage) (any, error){
		protocol.MethodPermissionsDidChange: func(params json.RawMessage) (any, error) {
			var p protocol.PermissionResult
			err := json.Unmarshal(params, &p)
			asked <- string(p.Permission.State)
			return nil, err
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	params := protocol.ToolsCallParams{Name: "command_git", Arguments: json.RawMessage(`{"args":["log"]}`)}
	hear := func() string {
		select {
		case state := <-asked:
			return state
		case <-time.After(patience):
			t.Fatal("nothing is told")
			return ""
		}
	}
	go func() { ended <- agent.conn.Call(ctx, protocol.MethodToolsCall, params, nil) }()
	hear()
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was given up has an answer")
	}
	go func() { ended <- agent.call(protocol.MethodToolsCall, params, nil) }()
	agent.must(protocol.MethodSessionsClose, protocol.SessionsCloseParams{ID: "agent"}, nil)
	if state := hear(); state != "withdrawn" {
		t.Errorf("told %s", state)
	}
	<-ended
	var list protocol.PermissionsListResult
	alice.must(protocol.MethodPermissionsList, protocol.PermissionsListParams{}, &list)
	for _, p := range list.Permissions {
		if p.State == protocol.PermissionAllowed {
			t.Errorf("%+v", p)
		}
	}
}

// What is allowed for good outlives the daemon, in a private file outside of the
// workspace, and can be revoked.
func TestAlwaysOutlivesTheDaemon(t *testing.T) {
	state, root := t.TempDir(), t.TempDir()
	var id, path string
	// daemon runs one after the other, each with an agent and a person.
	daemon := func(name string, do func(t *testing.T, w *workshop, agent, alice *guest)) {
		t.Run(name, func(t *testing.T) {
			w := workshopOf(t, newHouseKeeping(t, state, root), gitGrant)
			path = w.server.place.Allowed
			do(t, w, w.connect(helloAgent, nil), w.connect(helloReviewer, nil))
		})
	}
	always := func() protocol.PermissionsDecideParams {
		return protocol.PermissionsDecideParams{ID: id, Decision: protocol.AllowCommand, Scope: protocol.ScopeAlways}
	}
	daemon("allows", func(t *testing.T, w *workshop, agent, alice *guest) {
		id = w.wantAsked(agent, "log", "-1")
		decide(t, alice, always())
		w.wantRan(agent, "log", "-1")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || strings.HasPrefix(path, root) {
			t.Errorf("%s: %v %v", path, info, err)
		}
	})
	daemon("remembers", func(t *testing.T, w *workshop, agent, alice *guest) {
		w.wantRan(agent, "log", "-1")
		if next := w.wantAsked(agent, "log", "-2"); next == id {
			t.Errorf("the id %s is given again", id)
		}
		var got protocol.PermissionResult
		alice.must(protocol.MethodPermissionsRevoke, protocol.PermissionsRevokeParams{ID: id}, &got)
		if got.Permission.State != protocol.PermissionRevoked {
			t.Errorf("%+v", got)
		}
		w.wantAsked(agent, "log", "-1")
		if list, err := config.ReadAllowed(path); err != nil || len(list) > 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
	// A file that is not understood allows nothing, and is not written over.
	broken := `{"version":1,"allowed":[{"id":"q1","tool":"command_git","command":"git log -1"},`
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon("is careful", func(t *testing.T, w *workshop, agent, alice *guest) {
		id = w.wantAsked(agent, "log", "-1")
		if err := alice.call(protocol.MethodPermissionsDecide, always(), nil); err == nil {
			t.Error("written over")
		}
		if data, _ := os.ReadFile(path); string(data) != broken {
			t.Errorf("%s", data)
		}
		var status protocol.StatusResult
		alice.must(protocol.MethodStatus, protocol.Empty{}, &status)
		if len(status.Problems) != 1 || !strings.Contains(status.Problems[0], "allowed.json") {
			t.Errorf("problems %q", status.Problems)
		}
	})
}

// In a sandbox all runs that no rule is about, but for what runs on the host.
func TestWhatNormallyRuns(t *testing.T) {
	w := newWorkshop(t, gitGrant)
	w.connect(helloAgent, nil)
	sess := w.server.store.Sessions()[0]
	w.server.hostTools = map[string]bool{"command_host": true}
	for _, c := range []struct{ sandbox, tool, want string }{
		{"staged", "bash", "allow"},
		{"virtual", "bash", "allow"},
		{"staged", "command_git", "allow"},
		{"staged", "command_host", "ask"},
		{"local", "bash", "ask"},
		{"none", "bash", "allow"}, // with an earlier daemon
		{"nowhere", "bash", "ask"},
	} {
		sess.Sandbox = c.sandbox
		if got := w.server.normally(sess, c.tool); string(got) != c.want {
			t.Errorf("%s in %s: %s", c.tool, c.sandbox, got)
		}
	}
	// The shell's text is read, and a long one is not asked about.
	sess.Sandbox = "local"
	allow := w.server.allow(sess, "bash", nil)
	for _, command := range []string{"git status; rm -rf x", "cat <<E\n" + strings.Repeat("x", 70<<10) + "\nE"} {
		err := allow(t.Context(), command, []string{"bash", "-c", command})
		f, ok := err.(*tools.Failure)
		if !ok || f.Code != tools.CodeDenied {
			t.Fatalf("%v", err)
		}
		if asked := f.Extra["state"] == "asked"; asked != (len(command) < 1000) {
			t.Errorf("%v", f.Extra)
		}
	}
	if list := w.server.permissions.List(""); len(list) != 1 || !slices.Equal(list[0].Runs, []string{"git status", "rm -rf x"}) {
		t.Errorf("%+v", list)
	}
}

func TestPermissionParameters(t *testing.T) {
	w := newWorkshop(t, gitGrant)
	agent, alice := w.connect(helloAgent, nil), w.connect(helloReviewer, nil)
	id := w.wantAsked(agent, "log")
	for _, c := range []struct{ method, params, want string }{
		{"list", `{"state":"open"}`, "state is"},
		{"list", `{"session":"nobody"}`, "no session nobody"},
		{"decide", `{"id":"ID"}`, "decision is"},
		{"decide", `{"id":"ID","decision":"accept"}`, "decision is"},
		{"decide", `{"id":"ID","decision":"allow","scope":"ever"}`, "scope is"},
		{"decide", `{"id":"ID","decision":"deny","scope":"once"}`, "only an allow"},
		{"decide", `{"id":"ID","decision":"allow","reason":"x"}`, "only a deny"},
		{"decide", `{"id":"ID","decision":"allow","for":"x"}`, "no such parameter"},
		{"decide", `{"id":"q99","decision":"allow"}`, "no permission q99"},
		{"revoke", `{"id":"ID"}`, "no permission"},
	} {
		params := json.RawMessage(strings.ReplaceAll(c.params, "ID", id))
		if err := alice.call("loom/permissions/"+c.method, params, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.method, params, err)
		}
		if err := agent.call("loom/permissions/"+c.method, params, nil); err == nil || !strings.Contains(err.Error(), "decides nothing") {
			t.Errorf("an agent: %s: %v", c.method, err)
		}
	}
}
