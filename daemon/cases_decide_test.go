package daemon

import (
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// decideScene is a proposal of two hunks at version 2, whose first hunk
// changed since version 1.
type decideScene struct {
	*host
	agent, reviewer *daemontest.Peer
	id              string
}

func newDecideScene(t *testing.T) *decideScene {
	t.Helper()
	h := newHost(t, map[string]string{"ok": "ok\n", "f": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	s := &decideScene{host: h, agent: h.agent("a"), reviewer: h.reviewer()}
	out := s.agent.MustTool("edit_file", editOf("f", "2", "two", "8", "eight"))
	s.id = out.Text("proposal")
	if v := out.Fields["version"]; v != 1.0 {
		t.Fatalf("the first version is %v", v)
	}
	s.agent.MustTool("edit_file", editOf("f", "two", "zwei"))
	return s
}

// refused sends a decision that must fail.
func (s *decideScene) refused(params any, code int64, kind, names string) *daemontest.Failure {
	s.t.Helper()
	was, stood := s.tree(), proposals(s.reviewer)
	failure := s.reviewer.Call(protocol.MethodProposalsDecide, params, nil)
	if failure == nil || failure.Code != code || failure.Data.Kind != kind || !strings.Contains(failure.Message, names) {
		s.t.Errorf("%v: %s, want error %d (%s) that names %q", params, failure, code, kind, names)
	}
	s.wantTree(was, "a bad decision")
	if now := proposals(s.reviewer); now != stood {
		s.t.Errorf("proposals were %s and are %s", stood, now)
	}
	wantUsable(s.t, s.agent)
	return failure
}

func hunkDecision(hunk, decision string, more ...string) args {
	d := args{"hunk": hunk, "decision": decision}
	for i := 0; i < len(more); i += 2 {
		d[more[i]] = more[i+1]
	}
	return d
}

func TestBadInputDecisions(t *testing.T) {
	s := newDecideScene(t)
	of := func(version int, decisions ...args) args {
		return args{"id": s.id, "version": version, "decisions": decisions}
	}
	for _, c := range []struct {
		name   string
		params any
		code   int64
		kind   string
		names  string
	}{
		{"stale version", of(1, hunkDecision("h1", "accept")), rpc.CodeContentModified, "changed_since", "h1"},
		{"stale version, with a good one", of(1, hunkDecision("h2", "accept"), hunkDecision("h1", "accept")), rpc.CodeContentModified, "changed_since", "h1"},
		{"stale version, whole file", args{"id": s.id, "version": 1, "decision": "accept"}, rpc.CodeContentModified, "changed_since", "version"},
		{"version to come", of(9, hunkDecision("h1", "accept")), rpc.CodeContentModified, "changed_since", "version"},
		{"negative version", of(-1, hunkDecision("h1", "accept")), rpc.CodeInvalidParams, "invalid_params", "version"},
		{"unknown hunk", of(2, hunkDecision("h9", "accept")), rpc.CodeRequestFailed, "unknown_hunk", "h9"},
		{"unknown hunk, with a good one", of(2, hunkDecision("h1", "accept"), hunkDecision("h9", "accept")), rpc.CodeRequestFailed, "unknown_hunk", "h9"},
		{"no hunk", of(2, args{"decision": "accept"}), rpc.CodeInvalidParams, "invalid_params", "decisions[0].hunk"},
		{"a hunk twice", of(2, hunkDecision("h1", "accept"), hunkDecision("h1", "reject")), rpc.CodeInvalidParams, "invalid_arguments", "h1"},
		{"no version", args{"id": s.id, "decision": "accept"}, rpc.CodeInvalidParams, "invalid_params", "version"},
		{"no version, one hunk", args{"id": s.id, "decisions": []args{hunkDecision("h1", "accept")}}, rpc.CodeInvalidParams, "invalid_params", "version"},
		{"text with a NUL", of(2, hunkDecision("h1", "accept", "text", "x\x00\n")), rpc.CodeInvalidParams, "invalid_arguments", "NUL"},
		{"unknown proposal", args{"id": "p99", "version": 1, "decision": "accept"}, rpc.CodeRequestFailed, "unknown_proposal", "p99"},
		{"unknown session", args{"session": "nobody", "decision": "accept"}, rpc.CodeRequestFailed, "unknown_session", "nobody"},
		{"neither", args{"decision": "accept"}, rpc.CodeInvalidParams, "invalid_params", "id"},
		{"both", args{"id": s.id, "session": "a", "decision": "accept"}, rpc.CodeInvalidParams, "invalid_params", "session"},
		{"no decision", args{"id": s.id}, rpc.CodeInvalidParams, "invalid_params", "decision"},
		{"another decision", args{"id": s.id, "decision": "maybe"}, rpc.CodeInvalidParams, "invalid_params", "maybe"},
		{"another decision of a hunk", of(2, hunkDecision("h1", "accepted")), rpc.CodeInvalidParams, "invalid_params", "decisions[0].decision"},
		{"ill-typed version", args{"id": s.id, "version": "2", "decision": "accept"}, rpc.CodeInvalidParams, "invalid_params", "version"},
		{"ill-typed decisions", args{"id": s.id, "decisions": "h1"}, rpc.CodeInvalidParams, "invalid_params", "decisions"},
		{"text with a reject", of(2, hunkDecision("h1", "reject", "text", "x")), rpc.CodeInvalidParams, "invalid_arguments", "h1"},
		{"another side", of(2, hunkDecision("h1", "accept", "side", "left")), rpc.CodeInvalidParams, "invalid_arguments", "left"},
		{"a side without a conflict", of(2, hunkDecision("h1", "accept", "side", "tree")), rpc.CodeInvalidParams, "invalid_arguments", "h1"},
		{"no parameters", nil, rpc.CodeInvalidParams, "invalid_params", "id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			failure := s.refused(c.params, c.code, c.kind, c.names)
			if c.code != rpc.CodeContentModified || failure == nil {
				return
			}
			if p := failure.Data.Proposal; p == nil || p.ID != s.id || p.Version != 2 || len(p.Hunks) != 2 || p.Diff == "" {
				t.Errorf("the present proposal that comes with it is %+v", p)
			}
		})
	}
	t.Run("by an agent", func(t *testing.T) {
		was := s.tree()
		failure := decideAll(s.agent, s.id, protocol.Accept)
		if failure == nil || failure.Data.Kind != "rights" || !strings.Contains(failure.Message, "agent") {
			t.Errorf("%s", failure)
		}
		s.wantTree(was, "an agent's decision")
		wantUsable(t, s.agent)
	})
	t.Run("decided twice", func(t *testing.T) {
		s.reviewer.Must(protocol.MethodProposalsDecide, of(1, hunkDecision("h2", "accept")), nil) // unchanged since version 1
		s.wantDisk("f", "1\n2\n3\n4\n5\n6\n7\neight\n9\n")
		s.refused(of(3, hunkDecision("h2", "reject")), rpc.CodeContentModified, "already_decided", "h2")
		s.refused(of(3, hunkDecision("h1", "accept"), hunkDecision("h2", "accept")), rpc.CodeContentModified, "already_decided", "h2")
		if failure := decideAll(s.reviewer, s.id, protocol.Reject); failure != nil { // of what is left
			t.Fatal(failure)
		}
		s.refused(args{"id": s.id, "version": 4, "decision": "accept"}, rpc.CodeContentModified, "already_decided", s.id)
		s.wantDisk("f", "1\n2\n3\n4\n5\n6\n7\neight\n9\n")
	})
}
