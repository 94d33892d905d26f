package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// fakeDaemon is a reviewer whose proposals are replacements of single lines.
type fakeDaemon struct {
	t         *testing.T
	proposals []*fakeProposal
	decided   []protocol.DecideParams // as they came, refused ones too
	undone    []protocol.UndoParams
	onDecide  func(protocol.DecideParams) // before it is looked at
	onList    func()
}

type fakeProposal struct {
	id, session, path string
	version           int
	lossy             bool
	hunks             []*fakeHunk
}

type fakeHunk struct {
	line     int // in the old and in the new text
	old, new string
	state    protocol.HunkState
	changed  int // version of the last change
	conflict *protocol.Conflict
}

func (p *fakeProposal) hunk(id string) *fakeHunk {
	for _, h := range p.hunks {
		if h.id() == id {
			return h
		}
	}
	return nil
}

func (h *fakeHunk) id() string { return fmt.Sprintf("h%d", h.line) }

func (p *fakeProposal) wire(whole bool) protocol.Proposal {
	out := protocol.Proposal{
		ID: p.id, Session: p.session + "-id", Label: p.session, Path: p.path, Kind: "modify", Version: p.version, BaseHash: "0123",
		State: protocol.ProposalApplied, DiffLossy: p.lossy,
		Steps: []protocol.Step{{Tool: "edit_file"}, {Tool: "write_file"}, {Tool: "edit_file"}},
	}
	diff := "--- a/" + p.path + "\n+++ b/" + p.path + "\n"
	for _, h := range p.hunks {
		wire := protocol.Hunk{ID: h.id(), Kind: "text", State: h.state, OldStart: h.line, OldLines: 1, NewStart: h.line, NewLines: 1}
		switch h.state {
		case protocol.HunkOpen:
			diff += fmt.Sprintf("@@ -%d +%d @@\n-%s\n+%s\n", h.line, h.line, h.old, h.new)
			out.HunkCount++
		case protocol.HunkConflict:
			wire.Conflict = h.conflict
			out.HunkCount++
		}
		out.Hunks = append(out.Hunks, wire)
	}
	switch {
	case out.HunkCount > 0:
		out.State = protocol.ProposalOpen
	case !slices.ContainsFunc(p.hunks, func(h *fakeHunk) bool { return h.state == protocol.HunkAccepted }):
		out.State = protocol.ProposalRejected
	}
	out.Diff = diff
	if !whole {
		out.Hunks, out.Diff = nil, ""
	}
	return out
}

func (d *fakeDaemon) find(id string) *fakeProposal {
	for _, p := range d.proposals {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (d *fakeDaemon) Proposals(_ context.Context, params protocol.ProposalsListParams) (protocol.ProposalsListResult, error) {
	if d.onList != nil {
		d.onList()
	}
	var out protocol.ProposalsListResult
	for _, p := range d.proposals {
		wire := p.wire(false)
		wanted := params.State == wire.State || params.State == "" && wire.HunkCount > 0
		if wanted && (params.Session == "" || params.Session == p.session) {
			out.Proposals = append(out.Proposals, wire)
		}
	}
	return out, nil
}

func (d *fakeDaemon) Proposal(_ context.Context, params protocol.ProposalsGetParams) (protocol.ProposalsGetResult, error) {
	p := d.find(params.ID)
	if p == nil {
		return protocol.ProposalsGetResult{}, &client.Error{Code: -32803, Message: "no proposal " + params.ID}
	}
	return protocol.ProposalsGetResult{Proposal: p.wire(true)}, nil
}

func (d *fakeDaemon) Decide(_ context.Context, params protocol.DecideParams) (protocol.DecideResult, error) {
	d.decided = append(d.decided, params)
	if d.onDecide != nil {
		d.onDecide(params)
	}
	p := d.find(params.ID)
	accepted := false
	for _, hd := range params.Decisions {
		h := p.hunk(hd.Hunk)
		if h == nil || h.changed > params.Version || h.state == protocol.HunkConflict && hd.Decision == protocol.Accept && hd.Side == "" && hd.Text == nil {
			present := p.wire(true)
			return protocol.DecideResult{}, &client.Error{Code: -32801, Message: hd.Hunk + " is not what it was", Data: protocol.ErrorData{Proposal: &present}}
		}
	}
	for _, hd := range params.Decisions {
		h := p.hunk(hd.Hunk)
		h.state = protocol.HunkRejected
		if hd.Decision == protocol.Accept && hd.Side != "tree" {
			h.state, accepted = protocol.HunkAccepted, true
		}
	}
	p.version++
	wire := p.wire(true)
	res := protocol.DecideResult{Proposal: &wire}
	if accepted {
		res.Written = &protocol.Written{Path: p.path, Hash: strings.Repeat(fmt.Sprint(p.version), 64)}
	}
	return res, nil
}

// Split refuses: its hunks are single lines.
func (d *fakeDaemon) Split(_ context.Context, params protocol.SplitParams) (protocol.SplitResult, error) {
	return protocol.SplitResult{}, &client.Error{Code: -32803, Message: "hunk " + params.Hunk + " is one piece", Data: protocol.ErrorData{Kind: "invalid_arguments"}}
}

func (d *fakeDaemon) Undo(_ context.Context, params protocol.UndoParams) (protocol.DecideResult, error) {
	d.undone = append(d.undone, params)
	p := d.find(params.ID)
	h := p.hunk(params.Hunk)
	res := protocol.DecideResult{}
	if h.state == protocol.HunkAccepted {
		res.Written = &protocol.Written{Path: p.path, Hash: strings.Repeat("0", 64)}
	}
	h.state = protocol.HunkOpen
	p.version++
	wire := p.wire(true)
	res.Proposal = &wire
	return res, nil
}

// decisions says in short what was sent: "p1@3 y:h2 n:h4(comment)".
func (d *fakeDaemon) decisions() []string {
	var out []string
	for _, params := range d.decided {
		text := fmt.Sprintf("%s@%d", params.ID, params.Version)
		for _, hd := range params.Decisions {
			text += " " + string(hd.Decision) + ":" + hd.Hunk
			if hd.Side != "" {
				text += "/" + hd.Side
			}
			if hd.Text != nil {
				text += fmt.Sprintf("=%q", *hd.Text)
			}
			if hd.Comment != "" {
				text += "(" + hd.Comment + ")"
			}
		}
		out = append(out, text)
	}
	return out
}

// script is a console on which everything was typed beforehand: keys one by
// one, lines after their key.
type script struct {
	t     *testing.T
	input []string
	out   strings.Builder
	wide  int
	edit  func(name, text string) (string, error)
}

func (s *script) Write(p []byte) (int, error) { return s.out.Write(p) }

func (s *script) Width() int { return s.wide }

func (s *script) Key(_ context.Context, prompt string) (string, error) {
	s.out.WriteString(prompt)
	if len(s.input) == 0 {
		return "", io.EOF
	}
	key := s.input[0]
	s.input = s.input[1:]
	return key, nil
}

func (s *script) Line(ctx context.Context, prompt string) (string, error) {
	line, err := s.Key(ctx, prompt)
	s.out.WriteString(line + "\n")
	return line, err
}

func (s *script) Edit(_ context.Context, name, text string) (string, error) {
	return s.edit(name, text)
}

// says fails the test unless the output matches each pattern, in order.
func (s *script) says(patterns ...string) {
	s.t.Helper()
	rest := s.out.String()
	for _, p := range patterns {
		at := regexp.MustCompile(p).FindStringIndex(rest)
		if at == nil {
			s.t.Fatalf("no %q in the rest of the output:\n%s\n--- whole output:\n%s", p, rest, s.out.String())
		}
		rest = rest[at[1]:]
	}
}

// twoFiles is what alice changed in f (lines 2, 4 and 6) and bob in g (line 1).
func twoFiles(t *testing.T) *fakeDaemon {
	open := func(line int, old, new string) *fakeHunk {
		return &fakeHunk{line: line, old: old, new: new, state: protocol.HunkOpen}
	}
	return &fakeDaemon{t: t, proposals: []*fakeProposal{
		{id: "p1", session: "alice", path: "f", version: 3, hunks: []*fakeHunk{
			open(2, "two", "zwei"), open(4, "four", "vier"), open(6, "six", "sechs"),
		}},
		{id: "p2", session: "bob", path: "g", version: 1, hunks: []*fakeHunk{open(1, "one", "eins")}},
	}}
}

// play walks with these keys typed.
func play(t *testing.T, d *fakeDaemon, keys ...string) *script {
	t.Helper()
	s := &script{t: t, input: slices.Clone(keys), wide: 80}
	playOn(t, d, s)
	return s
}

func playOn(t *testing.T, d *fakeDaemon, s *script) {
	t.Helper()
	if err := newWalk(d, s, false, "").run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	if len(s.input) > 0 {
		t.Errorf("never read: %q\n%s", s.input, s.out.String())
	}
}

func expectDecisions(t *testing.T, d *fakeDaemon, want ...string) {
	t.Helper()
	if got := d.decisions(); !slices.Equal(got, want) {
		t.Errorf("decided\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
