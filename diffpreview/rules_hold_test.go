package diffpreview

import (
	"os"
	"path/filepath"
	"testing"
)

var acceptAll = Rule{Name: "all", Effect: EffectAccept}

// A file system that does not tell letters apart takes another spelling for the
// same file.
func TestAHoldKnowsEverySpelling(t *testing.T) {
	w := newWorld(t, nil)
	w.store.SetRules([]Rule{acceptAll, {Name: "ci", Effect: EffectHold, Paths: []string{"**/.github/**", "Jenkinsfile", "*.PEM"}}})
	s := w.session("agent")
	for _, name := range []string{
		".github/ci.yml", ".GitHub/ci.yml", "sub/.GITHUB/a/b", ".git\u200chub/ci.yml", "jenkinsfile", "JENKINSFILE.", "sub/Jenkinsfile", "key.pem", "KEY.PEM",
	} {
		if p := w.propose(s, name, "a\n"); p.State() != StateOpen {
			t.Errorf("%q is not held", name)
		}
	}
	for _, name := range []string{"github/ci.yml", "Jenkinsfiles", "key.pen"} {
		if p := w.propose(s, name, "a\n"); p.State() != StateApplied {
			t.Errorf("%q is held", name)
		}
	}
	w.store.SetRules([]Rule{{Name: "docs", Effect: EffectAccept, Paths: []string{"docs/**"}}})
	if p := w.propose(s, "Docs/a", "a\n"); p.State() != StateOpen {
		t.Error("an accept takes another spelling")
	}
}

// A rule of one root says nothing about another.
func TestARuleOfOneRoot(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	ws, err := OpenWorkspace([]string{one, two})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	store, err := Open(ws, Options{Dir: filepath.Join(t.TempDir(), "review")})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	w := &world{t: t, ws: ws, store: store}
	roots := ws.Roots()
	s := w.session("agent")
	taken := func(rules ...Rule) (states [2]bool) {
		t.Helper()
		store.SetRules(rules)
		for i, r := range roots {
			p := w.propose(s, r.Name+"/f", "a\n")
			states[i] = p.State() == StateApplied
			if err := os.Remove(filepath.Join(r.Path, "f")); err == nil != states[i] {
				t.Errorf("on disk: %v", err)
			}
			if !states[i] {
				w.mustDecide(p, false)
			}
		}
		return states
	}
	if got := taken(acceptAll, Rule{Effect: EffectHold, Root: roots[0].Path}); got != [2]bool{false, true} {
		t.Errorf("a hold of the first root: taken %v", got)
	}
	if got := taken(acceptAll, Rule{Effect: EffectHold, Root: roots[1].Path, Paths: []string{"f"}}); got != [2]bool{true, false} {
		t.Errorf("a hold of the second root: taken %v", got)
	}
	if got := taken(Rule{Name: "a", Effect: EffectAccept, Root: roots[1].Path}); got != [2]bool{false, true} {
		t.Errorf("an accept of the second root: taken %v", got)
	}
}

func TestForbidAuto(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	sess, err := w.store.JoinSession(Session{Label: "agent", ReviewMode: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	w.store.ForbidAuto(true)
	w.propose(sess.ID, "f", "b\n")
	w.wantDisk("f", "a\n")
	w.store.ForbidAuto(false)
	w.propose(sess.ID, "f", "c\n")
	w.wantDisk("f", "c\n")
}

// A hold of a tool is one of steps that nobody remembers, too.
func TestAHoldOfForgottenSteps(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	id := w.session("agent")
	p := w.propose(id, "f", "b\n")
	sess, _ := w.store.Session(id)
	for _, effect := range []Effect{EffectHold, EffectAccept} {
		r := Rule{Effect: effect, Tools: []string{"bash"}}
		if w.store.fits(&r, p, sess) {
			t.Errorf("%s of another tool fits", effect)
		}
		forgotten := *p
		forgotten.StepCount = len(p.Steps) + 1
		if got := w.store.fits(&r, &forgotten, sess); got != (effect == EffectHold) {
			t.Errorf("%s of a tool that may have been: %v", effect, got)
		}
	}
}
