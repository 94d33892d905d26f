// Command gen writes docs/tools.md, the reference of what an agent can call, from
// the registry of package tools: what it says is what is advertised and checked.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/loomd/loomd/tools"
)

// docsFile is the file that the generator writes, relative to the repository.
const docsFile = "docs/tools.md"

func main() {
	root := flag.String("root", "..", "the repository; the default fits go generate")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

func run(root string) error {
	text, err := generate()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, docsFile), text, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", docsFile, err)
	}
	return nil
}

// generate returns the text of docsFile, and writes nothing.
func generate() ([]byte, error) {
	registry, err := tools.Builtin()
	if err != nil {
		return nil, err
	}
	text, err := markdown(registry)
	return []byte(text), err
}
