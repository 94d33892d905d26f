package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds of what comes from outside to be a tool.
const (
	MaxSchema      = 64 << 10 // bytes of an input schema
	maxDescription = 16 << 10 // bytes
	maxSchemaNodes = 4096     // schemas in one schema, each as often as it is referred to
)

// ParseForeignSchema compiles the input schema of a tool that is not loomd's own.
// It takes what [ParseSchema] takes, up to [MaxSchema] bytes, with references only
// within itself and none that leads back to itself: checking arguments must end,
// and soon. It is advertised as it was given.
func ParseForeignSchema(data []byte) (Schema, error) {
	if len(data) > MaxSchema {
		return Schema{}, fmt.Errorf("schema: %d bytes, at most %d", len(data), MaxSchema)
	}
	var root jsonschema.Schema
	if err := json.Unmarshal(data, &root); err != nil {
		return Schema{}, fmt.Errorf("schema: %w", err)
	}
	w := schemaWalk{root: &root}
	if err := w.expand(&root, nil); err != nil {
		return Schema{}, fmt.Errorf("schema: %w", err)
	}
	s, err := compile(&root)
	if err != nil {
		return Schema{}, err
	}
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil {
		return Schema{}, fmt.Errorf("schema: %w", err)
	}
	s.JSON = text.Bytes()
	return s, nil
}

var jsonTypes = []string{"object", "array", "string", "integer", "number", "boolean", "null"}

// orNothing is text after a separator, or nothing.
func orNothing(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// schemaWalk counts the schemas that checking a value can come by.
type schemaWalk struct {
	root  *jsonschema.Schema
	nodes int
}

func (w *schemaWalk) expand(s *jsonschema.Schema, above []*jsonschema.Schema) error {
	if s == nil {
		return errors.New("null is no schema")
	}
	for _, a := range above {
		if a == s {
			return errors.New("a reference leads back to where it stands, which is not supported")
		}
	}
	if w.nodes++; w.nodes > maxSchemaNodes || len(above) > 64 {
		return fmt.Errorf("too large: at most %d schemas, 64 deep", maxSchemaNodes)
	}
	if s.DynamicRef != "" || s.DynamicAnchor != "" || s.Anchor != "" || s.ID != "" && s != w.root {
		return errors.New("$id, $anchor and $dynamicRef are not supported: refer by #/$defs/NAME")
	}
	for _, kind := range append([]string{s.Type}, s.Types...) {
		if kind != "" && !slices.Contains(jsonTypes, kind) {
			return fmt.Errorf("there is no type %q%s", short(kind), orNothing("; ", didYouMean(kind, jsonTypes)))
		}
	}
	above = append(above, s)
	if s.Ref != "" {
		target, err := w.target(s.Ref)
		if err != nil {
			return err
		}
		if err := w.expand(target, above); err != nil {
			return err
		}
	}
	return w.children(s, func(child *jsonschema.Schema) error { return w.expand(child, above) })
}

// target is what "#/$defs/NAME" or "#/definitions/NAME" refers to.
func (w *schemaWalk) target(ref string) (*jsonschema.Schema, error) {
	for prefix, defs := range map[string]map[string]*jsonschema.Schema{"#/$defs/": w.root.Defs, "#/definitions/": w.root.Definitions} {
		if name, ok := strings.CutPrefix(ref, prefix); ok && defs[name] != nil {
			return defs[name], nil
		}
	}
	return nil, fmt.Errorf("$ref %q leads nowhere: refer by #/$defs/NAME", short(ref))
}

// children calls do for each schema that s itself holds.
func (w *schemaWalk) children(s *jsonschema.Schema, do func(*jsonschema.Schema) error) error {
	one, list, byName := reflect.TypeFor[*jsonschema.Schema](), reflect.TypeFor[[]*jsonschema.Schema](), reflect.TypeFor[map[string]*jsonschema.Schema]()
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if !v.Type().Field(i).IsExported() || f.IsZero() {
			continue
		}
		var children []*jsonschema.Schema
		switch f.Type() {
		case one:
			children = []*jsonschema.Schema{f.Interface().(*jsonschema.Schema)}
		case list:
			children = f.Interface().([]*jsonschema.Schema)
		case byName:
			for _, child := range f.Interface().(map[string]*jsonschema.Schema) {
				children = append(children, child)
			}
		}
		for _, child := range children {
			if err := do(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckForeign holds the name and the description of a tool that is not loomd's
// own to what a model can be told.
func CheckForeign(name, description string) error {
	switch {
	case !ValidName(name):
		return fmt.Errorf("name %q: letters, digits, _ and -, at most %d, and a letter first", short(name), maxName)
	case strings.TrimSpace(description) == "":
		return errors.New("description: empty: a model knows of the tool what it says")
	case len(description) > maxDescription:
		return fmt.Errorf("description: %d bytes, at most %d", len(description), maxDescription)
	case !utf8.ValidString(description) || strings.ContainsFunc(description, hidden):
		return errors.New("description: has control characters")
	}
	return nil
}

func hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r)
}
