package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// example is one exchange of a method, as testdata holds it. Its messages are
// checked in Go by the tests of package protocol and in TypeScript by tsc.
type example struct {
	About  string          `json:"about"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// exampleFile is the examples of one method.
type exampleFile struct {
	ident    string // "toolsCall", or "initialize"
	params   string // the TypeScript types
	result   string
	examples []example
	text     []byte // the file
}

// initialize is LSP's own message; loomd's part of it is typed here.
var initialize = exampleFile{
	ident:  "initialize",
	params: "{ initializationOptions: { loom: LoomOptions } }",
	result: "{ capabilities: { positionEncoding?: string; experimental: { loom: LoomCapabilities } } }",
}

// exampleName is the file that holds a method's examples.
func exampleName(m method) string {
	return strings.ReplaceAll(strings.TrimPrefix(m.name, "loom/"), "/", "_") + ".json"
}

// readExamples reads one file per method and one for initialize, in the
// table's order. A method without examples is an error, and so is a file
// without a method.
func readExamples(dir string, m *model) ([]exampleFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing examples: %w", err)
	}
	unknown := map[string]bool{}
	for _, e := range entries {
		unknown[e.Name()] = true
	}
	var files []exampleFile
	var errs []error
	read := func(name string, f exampleFile) {
		delete(unknown, name)
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			errs = append(errs, fmt.Errorf("reading examples: %w", err))
			return
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&f.examples); err != nil {
			errs = append(errs, fmt.Errorf("decoding %s: %w", name, err))
			return
		}
		f.text = text
		files = append(files, f)
	}
	read("initialize.json", initialize)
	for _, method := range m.methods {
		read(exampleName(method), exampleFile{ident: method.ident(), params: method.params, result: method.result})
	}
	for name := range unknown {
		errs = append(errs, fmt.Errorf("%s: no method of that name", name))
	}
	return files, errors.Join(errs...)
}

// typescriptExamples returns the examples as typed literals: tsc refuses a
// field that is missing, unknown or of another type.
func typescriptExamples(m *model, files []exampleFile) string {
	var b strings.Builder
	b.WriteString(strings.Replace(tsHeader, "from daemon/protocol.", "from daemon/protocol/testdata.", 1))
	b.WriteString("\nimport type {\n")
	used := map[string]bool{}
	for _, f := range files {
		for _, d := range m.types {
			if f.params == d.name || f.result == d.name || f.ident == "initialize" && strings.HasPrefix(d.name, "Loom") {
				used[d.name] = true
			}
		}
	}
	for _, d := range m.types {
		if used[d.name] || d.name == "ErrorData" {
			fmt.Fprintf(&b, "  %s,\n", d.name)
		}
	}
	b.WriteString("} from \"../src/protocol.gen\";\n")
	b.WriteString(`
interface Example<P, R> {
  about: string;
  params: P;
  result?: R;
  error?: { code: number; message: string; data: ErrorData };
}
`)
	for _, f := range files {
		result := f.result
		if result == "" {
			result = "never"
		}
		fmt.Fprintf(&b, "\nexport const %s: Example<%s, %s>[] = %s;\n", f.ident, f.params, result, bytes.TrimSpace(f.text))
	}
	return b.String()
}
