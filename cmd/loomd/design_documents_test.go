package main

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A document names paths in backticks or as the target of a link, tests in
// backticks, and the one about the code names of the code. What it names must be
// there.
var (
	codeWord = regexp.MustCompile("`([^`\n]+)`")
	linkTo   = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	pathWord = regexp.MustCompile(`^\.?[A-Za-z0-9_*-][A-Za-z0-9_.*/-]*$`)
	testWord = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]\w*$`)
	nameWord = regexp.MustCompile(`^\*?[A-Za-z]+(\.[A-Za-z]+)?$`)
)

// pathExts are the endings by which a word is a path, wherever it leads.
var pathExts = []string{".go", ".md", ".ts", ".json", ".txtar", ".mod", ".sum", ".conf"}

// notOurs are words that look like paths of the repository and are those of a
// build, of a workspace, or of a user. Below a directory nothing is ours.
var notOurs = []string{
	"bin", "dist", ".loom", ".git", ".gitignore", ".ignore", "node_modules",
	"f.go", "journal.jsonl", "bodies", "allowed.json", "daemon.log", "package.json", "trusted.json",
}

// guideDocuments are the documents that must not grow into manuals, and how
// many lines they may have.
var guideDocuments = map[string]int{"README.md": 150, "CONTRIBUTING.md": 150}

// documents finds what documents name and the repository does not have.
func documents(tree repository) []string {
	var findings []string
	tests, names := testNames(tree), codeNames(tree)
	for i := range tree.files {
		f := &tree.files[i]
		if path.Ext(f.name) != ".md" || f.dir() != "." && f.dir() != "docs" {
			continue
		}
		fenced := false
		lines := strings.Split(strings.TrimSuffix(f.text, "\n"), "\n")
		for n, line := range lines {
			report := func(format string, args ...any) {
				findings = append(findings, fmt.Sprintf("%s:%d: ", f.name, n+1)+fmt.Sprintf(format, args...))
			}
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			for _, m := range codeWord.FindAllStringSubmatch(line, -1) {
				switch word := m[1]; {
				case testWord.MatchString(word) && !tests[word]:
					report("there is no test %s", word)
				case f.name == "docs/architecture.md" && isCodeName(word) && !names[word[strings.LastIndex(word, ".")+1:]]:
					report("nothing in the code is called %s", word)
				case tree.namesPath(word) && !tree.has(word):
					report("there is no %s", word)
				}
			}
			for _, m := range linkTo.FindAllStringSubmatch(line, -1) {
				if !strings.Contains(m[1], "://") && !tree.has(path.Join(f.dir(), m[1])) {
					report("the link leads to %s, which is not there", m[1])
				}
			}
		}
		if limit := guideDocuments[f.name]; limit > 0 && len(lines) > limit {
			findings = append(findings, fmt.Sprintf("%s: %d lines, at most %d", f.name, len(lines), limit))
		}
	}
	return findings
}

// namesPath tells whether a word in a document means a path of the repository:
// by its ending, or by a first part that is there.
func (r repository) namesPath(word string) bool {
	first, _, deep := strings.Cut(strings.TrimPrefix(word, "./"), "/")
	switch {
	case !pathWord.MatchString(word), word == path.Ext(word), slices.Contains(notOurs, first):
		return false
	case slices.Contains(pathExts, path.Ext(word)), strings.HasSuffix(word, "/"):
		return true
	case deep:
		return r.paths[first]
	}
	return false
}

// has reports whether a path is in the repository. A name without a directory
// may be anywhere, and "*" stands for anything.
func (r repository) has(word string) bool {
	word = path.Clean(word)
	if r.paths[word] {
		return true
	}
	for name := range r.paths {
		if !strings.Contains(word, "/") {
			name = path.Base(name)
		}
		if ok, err := path.Match(word, name); ok && err == nil {
			return true
		}
	}
	return false
}

// isCodeName tells names of the code, such as Store.mu and toolsCall, from other
// words: they have letters of both cases, or two parts.
func isCodeName(word string) bool {
	mixed := strings.ToLower(word) != word && strings.ToUpper(word) != word
	return nameWord.MatchString(word) && (mixed || strings.Contains(word, ".")) && path.Ext(word) != ".go" && path.Ext(word) != ".md"
}

func codeNames(tree repository) map[string]bool {
	names := map[string]bool{}
	for i := range tree.files {
		if f := &tree.files[i]; f.ast != nil {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					names[id.Name] = true
				}
				return true
			})
		}
	}
	return names
}

func testNames(tree repository) map[string]bool {
	names := map[string]bool{}
	for i := range tree.files {
		f := &tree.files[i]
		if f.ast == nil || !f.isTest() {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

func TestNamesThatLeadNowhereAreFound(t *testing.T) {
	others := []string{"watch/ignore.go\npackage watch", "watch/a_test.go\npackage watch\nfunc TestIgnore() {}", ".ci/run\n"}
	document := func(text string) []string { return documents(in(t, append(others, "docs/a.md\n"+text)...)) }
	expect(t, document("See `watch/ignore.go`, `ignore.go`, `watch/*.go`, `watch/`, `.ci/run`, [here](../watch/ignore.go) and [there](https://example.com/x.md)."))
	expect(t, document("`TestIgnore` guards `loom/tools/call`, `text/plain` and `a b.go`; `bin/loomd` is built."))
	expect(t, document("```\nnone.go and `none.go`\n```\n"))
	expect(t, document("one\ntwo `watch/none.go`"), "docs/a.md:2: there is no watch/none.go")
	expect(t, document("`none.go`"), "there is no none.go")
	expect(t, document("`wtach/ignore.go`"), "there is no wtach/ignore.go")
	expect(t, document("`watch/none*.go` `nowhere/`"), "there is no watch/none*.go", "there is no nowhere/")
	expect(t, document("[here](none.md)"), "the link leads to none.md")
	expect(t, document("`TestNone`"), "there is no test TestNone")
	code := []string{"docs/architecture.md\nThe `Ignore` of `watch.Files` holds `Ignore.rules` and `AGENTS`.", "watch/a.go\npackage watch\ntype Ignore struct{ rules int }"}
	expect(t, documents(in(t, code...)), "nothing in the code is called watch.Files")
	long := in(t, "README.md\n"+strings.Repeat("line\n", 151))
	expect(t, documents(long), "README.md: 151 lines, at most 150")
}
