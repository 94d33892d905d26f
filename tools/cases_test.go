package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
)

// The shared hard cases, each a test that has the case's id in its name.
//
// A case is C followed by three digits. A name that says more than the id is
// another member of the case's kind.

// scene is a bench on which a case plays. Beside what the bench checks, it
// checks that a proposal writes nothing, that a failure leaves nothing, and that
// git apply and patch make the view's new text out of every diff.
type scene struct{ *bench }

func newScene(t *testing.T, files map[string]string) *scene {
	t.Helper()
	s := &scene{newBench(t, files)}
	t.Cleanup(s.wantUsable)
	return s
}

// fileState is all that a file shall keep when it is unchanged.
type fileState struct {
	mode  fs.FileMode
	inode uint64
	mtime time.Time
	text  string // or a link's target
}

// tree is the workspace on disk. Directories count with their mode only: a file
// that came and went in one is seen by its own absence.
func (s *scene) tree() map[string]fileState {
	s.t.Helper()
	all := map[string]fileState{}
	err := filepath.WalkDir(s.dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(s.dir, name)
		if rel == ".git" {
			return fs.SkipDir
		}
		all[rel] = stateOf(s.t, name)
		return nil
	})
	must(s.t, err)
	return all
}

func stateOf(t testing.TB, name string) fileState {
	t.Helper()
	info, err := os.Lstat(name)
	must(t, err)
	state := fileState{mode: info.Mode()}
	switch {
	case info.Mode().IsRegular():
		state.inode, state.mtime = inodeOf(info), info.ModTime()
		data, err := os.ReadFile(name)
		must(t, err)
		state.text = string(data)
	case info.Mode()&fs.ModeSymlink != 0:
		state.text, err = os.Readlink(name)
		must(t, err)
	}
	return state
}

// wantTree fails when the workspace is not what it was: UNCHANGED.
func (s *scene) wantTree(was map[string]fileState, after string) {
	s.t.Helper()
	now := s.tree()
	if maps.Equal(was, now) {
		return
	}
	for name := range now {
		if _, ok := was[name]; !ok {
			s.t.Errorf("%s made %s", after, name)
		}
	}
	for name, state := range was {
		if now[name] != state {
			s.t.Errorf("%s changed %s from %+v to %+v", after, name, state, now[name])
		}
	}
}

// standing is what is proposed, for comparing.
func (s *scene) standing() string {
	s.t.Helper()
	list, err := s.store.List(diffpreview.Filter{})
	must(s.t, err)
	var all strings.Builder
	for _, p := range list {
		fmt.Fprintf(&all, "%s %s %s version %d\n", p.ID, p.Name, p.State(), p.Version)
	}
	return all.String()
}

// propose runs a tool that must make a proposal.
func (s *scene) propose(tool string, a any) answer {
	s.t.Helper()
	return s.proposeIn(s.view, tool, a)
}

func (s *scene) proposeIn(view *diffpreview.View, tool string, a any) answer {
	s.t.Helper()
	was := s.tree()
	name := pathIn(s.t, a)
	before := viewOf(s.t, view, name)
	out, got := s.callIn(view, tool, a)
	if out.IsError {
		s.t.Fatalf("%s failed: %s", tool, out.Structured)
	}
	s.wantTree(was, "a proposal")
	now := viewOf(s.t, view, name)
	if got["original_bytes"] != float64(len(before.Data)) || got["new_bytes"] != float64(len(now.Data)) {
		s.t.Errorf("%v bytes became %v, but the view went from %d to %d", got["original_bytes"], got["new_bytes"], len(before.Data), len(now.Data))
	}
	s.wantTaken(got, before, now)
	return got
}

// refuse runs a tool that must fail with this code: ERR.
func (s *scene) refuse(code, tool string, a any) answer {
	s.t.Helper()
	return s.refuseIn(s.view, code, tool, a)
}

func (s *scene) refuseIn(view *diffpreview.View, code, tool string, a any) answer {
	s.t.Helper()
	was, stood := s.tree(), s.standing()
	out, got := s.callIn(view, tool, a)
	if !out.IsError || out.Code != code {
		s.t.Fatalf("%s: got %s, want failure %s", tool, out.Structured, code)
	}
	if message, _ := got["message"].(string); message == "" {
		s.t.Errorf("%s: failure %s without a message", tool, code)
	}
	s.wantTree(was, "a failure")
	if now := s.standing(); now != stood {
		s.t.Errorf("after a failure there is\n%swhere there was\n%s", now, stood)
	}
	return got
}

func pathIn(t testing.TB, a any) string {
	t.Helper()
	if raw, ok := a.(string); ok {
		decoded := args{}
		must(t, json.Unmarshal([]byte(raw), &decoded))
		a = decoded
	}
	name, ok := a.(args)["path"].(string)
	if !ok {
		t.Fatalf("no path in %v", a)
	}
	return name
}

func viewOf(t testing.TB, view *diffpreview.View, name string) diffpreview.Content {
	t.Helper()
	p, err := view.Resolve(name)
	must(t, err)
	c, err := view.Read(p)
	must(t, err)
	return c
}

// decide decides the proposal that a tool's answer names: all of it, or hunks.
func (s *scene) decide(got answer, accept bool, hunks ...string) (*diffpreview.Proposal, error) {
	d := diffpreview.DecideFile{ID: got["proposal"].(string), Accept: accept, By: "tester"}
	for _, h := range hunks {
		d.Verdicts = append(d.Verdicts, diffpreview.Verdict{Hunk: h, Accept: accept})
	}
	p, _, err := s.store.Decide(context.Background(), d)
	return p, err
}

func (s *scene) accept(got answer, hunks ...string) *diffpreview.Proposal {
	s.t.Helper()
	p, err := s.decide(got, true, hunks...)
	must(s.t, err)
	return p
}

// reject must not touch the tree.
func (s *scene) reject(got answer, hunks ...string) *diffpreview.Proposal {
	s.t.Helper()
	was := s.tree()
	p, err := s.decide(got, false, hunks...)
	must(s.t, err)
	s.wantTree(was, "a reject")
	return p
}

// mustNotDecide makes a decision that must fail with one of the codes.
func (s *scene) mustNotDecide(got answer, accept bool, hunks []string, codes ...diffpreview.Code) {
	s.t.Helper()
	was, stood := s.tree(), s.standing()
	_, err := s.decide(got, accept, hunks...)
	if !slices.Contains(codes, diffpreview.CodeOf(err)) {
		s.t.Errorf("the decision gave %v (%s), want %v", err, diffpreview.CodeOf(err), codes)
	}
	s.wantTree(was, "a refused decision")
	if now := s.standing(); now != stood {
		s.t.Errorf("after a refused decision there is\n%swhere there was\n%s", now, stood)
	}
}

// proposal is what a tool's answer names, as it stands now.
func (s *scene) proposal(got answer) *diffpreview.Proposal {
	s.t.Helper()
	p, err := s.store.Get(got["proposal"].(string))
	must(s.t, err)
	return p
}

func (s *scene) wantDisk(name, want string) {
	s.t.Helper()
	if got := s.onDisk(name); got != want {
		s.t.Errorf("%s on disk is %.300q, want %.300q", name, got, want)
	}
}

func (s *scene) wantAbsent(name string) {
	s.t.Helper()
	if _, err := os.Lstat(filepath.Join(s.dir, name)); !os.IsNotExist(err) {
		s.t.Errorf("%s is there (%v)", name, err)
	}
}

// save writes a file as a person's editor does: in place, or over it by a
// rename.
func (s *scene) save(name, text string, byRename bool) {
	s.t.Helper()
	full := filepath.Join(s.dir, name)
	if !byRename {
		must(s.t, os.WriteFile(full, []byte(text), 0o644))
		return
	}
	must(s.t, os.WriteFile(full+"~", []byte(text), 0o644))
	must(s.t, os.Rename(full+"~", full))
}

// wantUsable is what holds after every case: every file of the workspace can be
// read, and nothing of loomd's lies in it.
func (s *scene) wantUsable() {
	for name, state := range s.tree() {
		if strings.Contains(filepath.Base(name), ".loomd-") {
			s.t.Errorf("left behind: %s", name)
		}
		if !state.mode.IsRegular() {
			continue
		}
		p, err := s.view.Resolve(name)
		must(s.t, err)
		want, err := s.view.Read(p)
		must(s.t, err)
		if !want.Exists || !utf8.Valid(want.Data) || len(want.Data) > 1<<20 {
			continue
		}
		got := s.ok("read_file", args{"path": name})
		if got["contents"] != strings.TrimPrefix(string(want.Data), "\ufeff") {
			s.t.Errorf("afterwards %s reads %.200q, want %.200q", name, got["contents"], want.Data)
		}
	}
}

// wantTaken has git apply and patch turn the old text into the new one by the
// diff that a tool returned.
func (s *scene) wantTaken(got answer, before, now diffpreview.Content) {
	s.t.Helper()
	diff := got["diff"].(string)
	if got["truncated"] == true || got["lossy"] == true || !now.Exists || isUTF16(before.Data) || isUTF16(now.Data) {
		return
	}
	wantTaken(s.t, got["path"].(string), diff, before, now)
}

func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
}

func wantTaken(t testing.TB, name, diff string, before, now diffpreview.Content) {
	t.Helper()
	for _, tool := range [][]string{
		{"patch", "-p1", "--fuzz=0", "--batch"},
		{"git", "apply", "--whitespace=nowarn"},
	} {
		if _, err := exec.LookPath(tool[0]); err != nil {
			t.Logf("diffs are not checked with %s, which is not installed", tool[0])
			continue
		}
		dir := t.TempDir()
		full := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		if before.Exists {
			must(t, os.WriteFile(full, before.Data, 0o644))
		}
		cmd := exec.Command(tool[0], tool[1:]...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL="+os.DevNull)
		said, err := cmd.CombinedOutput()
		made, _ := os.ReadFile(full)
		if err != nil || !bytes.Equal(made, now.Data) {
			t.Errorf("%s made %.300q of the diff (%v), want %.300q\n%s\n%.2000q", tool[0], made, err, now.Data, said, diff)
		}
		for _, word := range []string{"offset", "fuzz", "ignored", "Stripping"} {
			if strings.Contains(string(said), word) {
				t.Errorf("%s speaks of %q: %s", tool[0], word, said)
			}
		}
	}
}

// hunkLines are the hunks of what is proposed as a reviewer sees them, in lines
// from 1: the old ones, a comma, the new ones.
func hunkLines(p *diffpreview.Proposal) string {
	var all []string
	for _, at := range p.Places() {
		all = append(all, lineRange(at.OldStart, at.OldLines)+","+lineRange(at.NewStart, at.NewLines))
	}
	return strings.Join(all, " ")
}

func lineRange(start, lines int) string {
	switch lines {
	case 0:
		return fmt.Sprintf("after %d", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d-%d", start+1, start+lines)
}

func numberedLines(from, to int) string {
	var text strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&text, "%d\n", n)
	}
	return text.String()
}

func TestC216WritesIntoGit(t *testing.T) {
	s := newScene(t, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", "sub/.git/HEAD": "ref: refs/heads/main\n", "f": "x\n",
	})
	for _, path := range []string{".git/config", ".git/hooks/pre-commit", "sub/.git/hooks/x", "sub/.GIT/config", ".git"} {
		s.fails("protected_path", "write_file", args{"path": path, "content": "x"})
		s.fails("protected_path", "edit_file", args{"path": path, "edits": []args{{"old_str": "", "new_str": "x"}}})
		s.fails("protected_path", "move_file", args{"path": "f", "to": path})
		s.fails("protected_path", "apply_patch", args{"patch": "*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch\n"})
	}
	for _, path := range []string{".git/config", "sub/.git/HEAD"} {
		s.fails("protected_path", "delete_file", args{"path": path})
		s.fails("protected_path", "move_file", args{"path": path, "to": "g"})
	}
	for _, path := range []string{".gitignore", ".github/x", ".gitattributes"} {
		s.ok("write_file", args{"path": path, "content": "x\n"})
	}
}
