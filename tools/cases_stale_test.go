package tools

import (
	"strings"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

func TestC051_ChangedOnDiskSinceTheRead(t *testing.T) {
	const given, outside = "A=1\nB=2\n", "A=1\nB=9\nC=3\n"
	for _, byRename := range []bool{false, true} {
		t.Run(map[bool]string{false: "in place", true: "by rename"}[byRename], func(t *testing.T) {
			s := newScene(t, map[string]string{"f": given})
			s.ok("read_file", args{"path": "f"})
			s.save("f", outside, byRename)
			s.refuse("stale", "write_file", args{"path": "f", "content": "A=5\nB=2\n"})
			got := s.propose("edit_file", args{"path": "f", "edits": edits("A=1", "A=5")})
			s.accept(got)
			s.wantDisk("f", "A=5\nB=9\nC=3\n")
			s.refuse("stale", "write_file", args{"path": "f", "content": "A=6\nB=2\n"}) // it has not seen B=9 yet
			s.ok("read_file", args{"path": "f"})
			s.accept(s.propose("write_file", args{"path": "f", "content": "A=6\nB=9\nC=3\n"}))
			s.wantDisk("f", "A=6\nB=9\nC=3\n")
		})
	}
	t.Run("while the proposal waits", func(t *testing.T) {
		s := newScene(t, map[string]string{"f": given})
		got := s.propose("edit_file", args{"path": "f", "edits": edits("A=1", "A=5")})
		s.save("f", outside, false)
		s.accept(got)
		s.wantDisk("f", "A=5\nB=9\nC=3\n")
	})
	t.Run("the edited line itself", func(t *testing.T) {
		s := newScene(t, map[string]string{"f": given})
		got := s.propose("edit_file", args{"path": "f", "edits": edits("A=1", "A=5")})
		s.save("f", "A=7\nB=9\n", false)
		s.proposal(got) // whoever looks first finds the conflict
		s.mustNotDecide(got, true, nil, diffpreview.CodeConflict)
		s.wantDisk("f", "A=7\nB=9\n")
	})
	t.Run("expected_hash", func(t *testing.T) {
		s := newScene(t, map[string]string{"f": given})
		hash := s.ok("read_file", args{"path": "f"})["hash"]
		s.save("f", outside, false)
		s.refuse("stale", "edit_file", args{"path": "f", "edits": edits("A=1", "A=5"), "expected_hash": hash})
	})
}

func TestC053_OwnWritesAreNotForeign(t *testing.T) {
	s := newScene(t, map[string]string{"f": "1\n"})
	s.ok("read_file", args{"path": "f"})
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("1", "2")}))
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("2", "3")}))
	s.wantDisk("f", "3\n")
	s.accept(s.propose("write_file", args{"path": "f", "content": "4\n"}))
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("4", "5")}))
	s.wantDisk("f", "5\n")
	// Three steps of one proposal are its own as well.
	for _, text := range []string{"6\n", "7\n", "8\n"} {
		s.propose("write_file", args{"path": "f", "content": text})
	}
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("8", "9")}))
	s.wantDisk("f", "9\n")
	if strings.Contains(s.standing(), "p") {
		t.Errorf("left to decide: %s", s.standing())
	}
}
