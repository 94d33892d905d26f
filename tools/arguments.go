package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/loomd/loomd/tools/schema"
)

// Check reports the first way in which args do not satisfy the schema, as a
// *Failure with code invalid_arguments that names the argument. It is stricter
// than JSON schema where that is lax: a name may stand once, an integer is
// written as one (10.0 is none), and text must survive decoding (valid UTF-8, no
// lone surrogate). Nothing is clamped or converted.
func (s Schema) Check(args json.RawMessage) error {
	w := walk{dec: json.NewDecoder(bytes.NewReader(args)), args: args}
	w.dec.UseNumber()
	if err := w.value(s.root, ""); err != nil {
		return err
	}
	if _, err := w.dec.Token(); err != io.EOF {
		return badArgument("", "something follows the arguments' object")
	}
	if !utf8.Valid(args) { // in a name that the schema does not know
		return badArgument("", "the arguments are not valid UTF-8")
	}
	if s.whole == nil {
		return nil
	}
	var instance any
	if err := json.Unmarshal(args, &instance); err != nil {
		return badArgument("", "not JSON: %v", err)
	}
	if err := s.whole.Validate(instance); err != nil {
		return badArgument("", "%v", err)
	}
	return nil
}

// walk reads the arguments token by token beside their schema.
type walk struct {
	dec  *json.Decoder
	args []byte
}

// value checks the next value. at is its path, "" for the arguments themselves.
func (w *walk) value(s *jsonschema.Schema, at string) error {
	start := w.dec.InputOffset()
	token, err := w.dec.Token()
	if err != nil {
		return badArgument(at, "not JSON: %v", err)
	}
	if kind := typeOf(token); s.Type != "" && kind != s.Type && (s.Type != "integer" || kind != "number") {
		f := badArgument(at, "must be %s, not %s", schema.Article(s.Type), schema.Article(kind))
		if at == "" {
			f.Message = "the arguments " + f.Message
		}
		return f
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return w.object(s, at)
		}
		return w.array(s, at)
	case json.Number:
		return number(s, at, string(v))
	case string:
		return text(s, at, v, w.args[start:w.dec.InputOffset()])
	}
	return nil
}

func (w *walk) object(s *jsonschema.Schema, at string) error {
	var seen []string
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return badArgument(at, "not JSON: %v", err)
		}
		name := token.(string) // the decoder takes nothing else for a key
		field := name
		if at != "" {
			field = at + "." + name
		}
		if slices.Contains(seen, name) {
			return badArgument(short(field), "given twice")
		}
		seen = append(seen, name)
		property := s.Properties[name]
		switch {
		case property == nil && closed(s):
			return w.unknown(s, name, short(field))
		case property == nil:
			property = &jsonschema.Schema{}
		}
		if err := w.value(property, short(field)); err != nil {
			return err
		}
	}
	for _, name := range s.Required {
		if !slices.Contains(seen, name) {
			if at != "" {
				name = at + "." + name
			}
			return badArgument(name, "required")
		}
	}
	return w.end(at)
}

func (w *walk) unknown(s *jsonschema.Schema, name, field string) error {
	f := badArgument(field, "no such argument")
	if field == "" { // which is a name, too
		f.Message = `"": ` + f.Message
		f.with("field", field)
	}
	names := s.PropertyOrder
	if len(names) < len(s.Properties) {
		names = nil
		for n := range s.Properties {
			names = append(names, n)
		}
		slices.Sort(names)
	}
	if f.Hint = didYouMean(name, names); f.Hint == "" {
		f.Hint = "the arguments are " + strings.Join(names, ", ")
	}
	return f
}

func (w *walk) array(s *jsonschema.Schema, at string) error {
	items := s.Items
	if items == nil {
		items = &jsonschema.Schema{}
	}
	n := 0
	for ; w.dec.More(); n++ {
		if s.MaxItems != nil && n == *s.MaxItems {
			return badArgument(at, "more than %d items", *s.MaxItems)
		}
		if err := w.value(items, fmt.Sprintf("%s[%d]", at, n)); err != nil {
			return err
		}
	}
	if s.MinItems != nil && n < *s.MinItems {
		return badArgument(at, "%d items, at least %d needed", n, *s.MinItems)
	}
	return w.end(at)
}

// end reads the bracket that closes an object or array.
func (w *walk) end(at string) error {
	if _, err := w.dec.Token(); err != nil {
		return badArgument(at, "not JSON: %v", err)
	}
	return nil
}

func number(s *jsonschema.Schema, at, literal string) error {
	value, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return badArgument(at, "%s is out of range", short(literal))
	}
	if s.Type == "integer" && strings.ContainsAny(literal, ".eE") {
		return badArgument(at, "must be an integer, not %s", short(literal))
	}
	if s.Minimum != nil && value < *s.Minimum {
		return badArgument(at, "%s is below the minimum of %s", short(literal), plain(*s.Minimum))
	}
	if s.Maximum != nil && value > *s.Maximum {
		return badArgument(at, "%s is above the maximum of %s", short(literal), plain(*s.Maximum))
	}
	return nil
}

func text(s *jsonschema.Schema, at, value string, raw []byte) error {
	if !utf8.Valid(raw) {
		return badArgument(at, "not valid UTF-8")
	}
	if loneSurrogate(raw) {
		return badArgument(at, "half of a surrogate pair (\\ud800 to \\udfff on its own) is no character")
	}
	if s.MinLength != nil || s.MaxLength != nil {
		n := utf8.RuneCountInString(value)
		switch {
		case s.MinLength != nil && n < *s.MinLength && n == 0:
			return badArgument(at, "must not be empty")
		case s.MinLength != nil && n < *s.MinLength:
			return badArgument(at, "%d characters, at least %d needed", n, *s.MinLength)
		case s.MaxLength != nil && n > *s.MaxLength:
			return badArgument(at, "%d characters, at most %d allowed", n, *s.MaxLength)
		}
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(value)) {
		var names []string
		for _, e := range s.Enum {
			names = append(names, fmt.Sprint(e))
		}
		f := badArgument(at, "must be one of %s", strings.Join(names, ", "))
		f.Hint = didYouMean(value, names)
		return f
	}
	return nil
}

// loneSurrogate reports whether a JSON string's escapes name half of a surrogate
// pair, which decoding would silently turn into U+FFFD.
func loneSurrogate(raw []byte) bool {
	high := false // the escape just before was a high half
	for i := bytes.IndexByte(raw, '\\'); i >= 0 && i < len(raw); {
		if raw[i] != '\\' {
			if high {
				return true
			}
			next := bytes.IndexByte(raw[i:], '\\')
			if next < 0 {
				return false
			}
			i += next
			continue
		}
		if i+6 > len(raw) || raw[i+1] != 'u' {
			if high {
				return true
			}
			i += 2
			continue
		}
		code, _ := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
		isHigh, isLow := code>>10 == 0xd800>>10, code>>10 == 0xdc00>>10
		if isLow != high {
			return true
		}
		high = isHigh
		i += 6
	}
	return high
}

func typeOf(token json.Token) string {
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return "object"
		}
		return "array"
	case json.Number:
		return "number"
	case string:
		return "string"
	case bool:
		return "boolean"
	}
	return "null"
}

// maxEcho is how much of an argument a message repeats, in bytes.
const maxEcho = 80

// short is s cut at a character border to what a message can hold.
func short(s string) string {
	if len(s) <= maxEcho {
		return s
	}
	end := maxEcho
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
