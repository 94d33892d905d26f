package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What may cross the wire: structs whose every field has a json tag, named
// strings with their constants, string, bool, int, int64, float64,
// json.RawMessage (any JSON value), and slices, string-keyed maps and pointers
// of these. Refused, because no client could rely on the JSON: any and other
// interfaces, embedded structs, maps with other keys, []byte, unsigned and
// small integers, pointers without omitempty (they would be null), structs
// with omitempty (they would be there all the same), names that are not
// camelCase.

var basic = map[string]kind{
	"string": kindString, "bool": kindBool, "int": kindInteger, "int64": kindInteger, "float64": kindNumber,
}

var camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// readSources returns the package's Go files by base name, without its tests.
func readSources(root string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(sourceDir), "*.go"))
	if err != nil {
		return nil, fmt.Errorf("listing sources: %w", err)
	}
	sources := map[string]string{}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("reading source: %w", err)
		}
		sources[filepath.Base(p)] = string(text)
	}
	return sources, nil
}

// parse returns every type declared in the sources, by file name and then in
// source order. A type that may not cross the wire carries its errors; it is up
// to build whether they matter.
func parse(sources map[string]string) ([]*typeDecl, error) {
	fset := token.NewFileSet()
	var decls []*typeDecl
	values := map[string][]value{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		file, err := parser.ParseFile(fset, name, sources[name], parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("parsing source: %w", err)
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					decls = append(decls, parseType(name, g, s))
				case *ast.ValueSpec:
					if g.Tok == token.CONST {
						parseConst(s, values)
					}
				}
			}
		}
	}
	for _, d := range decls {
		d.values = values[d.name]
		if d.fields == nil && d.values == nil && d.errs == nil {
			d.errs = append(d.errs, fmt.Errorf("type %s: a string type without constants", d.name))
		}
	}
	nameFields(decls)
	return decls, nil
}

func parseType(file string, g *ast.GenDecl, s *ast.TypeSpec) *typeDecl {
	d := &typeDecl{name: s.Name.Name, file: file, doc: comment(s.Doc)}
	if d.doc == "" && len(g.Specs) == 1 {
		d.doc = comment(g.Doc)
	}
	refuse := func(err error) { d.errs = append(d.errs, fmt.Errorf("type %s: %w", d.name, err)) }
	if d.doc == "" {
		refuse(errors.New("without a comment"))
	}
	if s.TypeParams != nil {
		refuse(errors.New("with type parameters"))
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		d.fields = []field{}
		names := map[string]bool{}
		for _, f := range t.Fields.List {
			parsed, err := parseField(f)
			if err == nil && names[parsed.name] {
				err = fmt.Errorf("field %s: json name %q twice", parsed.goName, parsed.name)
			}
			if err != nil {
				refuse(err)
			}
			names[parsed.name] = true
			d.fields = append(d.fields, parsed)
		}
	case *ast.Ident:
		if t.Name != "string" || s.Assign.IsValid() {
			refuse(errors.New("neither a struct nor a string"))
		}
	default:
		refuse(errors.New("neither a struct nor a string"))
	}
	return d
}

// parseConst adds the constants of a named string type to values.
func parseConst(s *ast.ValueSpec, values map[string][]value) {
	typ, ok := s.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, v := range s.Values {
		lit, ok := v.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(lit.Value); err == nil {
			values[typ.Name] = append(values[typ.Name], value{text, join(comment(s.Doc), comment(s.Comment))})
		}
	}
}

func parseField(f *ast.Field) (field, error) {
	if len(f.Names) == 0 {
		return field{}, errors.New("embedded field")
	}
	if len(f.Names) > 1 {
		return field{}, fmt.Errorf("field %s: several names in one line", f.Names[0].Name)
	}
	out := field{goName: f.Names[0].Name, doc: join(comment(f.Doc), comment(f.Comment))}
	fail := func(format string, args ...any) (field, error) {
		return out, fmt.Errorf("field "+out.goName+": "+format, args...)
	}
	if f.Tag == nil {
		return fail("without a json tag")
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return fail("reading tag: %w", err)
	}
	name, options, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
	if !camelCase.MatchString(name) {
		return fail("json name %q is not camelCase", name)
	}
	out.name = name
	switch options {
	case "":
	case "omitempty":
		out.optional = true
	default:
		return fail("json option %q", options)
	}
	pointer, isPointer := f.Type.(*ast.StarExpr)
	expr := f.Type
	if isPointer {
		expr = pointer.X
	}
	if isPointer && !out.optional {
		return fail("a pointer without omitempty would be null")
	}
	out.pointer = isPointer
	if out.typ, err = parseRef(expr); err != nil {
		return fail("%w", err)
	}
	return out, nil
}

// parseRef returns what a field's type is on the wire.
func parseRef(expr ast.Expr) (typeRef, error) {
	switch t := expr.(type) {
	case *ast.Ident:
		if k, ok := basic[t.Name]; ok {
			return typeRef{kind: k}, nil
		}
		if !ast.IsExported(t.Name) {
			return typeRef{}, fmt.Errorf("type %s is not allowed", t.Name)
		}
		return typeRef{kind: kindNamed, name: t.Name}, nil
	case *ast.SelectorExpr:
		if pkg, ok := t.X.(*ast.Ident); ok && pkg.Name == "json" && t.Sel.Name == "RawMessage" {
			return typeRef{kind: kindUnknown}, nil
		}
		return typeRef{}, fmt.Errorf("type of another package (%s) is not allowed", t.Sel.Name)
	case *ast.ArrayType:
		if t.Len != nil {
			return typeRef{}, errors.New("an array is not allowed, a slice is")
		}
		elem, err := parseRef(t.Elt)
		return typeRef{kind: kindList, elem: &elem}, err
	case *ast.MapType:
		if key, ok := t.Key.(*ast.Ident); !ok || key.Name != "string" {
			return typeRef{}, errors.New("a map must have string keys")
		}
		elem, err := parseRef(t.Value)
		return typeRef{kind: kindMap, elem: &elem}, err
	default:
		return typeRef{}, fmt.Errorf("%T is not allowed", expr)
	}
}

func comment(g *ast.CommentGroup) string {
	return strings.Join(strings.Fields(g.Text()), " ")
}

func join(a, b string) string {
	return strings.TrimSpace(a + " " + b)
}

var (
	goWord       = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]*\b`)
	innerCapital = regexp.MustCompile(`.[A-Z]`)
)

// nameFields writes the fields that comments mention as the wire names them:
// the fields of the type itself, and those of other types whose Go name cannot
// be an ordinary word.
func nameFields(decls []*typeDecl) {
	types, anywhere := map[string]bool{}, map[string]string{}
	for _, d := range decls {
		types[d.name] = true
		for _, f := range d.fields {
			if f.name != "" && innerCapital.MatchString(f.goName) {
				anywhere[f.goName] = f.name
			}
		}
	}
	for _, d := range decls {
		own := map[string]string{}
		for _, f := range d.fields {
			own[f.goName] = f.name
		}
		rewrite := func(text string) string {
			return goWord.ReplaceAllStringFunc(text, func(word string) string {
				switch {
				case own[word] != "" && word != d.name:
					return "`" + own[word] + "`"
				case anywhere[word] != "" && !types[word]:
					return "`" + anywhere[word] + "`"
				}
				return word
			})
		}
		d.doc = rewrite(d.doc)
		for i := range d.fields {
			d.fields[i].doc = rewrite(d.fields[i].doc)
		}
	}
}
