//go:build unix

package tools

import (
	"bytes"
	"context"
	"os"

	"github.com/loomd/loomd/diffpreview"
)

// run makes every edit, checks the proposal, decides it and checks the tree. It
// reports whether there was anything to decide.
//
// A file that may not be written cannot be edited, whatever its directory
// allows: permission_denied, after what is wrong with the edit itself. When it
// becomes read-only after the edit, the accept is refused with that code, and
// the reject is not.
func (s *setting) run() bool {
	s.t.Helper()
	before, after := s.form.before(), s.form.after()
	if s.file == readOnly {
		for _, p := range s.form.probes {
			code := p.code
			if code == "" {
				code = diffpreview.CodePermissionDenied
			}
			s.edit(p, code)
		}
		s.want("read-only", before, false)
		s.chmod(0o644)
	}
	for _, p := range s.form.probes {
		s.edit(p, p.code)
	}
	if s.file == readOnly {
		s.chmod(0o444)
	}
	s.want("proposed", before, false)
	open, err := s.b.store.List(diffpreview.Filter{Path: s.dir + "/file"})
	must(s.t, err)
	if bytes.Equal(before, after) {
		if len(open) != 0 {
			s.t.Errorf("refused edits left %d proposals", len(open))
		}
		return false
	}
	if len(open) != 1 || !bytes.Equal(open[0].Proposed().Data, after) {
		var has []byte
		if len(open) > 0 {
			has = open[0].Proposed().Data
		}
		s.t.Fatalf("%s: %d proposals, the first of %q, want %q", s.cell, len(open), has, after)
	}
	s.checkHunks(open[0])
	s.decide(open[0])
	return true
}

func (s *setting) chmod(mode os.FileMode) {
	s.t.Helper()
	must(s.t, os.Chmod(s.at("file"), mode))
}

func (s *setting) checkHunks(p *diffpreview.Proposal) {
	s.t.Helper()
	want := s.form.hunks()
	if len(p.Hunks) != len(want) {
		s.t.Fatalf("%s: %d hunks, want %d: %+v", s.cell, len(p.Hunks), len(want), p.Hunks)
	}
	for i, r := range want {
		h := &p.Hunks[i]
		old, new := bytes.Join(s.form.old[r[0]:r[1]], nil), bytes.Join(s.form.new[r[0]:r[1]], nil)
		if h.State != diffpreview.HunkOpen || h.Start != r[0] || !bytes.Equal(h.Old, old) || !bytes.Equal(h.New, new) {
			s.t.Errorf("hunk %d is %q to %q in line %d, want %q to %q in line %d", i, h.Old, h.New, h.Start, old, new, r[0])
		}
	}
}

// decide carries out the cell's decision; in a file of a single hunk the one
// hunk is all of them.
func (s *setting) decide(p *diffpreview.Proposal) {
	s.t.Helper()
	before, after := s.form.before(), s.form.after()
	d := diffpreview.DecideFile{ID: p.ID, Version: p.Version, By: "alice", Accept: s.act != rejectAll}
	want := after
	if s.act == acceptOne {
		hunks := s.form.hunks()
		chosen := s.number % len(hunks)
		d.Verdicts = []diffpreview.Verdict{{Hunk: p.Hunks[chosen].ID, Accept: true}}
		want = s.form.with(hunks[chosen])
	}
	q, written, err := s.b.store.Decide(context.Background(), d)
	if s.file == readOnly && s.act != rejectAll {
		s.refused(p, err)
		return
	}
	must(s.t, err)
	if s.act == rejectAll {
		if written != nil || !bytes.Equal(q.Proposed().Data, before) {
			s.t.Errorf("a reject wrote %+v and left %q in the view", written, q.Proposed().Data)
		}
		s.want("rejected", before, false)
		return
	}
	sum := diffpreview.Content{Exists: true, Data: want}
	if written == nil || written.Hash != sum.Hash() || !bytes.Equal(q.Proposed().Data, after) {
		s.t.Errorf("an accept wrote %+v, left %q in the view, want %q", written, q.Proposed().Data, after)
	}
	s.want("accepted", want, true)
	if s.act == acceptUndo {
		q, _, err := s.b.store.Undo(context.Background(), p.ID, "", "alice")
		must(s.t, err)
		if !bytes.Equal(q.Proposed().Data, after) {
			s.t.Errorf("an undo left %q in the view, want %q", q.Proposed().Data, after)
		}
		s.want("undone", before, true)
	}
}

// refused is an accept that could not be written: nothing is changed, the
// proposal can still be refused, and there is nothing to undo.
func (s *setting) refused(p *diffpreview.Proposal, err error) {
	s.t.Helper()
	if diffpreview.CodeOf(err) != diffpreview.CodePermissionDenied {
		s.t.Errorf("accept: %v, want permission_denied", err)
	}
	if _, _, err := s.b.store.Undo(context.Background(), p.ID, "", "alice"); diffpreview.CodeOf(err) != diffpreview.CodeConflict {
		s.t.Errorf("undo of nothing: %v, want conflict", err)
	}
	s.want("accept refused", s.form.before(), false)
	q, _, err := s.b.store.Decide(context.Background(), diffpreview.DecideFile{ID: p.ID, Version: p.Version, By: "alice"})
	must(s.t, err)
	if q.State() != diffpreview.StateRejected {
		s.t.Errorf("refused at last, but %s", q.State())
	}
	s.want("rejected at last", s.form.before(), false)
}
