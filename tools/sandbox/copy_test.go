package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const someText = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

// A copy is the tree, with all that is in it but special files, and what the view has
// other than the tree over it.
func TestBeginMakesTheView(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n", "dir/b": someText, ".gitignore": "ignored/\n", "ignored/deep/file": "i\n", "empty": ""})
	w.tree(`git init -q . && ln -s a link && ln -s "$PWD/dir" absolute && ln -s ../outside away && mkfifo pipe && chmod 755 a && chmod 400 empty && mkdir void && touch -d 2001-02-03 dir/b`)
	w.propose("dir/b", "other\n")
	w.propose("new/deep/file", "new\n")
	d := w.begin()
	out := differ(t, w.root, d.Dir())
	for _, want := range []string{"Only in " + w.root + ": pipe", "dir/b"} {
		if !strings.Contains(out, want) {
			t.Errorf("diff does not say %q:\n%s", want, out)
		}
	}
	if got := sh(t, d.Dir(), nil, "cat dir/b new/deep/file; readlink link away absolute; stat -c %a a empty"); got != "other\nnew\na\n../outside\n"+d.Dir()+"/dir\n755\n400\n" {
		t.Errorf("the copy has %q", got)
	}
	if got := sh(t, d.Dir(), d.Env(), "git status --porcelain | grep -v '^??' || true; git rev-parse --show-toplevel"); got != d.Dir()+"\n" {
		t.Errorf("git says %q", got)
	}
	if got := d.Name(filepath.Join(d.Dir(), "dir/b")); got != "dir/b" {
		t.Errorf("the name of a path of the copy is %q", got)
	}
	w.want(w.end(d), "", "")
	w.tree("rm absolute pipe")
	w.inStep()
}

// Whatever changes in the tree, in documents and in proposals is in the copy at the next
// Begin, and nothing else is written anew.
func TestBeginBringsInStep(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n", "dir/b": someText, "gone/c": "c\n", "turns": "file\n", "dirturns/x": "x\n", "same": "s\n"})
	w.inStep()
	for _, script := range []string{
		"echo longer > a; rm -r gone; echo new > dir/new",
		"rm turns; mkdir turns; echo y > turns/y; rm -r dirturns; echo file > dirturns",
		"mv dir moved; ln -s moved dir; chmod 700 a",
		"rm dir; mv moved dir; printf 'A\\n' > a; mkdir -p p/q/r; echo r > p/q/r/r",
		"echo aa > a; echo bb > a; echo a > a",
	} {
		w.tree(script)
		w.inStep()
		if t.Failed() {
			t.Fatalf("after %s", script)
		}
	}
	before := w.says("stat -c '%i %Z' same dir/b")
	p := w.propose("dir/b", strings.Replace(someText, "5", "five", 1))
	q := w.propose("made/by/tool", "m\n")
	w.inStep()
	w.decide(p, true)
	w.decide(q, false)
	w.inStep()
	if w.says("ls") != w.says("cd \"$PWD\"; ls") || strings.Contains(w.says("ls"), "made") {
		t.Errorf("the folder of a new file that was rejected is still there: %s", w.says("ls"))
	}
	w.propose("dir/b", "again\n")
	w.inStep()
	if after := w.says("stat -c '%i %Z' same dir/b"); strings.Fields(after)[0] != strings.Fields(before)[0] || strings.Fields(after)[1] != strings.Fields(before)[1] {
		t.Errorf("a file that did not change was written: %q, before %q", after, before)
	}
}

// Make builds again in the copy what it would in the tree, and only that.
func TestTimesAreKept(t *testing.T) {
	w := newWorld(t, map[string]string{"Makefile": "out: in\n\tcp in out\n", "in": "1\n", ".gitignore": "out\n"})
	w.tree("touch -d '2 hours ago' in; make -s; touch -d '1 hour ago' out")
	if got := w.says("make"); !strings.Contains(got, "up to date") {
		t.Errorf("make says %q", got)
	}
	w.propose("in", "2\n")
	if got := w.says("make; cat out"); got != "cp in out\n2\n" {
		t.Errorf("make says %q", got)
	}
	if got := w.says("make"); !strings.Contains(got, "up to date") {
		t.Errorf("what a command built is gone: make says %q", got)
	}
	w.acceptAll()
	if got := w.says("make"); !strings.Contains(got, "up to date") {
		t.Errorf("after the accept make says %q", got)
	}
}

// A command starts where the agent says, in its own words or in those of the copy.
func TestWhereACommandStarts(t *testing.T) {
	w := newWorld(t, map[string]string{"dir/sub/f": "f\n", "file": "x\n"})
	w.tree("ln -s dir/sub short")
	w.propose("new/g", "g\n")
	d := w.begin()
	for cwd, want := range map[string]string{
		"dir": "dir", "short": "dir/sub", "new": "new", filepath.Join(w.root, "dir/sub"): "dir/sub", filepath.Join(d.Dir(), "dir"): "dir",
		"file": "!not_regular_file", "none": "!file_not_found", "..": "!path_outside_workspace", "/etc": "!path_outside_workspace",
	} {
		other, err := w.copy.Begin(t.Context(), cwd)
		if code, fails := strings.CutPrefix(want, "!"); fails {
			if string(codeOf(err)) != code {
				t.Errorf("%s: %v, want %s", cwd, err, code)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", cwd, err)
			continue
		}
		if got := other.Dir(); got != filepath.Join(d.Dir(), want) {
			t.Errorf("%s starts in %s", cwd, got)
		}
		w.end(other)
	}
	w.end(d)
}

// Several roots lie beside each other, and links between them lead from copy to copy.
func TestSeveralRoots(t *testing.T) {
	w := newWorld(t, nil)
	base := filepath.Dir(w.root)
	one, two := filepath.Join(base, "x/one"), filepath.Join(base, "x/two")
	sh(t, base, nil, `mkdir -p x/one x/two && echo 1 > x/one/f && echo 2 > x/two/f && ln -s ../two/f x/one/rel && ln -s "$PWD/x/two/f" x/one/abs`)
	w.open(one, two)
	d := w.begin()
	if got := sh(t, d.Dir(), nil, "cat f rel abs; echo two > ../two/f; echo more >> abs; cat rel"); got != "1\n2\n2\ntwo\nmore\n" {
		t.Errorf("the copy has %q", got)
	}
	w.want(w.end(d), "two/f text", "")
	if got := sh(t, base, nil, "cat x/two/f"); got != "2\n" {
		t.Errorf("the tree has %q", got)
	}
	if d2, err := w.copy.Begin(t.Context(), "two"); err != nil || filepath.Base(d2.Dir()) != "two" {
		t.Errorf("begins in %v: %v", d2, err)
	}
}

// A copy that was begun and not finished goes on.
func TestBeginCancelled(t *testing.T) {
	w := newWorld(t, nil)
	w.tree("for i in $(seq 300); do mkdir d$i; echo $i > d$i/f; done")
	for n := range 20 {
		ctx := &failing{Context: t.Context(), after: int64(n * 40)}
		if _, err := w.copy.Begin(ctx, ""); err == nil {
			t.Logf("not cancelled after %d looks", n*40)
		}
	}
	w.inStep()
}

// Removing goes through whatever commands did to rights.
func TestRemoveClosedFolders(t *testing.T) {
	w := newWorld(t, map[string]string{".gitignore": "out/\n"})
	w.run("mkdir -p out/a/b && touch out/a/b/f && chmod 000 out/a/b out/a && chmod 555 out")
	if err := w.copy.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(w.copy.opts.Dir); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
	if _, err := w.copy.Begin(t.Context(), ""); codeOf(err) != "unavailable" {
		t.Errorf("begin after close: %v", err)
	}
}
