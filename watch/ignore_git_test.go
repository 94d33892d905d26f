package watch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// gitTree is a repository on disk that git and Ignore are asked about. Nothing
// of the machine's own git configuration reaches it.
type gitTree struct {
	t    *testing.T
	top  string
	home string
}

func newGitTree(t *testing.T) *gitTree {
	t.Helper()
	base := t.TempDir()
	g := &gitTree{t: t, top: filepath.Join(base, "top"), home: filepath.Join(base, "home")}
	g.mkdir(g.home)
	g.repository("")
	return g
}

func (g *gitTree) mkdir(abs string) {
	g.t.Helper()
	if err := os.MkdirAll(abs, 0o755); err != nil {
		g.t.Fatal(err)
	}
}

// repository makes rel a repository's top, as git init does, without a process.
func (g *gitTree) repository(rel string) {
	dir := path.Join(rel, ".git")
	g.mkdir(g.abs(path.Join(dir, "objects")))
	g.mkdir(g.abs(path.Join(dir, "refs")))
	g.write(path.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	g.write(path.Join(dir, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
}

func (g *gitTree) abs(rel string) string { return filepath.Join(g.top, filepath.FromSlash(rel)) }

// write makes a file with its directories.
func (g *gitTree) write(rel, text string) { g.writeAbs(g.abs(rel), text) }

func (g *gitTree) writeAbs(abs, text string) {
	g.t.Helper()
	g.mkdir(filepath.Dir(abs))
	if err := os.WriteFile(abs, []byte(text), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// add makes an entry; a name with "/" at its end is a directory.
func (g *gitTree) add(rel string) {
	if strings.HasSuffix(rel, "/") {
		g.mkdir(g.abs(rel))
		return
	}
	if _, err := os.Lstat(g.abs(rel)); errors.Is(err, fs.ErrNotExist) {
		g.write(rel, "")
	}
}

func (g *gitTree) getenv(name string) string {
	switch name {
	case "HOME":
		return g.home
	case "GIT_CONFIG_NOSYSTEM":
		return "1"
	}
	return ""
}

// git runs git in directory rel. Exit status 1 is an answer of check-ignore.
func (g *gitTree) git(rel string, stdin []byte, args ...string) []byte {
	g.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		g.t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = g.abs(rel)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(g.top),
	}
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		g.t.Fatalf("git %q: %v: %s", args, err, stderr.Bytes())
	}
	return out
}

// checkIgnore asks git about paths (without a "/" at their end) of repository rel.
func (g *gitTree) checkIgnore(rel string, paths []string, config ...string) map[string]bool {
	g.t.Helper()
	args := append(config, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	out := g.git(rel, []byte(strings.Join(paths, "\x00")+"\x00"), args...)
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(fields) != 4*len(paths) {
		g.t.Fatalf("git check-ignore answered %d fields for %d paths", len(fields), len(paths))
	}
	ignored := map[string]bool{}
	for i := 0; i < len(fields); i += 4 {
		pattern, name := fields[i+2], fields[i+3]
		ignored[name] = pattern != "" && !strings.HasPrefix(pattern, "!")
	}
	return ignored
}

// lsFiles lists what git calls untracked and not ignored in repository rel; a
// nested repository is one entry with "/" at its end.
func (g *gitTree) lsFiles(rel string) []string {
	g.t.Helper()
	out := strings.TrimSuffix(string(g.git(rel, nil, "ls-files", "-o", "-z", "--exclude-standard")), "\x00")
	if out == "" {
		return nil
	}
	list := strings.Split(out, "\x00")
	sort.Strings(list)
	return list
}

// ignore returns the rules with directory rel of the tree as the root.
func (g *gitTree) ignore(rel string) *Ignore {
	g.t.Helper()
	around, err := ReadSurroundings(g.abs(rel), g.getenv)
	if err != nil {
		g.t.Fatal(err)
	}
	return NewIgnore(IgnoreOptions{
		ReadFile: g.reader(rel), Root: g.abs(rel), ReadOutside: ReadGitFile, Around: around,
		Warn: func(rel string, err error) { g.t.Errorf("reading %s: %v", rel, err) },
	})
}

func (g *gitTree) reader(rel string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		full := g.abs(path.Join(rel, name))
		info, err := os.Lstat(full)
		if err != nil || !info.Mode().IsRegular() {
			return nil, fs.ErrNotExist
		}
		return os.ReadFile(full)
	}
}

// walk lists the files of root rel that are not ignored, and its nested
// repositories with "/" at their end without entering them.
func (g *gitTree) walk(rel string) []string {
	ig, read := g.ignore(rel), g.reader(rel)
	var list []string
	var visit func(d *DirRules, dir string)
	visit = func(d *DirRules, dir string) {
		entries, err := os.ReadDir(g.abs(path.Join(rel, dir)))
		if err != nil {
			g.t.Fatal(err)
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case d.Ignored(e.Name(), e.IsDir()):
			case !e.IsDir():
				list = append(list, name)
			case IsRepository(read, name):
				list = append(list, name+"/")
			default:
				visit(ig.Dir(d, name, false), name)
			}
		}
	}
	visit(ig.Dir(nil, ".", false), ".")
	sort.Strings(list)
	return list
}

// isDir tells of an entry of the tree; a link is none.
func (g *gitTree) isDir(rel string) bool {
	info, err := os.Lstat(g.abs(rel))
	return err == nil && info.IsDir()
}
