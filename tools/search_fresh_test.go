//go:build unix

package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What was finished before a call is in its answer: these changes are made by
// other programs, and nothing waits for them to be noticed.

func (b *bench) shell(script string) {
	b.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func TestC144_NewTreeAndAFileAtOnce(t *testing.T) {
	b := newBench(t, map[string]string{"f": ""}).withIndex()
	b.paths("glob", args{"pattern": "*"})
	b.shell(`i=0; while [ $i -lt 50 ]; do i=$((i+1)); mkdir -p d$i/a/b/c; echo x >d$i/a/b/c/f.txt; done`)
	if got := b.paths("glob", args{"pattern": "**/f.txt"}); len(got) != 50 {
		t.Errorf("%d of 50: %v", len(got), got)
	}
	if got := b.lines(args{"pattern": "x"}); len(got) != 50 {
		t.Errorf("%d lines of 50", len(got))
	}
}

func TestC145_AtomicSave(t *testing.T) {
	b := newBench(t, map[string]string{"f.txt": "tok0\n"}).withIndex()
	for i := 1; i <= 20; i++ {
		b.shell(fmt.Sprintf("echo tok%d >.f.tmp; mv .f.tmp f.txt", i))
		want(t, "the new text", b.lines(args{"pattern": fmt.Sprintf("^tok%d$", i)}), fmt.Sprintf("f.txt:1:tok%d", i))
		want(t, "the old text", b.lines(args{"pattern": fmt.Sprintf("^tok%d$", i-1)}))
		want(t, "files", b.paths("glob", args{"pattern": "*"}), "f.txt")
	}
}

func TestC148_CheckoutStorm(t *testing.T) {
	n := 200
	if os.Getenv("LOOMD_SOAK") != "" {
		n = 5000
	}
	b := newBench(t, nil)
	b.shell(fmt.Sprintf(`git init -q .; for b in A B; do
		git checkout -q --orphan $b; git rm -rq --cached . || true; rm -rf d*
		i=0; while [ $i -lt %d ]; do i=$((i+1)); d=d$((i %% 50))$b; mkdir -p $d; echo $b $i >$d/f$i; done
		git add -A; git commit -qm $b; done`, n))
	b.withIndex()
	for i := range 10 {
		branch := string("AB"[i%2])
		b.shell("git checkout -q " + branch)
		tracked, err := exec.Command("git", "-C", b.dir, "ls-files").Output()
		must(t, err)
		want(t, "after a checkout", b.paths("glob", args{"pattern": "**/*", "limit": maxListed}), strings.Fields(string(tracked))...)
		if got := b.ok("grep", args{"pattern": "^" + branch + " ", "mode": "count", "limit": maxListed}); got["matched_lines"] != float64(n) {
			t.Errorf("%v lines of %d", got["matched_lines"], n)
		}
	}
}

func TestC149_DirectoryMovedOut(t *testing.T) {
	b := newBench(t, map[string]string{"sub/n/f": "hit\n", "g": "hit\n"}).withIndex()
	want(t, "before", b.lines(args{"pattern": "hit"}), "g:1:hit", "sub/n/f:1:hit")
	out := filepath.Join(t.TempDir(), "o")
	b.shell("mv sub " + out + "; echo hit >" + out + "/n/g")
	want(t, "grep", b.lines(args{"pattern": "hit"}), "g:1:hit")
	want(t, "glob", b.paths("glob", args{"pattern": "**/*"}), "g")
	b.shell("mv " + out + " back")
	want(t, "back", b.lines(args{"pattern": "hit"}), "back/n/f:1:hit", "back/n/g:1:hit", "g:1:hit")
}

func TestC150_FileMovedOut(t *testing.T) {
	b := newBench(t, map[string]string{"t.txt": "hit\n", "g": "x"}).withIndex()
	want(t, "before", b.lines(args{"pattern": "hit"}), "t.txt:1:hit")
	b.shell("mv t.txt " + t.TempDir())
	want(t, "glob", b.paths("glob", args{"pattern": "*"}), "g")
	want(t, "grep", b.lines(args{"pattern": "hit"}))
}

func TestC152_DeleteAndMakeAgain(t *testing.T) {
	b := newBench(t, map[string]string{"foo/f": "x\n"}).withIndex()
	for i := 1; i <= 3; i++ {
		b.shell(fmt.Sprintf("rm -r foo; mkdir foo; echo %d >foo/f%d", i, i))
		want(t, "glob", b.paths("glob", args{"pattern": "**/*"}), fmt.Sprintf("foo/f%d", i))
	}
	b.shell("echo x >foo/late")
	want(t, "late", b.lines(args{"pattern": "x"}), "foo/late:1:x")
}

func TestC156_CaseOnlyRename(t *testing.T) {
	b := newBench(t, map[string]string{"README.md": "x\n"}).withIndex()
	want(t, "before", b.paths("glob", args{"pattern": "*"}), "README.md")
	b.shell("mv README.md readme.md")
	want(t, "glob", b.paths("glob", args{"pattern": "*"}), "readme.md")
	want(t, "grep", b.lines(args{"pattern": "x"}), "readme.md:1:x")
}

// A rule that comes, and one that goes, counts at once.
func TestSearchAfterRulesChange(t *testing.T) {
	b := newBench(t, map[string]string{"a/x.log": "hit\n", "a/y.txt": "hit\n"}).withIndex()
	want(t, "before", b.lines(args{"pattern": "hit"}), "a/x.log:1:hit", "a/y.txt:1:hit")
	b.shell("echo '*.log' >a/.gitignore")
	want(t, "a rule came", b.lines(args{"pattern": "hit"}), "a/y.txt:1:hit")
	if n := b.ok("glob", args{"pattern": "*"})["ignored"]; n != 1.0 {
		t.Errorf("%v ignored", n)
	}
	b.shell("rm a/.gitignore; printf '*.txt\n' >.ignore")
	want(t, "another", b.lines(args{"pattern": "hit"}), "a/x.log:1:hit")
}
