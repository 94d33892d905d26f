package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/diffpreview"
)

// What a command did becomes proposals of its kinds; accepting them all makes the tree
// what the command left, and before that the tree is as it was.
func TestEndProposesWhatACommandDid(t *testing.T) {
	for name, tt := range map[string]struct{ script, steps string }{
		"nothing":          {"cat a > /dev/null; touch a; cp a x; mv x a; chmod 644 a", ""},
		"modify":           {"echo more >> a", "a text"},
		"in place":         {"printf A | dd of=a conv=notrunc 2>/dev/null", "a text"},
		"create":           {"mkdir -p n/m; echo 1 > n/m/f; : > n/empty", "n/empty create, n/m/f create"},
		"delete":           {"rm a dir/b", "a delete, dir/b delete"},
		"rename":           {"mkdir q; mv a q/z", "a→z rename"},
		"rename folder":    {"mv dir other", "dir/b→b rename, dir/c→c rename"},
		"rename and mode":  {"mv a run; chmod 755 run", "a→run rename"},
		"rename and edit":  {"mv a z; echo more >> z", "a delete, z create"},
		"case only":        {"mv a A", "a→A rename"},
		"over another":     {"mv a dir/b", "a delete, dir/b text"},
		"swap":             {"mv a t; mv dir/b a; mv t dir/b", "a text, dir/b text"},
		"copy":             {"cp a copy", "copy create"},
		"mode":             {"chmod 755 a", "a mode"},
		"mode and text":    {"chmod 755 a; echo x >> a", "a text"},
		"link":             {"ln -s a l; ln -s \"$PWD/dir\" m", "l link, m link"},
		"link for file":    {"rm a; ln -s dir/b a", "a link"},
		"file for link":    {"rm old; echo text > old", "old link"},
		"link elsewhere":   {"ln -sfn dir old", "old link"},
		"binary":           {`printf '\000\001\377' > bin; printf 'x\000y' > a`, "a binary, bin create"},
		"a name with a \\": {`echo 1 > 'b\c d'`, `b\c d create`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a": "a\nb\n", "dir/b": someText, "dir/c": "c\n"})
			w.tree("ln -s a old; git init -q .; git add -A; git -c user.name=a -c user.email=b commit -qm 1")
			before := w.tree("git status --porcelain; find . -path ./.git -prune -o -printf '%p %y %m %i %s %T@ %C@\n' | sort")
			d := w.begin()
			sh(t, d.Dir(), d.Env(), tt.script)
			kept := filepath.Join(t.TempDir(), "left")
			sh(t, d.Dir(), nil, "cp -a . '"+kept+"'")
			w.want(w.end(d), tt.steps, "")
			if after := w.tree("git status --porcelain; find . -path ./.git -prune -o -printf '%p %y %m %i %s %T@ %C@\n' | sort"); after != before {
				t.Errorf("the tree was touched:\n%s\n%s", before, after)
			}
			w.inStep()
			if tt.steps != "" {
				w.acceptAll()
			}
			w.tree("find . -path ./.git -prune -o -type d -empty -exec rmdir -p {} + 2>/dev/null || true")
			out := strings.ReplaceAll(differ(t, kept, w.root), d.Dir(), w.root)
			for line := range strings.Lines(out) {
				if !emptyOnly(line) && !strings.Contains(line, "/m") {
					t.Errorf("the tree is not what the command left: %s", line)
				}
			}
			modes := "find . -path ./.git -prune -o -type f -printf '%p %m\n' | sort"
			if a, b := sh(t, kept, nil, modes), w.tree(modes); a != b {
				t.Errorf("modes: %s, want %s", b, a)
			}
			w.inStep()
			if left := w.run("true"); len(left.Steps)+len(left.Refused)+left.Ignored > 0 || left.GitDiscarded {
				t.Errorf("nothing was done, and it says %+v", left)
			}
		})
	}
}

// Each command goes on from what the one before left, and from what people decided.
func TestCommandsGoOn(t *testing.T) {
	w := newWorld(t, map[string]string{"a": someText})
	left := w.run("sed -i s/2/two/ a; echo n > new")
	w.want(left, "a text, new create", "")
	w.want(w.run("sed -i s/8/eight/ a; cat new >> a; rm new"), "a text, new create", "") // withdrawn: it was its own
	if got := w.says("cat a; ls"); got != strings.NewReplacer("2", "two", "8", "eight").Replace(someText)+"n\na\n" {
		t.Errorf("the copy has %q", got)
	}
	p, _ := w.store.Get(left.Steps[0].Proposal.ID)
	if _, _, err := w.store.Decide(t.Context(), diffpreview.DecideFile{ID: p.ID, Version: p.Version, Accept: false, By: "person"}); err != nil {
		t.Fatal(err)
	}
	if got := w.says("cat a"); got != someText {
		t.Errorf("what was rejected is in the copy: %q", got)
	}
	w.want(w.run("mv a b"), "a→b rename", "")
	w.want(w.run("echo again > a"), "a text", "")
	w.inStep()
	w.want(w.run("rm b"), "b create", "")
	w.inStep()
	w.acceptAll()
	if got := w.tree("cat a; ls"); got != "again\na\n" {
		t.Errorf("the tree has %q", got)
	}
}

// A name that the session took away before can be a file's new name.
func TestRenameToANameOfBefore(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n", "b": "b\n"})
	w.want(w.run("rm b"), "b delete", "")
	w.want(w.run("mv a b"), "a delete, b text", "")
	w.inStep()
	w.acceptAll()
	if got := w.tree("cat b; ls"); got != "a\nb\n" {
		t.Errorf("the tree has %q", got)
	}
}

// What people did while a command ran stays theirs; what does not go together is told,
// and the copy has what they have.
func TestMergedOntoTheViewOfNow(t *testing.T) {
	twoAndNine := strings.NewReplacer("2", "two", "9", "nine").Replace(someText)
	for name, tt := range map[string]struct {
		before  func(w *world)
		command string
		people  func(w *world)
		steps   string
		refused string
		view    string // of a
	}{
		"other lines": {nil, "sed -i s/9/nine/ a", func(w *world) { w.tree("sed -i s/2/two/ a") }, "a text", "", twoAndNine},
		"same lines":  {nil, "sed -i s/9/nine/ a", func(w *world) { w.tree("sed -i s/9/NINE/ a") }, "", "a conflict", strings.Replace(someText, "9", "NINE", 1)},
		"same edit":   {nil, "sed -i s/9/nine/ a", func(w *world) { w.tree("sed -i s/9/nine/ a") }, "", "", strings.Replace(someText, "9", "nine", 1)},
		"in a document": {nil, "sed -i s/9/nine/ a", func(w *world) {
			w.store.OpenDocument(editor{}, w.at("a"), 1, strings.Replace(someText, "2", "two", 1))
		}, "a text", "", twoAndNine},
		"only people":                {nil, "true", func(w *world) { w.tree("sed -i s/2/two/ a; rm -f gone; echo p > people") }, "", "", strings.Replace(someText, "2", "two", 1)},
		"deleted meanwhile":          {nil, "sed -i s/9/nine/ a", func(w *world) { w.tree("rm a") }, "", "a conflict", "(absent)"},
		"edited, command deletes":    {nil, "rm a", func(w *world) { w.tree("sed -i s/2/two/ a") }, "", "a conflict", strings.Replace(someText, "2", "two", 1)},
		"edited, command moves":      {nil, "mv a b", func(w *world) { w.tree("sed -i s/2/two/ a") }, "a→b rename", "", "(absent)"},
		"made by both":               {nil, "echo 1 > new", func(w *world) { w.tree("echo 2 > new") }, "", "new conflict", someText},
		"mode by one, text by other": {nil, "chmod 755 a", func(w *world) { w.tree("sed -i s/2/two/ a") }, "a mode", "", strings.Replace(someText, "2", "two", 1)},
		"rejected meanwhile": {func(w *world) { w.propose("a", strings.Replace(someText, "2", "two", 1)) }, "sed -i s/9/nine/ a", func(w *world) {
			w.decideAt("a", false)
		}, "a text", "", strings.Replace(someText, "9", "nine", 1)},
		"accepted meanwhile": {func(w *world) { w.propose("a", strings.Replace(someText, "2", "two", 1)) }, "sed -i s/9/nine/ a", func(w *world) {
			w.decideAt("a", true)
		}, "a text", "", twoAndNine},
		"a tool of the session":    {nil, "sed -i s/9/nine/ a", func(w *world) { w.propose("a", strings.Replace(someText, "2", "two", 1)) }, "a text", "", twoAndNine},
		"the way is a link by now": {nil, "echo 2 > dir/f", func(w *world) { w.tree("mv dir dir2; ln -s dir2 dir") }, "", "dir/f conflict", someText},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a": someText, "gone": "g\n", "dir/f": "1\n"})
			if tt.before != nil {
				tt.before(w)
			}
			d := w.begin()
			sh(t, d.Dir(), d.Env(), tt.command)
			tt.people(w)
			w.want(w.end(d), tt.steps, tt.refused)
			if got := w.reads("a"); got != tt.view {
				t.Errorf("the view has %q, want %q", got, tt.view)
			}
			w.inStep()
			if left := w.run("true"); len(left.Steps)+len(left.Refused) > 0 {
				t.Errorf("nothing was done, and it says %+v", left)
			}
		})
	}
}

// decideAt decides the session's proposal of a file.
func (w *world) decideAt(name string, accept bool) {
	w.t.Helper()
	list, err := w.store.List(diffpreview.Filter{Path: name})
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%v: %v", list, err)
	}
	w.decide(list[0], accept)
}

// editor is one whose buffers nobody asks to change.
type editor struct{}

func (editor) ApplyEdits(context.Context, diffpreview.Path, int32, string, []diffpreview.DocumentEdit, diffpreview.EditReason) error {
	return errors.New("not asked for")
}

// .git may be used and changed in the copy; nothing of it stays.
func TestGitIsPutBack(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n", "sub/b": "b\n"})
	commit := "git -c user.name=a -c user.email=b commit -qm "
	w.tree("git init -q . && git add a && " + commit + "1; cd sub && git init -q . && git add b && " + commit + "2")
	if left := w.run("git status; git log; git diff; cd sub; git status; git branch"); left.GitDiscarded {
		t.Error("reading told as a change")
	}
	for _, script := range []string{
		"echo 2 >> a; git add a; " + commit + "3",
		"git checkout -q -b other", "rm -rf .git", "cd sub; git tag x", "mkdir .GIT; echo x > .GIT/config", "echo x > 'sub/.git /x' 2>/dev/null || mkdir 'sub/.git '",
		"rm -rf .git; echo 'gitdir: /elsewhere' > .git", "chmod 700 .git/HEAD", "git init -q new",
	} {
		if left := w.run(script); !left.GitDiscarded {
			t.Errorf("%s: not told", script)
		}
		w.inStep()
	}
	if got := w.reads("a"); got != "a\n2\n" {
		t.Errorf("a is %q in the view", got)
	}
}

// What rules leave out is counted and stays; what they do not leave out any more is
// proposed.
func TestIgnoredFilesStay(t *testing.T) {
	w := newWorld(t, map[string]string{".gitignore": "*.o\nout/\n", "a": "a\n", "tree.o": "t\n", "out/x": "x\n"})
	left := w.run("echo 1 > b.o; mkdir -p out/deep; echo 2 > out/deep/y; echo 3 > out/x; rm tree.o")
	if w.want(left, "", ""); left.Ignored != 4 {
		t.Errorf("%d ignored, want 4", left.Ignored)
	}
	w.tree("echo new > tree.o; echo tree > out/x; echo other > out/other; echo 2 > a")
	if got := w.says("cat b.o out/deep/y out/x out/other a; ls *.o"); got != "1\n2\n3\nother\n2\nb.o\n" {
		t.Errorf("the copy has %q", got)
	}
	if left := w.run("true"); left.Ignored != 0 {
		t.Errorf("%d ignored when nothing was done", left.Ignored)
	}
	w.want(w.run("echo 'out/' > .gitignore"), ".gitignore text, b.o create", "tree.o conflict")
	w.want(w.run("echo '*.x' >> .gitignore; echo 1 > made.x; rm -r out"), ".gitignore text", "")
	if got := w.says("ls"); got != "a\nb.o\nmade.x\ntree.o\n" {
		t.Errorf("the copy has %q", got)
	}
	w.decideAt(".gitignore", false)
	w.tree("echo '*.z' > .gitignore")
	w.want(w.run("true"), "made.x create, out/other delete", "out/x conflict")
}

// What cannot be proposed is told, each with its reason, and does not lose the rest. It
// is gone at the next command.
func TestRefused(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n", "file": "f\n", "dir/x": "x\n", "closed/x": "x\n", "secret": "s\n"})
	left := w.run(`
		echo 2 >> a
		mkfifo pipe
		mkdir .loom; echo x > .loom/config.toml
		printf 'x' > "$(printf 'bad\377name')"
		chmod 000 secret
		chmod 711 closed; echo 2 > closed/x
		rm file; mkdir file; echo 1 > file/in
		rm -r dir; echo now > dir
		truncate -s 300M huge
	`)
	w.want(left, "a text, closed/x text, dir/x delete, file delete",
		".loom/config.toml protected_path, bad\uFFFDname unsupported_encoding, closed not_regular_file, dir is_directory, file/in not_regular_file, huge too_large, pipe not_regular_file, secret permission_denied")
	w.inStep()
	if got := w.says("ls; stat -c %a secret closed"); got != "a\nclosed\ndir\nfile\nsecret\n644\n755\n" {
		t.Errorf("the copy has %q", got)
	}
	if left := w.run("true"); len(left.Steps)+len(left.Refused) > 0 {
		t.Errorf("nothing was done, and it says %+v", left)
	}
	left = w.run("rm -rf \"$PWD\"")
	w.want(left, "", ". io")
	w.inStep()
}

// No link leads the copying or the comparing out of the copy.
func TestLinksAreNotFollowed(t *testing.T) {
	w := newWorld(t, map[string]string{"dir/f": "f\n", "dir/g": "g\n"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := w.begin()
	sh(t, d.Dir(), nil, "rm -r dir; ln -s '"+outside+"' dir")
	w.want(w.end(d), "dir/f delete, dir/g delete", "dir is_directory")
	w.tree("echo changed > dir/f; rm dir/g; echo h > dir/h")
	w.inStep()
	if got := sh(t, outside, nil, "cat f; ls -A"); got != "outside\nf\n" {
		t.Errorf("outside is %q", got)
	}
}

// Two commands work in one copy. What either did is proposed once.
func TestCommandsAtOnce(t *testing.T) {
	w := newWorld(t, map[string]string{"a": someText, "b": "b\n", "c": "c\n"})
	job := w.begin()
	sh(t, job.Dir(), nil, "echo job > j; sed -i s/9/nine/ a; mkfifo pipe")
	w.tree("sed -i s/2/two/ a; echo people > c")
	other := w.begin()
	if got := sh(t, other.Dir(), nil, "cat j c; test -p pipe; tail -1 a; echo other > o"); got != "job\npeople\nnine\n" {
		t.Errorf("the other one sees %q", got)
	}
	w.want(w.end(other), "a text, j create, o create", "pipe not_regular_file")
	if got := w.reads("a"); got != strings.NewReplacer("2", "two", "9", "nine").Replace(someText) {
		t.Errorf("a is %q", got)
	}
	sh(t, job.Dir(), nil, "test -p pipe; cat o; echo more >> j")
	third := w.begin()
	if got := sh(t, third.Dir(), nil, "sed -n 2p a"); got != "two\n" {
		t.Errorf("an edit of the tree is not in the copy: %q", got)
	}
	w.want(w.end(job), "j create", "")
	w.want(w.end(third), "", "")
	w.inStep()
	if got := w.says("ls"); got != "a\nb\nc\nj\no\n" {
		t.Errorf("the copy has %q", got)
	}
	if _, err := job.End(t.Context(), diffpreview.Call{}); err == nil {
		t.Error("a command ended twice")
	}
}

// A call that was given up leaves no proposal, and the copy as if it had not been.
func TestEndCancelled(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n"})
	d := w.begin()
	sh(t, d.Dir(), nil, "echo 2 > a; echo n > n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.End(ctx, diffpreview.Call{}); !errors.Is(err, context.Canceled) {
		t.Errorf("end: %v", err)
	}
	w.inStep()
	if list, _ := w.store.List(diffpreview.Filter{}); len(list) > 0 {
		t.Errorf("%d proposals", len(list))
	}
}

// In a session that may change nothing, nothing is proposed and all is taken back.
func TestDiscard(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a\n", "dir/b": "b\n", ".gitignore": "out\n"})
	w.copy.opts.Discard = true
	left := w.run("echo 2 > a; rm -r dir; mkdir new; echo n > new/n; echo o > out; chmod 600 .gitignore")
	if len(left.Steps)+len(left.Refused)+left.Ignored > 0 {
		t.Errorf("left: %+v", left)
	}
	w.inStep()
	if got := w.says("ls; stat -c %a .gitignore"); got != "a\ndir\n644\n" {
		t.Errorf("the copy has %q", got)
	}
}

// A command that touches thousands of files is proposed at once and in bounded time.
func TestAnotherBranchOfFiles(t *testing.T) {
	n := 5000
	if testing.Short() {
		n = 500
	}
	w := newWorld(t, nil)
	make := "for d in $(seq 50); do mkdir -p d$d; done; i=0; while [ $i -lt " + fmt.Sprint(n) + " ]; do echo \"$1 text $i\" > d$((i%50+1))/f$i; i=$((i+1)); done"
	w.tree("set -- first; " + make)
	w.says("true")
	d := w.begin()
	sh(t, d.Dir(), nil, "set -- second; "+make+"; rm -r d1; mkdir n; cp d2/* n")
	started := time.Now()
	left := w.end(d)
	t.Logf("%d files: End takes %v", len(left.Steps), time.Since(started))
	if want := n + n/50; len(left.Steps) != want || len(left.Refused) > 0 {
		t.Errorf("%d steps, want %d; refused: %v", len(left.Steps), want, refusals(left))
	}
	started = time.Now()
	w.end(w.begin())
	t.Logf("the next Begin and End take %v", time.Since(started))
	if got := w.says("cat d7/f6"); got != "second text 6\n" {
		t.Errorf("the copy has %q", got)
	}
}
