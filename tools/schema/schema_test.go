package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestFields holds what is said of each kind of argument, and that the order is
// the schema's.
func TestFields(t *testing.T) {
	s, err := Parse([]byte(`{"type":"object","required":["z"],"additionalProperties":false,"properties":{
		"z":{"type":"string","minLength":1,"maxLength":9,"description":"a|b"},
		"a":{"type":"integer","default":3,"minimum":0,"maximum":9007199254740991},
		"hash":{"type":"string","minLength":4,"maxLength":4},
		"least":{"type":"integer","minimum":-2},"most":{"type":"array","maxItems":5,"items":{"type":"string"}},
		"share":{"type":"number","minimum":0,"maximum":2},
		"mode":{"type":"string","enum":["x","y"]},
		"list":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["in"],"properties":{"in":{"type":"boolean"}}}},
		"one":{"type":"object","properties":{"deep":{"type":"string"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, f := range s.Fields() {
		rows = append(rows, fmt.Sprintf("%s|%d|%v|%s|%s|%s|%s", f.Name, f.Depth, f.Required, f.Schema.Kind(), f.Schema.Default, f.Schema.Limits(), strings.Join(f.Schema.Enum, " ")))
	}
	const want = `z|0|true|string||1 to 9 characters|
a|0|false|integer|3|at least 0|
hash|0|false|string||4 characters|
least|0|false|integer||at least -2|
most|0|false|list of strings||at most 5 items|
share|0|false|number||0 to 2|
mode|0|false|string|||x y
list|0|false|list of objects||1 to 2 items|
list[].in|1|true|boolean|||
one|0|false|object|||
one.deep|1|false|string|||`
	if got := strings.Join(rows, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestUnknownKeyword: a schema that says more than can be shown is refused.
func TestUnknownKeyword(t *testing.T) {
	for _, text := range []string{`{"type":"object","minProperties":1}`, `{"type":"object","properties":{"a":{"pattern":"x"}}}`} {
		if _, err := Parse(json.RawMessage(text)); err == nil {
			t.Errorf("%s is shown in part", text)
		}
	}
}

func TestArticle(t *testing.T) {
	for kind, want := range map[string]string{
		"object": "an object", "array": "an array", "integer": "an integer", "string": "a string", "number": "a number", "boolean": "a boolean", "null": "null",
	} {
		if got := Article(kind); got != want {
			t.Errorf("%s: %q", kind, got)
		}
	}
}
