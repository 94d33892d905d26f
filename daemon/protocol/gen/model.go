package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

// model is the wire as every emitter sees it, free of Go and of any target
// language.
type model struct {
	version   int
	supported []int
	methods   []method
	types     []*typeDecl // in source order
}

// method is one row of the table.
type method struct {
	name     string // "loom/tools/call"
	toClient bool
	params   string // name of a type
	result   string // name of a type; "" for a notification
	roles    []string
	doc      string
}

// ident is the method's name as an identifier: "toolsCall".
func (m method) ident() string {
	words := strings.Split(strings.TrimPrefix(m.name, "loom/"), "/")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// typeDecl is an object with fields or, when it has values, a closed set of
// strings.
type typeDecl struct {
	name   string
	doc    string
	file   string // where it is declared
	fields []field
	values []value
	errs   []error // what bars it from the wire
}

func (d *typeDecl) isEnum() bool { return d.values != nil }

type field struct {
	goName   string
	name     string // on the wire
	doc      string
	typ      typeRef
	optional bool // absent rather than null, empty or zero
	pointer  bool // in Go
}

type value struct {
	text string
	doc  string
}

type kind int

const (
	kindString kind = iota
	kindBool
	kindInteger // of at most 53 bits: JSON readers hold numbers as doubles
	kindNumber
	kindUnknown // any JSON value
	kindNamed
	kindList
	kindMap // with string keys
)

type typeRef struct {
	kind kind
	name string   // of kindNamed
	elem *typeRef // of kindList and kindMap
}

// named returns the name of the declared type inside the reference, or "".
func (t typeRef) named() string {
	if t.elem != nil {
		return t.elem.named()
	}
	return t.name
}

// extras are the types that cross the wire outside the method table: inside
// initialize and in error responses.
var extras = []any{protocol.LoomOptions{}, protocol.LoomCapabilities{}, protocol.ErrorData{}}

// notWire names the source files whose types are not part of loomd's own wire:
// the table itself, and LSP's types, which clients have already.
var notWire = map[string]bool{"methods.go": true, "lsp.go": true}

func load(root string) (*model, error) {
	sources, err := readSources(root)
	if err != nil {
		return nil, err
	}
	decls, err := parse(sources)
	if err != nil {
		return nil, err
	}
	m, err := build(decls, protocol.Methods, extras)
	if err != nil {
		return nil, err
	}
	m.version, m.supported = protocol.Version, protocol.SupportedVersions
	return m, nil
}

// build joins the table with the declarations it reaches. A declared type that
// nothing reaches is an error, so that the wire holds no dead types.
func build(decls []*typeDecl, table []protocol.Method, extras []any) (*model, error) {
	m := &model{}
	byName := map[string]*typeDecl{}
	for _, d := range decls {
		byName[d.name] = d
	}
	var errs []error
	reached := map[string]bool{}
	reach := func(from string, zero any) string {
		name, err := typeName(zero)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", from, err))
			return ""
		}
		errs = append(errs, mark(from, name, byName, reached)...)
		return name
	}
	names := map[string]bool{}
	for _, row := range table {
		if !strings.HasPrefix(row.Name, "loom/") || names[row.Name] {
			errs = append(errs, fmt.Errorf("method %q: not under loom/ or listed twice", row.Name))
			continue
		}
		names[row.Name] = true
		if len(row.Roles) == 0 || row.Doc == "" {
			errs = append(errs, fmt.Errorf("method %q: without roles or doc", row.Name))
		}
		if row.Direction != protocol.ToClient && row.Direction != protocol.ToDaemon {
			errs = append(errs, fmt.Errorf("method %q: no direction %q", row.Name, row.Direction))
		}
		out := method{name: row.Name, toClient: row.Direction == protocol.ToClient, doc: row.Doc}
		out.params = reach(row.Name, row.Params)
		if row.Result != nil {
			out.result = reach(row.Name, row.Result)
		}
		for _, r := range row.Roles {
			out.roles = append(out.roles, string(r))
		}
		m.methods = append(m.methods, out)
	}
	for _, zero := range extras {
		reach("extras", zero)
	}
	for _, d := range decls {
		switch {
		case reached[d.name]:
			m.types = append(m.types, d)
		case !notWire[d.file]:
			errs = append(errs, fmt.Errorf("type %s: no message uses it", d.name))
		}
	}
	return m, errors.Join(errs...)
}

// typeName returns the name of a zero value's type, which must be a named
// struct: a field can be added to it without breaking anybody.
func typeName(zero any) (string, error) {
	t := reflect.TypeOf(zero)
	if t == nil {
		return "", errors.New("no type; a message without params says Empty")
	}
	if t.Kind() != reflect.Struct || t.Name() == "" {
		return "", fmt.Errorf("%v is not a named struct", t)
	}
	return t.Name(), nil
}

// mark adds the type and all that it mentions to reached.
func mark(from, name string, byName map[string]*typeDecl, reached map[string]bool) []error {
	if reached[name] {
		return nil
	}
	d := byName[name]
	if d == nil {
		return []error{fmt.Errorf("%s: type %s is not declared in the package", from, name)}
	}
	reached[name] = true
	errs := slices.Clone(d.errs)
	for _, f := range d.fields {
		n := f.typ.named()
		if n == "" {
			continue
		}
		errs = append(errs, mark(name, n, byName, reached)...)
		if object := f.typ.kind == kindNamed && byName[n] != nil && !byName[n].isEnum(); object && f.optional && !f.pointer {
			errs = append(errs, fmt.Errorf("type %s: field %s: omitempty never leaves a struct out, a pointer would", name, f.goName))
		}
	}
	return errs
}
