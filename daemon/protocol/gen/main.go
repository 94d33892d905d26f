// Command gen writes what is derived from package protocol: the TypeScript
// types of the editors, the same example messages as TypeScript, and the
// tables of docs/protocol.md.
//
// It reads the package's source (for comments and the order of fields) and its
// Methods table, builds one model, and hands that to an emitter per language.
// It refuses a type whose JSON no client could rely on; see parse.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// Files that the generator reads and writes, relative to the repository.
const (
	sourceDir    = "daemon/protocol"
	examplesDir  = "daemon/protocol/testdata"
	typesFile    = "editors/vscode/src/protocol.gen.ts"
	examplesFile = "editors/vscode/test/examples.gen.ts"
	docsFile     = "docs/protocol.md"
)

func main() {
	root := flag.String("root", "../..", "the repository; the default fits go generate")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// generate returns the text of every generated file by its name relative to
// root, and writes nothing.
func generate(root string) (map[string][]byte, error) {
	m, err := load(root)
	if err != nil {
		return nil, err
	}
	examples, err := readExamples(filepath.Join(root, examplesDir), m)
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join(root, docsFile))
	if err != nil {
		return nil, fmt.Errorf("reading page: %w", err)
	}
	docs, err := markdown(string(page), m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", docsFile, err)
	}
	return map[string][]byte{
		typesFile:    []byte(typescript(m)),
		examplesFile: []byte(typescriptExamples(m, examples)),
		docsFile:     []byte(docs),
	}, nil
}
