package sandbox

import (
	"context"
	"errors"
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

	"pgregory.net/rapid"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// state is the files of a folder, without .git: mode and text by path.
type state map[string]string

// stateOf reads a folder.
func stateOf(t testing.TB, dir string) state {
	t.Helper()
	out := state{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[rel] = fmt.Sprintf("%o %s", info.Mode().Perm(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// viewed is what the view has at all paths that the property knows.
func (w *world) viewed() state {
	out := state{}
	for _, name := range propertyNames {
		c, err := w.view.Read(w.at(name))
		if err != nil {
			w.t.Fatal(err)
		}
		if c.Exists {
			out[name] = fmt.Sprintf("%o %s", modeOf(c), c.Data)
		}
	}
	return out
}

var propertyNames = []string{"a", "b", "c", "d/a", "d/b", "d/e/f", "n1", "n2", "d/n3"}

// cut splits mode and text.
func split(s string) (mode, text string) {
	mode, text, _ = strings.Cut(s, " ")
	return mode, text
}

// gitMerges is git's answer to a three-way merge.
func gitMerges(t testing.TB, mine, base, now string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"mine": mine, "base": base, "now": now} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "merge-file", "-p", "mine", "base", "now")
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// edits draws a script that changes files in many ways. tag makes its lines unique.
func edits(t *rapid.T, tag string, most int) string {
	var out []string
	for i := range rapid.IntRange(0, most).Draw(t, "edits") {
		name := rapid.SampledFrom(propertyNames).Draw(t, "name")
		line := rapid.IntRange(1, 12).Draw(t, "line")
		text := fmt.Sprintf("%s-%d", tag, i)
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0:
			out = append(out, fmt.Sprintf("rm -f %s", name))
		case 1:
			to := rapid.SampledFrom(propertyNames).Draw(t, "to")
			out = append(out, fmt.Sprintf("if [ -f %s ] && [ %s != %s ]; then mkdir -p d/e; mv %s %s; fi", name, name, to, name, to))
		case 2:
			out = append(out, fmt.Sprintf("mkdir -p d/e; seq 100 112 | sed 's/$/ %s/' > %s", text, name))
		case 3:
			out = append(out, fmt.Sprintf("if [ -f %s ]; then chmod %s %s; fi", name, rapid.SampledFrom([]string{"644", "755", "600"}).Draw(t, "mode"), name))
		case 4:
			out = append(out, fmt.Sprintf("if [ -f %s ]; then sed -i '%d{p;s/.*/%s/}' %s; fi", name, line, text, name))
		case 5:
			out = append(out, fmt.Sprintf("if [ -f %s ]; then sed -i %dd %s; fi", name, line, name))
		default:
			out = append(out, fmt.Sprintf("if [ -f %s ]; then sed -i '%ds/.*/%s/' %s; fi", name, line, text, name))
		}
	}
	return strings.Join(out, "\n")
}

// expected is what the view shall have at each path: what a command made of base, onto
// what others made of it. Where git finds a conflict, merged says that it may be one.
func expected(t testing.TB, base, mine, now state) (want state, doubtful map[string]bool) {
	want, doubtful = maps.Clone(now), map[string]bool{}
	movedTo := movesOf(base, mine)
	for _, name := range propertyNames {
		if from := slices.Index(slices.Collect(maps.Values(movedTo)), name); from >= 0 {
			continue
		}
		m := mine[name]
		at := name
		if to := movedTo[name]; to != "" {
			m, at = mine[to], to
			if now[to] != "" {
				continue // somebody made a file there: nothing moves
			}
		}
		got, ok, clear := three(t, base[name], m, now[name])
		if !clear {
			doubtful[name], doubtful[at] = true, true
		}
		if !ok {
			continue
		}
		delete(want, name)
		if got != "" {
			want[at] = got
		}
	}
	return want, doubtful
}

// three merges one file's mode and text.
func three(t testing.TB, base, mine, now string) (got string, ok, clear bool) {
	switch {
	case mine == base:
		return now, true, true
	case now == base, now == mine:
		return mine, true, true
	case mine == "" || now == "":
		_, a := split(base)
		_, b := split(mine + now)
		if base != "" && a == b { // its mode alone was changed by the other
			return mine, mine == "", mine == ""
		}
		return now, false, true
	}
	bm, bt := split(base)
	mm, mt := split(mine)
	nm, nt := split(now)
	mode := mm
	switch {
	case base == "" && mt == nt:
		return now, true, true
	case base == "":
		return now, false, true
	case mm == bm:
		mode = nm
	case nm != bm && nm != mm:
		return now, false, true
	}
	text, ok := gitMerges(t, mt, bt, nt)
	return mode + " " + text, ok, ok
}

// movesOf are the files that went elsewhere with their bytes. Texts are unique, but a
// file may have been copied by a move onto another.
func movesOf(base, mine state) map[string]string {
	out := map[string]string{}
	for _, name := range propertyNames {
		if base[name] != "" || mine[name] == "" {
			continue
		}
		_, text := split(mine[name])
		for _, from := range propertyNames {
			_, was := split(base[from])
			if base[from] != "" && mine[from] == "" && was == text && out[from] == "" {
				out[from] = name
				break
			}
		}
	}
	return out
}

// Whatever a command and people do at the same time: the command touches nothing of the
// tree, the view has the three-way result, and accepting all writes just that.
func TestPropertyThreeWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, nil)
		w.tree("mkdir -p d/e; for f in a b c d/a d/b d/e/f; do seq 1 12 | sed \"s,$, $f,\" > $f; done")
		w.says(edits(rt, "earlier", 4)) // proposals that are open when it begins
		for round := range 2 {
			w.threeWay(rt, round)
		}
		w.final()
	})
}

// threeWay is one command with what people do meanwhile.
func (w *world) threeWay(rt *rapid.T, round int) {
	t := w.t
	d := w.begin()
	base := stateOf(t, d.Dir())
	if view := w.viewed(); !maps.Equal(base, view) {
		rt.Fatalf("the copy is not the view:\n%q\n%q", base, view)
	}
	sh(t, d.Dir(), d.Env(), edits(rt, fmt.Sprintf("command%d", round), 6))
	mine := stateOf(t, d.Dir())
	w.tree(edits(rt, fmt.Sprintf("people%d", round), 3))
	w.age()
	w.otherwise(rt, round)
	now, before := w.viewed(), stateOf(t, w.root)
	left := w.end(d)
	if after := stateOf(t, w.root); !maps.Equal(before, after) {
		rt.Fatalf("the command changed the tree:\n%q\n%q", before, after)
	}
	want, doubtful := expected(t, base, mine, now)
	got := w.viewed()
	for _, name := range propertyNames {
		if doubtful[name] || got[name] == want[name] {
			continue
		}
		rt.Fatalf("%s is %q in the view, want %q\nbase %q\nmine %q\nnow  %q\n%+v", name, got[name], want[name], base[name], mine[name], now[name], left.Refused)
	}
	for name := range doubtful { // it is told, or what each side wrote is in it
		told := slices.ContainsFunc(left.Refused, func(r tools.Refusal) bool { return r.Path == name })
		_, text := split(mine[name])
		for line := range strings.Lines(text) {
			if !told && strings.Contains(line, fmt.Sprintf("command%d", round)) && !strings.Contains(got[name], line) {
				rt.Fatalf("%s lost %q: %q", name, line, got[name])
			}
		}
	}
}

// age makes the tree's files old enough that nobody takes them for half written.
func (w *world) age() {
	for name := range stateOf(w.t, w.root) {
		old := time.Now().Add(-time.Minute)
		if err := os.Chtimes(filepath.Join(w.root, name), old, old); err != nil {
			w.t.Fatal(err)
		}
	}
}

// otherwise is what may happen in the session while a command runs: decisions, and edits
// by other tools.
func (w *world) otherwise(rt *rapid.T, round int) {
	list, err := w.store.List(diffpreview.Filter{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range list {
		how := rapid.IntRange(0, 3).Draw(rt, "decide")
		if how > 1 || p.State() != diffpreview.StateOpen {
			continue
		}
		// One that cannot be written, as a name that is taken, stays open.
		_, _, _ = w.store.Decide(context.Background(), diffpreview.DecideFile{ID: p.ID, Version: p.Version, Accept: how == 0, By: "person"})
	}
	if rapid.Bool().Draw(rt, "tool") {
		name := rapid.SampledFrom(propertyNames).Draw(rt, "name")
		lines := strings.SplitAfter(w.reads(name), "\n")
		if len(lines) > 5 {
			lines[3] = fmt.Sprintf("tool%d\n", round)
			w.propose(name, strings.Join(lines, ""))
		}
	}
}

// final accepts all that can be, and the tree is the view then.
func (w *world) final() {
	w.inStep()
	want := w.viewed()
	open, err := w.store.List(diffpreview.Filter{})
	if err != nil {
		w.t.Fatal(err)
	}
	skipped := map[string]bool{}
	for _, p := range open {
		if p.State() == diffpreview.StateConflict {
			skipped[p.Name], skipped[w.view.Name(p.Shown())] = true, true
		}
	}
	_, err = w.store.DecideSession(context.Background(), diffpreview.DecideSet{Session: w.sess, Accept: true, By: "person", SkipConflicts: true})
	if err != nil {
		w.t.Fatal(err)
	}
	got := stateOf(w.t, w.root)
	for _, name := range propertyNames {
		if !skipped[name] && got[name] != want[name] {
			w.t.Errorf("%s is %q in the tree, want %q", name, got[name], want[name])
		}
	}
	w.inStep()
}
