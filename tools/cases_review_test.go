package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

func TestC161_RejectOfANewFile(t *testing.T) {
	s := newScene(t, map[string]string{"here/f": "x\n"})
	s.reject(s.propose("edit_file", args{"path": "n/m/x.txt", "edits": edits("", "x\n")}))
	s.wantAbsent("n")
	s.reject(s.propose("write_file", args{"path": "here/m/x.txt", "content": "x\n"}))
	s.wantAbsent("here/m")
	s.wantDisk("here/f", "x\n")
	if c := viewOf(t, s.view, "n/m/x.txt"); c.Exists {
		t.Errorf("the view still has it: %q", c.Data)
	}
	for _, f := range s.ok("list_files", args{"recursive": true})["files"].([]any) {
		if name := f.(map[string]any)["path"].(string); !strings.HasPrefix(name, "here") || strings.Contains(name, "m") {
			t.Errorf("listed: %s", name)
		}
	}
}

func TestC163_RejectUndoesOneProposalOnly(t *testing.T) {
	s := newScene(t, map[string]string{"f": "a\nb\n"})
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("a", "A")}))
	s.reject(s.propose("edit_file", args{"path": "f", "edits": edits("b", "B")}))
	s.wantDisk("f", "A\nb\n")

	// Of two sessions' proposals, too.
	other := s.session("other")
	mine := s.propose("edit_file", args{"path": "f", "edits": edits("b", "B")})
	its := s.proposeIn(other, "edit_file", args{"path": "f", "edits": edits("A", "AA")})
	s.reject(mine)
	s.accept(its)
	s.wantDisk("f", "AA\nb\n")
}

func TestC164_RejectKeepsWhatTheUserTyped(t *testing.T) {
	for _, byRename := range []bool{false, true} {
		s := newScene(t, map[string]string{"f": numberedLines(1, 10)})
		got := s.propose("edit_file", args{"path": "f", "edits": edits("2\n", "two\n")})
		users := strings.Replace(numberedLines(1, 10), "9\n", "nine, by the user\n", 1)
		s.save("f", users, byRename)
		s.reject(got)
		s.wantDisk("f", users)
		if c := viewOf(t, s.view, "f"); string(c.Data) != users {
			t.Errorf("the view has %q", c.Data)
		}
	}
}

func TestC169_TwoProposalsApart(t *testing.T) {
	given := numberedLines(1, 20)
	want := strings.Replace(strings.Replace(given, "2\n", "2\nx\ny\nz\n", 1), "15\n", "fifteen\n", 1)
	for _, lowerFirst := range []bool{false, true} {
		s := newScene(t, map[string]string{"f": given})
		one, two := s.session("one"), s.session("two")
		p1 := s.proposeIn(one, "edit_file", args{"path": "f", "edits": edits("\n2\n", "\n2\nx\ny\nz\n")})
		p2 := s.proposeIn(two, "edit_file", args{"path": "f", "edits": edits("15\n", "fifteen\n")})
		if p1["proposal"] == p2["proposal"] {
			t.Fatal("two sessions share a proposal")
		}
		if lowerFirst {
			p1, p2 = p2, p1
		}
		s.accept(p1)
		if q := s.proposal(p2); q.State() != diffpreview.StateOpen {
			t.Errorf("the second is %s", q.State())
		}
		s.accept(p2)
		s.wantDisk("f", want)
		for _, view := range []*diffpreview.View{one, two} {
			if c := viewOf(t, view, "f"); string(c.Data) != want {
				t.Errorf("a view has %q", c.Data)
			}
		}
	}
}

func TestC172_HunksInAnyOrder(t *testing.T) {
	given := numberedLines(1, 30)
	change := edits("\n3\n", "\n3\na\nb\nc\nd\ne\n", "15\n", "fifteen\n", "25\n", "")
	want := strings.NewReplacer("\n3\n", "\n3\na\nb\nc\nd\ne\n", "15\n", "fifteen\n", "25\n", "").Replace(given)
	alone := strings.Replace(given, "15\n", "fifteen\n", 1)
	for _, order := range [][]string{
		{"h1", "h2", "h3"},
		{"h1", "h3", "h2"},
		{"h2", "h1", "h3"},
		{"h2", "h3", "h1"},
		{"h3", "h1", "h2"},
		{"h3", "h2", "h1"},
	} {
		s := newScene(t, map[string]string{"f": given})
		got := s.propose("edit_file", args{"path": "f", "edits": change})
		if at := hunkLines(s.proposal(got)); at != "after 3,4-8 15,20 25,after 29" {
			t.Fatalf("the hunks are at %q", at)
		}
		for _, hunk := range order {
			s.accept(got, hunk)
			if c := viewOf(t, s.view, "f"); string(c.Data) != want {
				t.Errorf("%v: after %s the view has %q", order, hunk, c.Data)
			}
		}
		s.wantDisk("f", want)
	}
	s := newScene(t, map[string]string{"f": given})
	got := s.propose("edit_file", args{"path": "f", "edits": change})
	s.accept(got, "h2")
	s.wantDisk("f", alone)
	s.reject(got)
	s.wantDisk("f", alone)
}

func TestC174_PartOfANewFile(t *testing.T) {
	s := newScene(t, nil)
	got := s.propose("write_file", args{"path": "n", "content": "1\n2\n3\n"})
	if p := s.proposal(got); len(p.Hunks) != 1 || p.Hunks[0].Kind != diffpreview.KindCreate || p.Hunks[0].ID != "h1" {
		t.Errorf("the hunks are %+v", p.Hunks)
	}
	for _, unknown := range [][]string{{"h2"}, {"h1", "h9"}, {"H1"}} {
		s.mustNotDecide(got, true, unknown, diffpreview.CodeUnknownHunk)
		s.mustNotDecide(got, false, unknown, diffpreview.CodeUnknownHunk)
	}
	s.wantAbsent("n")
	s.accept(got, "h1")
	s.wantDisk("n", "1\n2\n3\n")
}

func TestC175_LineAddedAfterAnUnterminatedLastLine(t *testing.T) {
	s := newScene(t, map[string]string{"f": "a\nb"})
	got := s.propose("edit_file", args{"path": "f", "edits": edits("b", "b\nc")}) // patch makes the same of its diff
	const want = "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"
	if diff := got["diff"].(string); !strings.HasSuffix(diff, "\n"+want) {
		t.Errorf("the diff is\n%s", diff)
	}
	s.accept(got)
	s.wantDisk("f", "a\nb\nc")
}

func TestC177_FirstHunkOnlyHunkAtTheEndRejected(t *testing.T) {
	middle := numberedLines(1, 20)
	for _, rejectFirst := range []bool{false, true} {
		s := newScene(t, map[string]string{"f": "a\n" + middle + "z"})
		got := s.propose("edit_file", args{"path": "f", "edits": edits("a", "A", "z", "z\nzz")})
		if rejectFirst {
			s.reject(got, "h2")
			s.accept(got, "h1")
		} else {
			s.accept(got, "h1")
			s.reject(got, "h2")
		}
		s.wantDisk("f", "A\n"+middle+"z")
	}
	s := newScene(t, map[string]string{"f": "a\n" + middle + "z"})
	got := s.propose("edit_file", args{"path": "f", "edits": edits("a", "A", "z", "z\nzz")})
	s.accept(got, "h2")
	s.reject(got, "h1")
	s.wantDisk("f", "a\n"+middle+"z\nzz")
}

func TestC178_FileDeletedDuringReview(t *testing.T) {
	s := newScene(t, map[string]string{"f": numberedLines(1, 5), "g": numberedLines(1, 5)})
	f := s.propose("edit_file", args{"path": "f", "edits": edits("2\n", "two\n")})
	g := s.propose("edit_file", args{"path": "g", "edits": edits("2\n", "two\n")})
	must(t, os.Remove(filepath.Join(s.dir, "f")))
	must(t, os.Remove(filepath.Join(s.dir, "g")))
	s.proposal(f) // whoever looks first finds the conflict
	s.mustNotDecide(f, true, nil, diffpreview.CodeConflict, diffpreview.CodeStale)
	s.wantAbsent("f")
	s.reject(g)
	s.wantAbsent("g")
	s.reject(f)
	s.wantAbsent("f")
	if s.standing() != "" {
		t.Errorf("left to decide: %s", s.standing())
	}
	// The directory goes with it.
	s.save("f", "x\n", false)
	must(t, os.Mkdir(filepath.Join(s.dir, "d"), 0o755))
	s.save("d/f", numberedLines(1, 5), false)
	d := s.propose("edit_file", args{"path": "d/f", "edits": edits("2\n", "two\n")})
	must(t, os.RemoveAll(filepath.Join(s.dir, "d")))
	s.proposal(d)
	s.mustNotDecide(d, true, nil, diffpreview.CodeConflict, diffpreview.CodeStale)
	s.wantAbsent("d")
	s.reject(d)
	s.wantAbsent("d")
}

func TestC180_BranchSwitchedDuringReview(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	given := numberedLines(1, 20)
	for name, c := range map[string]struct {
		other string // f on the other branch
		clean bool   // the context still fits
	}{
		"elsewhere":         {strings.Replace(given, "15\n", "on the other branch\n", 1), true},
		"lines before it":   {"on the other branch\n" + given, true},
		"the line itself":   {strings.Replace(given, "\n2\n", "\non the other branch\n", 1), false},
		"another text":      {"on the other branch\n", false},
		"no such file":      {"", false},
		"elsewhere in CRLF": {strings.ReplaceAll(given, "\n", "\r\n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, map[string]string{"f": given, "g": "x\n"})
			git := gitIn(t, s.dir)
			git("init", "-q", "-b", "one")
			git("add", ".")
			git("commit", "-qm", "one")
			git("checkout", "-qb", "other")
			if c.other == "" {
				git("rm", "-q", "f")
			} else {
				s.save("f", c.other, false)
			}
			git("commit", "-qam", "other")
			git("checkout", "-q", "one")
			got := s.propose("edit_file", args{"path": "f", "edits": edits("\n2\n", "\ntwo\n")})
			git("checkout", "-q", "other")
			s.proposal(got) // whoever looks first finds what became of it
			if c.clean {
				s.accept(got)
				s.wantDisk("f", strings.Replace(c.other, "\n2\n", "\ntwo\n", 1))
				return
			}
			s.mustNotDecide(got, true, nil, diffpreview.CodeConflict, diffpreview.CodeStale)
			git("checkout", "-q", "one") // and back: the proposal stands again
			s.accept(got)
			s.wantDisk("f", strings.Replace(given, "\n2\n", "\ntwo\n", 1))
		})
	}
}

func gitIn(t *testing.T, dir string) func(args ...string) {
	return func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "core.autocrlf=false", "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func TestC185_LineSeparatorInAddedText(t *testing.T) {
	for _, separator := range []string{"\u2028", "\u2029", "\u0085", "\v", "\f", "\r"} {
		s := newScene(t, map[string]string{"f": "A\n\n"})
		text := fmt.Sprintf("A\nB%s\nC\n\n", separator)
		if separator == "\r" {
			text = "A\nB\r.\nC\n\n" // before a line feed it would be a line end
		}
		got := s.propose("write_file", args{"path": "f", "content": text})
		if !strings.Contains(got["diff"].(string), "\n@@ -1,2 +1,4 @@\n") {
			t.Errorf("%q: the diff is\n%s", separator, got["diff"])
		}
		s.accept(got)
		s.wantDisk("f", text)
	}
}

func TestC190_AcceptedTwice(t *testing.T) {
	s := newScene(t, map[string]string{"f": "a\n"})
	got := s.propose("edit_file", args{"path": "f", "edits": edits("", "z\n")})
	s.accept(got)
	s.wantDisk("f", "a\nz\n")
	for _, accept := range []bool{true, false} {
		s.mustNotDecide(got, accept, nil, diffpreview.CodeAlreadyDecided)
		s.mustNotDecide(got, accept, []string{"h1"}, diffpreview.CodeAlreadyDecided)
	}
	s.wantDisk("f", "a\nz\n")
	// The same edit again is another proposal.
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("", "z\n")}))
	s.wantDisk("f", "a\nz\nz\n")
}
