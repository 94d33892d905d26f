package diffpreview

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// world is a workspace with its store, for tests that use the real disk.
type world struct {
	t      *testing.T
	root   string
	state  string
	ws     *Workspace
	store  *Store
	now    func() time.Time // nil: see open
	limits Limits
	step   func(stage string) // of compactions
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), state: filepath.Join(t.TempDir(), "state")}
	for name, text := range files {
		w.save(name, text)
	}
	w.open()
	t.Cleanup(func() { w.close() })
	return w
}

func (w *world) open() {
	w.t.Helper()
	ws, err := OpenWorkspace([]string{w.root})
	if err != nil {
		w.t.Fatal(err)
	}
	// A second ahead, so that what the test saved counts as come to rest.
	now := func() time.Time { return time.Now().Add(time.Second) }
	if w.now != nil {
		now = w.now
	}
	store, err := Open(ws, Options{Dir: w.state, Now: now, Limits: w.limits, step: w.step})
	if err != nil {
		w.t.Fatal(err)
	}
	w.ws, w.store = ws, store
}

func (w *world) close() {
	if w.store == nil {
		return
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
	if err := w.ws.Close(); err != nil {
		w.t.Error(err)
	}
	w.store = nil
}

// restart is the daemon coming back.
func (w *world) restart() {
	w.t.Helper()
	w.close()
	w.open()
}

// save writes a file as a person's editor might.
func (w *world) save(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) disk(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.root, name))
	if os.IsNotExist(err) {
		return "(absent)"
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *world) session(label string) string {
	w.t.Helper()
	sess, err := w.store.JoinSession(Session{Label: label})
	if err != nil {
		w.t.Fatal(err)
	}
	return sess.ID
}

// propose makes a file in a session's view hold a text.
func (w *world) propose(session, name, text string) *Proposal {
	w.t.Helper()
	v := w.store.View(session)
	path, err := v.Resolve(name)
	if err != nil {
		w.t.Fatal(err)
	}
	step, err := v.Propose(context.Background(), path, Call{ID: "c", Tool: "test"}, func(now Content) (Content, error) {
		now.Exists, now.Data = true, []byte(text)
		return now, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return step.Proposal
}

func (w *world) view(session, name string) string {
	w.t.Helper()
	v := w.store.View(session)
	path, err := v.Resolve(name)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := v.Read(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if !c.Exists {
		return "(absent)"
	}
	return string(c.Data)
}

func (w *world) decide(p *Proposal, accept bool, hunks ...string) (*Proposal, error) {
	d := DecideFile{ID: p.ID, Accept: accept, By: "tester"}
	for _, h := range hunks {
		d.Verdicts = append(d.Verdicts, Verdict{Hunk: h, Accept: accept})
	}
	q, _, err := w.store.Decide(context.Background(), d)
	return q, err
}

func (w *world) mustDecide(p *Proposal, accept bool, hunks ...string) *Proposal {
	w.t.Helper()
	q, err := w.decide(p, accept, hunks...)
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func (w *world) wantDisk(name, text string) {
	w.t.Helper()
	if got := w.disk(name); got != text {
		w.t.Errorf("%s on disk is %q, want %q", name, got, text)
	}
}

// wantClean fails when the workspace holds a file that is no part of it.
func (w *world) wantClean() {
	w.t.Helper()
	filepath.WalkDir(w.root, func(path string, _ os.DirEntry, err error) error {
		if isTempName(filepath.Base(path)) {
			w.t.Errorf("left behind: %s", path)
		}
		return err
	})
}

// isTempName reports whether a base name is one of a transaction's temporary
// files, which nobody but apply and recover should look at.
func isTempName(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// wantTidy fails when the state directory holds what no record names.
func (w *world) wantTidy() {
	w.t.Helper()
	named := map[string]bool{}
	err := w.records().read(func(rec record) error {
		rec.texts(func(body string) { named[body] = true })
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	bodies, err := os.ReadDir(filepath.Join(w.state, "bodies"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, b := range bodies {
		if !named[b.Name()] {
			w.t.Errorf("no record names %s", b.Name())
		}
	}
	for body := range named {
		if _, err := os.Lstat(filepath.Join(w.state, "bodies", body)); err != nil {
			w.t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.state, "journal.jsonl.new")); err == nil {
		w.t.Error("an unfinished journal was left")
	}
	w.wantClean()
}
