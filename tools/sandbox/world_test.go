package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a workspace of one root with a session and its copy.
type world struct {
	t     testing.TB
	root  string
	state string
	ws    *diffpreview.Workspace
	store *diffpreview.Store
	sess  string
	view  *diffpreview.View
	copy  *Copy
	calls int
}

func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: filepath.Join(base, "root"), state: filepath.Join(base, "state")}
	for _, dir := range []string{w.root, w.state} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		w.save(name, text)
	}
	w.open(w.root)
	return w
}

// open starts a store of roots, with one session.
func (w *world) open(roots ...string) {
	w.t.Helper()
	var err error
	if w.ws, err = diffpreview.OpenWorkspace(roots); err != nil {
		w.t.Fatal(err)
	}
	if w.store, err = diffpreview.Open(w.ws, diffpreview.Options{Dir: filepath.Join(w.state, "review"+strconv.Itoa(len(roots)))}); err != nil {
		w.t.Fatal(err)
	}
	sess, err := w.store.JoinSession(diffpreview.Session{Label: "agent"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.sess, w.view = sess.ID, w.store.View(sess.ID)
	w.copy = New(Options{View: w.view, Dir: filepath.Join(w.state, "copy"+strconv.Itoa(len(roots)))})
	ws, store, copied := w.ws, w.store, w.copy
	w.t.Cleanup(func() {
		if err := copied.Close(); err != nil {
			w.t.Error(err)
		}
		if _, err := os.Lstat(copied.opts.Dir); !os.IsNotExist(err) {
			w.t.Errorf("the copy is left over: %v", err)
		}
		store.Close()
		ws.Close()
	})
}

// save writes a file of the tree, as a person does.
func (w *world) save(name, text string) {
	w.t.Helper()
	p := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// sh runs a script in a folder and fails the test when it fails.
func sh(t testing.TB, dir string, env []string, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return string(out)
}

// tree runs a script in the tree, as a person does.
func (w *world) tree(script string) string {
	w.t.Helper()
	return sh(w.t, w.root, nil, script)
}

func (w *world) begin() tools.Workdir {
	w.t.Helper()
	d, err := w.copy.Begin(context.Background(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *world) end(d tools.Workdir) tools.Left {
	w.t.Helper()
	w.calls++
	left, err := d.End(context.Background(), diffpreview.Call{ID: "c", Tool: "bash"})
	if err != nil {
		w.t.Fatal(err)
	}
	return left
}

// run runs a command of the session.
func (w *world) run(script string) tools.Left {
	w.t.Helper()
	d := w.begin()
	sh(w.t, d.Dir(), d.Env(), script)
	return w.end(d)
}

// says is what a command prints.
func (w *world) says(script string) string {
	w.t.Helper()
	d := w.begin()
	out := sh(w.t, d.Dir(), d.Env(), script)
	w.end(d)
	return out
}

func (w *world) at(name string) diffpreview.Path {
	w.t.Helper()
	p, err := w.view.ResolveEntry(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// propose makes a file of the view hold a text, as a tool does.
func (w *world) propose(name, text string) *diffpreview.Proposal {
	w.t.Helper()
	step, err := w.view.Propose(context.Background(), w.at(name), diffpreview.Call{ID: "c", Tool: "write_file"}, func(now diffpreview.Content) (diffpreview.Content, error) {
		now.Exists, now.Data = true, []byte(text)
		return now, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return step.Proposal
}

// decide decides a proposal as a whole.
func (w *world) decide(p *diffpreview.Proposal, accept bool) {
	w.t.Helper()
	now, err := w.store.Get(p.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err = w.store.Decide(context.Background(), diffpreview.DecideFile{ID: now.ID, Version: now.Version, Accept: accept, By: "person"}); err != nil {
		w.t.Fatal(err)
	}
}

// acceptAll accepts the session's change set.
func (w *world) acceptAll() {
	w.t.Helper()
	if _, err := w.store.DecideSession(context.Background(), diffpreview.DecideSet{Session: w.sess, Accept: true, By: "person"}); err != nil {
		w.t.Fatal(err)
	}
}

// reads is what the view has at a path.
func (w *world) reads(name string) string {
	w.t.Helper()
	c, err := w.view.Read(w.at(name))
	switch {
	case err != nil:
		return err.Error()
	case !c.Exists:
		return "(absent)"
	}
	return string(c.Data)
}

// kinds are what steps did, as "path kind".
func kinds(left tools.Left) string {
	var out []string
	for _, s := range left.Steps {
		name := s.Proposal.Name
		if to := s.Proposal; to.Shown() != to.Path {
			name += "→" + filepath.Base(s.Diff[strings.Index(s.Diff, "rename to ")+len("rename to "):][:strings.IndexByte(s.Diff[strings.Index(s.Diff, "rename to ")+len("rename to "):], '\n')])
		}
		out = append(out, name+" "+string(s.Proposal.Kind))
	}
	return strings.Join(out, ", ")
}

func refusals(left tools.Left) string {
	var out []string
	for _, r := range left.Refused {
		out = append(out, r.Path+" "+r.Code)
	}
	return strings.Join(out, ", ")
}

func (w *world) want(left tools.Left, steps, refused string) {
	w.t.Helper()
	if got := kinds(left); got != steps {
		w.t.Errorf("proposed: %q, want %q", got, steps)
	}
	if got := refusals(left); got != refused {
		w.t.Errorf("refused: %q, want %q (%+v)", got, refused, left.Refused)
	}
}

// differ is what diff says of two folders.
func differ(t testing.TB, a, b string) string {
	t.Helper()
	out, err := exec.Command("diff", "-r", "--no-dereference", a, b).CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

// inStep fails unless the copy is the tree with the view's own files over it.
func (w *world) inStep() {
	w.t.Helper()
	d := w.begin()
	defer w.end(d)
	expected := filepath.Join(w.t.TempDir(), "expected")
	if out, err := exec.Command("cp", "-a", w.root, expected).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	for _, o := range w.view.Overlaid() {
		_, rel := w.ws.Place(o.Path)
		place := filepath.Join(expected, rel)
		os.RemoveAll(place)
		if !o.Now.Exists {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			w.t.Fatal(err)
		}
		var err error
		if o.Now.IsLink() {
			err = os.Symlink(string(o.Now.Data), place)
		} else {
			err = os.WriteFile(place, o.Now.Data, 0o644)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	var wrong []string
	for line := range strings.Lines(differ(w.t, expected, d.Dir())) {
		if !emptyOnly(line) && !w.sameLink(line) {
			wrong = append(wrong, line)
		}
	}
	if len(wrong) > 0 {
		w.t.Errorf("the copy is not the view:\n%s", strings.Join(wrong, ""))
	}
}

// sameLink reports whether a line of diff tells of a link that leads into the tree, and
// in the copy into the copy.
func (w *world) sameLink(line string) bool {
	var a, b string
	if n, _ := fmt.Sscanf(line, "Symbolic links %s and %s differ", &a, &b); n != 2 {
		return false
	}
	in, err := os.Readlink(a)
	out, e := os.Readlink(b)
	return err == nil && e == nil && w.copy.inward(in) == out && in != out
}

// emptyOnly reports whether a line of diff tells of a directory in which there is no
// file: those are no part of the view.
func emptyOnly(line string) bool {
	dir, name, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(line, "Only in "), "\n"), ": ")
	if !ok || !strings.HasPrefix(line, "Only in ") {
		return false
	}
	out, err := exec.Command("find", filepath.Join(dir, name), "!", "-type", "d").Output()
	return err == nil && len(bytes.TrimSpace(out)) == 0
}
