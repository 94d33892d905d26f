package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// schemaID names the schema of a configuration file.
const schemaID = "https://github.com/loomd/loomd/docs/config.schema.json"

// Schema is the JSON schema (draft 2020-12) of a configuration file, for editors.
// It is what the reader asks for: it has every key, and is laxer than the reader
// where a schema cannot say what the reader checks, as that a pattern is one.
func Schema() ([]byte, error) {
	whole := shapeOfFile()
	if err := whole.explained(); err != nil {
		return nil, err
	}
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", schemaID},
		{"title", "loomd's configuration"},
	}
	text, err := json.Marshal(append(root, whole.schema("")...))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// explained says that every key has an explanation, and that each explanation is
// of a key.
func (t *shape) explained() error {
	unused := maps.Clone(explanations)
	var missing []string
	t.each("", func(key string, _ *shape) {
		if _, ok := explanations[key]; !ok {
			missing = append(missing, key)
		}
		delete(unused, key)
	})
	if len(missing) > 0 || len(unused) > 0 {
		return fmt.Errorf("schema: explanations lacks %v, and has %v, which no file can have", missing, slices.Sorted(maps.Keys(unused)))
	}
	return nil
}

// schema is that of the value at key, members in a stable order.
func (t *shape) schema(key string) object {
	var out object
	add := func(name string, value any) { out = append(out, member{name, value}) }
	if text := explanations[key]; text != "" {
		add("description", text)
	}
	add("type", t.kind)
	switch t.kind {
	case "string":
		switch {
		case t.words != nil:
			add("enum", t.words)
		case t.pattern != "":
			add("pattern", t.pattern)
		case t.fields != nil: // of a list's elements the reader has checks of its own
			add("minLength", 1)
			add("maxLength", cmp.Or(t.most, maxText))
		}
	case "integer":
		add("minimum", t.least)
		add("maximum", t.most)
	case "array":
		add("items", t.item.schema(key+"[]"))
		if t.item.kind != "object" {
			add("minItems", 1)
		}
		add("maxItems", maxList)
	case "object":
		t.members(key, add)
	}
	return out
}

// members are the keywords of a table.
func (t *shape) members(key string, add func(name string, value any)) {
	var properties object
	for _, name := range t.keys {
		if name != placeholder {
			properties = append(properties, member{name, t.fields[name].schema(join(key, name))})
		}
	}
	if properties != nil {
		add("properties", properties)
	}
	if len(t.required) > 0 {
		add("required", t.required)
	}
	switch named := t.fields[placeholder]; {
	case named != nil:
		add("additionalProperties", named.schema(join(key, shown(placeholder))))
	case !t.open:
		add("additionalProperties", false)
	}
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members as they stand.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
