package daemon

import (
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
)

// detail is how much of a proposal goes over the wire.
type detail int

const (
	summary   detail = iota
	withHunks        // notifications: who wants the diff asks for it
	whole
)

// maxDiff bounds the diff of one answer, in bytes of JSON: a frame holds 64 MiB.
// Above it a reader asks for the texts, which come in pages.
const maxDiff = 32 << 20

// maxNotified is how many hunks a notification carries, at some 100 bytes each.
// Above it every step of an agent would send megabytes to every reviewer.
const maxNotified = 2000

func (s *Server) wireRoots() []protocol.Root {
	out := []protocol.Root{}
	for _, r := range s.ws.Roots() {
		out = append(out, protocol.Root(r))
	}
	return out
}

func (s *Server) wireSession(sess diffpreview.Session) protocol.Session {
	return protocol.Session{
		ID: sess.ID, Label: sess.Label, Toolset: sess.Toolset, ReviewMode: string(s.modeOf(sess)), Sandbox: s.sandboxes.kindOf(sess),
		Open: sess.Open, Created: sess.Created.Format(time.RFC3339), Proposals: s.store.Pending(sess.ID),
	}
}

func (s *Server) wireSessions() []protocol.Session {
	out := []protocol.Session{}
	for _, sess := range s.store.Sessions() {
		out = append(out, s.wireSession(sess))
	}
	return out
}

func (s *Server) wireProposal(p *diffpreview.Proposal, d detail) protocol.Proposal {
	sess, _ := s.store.Session(p.Session)
	out := protocol.Proposal{
		ID: p.ID, Session: p.Session, Label: sess.Label, Path: p.Name, Via: p.Via, Kind: wireKind(p.Kind),
		State: protocol.ProposalState(p.State()), Version: p.Version, BaseHash: p.Base.Hash(), Steps: []protocol.Step{},
	}
	if to, ok := p.NewName(); ok {
		out.To = s.ws.Name(to)
	}
	if p.StepCount > len(p.Steps) {
		out.StepCount = p.StepCount
	}
	out.Added, out.Removed, out.HunkCount = p.Counts()
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, protocol.Step{CallID: s.Call.ID, Tool: s.Call.Tool, Time: s.Time.Format(time.RFC3339)})
	}
	if d == summary {
		return out
	}
	if d == withHunks && len(p.Hunks) > maxNotified {
		out.HunksOmitted = true
		return out
	}
	for i, place := range p.Places() {
		out.Hunks = append(out.Hunks, s.wireHunk(p, &p.Hunks[i], place))
	}
	if d == whole {
		if out.Diff, out.DiffLossy = p.Diff(); jsonSize(out.Diff) > maxDiff {
			out.Diff, out.DiffLossy, out.DiffOmitted = "", false, true
		}
	}
	return out
}

func wireKind(k diffpreview.HunkKind) string {
	if k == diffpreview.KindText {
		return "modify"
	}
	return string(k)
}

// fromOne numbers a range as a unified diff does.
func fromOne(start, lines int) int {
	if lines == 0 {
		return start
	}
	return start + 1
}

// jsonSize is how many bytes a text takes as a JSON string, at most.
func jsonSize(text string) int {
	n := len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"', c == '\\', c == '\n', c == '\t', c == '\r':
			n++
		case c < 0x20:
			n += 5 // \u00XX
		}
	}
	return n
}
