//go:build unix

package diffpreview

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestApplyLinks(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.putLink("retargeted", "a")
	x.putLink("deleted", "nowhere")
	x.putLink("d/becomes-file", "../a")
	x.put("becomes-link", "text\n", 0o640)
	x.putLink("moves", "a")
	x.putLink("moves-on", "a")
	x.mustApply(
		x.relink("new/link", Content{}, "../a"),
		x.relink("retargeted", linkTo("a"), "/b c"),
		x.unlink("deleted", "nowhere", Content{}),
		x.unlink("d/becomes-file", "../a", Content{Exists: true, Data: []byte("t\n"), Mode: 0o600}),
		x.relink("becomes-link", file("text\n"), "becomes-link"),
		write{path: x.path("e/moved"), from: x.path("moves"), base: linkTo("a"), want: linkTo("a")},
		write{path: x.path("e/moved-on"), from: x.path("moves-on"), base: linkTo("a"), want: linkTo("../a")},
	)
	x.wantLink("new/link", "../a")
	x.wantLink("retargeted", "/b c")
	x.wantAbsent("deleted")
	x.want("d/becomes-file", "t\n")
	x.wantLink("becomes-link", "becomes-link")
	x.wantAbsent("moves")
	x.wantAbsent("moves-on")
	x.wantLink("e/moved", "a")
	x.wantLink("e/moved-on", "../a")
	if got := x.mode("d/becomes-file"); got != 0o600 {
		t.Errorf("mode is %v", got)
	}
}

func TestApplyRefusesOtherLinks(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.putLink("link", "a")
	x.put("a", "a\n", 0o644)
	x.put("d/f", "f\n", 0o644)
	ok := x.modify("a", "a\n", "never\n")
	for _, c := range []struct {
		code Code
		wr   write
	}{
		{CodeStale, x.relink("link", linkTo("b"), "c")},
		{CodeStale, x.relink("link", Content{}, "c")},
		{CodeStale, x.create("link", "c", 0)},
		{CodeStale, x.relink("a", linkTo("a\n"), "c")},
		{CodeStale, x.relink("d/f", linkTo("b"), "c")},
		{CodeStale, x.relink("d/f", Content{}, "c")},
		{CodeIsDirectory, x.relink("d", linkTo("b"), "c")},
		{CodeIsDirectory, x.relink("d", Content{}, "c")},
		{CodeStale, x.unlink("link", "b", Content{})},
		{CodeStale, x.unlink("none", "b", Content{})},
		{CodeStale, x.unlink("no/dir", "b", file("x"))},
		{CodeStale, x.modify("link", "a", "x")},
	} {
		if c.wr.path.rel == "a" {
			x.mustFail(c.code, "a", c.wr)
		} else {
			x.mustFail(c.code, c.wr.path.rel, ok, c.wr)
		}
		if len(x.log) > 0 {
			t.Errorf("%v was begun", c.wr)
		}
	}
}

// What a view reads is never a link that appeared at a place; the engine sees it.
func TestReadingLinks(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.putLink("link", "no/where")
	c, err := x.w.read(x.path("link"))
	if err != nil || !c.IsLink() || string(c.Data) != "no/where" {
		t.Errorf("the engine reads %+v (%v)", c, err)
	}
	if _, _, err := x.w.open(x.path("link")); CodeOf(err) != CodeNotRegularFile {
		t.Errorf("a tool opens it: %v", err)
	}
	if mark(c) == mark(file("no/where")) || mark(c) == mark(file("link no/where")) || mark(c) != mark(linkTo("no/where")) {
		t.Error("a link is told apart by its target and by being one")
	}
}

func TestApplyChangesMode(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("alone", "s\n", 0o644)
	x.put("with text", "s\n", 0o644)
	x.put("linked", "s\n", 0o644)
	x.hardLink("linked", "twin")
	x.put("private", "s\n", 0o444)
	x.put("special", "s\n", 0o755|fs.ModeSetgid|fs.ModeSticky)
	x.put("kept", "s\n", 0o600)
	inode, time := identity(must(os.Lstat(x.abs("alone")))), x.modified("alone")
	x.mustApply(
		remode(x.modify("alone", "s\n", "s\n"), 0o644, 0o755),
		remode(x.modify("with text", "s\n", "S\n"), 0o644, 0o755),
		remode(x.modify("linked", "s\n", "S\n"), 0o644, 0o700),
		remode(x.modify("private", "s\n", "s\n"), 0o444, 0o644),
		remode(x.modify("special", "s\n", "S\n"), 0o755, 0o700),
		remode(x.modify("kept", "s\n", "S\n"), 0o644, 0o644), // a person's chmod meanwhile
	)
	for name, want := range map[string]fs.FileMode{
		"alone": 0o755, "with text": 0o755, "linked": 0o700, "twin": 0o700, "private": 0o644,
		"special": 0o700 | fs.ModeSetgid | fs.ModeSticky, "kept": 0o600,
	} {
		if got := x.mode(name); got != want {
			t.Errorf("mode of %s is %v, want %v", name, got, want)
		}
	}
	x.want("with text", "S\n")
	x.want("twin", "S\n")
	if identity(must(os.Lstat(x.abs("alone")))) != inode || !x.modified("alone").Equal(time) {
		t.Error("the file whose mode alone changed is another one, or newer")
	}
	before := len(x.log)
	x.mustApply(remode(x.modify("alone", "s\n", "s\n"), 0o755, 0)) // no mode is wanted
	if x.mode("alone") != 0o755 || before == 0 || len(x.log) != 0 {
		t.Error("a write without a mode is none")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestApplyRefusesOtherModes(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "f\n", 0o600)
	x.put("twin", "f\n", 0o600)
	x.hardLink("twin", "twin2")
	x.put("z", "z\n", 0o644)
	ok := remode(x.modify("z", "z\n", "z\n"), 0o644, 0o755)
	x.mustFail(CodeStale, "f", ok, remode(x.modify("f", "f\n", "f\n"), 0o644, 0o755))
	x.mustFail(CodeStale, "f", ok, remode(x.modify("f", "f\n", "F\n"), 0o644, 0o755))
	x.mustFail(CodeStale, "twin", ok, remode(x.modify("twin", "f\n", "F\n"), 0o644, 0o755))
	x.mustFail(CodeStale, "f", ok, remode(x.move("f", "g", "f\n", "f\n"), 0o644, 0o755))
	x.mustFail(CodeStale, "f", ok, remode(x.modify("f", "other\n", "other\n"), 0o600, 0o755))
}

func TestApplyMoves(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	for _, name := range []string{"a", "b", "c", "d/linked", "e"} {
		x.put(name, name+"\n", 0o640)
	}
	x.hardLink("d/linked", "twin")
	inodes := map[string]fileID{}
	for _, name := range []string{"a", "c", "d/linked"} {
		inodes[name] = identity(must(os.Lstat(x.abs(name))))
	}
	time := x.modified("a")
	x.mustApply(
		x.move("a", "new/deep/a", "a\n", "a\n"),
		x.move("b", "new/b", "b\n", "B\n"),
		remode(x.move("c", "c.sh", "c\n", "c\n"), 0o640, 0o755),
		x.move("d/linked", "linked", "d/linked\n", "more than that\n"),
		remode(x.move("e", "e.sh", "e\n", "E\n"), 0o640, 0o755),
	)
	for name, text := range map[string]string{
		"new/deep/a": "a\n", "new/b": "B\n", "c.sh": "c\n", "linked": "more than that\n", "twin": "more than that\n", "e.sh": "E\n",
	} {
		x.want(name, text)
	}
	for _, name := range []string{"a", "b", "c", "d/linked", "e"} {
		x.wantAbsent(name)
	}
	for old, now := range map[string]string{"a": "new/deep/a", "c": "c.sh", "d/linked": "linked"} {
		if identity(must(os.Lstat(x.abs(now)))) != inodes[old] {
			t.Errorf("%s is not the file that %s was", now, old)
		}
	}
	if !x.modified("new/deep/a").Equal(time) {
		t.Error("moving changed the time")
	}
	if x.mode("c.sh") != 0o755 || x.mode("e.sh") != 0o755 || x.mode("new/b") != 0o640 {
		t.Errorf("modes are %v %v %v", x.mode("c.sh"), x.mode("e.sh"), x.mode("new/b"))
	}
	if want := []Path{x.path("new"), x.path("new/deep")}; !slices.Equal(x.made, want) {
		t.Errorf("made %v, want %v", x.made, want)
	}
}

// Moves that need one another's names.
func TestApplyEntangledMoves(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	for _, name := range []string{"a", "b", "c1", "c2", "c3", "under", "into", "gone", "p/q", "spelled"} {
		x.put(name, name+"\n", 0o644)
	}
	x.mustApply(
		x.move("a", "b", "a\n", "a\n"), x.move("b", "a", "b\n", "b\n"), // a swap
		x.move("c1", "c2", "c1\n", "c1\n"), x.move("c2", "c3", "c2\n", "C2\n"), x.move("c3", "c4", "c3\n", "c3\n"), // a chain
		x.move("under", "under/below/it", "under\n", "under\n"),
		x.move("into", "out", "into\n", "into\n"), x.create("into/new", "n\n", 0),
		x.remove("gone", "gone\n"), x.move("spelled", "gone", "spelled\n", "spelled\n"),
		x.move("p/q", "p", "p/q\n", "p/q\n"), // a file in place of its directory
	)
	for name, text := range map[string]string{
		"a": "b", "b": "a", "c2": "c1", "c3": "C2", "c4": "c3", "under/below/it": "under", "out": "into", "into/new": "n", "gone": "spelled", "p": "p/q",
	} {
		x.want(name, text+"\n")
	}
	x.wantAbsent("c1")
	x.wantAbsent("spelled")
}

func TestApplyRefusesMoves(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "f\n", 0o644)
	x.put("g", "g\n", 0o644)
	x.put("d/h", "h\n", 0o644)
	x.hardLink("f", "F") // not another spelling of f where both are listed
	ok := x.modify("g", "g\n", "never\n")
	x.mustFail(CodeStale, "d/h", ok, x.move("f", "d/h", "f\n", "f\n"))
	x.mustFail(CodeStale, "F", ok, x.move("f", "F", "f\n", "f\n"))
	x.mustFail(CodeStale, "f", ok, x.move("f", "n", "other\n", "other\n"))
	x.mustFail(CodeStale, "none", ok, x.move("none", "n", "f\n", "f\n"))
	x.mustFail(CodeIsDirectory, "d", ok, x.move("f", "d", "f\n", "f\n"))
	x.mustFail(CodeIsDirectory, "d", ok, x.move("d", "n", "f\n", "f\n"))
	x.mustFail(CodeStale, "f/n", x.move("g", "f/n", "g\n", "g\n"))
	x.mustFail(CodeInternal, "n", ok, x.move("g", "n", "g\n", "g\n"))
	x.mustFail(CodeInternal, "n", x.move("f", "n", "f\n", "f\n"), x.move("g", "n", "g\n", "g\n"))
	x.mustFail(CodeIsDirectory, "n", x.move("f", "n", "f\n", "f\n"), x.create("n/m", "m\n", 0))
	across := x.move("f", "n", "f\n", "f\n")
	across.from.index = 1
	x.w.roots = append(x.w.roots, x.w.roots[0])
	err := x.apply(across)
	x.w.roots = x.w.roots[:1]
	if CodeOf(err) != CodeInvalidArguments {
		t.Errorf("a move to another root: %v", err)
	}
}

func TestApplyFileForDirectory(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("d/a", "a\n", 0o644)
	x.put("d/e/f/b", "b\n", 0o644)
	x.put("l/a", "a\n", 0o644)
	x.mustApply(x.remove("d/a", "a\n"), x.create("d", "d\n", 0), x.move("d/e/f/b", "b", "b\n", "b\n"), x.remove("l/a", "a\n"), x.relink("l", Content{}, "d"))
	x.want("d", "d\n")
	x.want("b", "b\n")
	x.wantLink("l", "d")
}

func TestApplyFileForDirectoryRefused(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("d/a", "a\n", 0o644)
	x.put("d/e/b", "b\n", 0o644)
	x.put("f/a", "a\n", 0o644)
	if err := os.MkdirAll(x.abs("f/empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	x.mustFail(CodeIsDirectory, "d", x.remove("d/a", "a\n"), x.create("d", "d\n", 0))
	x.mustFail(CodeIsDirectory, "f", x.remove("f/a", "a\n"), x.create("f", "d\n", 0))
	x.mustFail(CodeIsDirectory, "f/empty", x.create("f/empty", "d\n", 0))
	x.mustFail(CodeIsDirectory, "d", x.remove("d/a", "a\n"), x.remove("d/e/b", "b\n"), x.create("d", "d\n", 0), x.create("d/new", "n\n", 0))
}

// Somebody saves in a directory that is being emptied, or the write fails later:
// directory and files are there again as they were.
func TestApplyFileForDirectoryRollsBack(t *testing.T) {
	for _, at := range []string{"placed", "directory emptied"} {
		x := newApplyTree(t, t.TempDir())
		x.put("d/a", "a\n", 0o644)
		x.put("d/e/b", "b\n", 0o644)
		for _, dir := range []string{"d", "d/e"} {
			if err := os.Chmod(x.abs(dir), 0o750|fs.ModeSetgid); err != nil {
				t.Fatal(err)
			}
		}
		before := x.picture()
		saved := "z"
		if at == "placed" {
			saved = "d/e/typed"
		}
		x.w.step = func(stage string) {
			if stage == at {
				x.put(saved, "somebody's\n", 0o644)
				x.w.step = func(string) {}
			}
		}
		err := x.apply(x.remove("d/a", "a\n"), x.remove("d/e/b", "b\n"), x.create("d", "d\n", 0), x.create("z", "Z\n", 0))
		if CodeOf(err) != CodeStale || errors.Is(err, errHalfDone) {
			t.Fatalf("at %q: apply: %v", at, err)
		}
		x.want(saved, "somebody's\n")
		os.Remove(x.abs(saved))
		if after := x.picture(); after != before {
			t.Errorf("at %q: not as before:\n%s\nbut\n%s", at, before, after)
		}
		x.noTemps()
	}
}

func TestApplyUnmakes(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("kept/f", "f\n", 0o644)
	x.mustApply(x.create("n/o/p/f", "f\n", 0), x.create("n/o/g", "g\n", 0), x.create("kept/h/i", "i\n", 0))
	want := []Path{x.path("kept/h"), x.path("n"), x.path("n/o"), x.path("n/o/p")}
	got := slices.SortedFunc(slices.Values(x.made), comparePaths)
	if !slices.Equal(got, want) {
		t.Errorf("made %v, want %v", got, want)
	}
	undo := func(name, text string, unmake ...Path) write {
		wr := x.remove(name, text)
		wr.unmake = unmake
		return wr
	}
	x.mustApply(undo("n/o/p/f", "f\n", x.path("n/o/p"), x.path("n/o"), x.path("n")))
	x.wantAbsent("n/o/p")
	x.want("n/o/g", "g\n")
	x.mustApply(undo("n/o/g", "g\n", x.path("n"), x.path("n/o"), x.path("."), x.path("no/such")), undo("kept/h/i", "i\n", x.path("kept/h"), x.path("kept")))
	x.wantAbsent("n")
	x.wantAbsent("kept/h")
	x.want("kept/f", "f\n")
}

// The result of a write is what git apply makes of the same change.
func TestApplyAsGitDoes(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	x, other := newApplyTree(t, t.TempDir()), newApplyTree(t, t.TempDir())
	for _, y := range []*applyTree{x, other} {
		y.put("moved", "1\n2\n3\n4\n5\n6\n", 0o644)
		y.put("pure", "pure\n", 0o755)
		y.put("run", "run\n", 0o644)
		y.put("both", "both\n", 0o644)
		y.put("dir/file", "file\n", 0o644)
		y.put("to-link", "text\n", 0o644)
		y.putLink("link", "a")
		y.putLink("gone", "a")
	}
	x.mustApply(
		x.move("moved", "d/moved", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nsix\n"), x.move("pure", "e/pure", "pure\n", "pure\n"),
		remode(x.modify("run", "run\n", "run\n"), 0o644, 0o755), remode(x.modify("both", "both\n", "BOTH\n"), 0o644, 0o755),
		x.remove("dir/file", "file\n"), x.create("dir", "now a file\n", 0o644), x.relink("to-link", file("text\n"), "b"),
		x.relink("link", linkTo("a"), "b"), x.unlink("gone", "a", Content{}), x.relink("new/link", Content{}, "../x"),
	)
	run := func(y *applyTree, args ...string) string {
		cmd := exec.Command(git, append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "core.autocrlf=false"}, args...)...)
		cmd.Dir = y.dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, y := range []*applyTree{other, x} {
		run(y, "init", "-q")
		run(y, "add", "-A")
		run(y, "commit", "-qm", "tree")
	}
	run(other, "fetch", "-q", x.dir, "HEAD")
	patch := run(other, "diff", "-M", "--binary", "HEAD", "FETCH_HEAD")
	for _, sign := range []string{"rename from pure", "rename from moved", "old mode", "new file mode 120000", "deleted file mode 120000"} {
		if !strings.Contains(patch, sign) {
			t.Errorf("the patch does not test %q:\n%s", sign, patch)
		}
	}
	if err := os.WriteFile(other.dir+"/.git/patch", []byte(patch), 0o600); err != nil {
		t.Fatal(err)
	}
	run(other, "apply", ".git/patch")
	run(other, "add", "-A")
	if theirs, ours := run(other, "write-tree"), run(x, "write-tree"); theirs != ours {
		t.Errorf("git makes tree %s, apply makes %s", theirs, ours)
	}
}
