package index

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// TestPropertyGlobsAsDoublestar matches random patterns against random paths,
// and lists a forest by them: doublestar's word counts.
func TestPropertyGlobsAsDoublestar(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	bits := []string{"a", "b", ".go", "_test.go", "a/**/b", "**/a/**/", "{a,x}/**/*.go", "*", "**", "/", "/", "**/", "/**", "?", "{a,b}", "{a*,b/c}", "[ab]", "[!a]", "x", ".", `\*`, "*.go"}
	names := []string{"a", "b", "a.go", "b_test.go", "x", ".a", "ab", "*", "a-b", "é"}
	f := newForest(t)
	for range 150 {
		p := names[r.IntN(len(names))]
		for range r.IntN(4) {
			if _, err := f.entry(p); err != nil {
				p += "/" + names[r.IntN(len(names))]
			}
		}
		blocked := false
		for i := range p {
			if e, err := f.entry(p[:i]); p[i] == '/' && err == nil && e.Size > 0 {
				blocked = true
			}
		}
		if _, err := f.entry(p); err != nil && !blocked {
			f.write(t, p, "text\n")
		}
	}
	x := f.open(t, Options{limits: tiny})
	built(t, x)
	s := snapshot(t, x)
	defer s.Release()
	files := paths(t, s, List{Hidden: true})
	rounds := 20_000
	if soak {
		rounds = 1_000_000
	}
	for range rounds {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(bits[r.IntN(len(bits))])
		}
		pattern := b.String()
		if _, err := CompileGlobs([]string{pattern}); err != nil || strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "!") {
			continue
		}
		var want []string
		for _, p := range files {
			name := p
			if !strings.Contains(pattern, "/") {
				name = path.Base(p)
			}
			if doublestar.MatchUnvalidated(pattern, name) {
				want = append(want, p)
			}
		}
		if got := paths(t, s, List{Patterns: []string{pattern}, Hidden: true}); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", pattern, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	f := newForest(t)
	for _, p := range []string{
		"watch/index/search.go", "watch/index/search_test.go", "docs/searching.md", "tools/list_files.go", "README.md",
		"daemon/server.go", "daemon/serverStatus.go", "a/very/long/way/to/s/e/a/r/c/h",
		"docs/ÉTÉ.md", "docs/Übersicht.md",
	} {
		f.write(t, p, "x")
	}
	x := f.open(t, Options{limits: tiny})
	built(t, x)
	for query, want := range map[string]string{
		"search": "watch/index/search.go", "searchgo": "watch/index/search.go", "lf": "tools/list_files.go", "readme": "README.md",
		"sS": "daemon/serverStatus.go", "daemon srv": "daemon/server.go", "index test": "watch/index/search_test.go",
		"été": "docs/ÉTÉ.md", "üb": "docs/Übersicht.md", "ÉT": "docs/ÉTÉ.md",
	} {
		found, err := x.Find(t.Context(), query, 3)
		if err != nil || len(found) == 0 || found[0].Path != want {
			t.Errorf("%q: %+v, want %s; %v", query, found, want, err)
		}
	}
	if found, err := x.Find(t.Context(), "zzz", 3); err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := x.Find(t.Context(), "", 5); err != nil || len(found) != 5 {
		t.Errorf("%+v, %v", found, err)
	}
}

func BenchmarkFind(b *testing.B) {
	x, _ := openCorpus(b, 0)
	for b.Loop() {
		if _, err := x.Find(b.Context(), "netserv", 50); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(x.Status().Files), "files")
}

func ExampleGlobs() {
	globs, err := CompileGlobs([]string{"*.go", "!*_test.go"})
	fmt.Println(globs.Match("watch/a.go"), globs.Match("watch/a_test.go"), globs.Match("a.md"), err)
	// Output: true false false <nil>
}
