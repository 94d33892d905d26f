package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

const repository = "../../.."

// TestGenerated fails when a committed file is not what the sources say now.
func TestGenerated(t *testing.T) {
	files, err := generate(repository)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(repository, name))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./daemon/protocol\n%s", name, firstDifference(string(got), string(want)))
		}
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return "committed: " + x + "\ngenerated: " + y
		}
	}
	return ""
}

// TestRefusesTypes lists what may not cross the wire, with the word that the
// error must hold.
func TestRefusesTypes(t *testing.T) {
	for _, c := range []struct{ name, field, want string }{
		{"any", "X any `json:\"x\"`", "any"},
		{"interface", "X interface{ F() } `json:\"x\"`", "InterfaceType"},
		{"error", "X error `json:\"x\"`", "error"},
		{"embedded", "Inner", "embedded"},
		{"embedded pointer", "*Inner `json:\"inner,omitempty\"`", "embedded"},
		{"int keys", "X map[int]string `json:\"x\"`", "string keys"},
		{"any in a list", "X []any `json:\"x\"`", "any"},
		{"any in a map", "X map[string]any `json:\"x\"`", "any"},
		{"null pointer", "X *Inner `json:\"x\"`", "omitempty"},
		{"pointer in a list", "X []*Inner `json:\"x\"`", "StarExpr"},
		{"struct that omitempty keeps", "X Inner `json:\"x,omitempty\"`", "omitempty"},
		{"bytes", "X []byte `json:\"x\"`", "byte"},
		{"array", "X [2]int `json:\"x\"`", "array"},
		{"uint64", "X uint64 `json:\"x\"`", "uint64"},
		{"func", "X func() `json:\"x\"`", "FuncType"},
		{"channel", "X chan int `json:\"x\"`", "ChanType"},
		{"time", "X time.Time `json:\"x\"`", "Time"},
		{"anonymous struct", "X struct{} `json:\"x\"`", "StructType"},
		{"no tag", "X int", "tag"},
		{"no name", "X int `json:\",omitempty\"`", "camelCase"},
		{"hidden", "X int `json:\"-\"`", "camelCase"},
		{"snake case", "X int `json:\"old_start\"`", "camelCase"},
		{"as a string", "X int `json:\"x,string\"`", "string"},
		{"omitzero", "X int `json:\"x,omitzero\"`", "omitzero"},
		{"two names", "X, Y int `json:\"x\"`", "several"},
		{"same name twice", "X int `json:\"x\"`\n\tY int `json:\"x\"`", "twice"},
		{"undeclared", "X Missing `json:\"x\"`", "not declared"},
		{"number type", "X Number `json:\"x\"`", "neither"},
		{"alias", "X Alias `json:\"x\"`", "neither"},
		{"string without constants", "X Open `json:\"x\"`", "constants"},
		{"method table type", "X Generic `json:\"x\"`", "parameters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := buildSource("// Empty is the subject.\ntype Empty struct {\n\t" + c.field + "\n}\n" + vocabulary)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// vocabulary is what the fields of the cases refer to. Its file is one whose
// types need no use.
const vocabulary = `
// Inner is a struct.
type Inner struct {
	A int ` + "`json:\"a\"`" + `
}

// Number is no string.
type Number int

// Alias is another name.
type Alias = string

// Open has no constants.
type Open string

// Generic has parameters.
type Generic[T any] struct{}
`

func buildSource(source string) error {
	decls, err := parse(map[string]string{"methods.go": "package protocol\n" + source})
	if err != nil {
		return err
	}
	_, err = build(decls, nil, []any{protocol.Empty{}})
	return err
}

func TestAllowsTypes(t *testing.T) {
	err := buildSource(`
// Empty is the subject.
type Empty struct {
	A string                     ` + "`json:\"a\"`" + `
	B *bool                      ` + "`json:\"b,omitempty\"`" + `
	C []int64                    ` + "`json:\"c\"`" + `
	D map[string]float64         ` + "`json:\"d,omitempty\"`" + `
	E json.RawMessage            ` + "`json:\"e\"`" + `
	F *Inner                     ` + "`json:\"f,omitempty\"`" + `
	G [][]map[string]Inner       ` + "`json:\"g\"`" + `
}
` + vocabulary)
	if err != nil {
		t.Error(err)
	}
}

func TestRefusesTables(t *testing.T) {
	everyone := []protocol.Role{protocol.RoleAgent}
	row := func(change func(*protocol.Method)) []protocol.Method {
		m := protocol.Method{Name: "loom/x/y", Direction: protocol.ToDaemon, Params: protocol.Empty{}, Roles: everyone, Doc: "Does."}
		change(&m)
		return []protocol.Method{m}
	}
	decls, err := parse(map[string]string{"types.go": "package protocol\n// Empty is.\ntype Empty struct{}\n"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := build(decls, row(func(*protocol.Method) {}), nil); err != nil {
		t.Fatalf("a good table: %v", err)
	}
	for _, c := range []struct {
		name  string
		table []protocol.Method
		want  string
	}{
		{"foreign name", row(func(m *protocol.Method) { m.Name = "x/y" }), "loom/"},
		{"name twice", append(row(func(*protocol.Method) {}), row(func(*protocol.Method) {})...), "twice"},
		{"no roles", row(func(m *protocol.Method) { m.Roles = nil }), "roles"},
		{"no direction", row(func(m *protocol.Method) { m.Direction = "" }), "direction"},
		{"no doc", row(func(m *protocol.Method) { m.Doc = "" }), "doc"},
		{"no params", row(func(m *protocol.Method) { m.Params = nil }), "Empty"},
		{"params of no name", row(func(m *protocol.Method) { m.Params = struct{}{} }), "named struct"},
		{"result that is no struct", row(func(m *protocol.Method) { m.Result = "" }), "named struct"},
		{"type of nowhere", row(func(m *protocol.Method) { m.Result = protocol.Session{} }), "not declared"},
		{"dead type", nil, "no message uses it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := build(decls, c.table, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestComments holds how a Go comment becomes a client's: fields by their wire
// names, words that only look like fields left alone.
func TestComments(t *testing.T) {
	decls, err := parse(map[string]string{"types.go": `package protocol

// Text is a page of Text; OldStart of a hunk, Old of nothing. With Lossy it is lossy.
type Text struct {
	Text  string ` + "`json:\"text\"` // of Lossy text" + `
	Lossy bool   ` + "`json:\"lossy\"`" + `
}

// Hunk is a run.
type Hunk struct {
	Old      int ` + "`json:\"old\"`" + `
	OldStart int ` + "`json:\"oldStart\"`" + `
}
`})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := decls[0].doc, "Text is a page of Text; `oldStart` of a hunk, Old of nothing. With `lossy` it is lossy."; got != want {
		t.Errorf("type comment\n got %s\nwant %s", got, want)
	}
	if got, want := decls[0].fields[0].doc, "of `lossy` text"; got != want {
		t.Errorf("field comment: got %s, want %s", got, want)
	}
}

func TestMissingMark(t *testing.T) {
	m, err := load(repository)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := markdown("# A page without marks\n", m); err == nil || !strings.Contains(err.Error(), "begin versions") {
		t.Errorf("got %v, want an error that shows the mark", err)
	}
}

// TestExamplesCover checks the examples against the model, which is what the
// clients' types come from, and that together they show every field of every
// type, every optional field absent, and every value of every closed set.
func TestExamplesCover(t *testing.T) {
	m, err := load(repository)
	if err != nil {
		t.Fatal(err)
	}
	files, err := readExamples(filepath.Join(repository, examplesDir), m)
	if err != nil {
		t.Fatal(err)
	}
	s := newSurvey(m)
	for _, f := range files {
		for _, e := range f.examples {
			at := f.ident + ": " + e.About
			params, result := f.params, f.result
			if f.ident == "initialize" {
				params, result = "LoomOptions", "LoomCapabilities"
				e.Params = dig(e.Params, "initializationOptions", "loom")
				e.Result = dig(e.Result, "capabilities", "experimental", "loom")
			}
			s.visit(at, params, e.Params)
			if e.Result != nil {
				s.visit(at, result, e.Result)
			}
			if e.Error != nil {
				s.visit(at, "ErrorData", dig(e.Error, "data"))
			}
		}
	}
	for _, problem := range append(s.problems, s.missing()...) {
		t.Error(problem)
	}
}

func dig(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil
		}
		raw = object[name]
	}
	return raw
}
