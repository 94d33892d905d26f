// Package schema reads the JSON schemas that tools are advertised with, for those
// that show them to people: the reference and the help of the command line.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Schema is the part of a JSON schema that tools use, as it is advertised.
type Schema struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []string        `json:"enum"`
	Minimum     *json.Number    `json:"minimum"`
	Maximum     *json.Number    `json:"maximum"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	MinItems    *int            `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
	Items       *Schema         `json:"items"`
	Properties  Properties      `json:"properties"`
	Required    []string        `json:"required"`

	AdditionalProperties json.RawMessage `json:"additionalProperties"`
}

// Properties are those of an object in the order of the JSON.
type Properties []Property

// Property is one named property of an object.
type Property struct {
	Name   string
	Schema Schema
}

// UnmarshalJSON keeps the order, which a map would lose.
func (p *Properties) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		one := Property{Name: fmt.Sprint(name)}
		if err := decodeStrictly(dec, &one.Schema); err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
		*p = append(*p, one)
	}
	return nil
}

// Parse reads a schema. A keyword that Schema does not have is an error: whoever
// shows the schema would leave it out.
func Parse(text json.RawMessage) (Schema, error) {
	var s Schema
	return s, decodeStrictly(json.NewDecoder(bytes.NewReader(text)), &s)
}

func decodeStrictly(dec *json.Decoder, s *Schema) error {
	dec.DisallowUnknownFields()
	return dec.Decode(s)
}

// Field is a property as a row of a table.
type Field struct {
	Name     string // with the way to it: "edits[].old_str"
	Depth    int    // how many objects it lies within, 0 for a property of the schema itself
	Required bool
	Schema   Schema
}

// Fields are the properties of an object, each followed by those within it, or
// within the objects of its list.
func (s Schema) Fields() []Field { return s.below("", 0) }

func (s Schema) below(prefix string, depth int) []Field {
	var out []Field
	for _, p := range s.Properties {
		f := Field{prefix + p.Name, depth, slices.Contains(s.Required, p.Name), p.Schema}
		out = append(out, f)
		if p.Schema.Items != nil {
			out = append(out, p.Schema.Items.below(f.Name+"[].", depth+1)...)
		} else {
			out = append(out, p.Schema.below(f.Name+".", depth+1)...)
		}
	}
	return out
}

// Kind is the type in words: "integer", "list of objects".
func (s Schema) Kind() string {
	if s.Items != nil {
		return "list of " + s.Items.Type + "s"
	}
	return s.Type
}

// maxInteger is the greatest integer that every JSON reader keeps exact: as a
// bound it says nothing to people.
const maxInteger = "9007199254740991"

// Limits are the bounds in words, "" for none: "1 to 100", "at least 1",
// "64 characters", "1 to 200 items". The values of an Enum are not among them.
func (s Schema) Limits() string {
	var least, most, unit string
	switch {
	case s.MinLength != nil || s.MaxLength != nil:
		least, most, unit = number(s.MinLength), number(s.MaxLength), " characters"
	case s.MinItems != nil || s.MaxItems != nil:
		least, most, unit = number(s.MinItems), number(s.MaxItems), " items"
	default:
		least, most = literal(s.Minimum), literal(s.Maximum)
	}
	if most == maxInteger {
		most = ""
	}
	switch {
	case least == "" && most == "":
		return ""
	case most == "":
		return "at least " + least + unit
	case least == "":
		return "at most " + most + unit
	case least == most:
		return least + unit
	}
	return least + " to " + most + unit
}

func number(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func literal(n *json.Number) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// Article puts the article before a kind of JSON value: "an object", "a number",
// "null".
func Article(kind string) string {
	switch {
	case kind == "null":
		return kind
	case kind != "" && strings.ContainsRune("aeiou", rune(kind[0])):
		return "an " + kind
	}
	return "a " + kind
}
