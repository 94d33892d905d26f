package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The design is guarded over the source of the whole repository. Each rule is
// a function from sources to findings, so that it can be shown to find what it
// is for: see the tests beside the rules.

// TestDesign runs every rule over the tree.
func TestDesign(t *testing.T) {
	tree := readRepository(t)
	for _, rule := range []struct {
		name  string
		check func(repository) []string
	}{
		{"imports", imports},
		{"writes", writes},
		{"documents", documents},
		{"sizes", sizes},
		{"marks", marks},
	} {
		t.Run(rule.name, func(t *testing.T) {
			for _, finding := range rule.check(tree) {
				t.Error(finding)
			}
		})
	}
}

// repository is the hand-written and generated text of the project.
type repository struct {
	files []sourceFile    // sorted by name
	paths map[string]bool // every file and directory, also those that are no text of ours
}

// sourceFile is one Go, TypeScript or Markdown file.
type sourceFile struct {
	name string // slash separated, from the root of the repository
	text string
	ast  *ast.File // of Go files
	fset *token.FileSet
	// imported is the path that each package name of the file stands for.
	imported map[string]string
}

// skipped are the directories that hold nothing of ours.
var skipped = []string{".git", "node_modules", "bin", "dist", "out", ".cache"}

// readRepository reads the repository that this package is part of.
func readRepository(t *testing.T) repository {
	t.Helper()
	const root = "../.."
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	tree := repository{paths: map[string]bool{}}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skipped, d.Name()) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		tree.paths[name] = true
		if d.IsDir() || !slices.Contains([]string{".go", ".ts", ".md"}, path.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		source, err := parseSource(name, string(text))
		tree.files = append(tree.files, source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.files) < 100 {
		t.Fatalf("only %d files were found", len(tree.files))
	}
	return tree
}

func parseSource(name, text string) (sourceFile, error) {
	f := sourceFile{name: name, text: text, imported: map[string]string{}}
	if path.Ext(name) != ".go" {
		return f, nil
	}
	f.fset = token.NewFileSet()
	var err error
	if f.ast, err = parser.ParseFile(f.fset, name, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return f, err
	}
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return f, err
		}
		as := path.Base(imported)
		if spec.Name != nil {
			as = spec.Name.Name
		}
		f.imported[as] = imported
	}
	return f, nil
}

func (f *sourceFile) dir() string     { return path.Dir(f.name) }
func (f *sourceFile) isTest() bool    { return strings.HasSuffix(f.name, "_test.go") }
func (f *sourceFile) generated() bool { return strings.Contains(path.Base(f.name), ".gen.") }

// at places a finding: "dir/file.go:12: text".
func (f *sourceFile) at(pos token.Pos, text string) string {
	return f.name + ":" + strconv.Itoa(f.fset.Position(pos).Line) + ": " + text
}

// in makes a repository of sources, each "name\ntext", for the tests of the
// rules.
func in(t *testing.T, sources ...string) repository {
	t.Helper()
	tree := repository{paths: map[string]bool{".": true}}
	for _, source := range sources {
		name, text, _ := strings.Cut(source, "\n")
		f, err := parseSource(name, text)
		if err != nil {
			t.Fatal(err)
		}
		tree.files = append(tree.files, f)
		for at := name; at != "."; at = path.Dir(at) {
			tree.paths[at] = true
		}
	}
	return tree
}

// expect fails unless the findings are those that contain want, in order.
func expect(t *testing.T, findings []string, want ...string) {
	t.Helper()
	ok := len(findings) == len(want)
	for i := range findings {
		ok = ok && strings.Contains(findings[i], want[i])
	}
	if !ok {
		t.Errorf("findings:\n%s\nexpected:\n%s", strings.Join(findings, "\n"), strings.Join(want, "\n"))
	}
}
