package index_test

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goSource is Go's own source tree, which is on every machine that runs tests.
func goSource(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go in the PATH")
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(out)), "src"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// goPatterns are of words that Go's source tree has, from rare to very common.
var goPatterns = []string{
	`errServerClosedIdle`, `WriteString`, `memclrNoHeapPointers`, `return nil, err$`, `^package main$`, `func \(s \*Server\) [A-Z][a-z]+`, `[A-Za-z]+Unmarshaler`,
	`[A-Z]{3}_[0-9]+`, `[a-z]{3}[0-9]{5}[A-Z]`, `\w{5}\s+\w{5}\s+\w{5}\s+\w{5}`, `SIGSEGV|SIGBUS|SIGFPE`, `mallocgc|newobject|makeslice`, `0x[0-9a-f]{8}`,
	`case \*?ast\.\w+Stmt:`, `\bgoto\b`, `unexpected EOF`, `[0-9]+\.[0-9]+\.[0-9]+`, `^\s*[a-z]+\(\)$`, `\r$`, `\xe4\xb8`, `[^\x00-\x7f]`, `zxqvNoSuchText`, `\t\t\t\t\t\t\t\t\t`,
	`^}$`, `http2`, `deadlock`, `(?i)unmarshaltext`, `interface \{`, `\$GOROOT`, `ʼ`,
}

var goWords = []string{
	"func", "return", "Server", "runtime", "error", "String", "[A-Z]", `\w+`, `\(`, `\.`, "test", "nil", "int", " ", `\s+`, "sync", "Mutex", "buf", "unsafe", "_amd64", ".*", `[a-z]{3}`,
	"os", "file", "Read", `"`, ":=", "range", "len", "T", "Errorf",
}

// TestOracleGoSource: lists, globs and searches of Go's source tree are those of
// git, of doublestar, and of rg.
func TestOracleGoSource(t *testing.T) {
	root, binary := goSource(t), rgBinary(t)
	env := cleanEnv(t.TempDir())
	rng := rand.New(rand.NewPCG(newSeed(t), 0))
	s, plain := openIndex(t, root, env), openScan(t, root, env)
	c := &corpus{root: root, env: env, rng: rng, late: lateBinaries(t, root, rgFirst)}
	oracle := rg{binary, root, env}
	ctx := context.Background()

	t.Run("list", func(t *testing.T) {
		got, err := s.List(ctx, ".", true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(names(got), names(gitLists(t, root, env))); diff != "" {
			t.Error(diff)
		}
	})
	for _, pattern := range []string{"**/*_test.go", "*.go", "net/**", "**/testdata/**/*.txt", "**/{doc,export_test}.go", "cmd/*/*.go", "**/[a-c]*/**/*[0-9]*"} {
		t.Run("glob", func(t *testing.T) {
			(&grown{t: t}).globsAlike(s, plain, []string{pattern}, ".", true)
		})
	}
	for i := range size(6, 300) {
		pattern := pick(rng, goWords) + pick(rng, goWords) + pick(rng, goWords)
		if i < len(goPatterns) && soak() {
			pattern = goPatterns[i]
		} else if i%2 == 0 {
			pattern = pick(rng, goPatterns)
		}
		q := questionOf(rng, pattern)
		q.Invert = q.Invert && q.Mode != contentMode // two million lines
		t.Run("grep", func(t *testing.T) { c.compare(t, s, q, oracle.search(t, q)) })
	}
}
