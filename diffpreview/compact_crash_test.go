//go:build unix

package diffpreview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// compactStage is set in a child that shall kill itself at that stage of its
// compactions and writes.
const compactStage = "LOOMD_TEST_COMPACT_STAGE"

// compactLimits make the history rotate once, which drops nothing yet.
var compactLimits = Limits{History: 4500}

// compactScript is what the child does: everything that is journalled, before,
// during and after compactions. It calls said for what was answered.
type compactScript struct {
	*world
	during func(stage string) // called in compactions
	stage  func(stage string) // called in compactions and writes
	said   func(what ...string)
}

func (c *compactScript) run() {
	c.during = func(string) {}
	c.step = func(stage string) {
		c.stage(stage)
		c.during(stage)
	}
	c.open() // compacts
	c.ws.step = c.stage
	s := c.session("agent")
	c.said("session", "agent")
	for _, name := range []string{"small", "large"} {
		c.edit(s, name)
	}
	c.decided(s, "large", true)
	c.during = func(stage string) {
		switch stage {
		case "looked":
			c.edit(s, "tail")
			c.decided(s, "small", false)
		case "journal written":
			c.session("late")
			c.said("session", "late")
			c.edit(s, "late-large")
		}
	}
	c.compacts()
	c.edit(s, "linked")
	c.ws.step = func(stage string) {
		c.stage(stage)
		if stage == "commit logged" || stage == "changed" { // a write is begun and not ended
			c.compacts()
		}
	}
	c.decided(s, "linked", true)
	c.ws.step = c.stage
	c.decided(s, "late-large", true)
	if err := c.store.Told(s, c.store.Reviews(s)[:2]); err != nil {
		c.t.Fatal(err)
	}
	c.said("told", "2")
	p, err := c.proposalAt(s, "large")
	if err == nil {
		_, _, err = c.store.Undo(context.Background(), p.ID, "", "tester")
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.said("undone", "large")
	c.compacts()
	c.close()
}

// compacts runs a compaction in which nothing more is done after it.
func (c *compactScript) compacts() {
	if _, err := c.store.compact(); err != nil {
		c.t.Fatal(err)
	}
	c.during = func(string) {}
}

// compactText is what the child makes of a file.
func compactText(name string) string {
	if strings.Contains(name, "small") || strings.Contains(name, "tail") {
		return name + " new\n"
	}
	return numbered(1500, map[int]string{1: name, 3: name + " new"})
}

func (c *compactScript) edit(session, name string) {
	c.propose(session, name, compactText(name))
	c.said("proposed", name)
}

func (w *world) proposalAt(session, name string) (*Proposal, error) {
	for _, p := range w.store.snapshot() {
		if p.Session == session && p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no proposal for %s", name)
}

func (c *compactScript) decided(session, name string, accept bool) {
	p, err := c.proposalAt(session, name)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mustDecide(p, accept)
	c.said("decided", name, strconv.FormatBool(accept))
}

// newCompactTree is the tree that the script finds.
func newCompactTree(t *testing.T, limits Limits) *world {
	w := &world{t: t, root: t.TempDir(), state: filepath.Join(t.TempDir(), "state"), limits: limits}
	for _, name := range []string{"small", "large", "linked", "late-large"} {
		w.save(name, numbered(1500, map[int]string{1: name}))
	}
	if err := os.Link(filepath.Join(w.root, "linked"), filepath.Join(w.root, "twin")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.close() })
	return w
}

func TestCompactChild(t *testing.T) {
	stage, err := strconv.Atoi(os.Getenv(compactStage))
	if err != nil {
		t.Skip("runs as a child")
	}
	w := &world{t: t, root: os.Getenv("CRASH_ROOT"), state: os.Getenv("CRASH_STATE"), limits: compactLimits}
	script := &compactScript{world: w, said: func(what ...string) {
		os.Stdout.WriteString("said " + strings.Join(what, " ") + "\n")
	}}
	script.stage = func(at string) {
		if stage--; stage == 0 {
			os.Stdout.WriteString("killed at " + at + "\n")
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is there
		}
	}
	script.run()
}

// The daemon is killed at every stage of several compactions, between records
// that come before, during and after them, and while a write is begun and not
// ended. After a restart everything that was answered is there, and the history
// has each decision once, without gaps.
func TestKillDuringACompaction(t *testing.T) {
	for stage := 1; ; stage++ {
		w := newCompactTree(t, compactLimits)
		child := exec.Command(os.Args[0], "-test.run=^TestCompactChild$")
		child.Env = append(os.Environ(), compactStage+"="+strconv.Itoa(stage), "CRASH_ROOT="+w.root, "CRASH_STATE="+w.state)
		out, err := child.Output()
		var exit *exec.ExitError
		killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if err != nil && !killed {
			t.Fatalf("stage %d: %v\n%s", stage, err, out)
		}
		for range 2 { // the second time what the first restart left
			w.open()
			w.wantSaid(fmt.Sprintf("stage %d", stage), out)
			w.wantTidy()
			w.close()
		}
		if t.Failed() {
			t.Fatalf("stage %d:\n%s", stage, out)
		}
		if err == nil {
			if stage < 40 {
				t.Errorf("there are only %d stages: the hooks are gone", stage)
			}
			t.Logf("killed at each of %d stages", stage-1)
			return
		}
	}
}

// wantSaid fails unless what the child was answered holds.
func (w *world) wantSaid(where string, out []byte) {
	w.t.Helper()
	decided := map[string]string{}
	history := w.wantHistory(where)
	for line := range bytes.Lines(out) {
		word := strings.Fields(string(line))
		if len(word) < 3 || word[0] != "said" {
			continue
		}
		what, name := word[1], word[2]
		switch what {
		case "session":
			if !slices.ContainsFunc(w.store.Sessions(), func(s Session) bool { return s.Label == name }) {
				w.t.Errorf("%s: session %s is gone", where, name)
			}
		case "proposed":
			decided[name] = "open"
		case "decided":
			decided[name] = map[string]string{"true": "accepted", "false": "rejected"}[word[3]]
		case "undone":
			decided[name] = "reopened"
		}
	}
	for name, state := range decided {
		w.wantOutcome(where, name, state, history[name])
	}
}

// wantOutcome compares a file with what was answered about it last; the step
// after that may have happened, too.
func (w *world) wantOutcome(where, name, state, told string) {
	w.t.Helper()
	p, err := w.proposalAt("s1", name)
	if err != nil {
		w.t.Errorf("%s: %v", where, err)
		return
	}
	ok := map[string][]State{
		"open": {StateOpen, StateApplied, StateRejected}, "accepted": {StateApplied, StateOpen}, "rejected": {StateRejected}, "reopened": {StateOpen},
	}[state]
	now := p.State()
	if !slices.Contains(ok, now) {
		w.t.Errorf("%s: %s was %s and is %s", where, name, state, now)
	}
	want := map[State]string{StateOpen: "", StateApplied: "accepted", StateRejected: "rejected"}[now]
	if told == "reopened" && now == StateOpen {
		want = told
	}
	if told != want {
		w.t.Errorf("%s: %s is %s, but the history says %q", where, name, now, told)
	}
	written := w.disk(name) == compactText(name)
	if written != (now == StateApplied) {
		w.t.Errorf("%s: %s is %s, written %v", where, name, now, written)
	}
	if now == StateOpen && w.view("s1", name) != compactText(name) {
		w.t.Errorf("%s: the view of %s is not what was proposed", where, name)
	}
}
