package diffpreview

import (
	"context"
	"testing"
)

func TestRules(t *testing.T) {
	accept := func(r Rule) Rule { r.Name, r.Effect = "ok", EffectAccept; return r }
	hold := func(r Rule) Rule { r.Name, r.Effect = "no", EffectHold; return r }
	tests := []struct {
		name  string
		rules []Rule
		file  string
		text  string
		taken bool
	}{
		{"none", nil, "f", "b\n", false},
		{"everything", []Rule{accept(Rule{})}, "f", "b\n", true},
		{"a hold beats it", []Rule{accept(Rule{}), hold(Rule{Paths: []string{"f"}})}, "f", "b\n", false},
		{"a hold of another file does not", []Rule{hold(Rule{Paths: []string{"g"}}), accept(Rule{})}, "f", "b\n", true},
		{"a path at any depth", []Rule{accept(Rule{Paths: []string{"*.md"}})}, "docs/deep/a.md", "b\n", true},
		{"a path from the root", []Rule{accept(Rule{Paths: []string{"docs/*.md"}})}, "docs/deep/a.md", "b\n", false},
		{"a directory", []Rule{accept(Rule{Paths: []string{"docs/**"}})}, "docs/deep/a.md", "b\n", true},
		{"its kind", []Rule{accept(Rule{Kinds: []string{"modify"}})}, "f", "b\n", true},
		{"another kind", []Rule{accept(Rule{Kinds: []string{"modify"}})}, "new", "b\n", false},
		{"a created file", []Rule{accept(Rule{Kinds: []string{"create"}})}, "new", "b\n", true},
		{"small enough", []Rule{accept(Rule{MaxLines: 2})}, "f", "b\n", true},
		{"too many lines", []Rule{accept(Rule{MaxLines: 2})}, "f", "b\nc\n", false},
		{"too many bytes", []Rule{accept(Rule{MaxBytes: 3})}, "f", "b\n", false},
		{"a hold of large ones", []Rule{accept(Rule{}), hold(Rule{MinLines: 3})}, "f", "b\nc\n", false},
		{"a small one under it", []Rule{accept(Rule{}), hold(Rule{MinLines: 3})}, "f", "b\n", true},
		{"its session", []Rule{accept(Rule{Sessions: []string{"cla*"}})}, "f", "b\n", true},
		{"another session", []Rule{accept(Rule{Sessions: []string{"codex"}})}, "f", "b\n", false},
		{"its tool", []Rule{accept(Rule{Tools: []string{"test"}})}, "f", "b\n", true},
		{"another tool", []Rule{accept(Rule{Tools: []string{"bash"}})}, "f", "b\n", false},
		{"an effect from the future", []Rule{accept(Rule{}), {Name: "?", Effect: "ask"}}, "f", "b\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f": "a\n"})
			w.store.SetRules(test.rules)
			s := w.session("claude")
			p := w.propose(s, test.file, test.text)
			if taken := p.State() == StateApplied; taken != test.taken {
				t.Fatalf("state is %s", p.State())
			}
			if !test.taken {
				return
			}
			w.wantDisk(test.file, test.text)
			r := w.store.Reviews(s)
			if len(r) != 1 || r[0].Rule != "ok" || r[0].By != "rule ok" || r[0].Decision != "accepted" {
				t.Errorf("the agent is told %+v", r)
			}
		})
	}
}

// A person who takes back what a rule accepted is not overruled by it.
func TestNoRuleTakesWhatWasUndone(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\n"})
	w.store.SetRules([]Rule{{Name: "all", Effect: EffectAccept}})
	s := w.session("agent")
	p := w.propose(s, "f", "A\nb\n")
	w.wantDisk("f", "A\nb\n")
	if _, _, err := w.store.Undo(context.Background(), p.ID, "", "tester"); err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.store.SetRules([]Rule{{Name: "all", Effect: EffectAccept}})
	p = w.propose(s, "f", "A\nB\n")
	if p.State() != StateOpen {
		t.Errorf("state is %s", p.State())
	}
	w.wantDisk("f", "a\nb\n")
}

func TestRulesOfPersonsLast(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "g": "a\n"})
	s := w.session("agent")
	always, err := w.store.AddRule(Rule{Effect: EffectAccept, Paths: []string{"f"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.AddRule(Rule{Effect: EffectAccept, Paths: []string{"g"}, Session: s}); err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.propose(s, "f", "b\n")
	w.propose(s, "g", "b\n")
	w.wantDisk("f", "b\n")
	w.wantDisk("g", "b\n")
	if err := w.store.CloseSession(s); err != nil {
		t.Fatal(err)
	}
	s = w.session("agent")
	w.propose(s, "g", "c\n")
	w.wantDisk("g", "b\n")
	if err := w.store.RemoveRule(always.ID); err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.propose(s, "f", "c\n")
	w.wantDisk("f", "b\n")
	if got := w.store.Rules(); len(got) != 0 {
		t.Errorf("left: %+v", got)
	}
	again, err := w.store.AddRule(Rule{Effect: EffectHold})
	if err != nil || again.ID == always.ID {
		t.Errorf("an id is given twice: %+v, %v", again, err)
	}
	for _, r := range []Rule{{}, {Effect: "perhaps"}, {Effect: EffectHold, Paths: []string{"[a"}}, {Effect: EffectHold, Kinds: []string{"modfy"}}, {Effect: EffectHold, Session: "s99"}} {
		if _, err := w.store.AddRule(r); CodeOf(err) != CodeInvalidArguments {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestReviewModeAuto(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n", "ci.yml": "a\n"})
	w.store.SetRules([]Rule{{Name: "ci", Effect: EffectHold, Paths: []string{"*.yml"}}})
	sess, err := w.store.JoinSession(Session{Label: "agent", ReviewMode: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	w.propose(sess.ID, "f", "b\n")
	w.propose(sess.ID, "ci.yml", "b\n")
	w.wantDisk("f", "b\n")
	w.wantDisk("ci.yml", "a\n")
}
