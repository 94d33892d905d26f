package index_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var oracleSeed = flag.Uint64("oracle.seed", 0, "seed of the random tests; 0: a new one")

func newSeed(t *testing.T) uint64 {
	seed := *oracleSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -oracle.seed=%d", seed)
	return seed
}

// grown is a random tree on disk that goes on changing.
type grown struct {
	t    *testing.T
	rng  *rand.Rand
	root string
	home string
	env  []string
	did  []string // what was done, for a failure
}

func newGrown(t *testing.T, seed, n uint64) *grown {
	t.Helper()
	base := realTemp(t)
	g := &grown{t: t, rng: rand.New(rand.NewPCG(seed, n)), root: filepath.Join(base, "root"), home: filepath.Join(base, "home")}
	g.env = cleanEnv(g.home)
	g.must(os.MkdirAll(g.root, 0o755))
	g.must(os.MkdirAll(g.home, 0o755))
	return g
}

// realTemp is a temporary directory by its real path.
func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (g *grown) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *grown) log(format string, args ...any) { g.did = append(g.did, fmt.Sprintf(format, args...)) }

func (g *grown) abs(rel string) string { return filepath.Join(g.root, filepath.FromSlash(rel)) }

var (
	treeNames = []string{
		"a", "b", "ab", "a.b", "x.go", "y.go", "x_test.go", "z.log", "build", "out", "src", "pkg", ".hid", ".x.go", "UP", "up",
		"a b", " b", "é", "\xfe\xff", "[a]", "a\\b", "*", "?", "!n", "#n", "-", "n\nn", "node_modules", "vendor",
	}
	treeParts = []string{
		"*", "*", "**", "?", "/", "/", "**/", "/**", "/**/", ".", "*.go", "*.log", "*.b", "[ab]", "[!a]", "[a-z]", "\\*", "\\[", "[[:upper:]]", "[", "\\", " ",
	}
)

func pick(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }

func (g *grown) ignoreLine() string {
	var b strings.Builder
	if g.rng.IntN(3) == 0 {
		b.WriteByte('!')
	}
	if g.rng.IntN(4) == 0 {
		b.WriteByte('/')
	}
	for range 1 + g.rng.IntN(3) {
		if g.rng.IntN(3) > 0 {
			b.WriteString(strings.ReplaceAll(pick(g.rng, treeNames), "\n", "?"))
		} else {
			b.WriteString(pick(g.rng, treeParts))
		}
	}
	if g.rng.IntN(4) == 0 {
		b.WriteByte('/')
	}
	return b.String() + pick(g.rng, []string{"\n", "\n", "\n", "\n", "\r\n", " \n"})
}

func (g *grown) ignoreText() string {
	var b strings.Builder
	for range 1 + g.rng.IntN(5) {
		b.WriteString(g.ignoreLine())
	}
	return b.String()
}

// dirs lists the directories of the tree as they are, the root as "".
func (g *grown) dirs() []string {
	dirs := []string{""}
	g.must(filepath.WalkDir(g.root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() && p != g.root {
			dirs = append(dirs, filepath.ToSlash(p[len(g.root)+1:]))
		}
		return nil
	}))
	return dirs
}

func (g *grown) dir() string { return pick(g.rng, g.dirs()) }

func join(dir, entry string) string { return strings.TrimPrefix(dir+"/"+entry, "/") }

// grow makes the tree: a repository in three of four cases.
func (g *grown) grow() {
	if g.rng.IntN(4) > 0 {
		g.repository("")
	}
	for range 6 + g.rng.IntN(8) {
		g.makeDir()
	}
	for range 30 + g.rng.IntN(20) {
		g.makeFile()
	}
	for range 1 + g.rng.IntN(4) {
		g.writeIgnore()
	}
	if g.rng.IntN(3) == 0 {
		g.makeNested()
	}
	if g.rng.IntN(4) == 0 {
		g.globalExcludes()
	}
}

// repository makes dir the top of one, as git init does.
func (g *grown) repository(dir string) {
	git := g.abs(join(dir, ".git"))
	g.must(os.MkdirAll(filepath.Join(git, "objects"), 0o755))
	g.must(os.MkdirAll(filepath.Join(git, "refs"), 0o755))
	g.must(os.MkdirAll(filepath.Join(git, "info"), 0o755))
	g.must(os.WriteFile(filepath.Join(git, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"), 0o644))
	g.must(os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	g.log("repository %q", dir)
}

func (g *grown) makeDir() {
	p := join(g.dir(), pick(g.rng, treeNames))
	if strings.Count(p, "/") < 6 && os.Mkdir(g.abs(p), 0o755) == nil {
		g.log("mkdir %q", p)
	}
}

func (g *grown) makeFile() {
	p := join(g.dir(), pick(g.rng, treeNames))
	if info, err := os.Lstat(g.abs(p)); err == nil && !info.Mode().IsRegular() {
		return
	}
	g.must(os.WriteFile(g.abs(p), []byte(fmt.Sprintf("text %d\n", g.rng.IntN(1000))), 0o644))
	g.log("write %q", p)
}

func (g *grown) writeIgnore() {
	p := join(g.dir(), ".gitignore")
	text := g.ignoreText()
	g.must(os.WriteFile(g.abs(p), []byte(text), 0o644))
	g.log("write %q: %q", p, text)
}

func (g *grown) makeNested() {
	if dir := g.dir(); dir != "" {
		g.repository(dir)
		if g.rng.IntN(2) == 0 {
			g.must(os.WriteFile(g.abs(join(dir, ".git/info/exclude")), []byte(g.ignoreText()), 0o644))
		}
	}
}

func (g *grown) globalExcludes() {
	dir := filepath.Join(g.home, ".config/git")
	g.must(os.MkdirAll(dir, 0o755))
	text := g.ignoreText()
	g.must(os.WriteFile(filepath.Join(dir, "ignore"), []byte(text), 0o644))
	g.log("global excludes %q", text)
}
