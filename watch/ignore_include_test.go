package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitConfigConditionalIncludes: an excludes file that is named under a
// condition counts where git says that it does.
func TestGitConfigConditionalIncludes(t *testing.T) {
	for _, c := range []struct {
		condition string
		want      bool
		root      string // "": the repository's top
		head      string // "": main is checked out
	}{
		{"gitdir:top/", true, "", ""},
		{"gitdir:top", false, "", ""},
		{"gitdir:top/.git", true, "", ""},
		{"gitdir:**/top/.git", true, "", ""},
		{"gitdir:**/TOP/", false, "", ""},
		{"gitdir:to?/", true, "", ""},
		{"gitdir:*/.git", true, "", ""},
		{"gitdir:top/*", true, "", ""},
		{"gitdir:*", true, "", ""},
		{"gitdir:$BASE/top/", true, "", ""},
		{"gitdir:$BASE/", true, "", ""},
		{"gitdir:$BASE/home/", false, "", ""},
		{"gitdir:$BASE/t[a-z]p/", true, "", ""},
		{"gitdir:$BASE/t[/", false, "", ""},
		{"gitdir:~/", false, "", ""},
		{"gitdir:~/in/", true, "../home/in/repo", ""},
		{"gitdir:~/in/repo", false, "../home/in/repo", ""},
		{"gitdir:./in/", true, "../home/in/repo", ""},
		{"gitdir:./in/", false, "", ""},
		{"gitdir:./IN/", false, "../home/in/repo", ""},
		{"gitdir/i:./IN/", true, "../home/in/repo", ""},
		{"gitdir/i:TOP/", true, "", ""},
		{"gitdir/i:$BASE/Top/.GIT", true, "", ""},
		{"gitdir:link/", false, "", ""},
		{"gitdir:main/.git/worktrees/", true, "tree", ""},
		{"gitdir:tree/", false, "tree", ""},
		{"GITDIR:top/", false, "", ""},
		{"nothing:top/", false, "", ""},
		{"top/", false, "", ""},
		{"onbranch:main", true, "", ""},
		{"onbranch:ma*", true, "", ""},
		{"onbranch:Main", false, "", ""},
		{"onbranch:topic/", true, "", "ref: refs/heads/topic/one/two\n"},
		{"onbranch:topic/*", false, "", "ref: refs/heads/topic/one/two\n"},
		{"onbranch:**/two", true, "", "ref: refs/heads/topic/one/two\n"},
		{"onbranch:two", false, "", "ref: refs/heads/topic/one/two\n"},
		{"onbranch:*", false, "", strings.Repeat("1", 40) + "\n"},
		{"onbranch:side", true, "tree", ""},
	} {
		t.Run(c.condition+" in "+c.root, func(t *testing.T) {
			g := newGitTree(t)
			g.repository("../home/in/repo")
			g.repository("../main")
			g.write("../main/.git/worktrees/w/commondir", "../..\n")
			g.write("../main/.git/worktrees/w/HEAD", "ref: refs/heads/side\n")
			g.write("../main/.git/worktrees/w/gitdir", g.abs("tree/.git")+"\n")
			g.write("tree/.git", "gitdir: "+g.abs("../main/.git/worktrees/w")+"\n")
			if err := os.Symlink(g.top, filepath.Join(g.home, "link")); err != nil {
				t.Fatal(err)
			}
			if c.head != "" {
				g.write(".git/HEAD", c.head)
			}
			base, err := filepath.EvalSymlinks(filepath.Dir(g.top))
			if err != nil {
				t.Fatal(err)
			}
			condition := strings.ReplaceAll(c.condition, "$BASE", filepath.ToSlash(base))
			g.writeAbs(filepath.Join(g.home, ".gitconfig"), "[includeIf \""+condition+"\"]\n\tpath = more/inc\n")
			g.writeAbs(filepath.Join(g.home, "more/inc"), "[core]\n\texcludesFile = ~/mine\n")
			g.writeAbs(filepath.Join(g.home, "mine"), "*.g\n")
			if got := g.ignore(c.root).Path("a.g", false, nil); got != c.want {
				t.Errorf("ignored: %v, want %v", got, c.want)
			}
			if says := g.checkIgnore(c.root, []string{"a.g"})["a.g"]; says != c.want {
				t.Errorf("git says %v", says)
			}
			if named := len(g.git(c.root, nil, "config", "--get", "core.excludesFile")) > 0; named != c.want {
				t.Errorf("git config --get finds it: %v", named)
			}
		})
	}
}
