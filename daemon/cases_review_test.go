package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

func TestC055_ParallelEditsOfOneFile(t *testing.T) {
	var given strings.Builder
	for n := 1; n <= 60; n++ {
		fmt.Fprintf(&given, "k%02d\n", n)
	}
	h := newHost(t, nil)
	agent, reviewer := h.agent("a"), h.reviewer()
	for round := range 50 {
		name := fmt.Sprintf("f%02d", round)
		h.save(name, given.String())
		want := given.String()
		var ids []string
		for n := 5; n < 60; n += 10 {
			old, new := fmt.Sprintf("k%02d", n), fmt.Sprintf("X%02d", n)
			want = strings.Replace(want, old, new, 1)
			ids = append(ids, agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("edit_file", editOf(name, old, new))))
		}
		proposals := map[string]bool{}
		for _, id := range ids {
			out := agent.Outcome(agent.Result(id))
			if out.IsError {
				t.Fatalf("round %d: %s", round, out.StructuredContent)
			}
			proposals[out.Text("proposal")] = true
		}
		h.wantDisk(name, given.String())
		for id := range proposals {
			if failure := decideAll(reviewer, id, protocol.Accept); failure != nil {
				t.Fatalf("round %d: %s", round, failure)
			}
		}
		h.wantDisk(name, want)
		if t.Failed() {
			return
		}
	}
}

// Six agents, six sessions, decided while others still propose.
func TestC055_ParallelEditsOfManySessions(t *testing.T) {
	var given strings.Builder
	for n := 1; n <= 60; n++ {
		fmt.Fprintf(&given, "k%02d\n", n)
	}
	h := newHost(t, map[string]string{"f": given.String()})
	reviewer := h.reviewer()
	want := given.String()
	var agents []*daemontest.Peer
	var calls, decisions []string
	for n := 5; n < 60; n += 10 {
		old, new := fmt.Sprintf("k%02d", n), fmt.Sprintf("X%02d", n)
		want = strings.Replace(want, old, new, 1)
		a := h.agent(fmt.Sprint("agent ", n))
		agents = append(agents, a)
		calls = append(calls, a.Send(protocol.MethodToolsCall, daemontest.ToolCall("edit_file", editOf("f", old, new))))
	}
	for i, a := range agents {
		out := a.Outcome(a.Result(calls[i]))
		if out.IsError {
			t.Fatalf("%s", out.StructuredContent)
		}
		decisions = append(decisions, reviewer.Send(protocol.MethodProposalsDecide,
			protocol.DecideParams{ID: out.Text("proposal"), Version: 1, Decision: protocol.Accept}))
	}
	for _, id := range decisions {
		if m := reviewer.Result(id); m.Error != nil {
			t.Error(m)
		}
	}
	h.wantDisk("f", want)
}

func TestC168_AgentLearnsOfTheReject(t *testing.T) {
	h := newHost(t, map[string]string{"f": "state=2\n"})
	agent, reviewer := h.agent("a"), h.reviewer()
	out := agent.MustTool("edit_file", editOf("f", "state=2", "state=3"))
	if len(out.Reviews) > 0 {
		t.Errorf("reviews before anything was decided: %+v", out.Reviews)
	}
	reviewer.Must(protocol.MethodProposalsDecide, protocol.DecideParams{
		ID: out.Text("proposal"), Decision: protocol.Reject, Comment: "not yet",
	}, nil)
	read := agent.MustTool("read_file", args{"path": "f"})
	if read.Text("contents") != "state=2\n" {
		t.Errorf("it reads %q", read.Text("contents"))
	}
	want := protocol.Review{
		Proposal: out.Text("proposal"), Path: "f", Hunk: "h1", Decision: "rejected",
		Comment: "not yet", By: "test reviewer", Hash: read.Text("hash"),
	}
	if !slices.Equal(read.Reviews, []protocol.Review{want}) {
		t.Errorf("reviews are %+v, want %+v", read.Reviews, want)
	}
	edit := agent.Tool("edit_file", editOf("f", "state=3", "state=4"))
	if !edit.IsError || edit.Text("code") != "no_match" || len(edit.Reviews) > 0 {
		t.Errorf("an edit of the rejected text gave %s, reviews %+v", edit.StructuredContent, edit.Reviews)
	}
	h.wantDisk("f", "state=2\n")
}

// A failed call tells of decisions, too: it may be the agent's last.
func TestC168_AFailureCarriesTheReviews(t *testing.T) {
	h := newHost(t, map[string]string{"f": "state=2\n"})
	agent, reviewer := h.agent("a"), h.reviewer()
	out := agent.MustTool("edit_file", editOf("f", "state=2", "state=3"))
	if failure := decideAll(reviewer, out.Text("proposal"), protocol.Reject); failure != nil {
		t.Fatal(failure)
	}
	if edit := agent.Tool("edit_file", editOf("f", "state=3", "state=4")); !edit.IsError || len(edit.Reviews) != 1 {
		t.Errorf("%s, reviews %+v", edit.StructuredContent, edit.Reviews)
	}
}

func TestC188_SameNewFileAgainAfterAReject(t *testing.T) {
	h := newHost(t, nil)
	agent, editor := h.agent("a"), daemontest.Editor(t, h.dial())
	editor.Ignore(protocol.MethodSessionsDidChange)
	editor.Answer("workspace/applyEdit", func(json.RawMessage) any {
		t.Error("loomd edits a buffer that has no unsaved text")
		return args{"applied": false}
	})
	first := agent.MustTool("edit_file", editOf("n.txt", "", "x\n"))
	editor.Proposal("n.txt", protocol.ProposalOpen)
	open(editor, fileURI(h.root)+"/n.txt", "")
	if failure := decideAll(editor, first.Text("proposal"), protocol.Reject); failure != nil {
		t.Fatal(failure)
	}
	editor.Proposal("n.txt", protocol.ProposalRejected)
	again := agent.MustTool("edit_file", editOf("n.txt", "", "x\n"))
	editor.Proposal("n.txt", protocol.ProposalOpen)
	if failure := decideAll(editor, again.Text("proposal"), protocol.Accept); failure != nil {
		t.Fatal(failure)
	}
	editor.Proposal("n.txt", protocol.ProposalApplied)
	editor.Next(protocol.MethodDocumentsDidWrite, func(json.RawMessage) bool { return true })
	h.wantDisk("n.txt", "x\n")
}

func TestC190_AcceptedByTwoClientsAtOnce(t *testing.T) {
	h := newHost(t, nil)
	agent, one, two := h.agent("a"), h.reviewer(), h.reviewer()
	for round := range 20 {
		name := fmt.Sprint("f", round)
		h.save(name, "a\n")
		out := agent.MustTool("edit_file", editOf(name, "", "z\n"))
		decide := protocol.DecideParams{ID: out.Text("proposal"), Version: 1, Decision: protocol.Accept}
		ids := [2]string{one.Send(protocol.MethodProposalsDecide, decide), two.Send(protocol.MethodProposalsDecide, decide)}
		a, b := one.Result(ids[0]).Error, two.Result(ids[1]).Error
		if (a == nil) == (b == nil) {
			t.Fatalf("round %d: %s and %s", round, a, b)
		}
		if a == nil {
			a = b
		}
		if a.Code != rpc.CodeContentModified || a.Data.Kind != "already_decided" || a.Data.Proposal == nil || a.Data.Proposal.State != protocol.ProposalApplied {
			t.Errorf("round %d: the second got %s, proposal %+v", round, a, a.Data.Proposal)
		}
		h.wantDisk(name, "a\nz\n")
	}
}
