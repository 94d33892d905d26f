package daemon

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/loomd/loomd/tools/schema"
)

// undecodable says which parameter has the wrong type, in JSON's words and not in
// Go's. err is package json's.
func undecodable(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		field := wrong.Field
		if field == "" {
			field = "the parameters"
		}
		given := schema.Article(wrong.Value)
		if wrong.Value == "bool" {
			given = "true or false"
		}
		if number, ok := strings.CutPrefix(wrong.Value, "number "); ok {
			given = number
		}
		return invalid("%s must be %s, not %s", field, wireType(wrong.Type), given)
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if name, ok := strings.CutPrefix(text, "unknown field "); ok {
		return invalid("no such parameter: %s", name)
	}
	return invalid("the parameters: %s", text)
}

// wireType is what JSON calls the values of a type of Go.
func wireType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wireType(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an integer"
}
