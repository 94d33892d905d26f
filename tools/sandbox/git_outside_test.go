package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A working tree whose git directory lies outside of the root has a private one in the
// copy: git works there, and nothing that it does reaches the real one.
func TestGitDirectoryOutside(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const who = "git -c user.name=a -c user.email=b "
	sh(t, base, nil, `
		mkdir main && cd main && git init -q -b trunk . && echo 1 > f && git add f && `+who+`commit -qm first
		git worktree add -q ../tree -b side && git tag v1
		git init -q ../lib && (cd ../lib && echo l > l && git add l && `+who+`commit -qm lib)
		git -c protocol.file.allow=always submodule --quiet add "$PWD/../lib" sub && `+who+`commit -qm sub
		cd .. && mv tree/.git named && cp named tree/.git && rm named
	`)
	real := func() string {
		return sh(t, base, nil, "cd main/.git && find . -type f ! -name index -exec sha256sum {} + | sort; cd ../../tree && GIT_OPTIONAL_LOCKS=0 git status --porcelain; git log --oneline --all")
	}
	for _, root := range []string{"tree", "main/sub"} {
		w := newWorld(t, nil)
		w.root = filepath.Join(base, root)
		w.open(w.root, t.TempDir())
		before := real()
		d := w.begin()
		out := sh(t, d.Dir(), d.Env(), `git status --porcelain; git log --oneline | wc -l; git rev-parse --show-toplevel --git-dir; git branch --show-current; git tag`)
		if !strings.Contains(out, d.Dir()+"\n"+w.copy.dir) || strings.Contains(out, "main/.git") {
			t.Errorf("%s: git says %q", root, out)
		}
		if left := w.end(d); left.GitDiscarded {
			t.Errorf("%s: reading is told as a change", root)
		}
		d = w.begin()
		sh(t, d.Dir(), d.Env(), `echo new > new; git add new; `+who+`commit -qm new; git tag v2; git branch -D trunk || true; test "$(git log --oneline -1 --format=%s)" = new`)
		if left := w.end(d); !left.GitDiscarded || kinds(left) != root[strings.LastIndex(root, "/")+1:]+"/new create" {
			t.Errorf("%s: left %+v", root, left)
		}
		if after := real(); after != before {
			t.Errorf("%s: the real repository has changed:\n%s\nwas\n%s", root, after, before)
		}
		d = w.begin()
		if got := sh(t, d.Dir(), d.Env(), "git tag; git status --porcelain"); strings.Contains(got, "v2") || !strings.Contains(got, "?? new") {
			t.Errorf("%s: what a command did to git is still there: %q", root, got)
		}
		w.end(d)
		sh(t, w.root, nil, "git tag v3-"+filepath.Base(root))
		d = w.begin()
		if got := sh(t, d.Dir(), d.Env(), "git tag"); !strings.Contains(got, "v3-"+filepath.Base(root)) {
			t.Errorf("%s: a new tag of the tree's is not there: %q", root, got)
		}
		w.end(d)
		if text, err := os.ReadFile(filepath.Join(w.root, ".git")); err != nil || strings.Contains(string(text), w.copy.dir) {
			t.Errorf("%s: the tree's .git is %q (%v)", root, text, err)
		}
	}
}
