package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a JSON schema (draft 2020-12), compiled once. The zero Schema is
// none.
type Schema struct {
	JSON json.RawMessage // as advertised

	root *jsonschema.Schema
	// whole validates the keywords that the strict walk of arguments.go does
	// not know; nil when the schema has none of them.
	whole *jsonschema.Resolved
}

// ParseSchema compiles a schema of an object.
func ParseSchema(data []byte) (Schema, error) {
	var root jsonschema.Schema
	if err := json.Unmarshal(data, &root); err != nil {
		return Schema{}, fmt.Errorf("schema: %w", err)
	}
	return compile(&root)
}

func compile(root *jsonschema.Schema) (Schema, error) {
	if root.Type != "object" {
		return Schema{}, fmt.Errorf("schema: type is %q, not object", root.Type)
	}
	text, err := encode(root)
	if err != nil {
		return Schema{}, fmt.Errorf("schema: %w", err)
	}
	resolved, err := root.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return Schema{}, fmt.Errorf("schema: %w", err)
	}
	s := Schema{JSON: text, root: root}
	if !walkable(root) {
		s.whole = resolved
	}
	return s, nil
}

// walkable reports whether the walk of arguments.go enforces all that s says.
func walkable(s *jsonschema.Schema) bool {
	rest := *s
	rest.Title, rest.Description, rest.Default, rest.Examples = "", "", nil, nil
	rest.Type, rest.Enum, rest.Minimum, rest.Maximum = "", nil, nil, nil
	rest.MinLength, rest.MaxLength = nil, nil
	rest.Items, rest.MinItems, rest.MaxItems = nil, nil, nil
	rest.Properties, rest.Required, rest.AdditionalProperties, rest.PropertyOrder = nil, nil, nil, nil
	if !reflect.ValueOf(rest).IsZero() {
		return false
	}
	for _, e := range s.Enum {
		if _, ok := e.(string); !ok {
			return false
		}
	}
	for _, p := range s.Properties {
		if !walkable(p) {
			return false
		}
	}
	return (s.Items == nil || walkable(s.Items)) && (s.AdditionalProperties == nil || closed(s))
}

// closed reports whether s allows no properties but those it names.
func closed(s *jsonschema.Schema) bool {
	return s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil
}

// bounds are the least and the greatest value that are allowed: of a number, of
// an array's number of items, of a string's number of characters.
type bounds map[string][2]int

// maxInteger is the greatest integer that every JSON reader keeps exact (RFC
// 8259, section 6).
const maxInteger = 1<<53 - 1

// maxPath is the longest path that any place is found by, in characters:
// [diffpreview.Workspace.Resolve] takes as many bytes.
const maxPath = 4095

// inputSchema is the schema of the arguments that decode into T. Fields without
// omitempty are required. The values of defaults that are not zero, and integers
// that may be 0, are advertised as defaults; the caller decodes into a copy of it.
func inputSchema[T any](defaults T, limits bounds, choices map[string][]string) (Schema, error) {
	root, err := jsonschema.For[T](nil)
	if err != nil {
		return Schema{}, err
	}
	dropNull(root)
	values := reflect.ValueOf(defaults)
	for _, field := range reflect.VisibleFields(values.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		limit, bounded := limits[name]
		value := values.FieldByIndex(field.Index)
		none := value.CanInt() && bounded && limit[0] == 0 // which is a value like any other
		if none || !value.IsZero() {
			if root.Properties[name].Default, err = encode(value.Interface()); err != nil {
				return Schema{}, err
			}
		}
	}
	for name, limit := range limits {
		p := root.Properties[name]
		switch {
		case p == nil:
			return Schema{}, fmt.Errorf("bounds of %q, which is no argument", name)
		case p.Type == "integer" || p.Type == "number":
			p.Minimum, p.Maximum = jsonschema.Ptr(float64(limit[0])), jsonschema.Ptr(float64(limit[1]))
		case p.Type == "array":
			p.MinItems, p.MaxItems = &limit[0], &limit[1]
		case p.Type == "string":
			p.MinLength, p.MaxLength = &limit[0], &limit[1]
		}
	}
	for name, values := range choices {
		p := root.Properties[name]
		if p == nil || p.Type != "string" {
			return Schema{}, fmt.Errorf("choices of %q, which is no argument that is a string", name)
		}
		for _, v := range values {
			p.Enum = append(p.Enum, v)
		}
	}
	return compile(root)
}

// outputSchema is the schema of T. It allows more fields than T has. The fields of
// an embedded pointer are optional, since it can be nil.
func outputSchema[T any]() (Schema, error) {
	root, err := jsonschema.For[T](nil)
	if err != nil {
		return Schema{}, err
	}
	dropNull(root)
	open(root)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if len(field.Index) > 1 && reflect.TypeFor[T]().Field(field.Index[0]).Type.Kind() == reflect.Pointer {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			root.Required = slices.DeleteFunc(root.Required, func(s string) bool { return s == name })
		}
	}
	return compile(root)
}

// dropNull takes out the null that is inferred for slices and pointers: the
// slices of a result are never null, and an absent value is absent.
func dropNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	each(s, dropNull)
}

func open(s *jsonschema.Schema) {
	s.AdditionalProperties = nil
	each(s, open)
}

func each(s *jsonschema.Schema, do func(*jsonschema.Schema)) {
	for _, p := range s.Properties {
		do(p)
	}
	if s.Items != nil {
		do(s.Items)
	}
}
