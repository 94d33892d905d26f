package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// schema is the part of a JSON schema that tools use, as it is advertised.
type schema struct {
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
	Items       *schema         `json:"items"`
	Properties  properties      `json:"properties"`
	Required    []string        `json:"required"`

	AdditionalProperties json.RawMessage `json:"additionalProperties"`
}

// properties are those of an object in the order of the JSON.
type properties []property

type property struct {
	name   string
	schema schema
}

// UnmarshalJSON keeps the order, which a map would lose.
func (p *properties) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		one := property{name: fmt.Sprint(name)}
		if err := decodeStrictly(dec, &one.schema); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		*p = append(*p, one)
	}
	return nil
}

// parse reads a schema. A keyword that the page would not show is an error.
func parse(text json.RawMessage) (schema, error) {
	var s schema
	return s, decodeStrictly(json.NewDecoder(bytes.NewReader(text)), &s)
}

func decodeStrictly(dec *json.Decoder, s *schema) error {
	dec.DisallowUnknownFields()
	return dec.Decode(s)
}

// field is one row of a table: a property, or one of the objects in a list.
type field struct {
	name     string // "edits[].old_str"
	required bool
	schema   schema
}

// fields are the properties of an object, each followed by those within it.
func (s schema) fields(prefix string) []field {
	var out []field
	for _, p := range s.Properties {
		f := field{prefix + p.name, slices.Contains(s.Required, p.name), p.schema}
		out = append(out, f)
		switch {
		case p.schema.Items != nil:
			out = append(out, p.schema.Items.fields(f.name+"[].")...)
		default:
			out = append(out, p.schema.fields(f.name+".")...)
		}
	}
	return out
}

// kind is the type in words.
func (s schema) kind() string {
	if s.Items != nil {
		return "list of " + plural[s.Items.Type]
	}
	return s.Type
}

var plural = map[string]string{"object": "objects", "string": "strings", "integer": "integers", "boolean": "booleans", "number": "numbers"}

// limits are the bounds in words, "" for none.
func (s schema) limits() string {
	if len(s.Enum) > 0 {
		return "`" + strings.Join(s.Enum, "`, `") + "`"
	}
	unit := ""
	var least, most string
	switch {
	case s.MinLength != nil || s.MaxLength != nil:
		least, most, unit = number(s.MinLength), number(s.MaxLength), " characters"
	case s.MinItems != nil || s.MaxItems != nil:
		least, most, unit = number(s.MinItems), number(s.MaxItems), " items"
	default:
		least, most = literal(s.Minimum), literal(s.Maximum)
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
