package tools

import (
	"fmt"
	"strings"
	"testing"
)

func TestForeignSchema(t *testing.T) {
	const object = `{"type":"object","properties":{"a":`
	var doubling strings.Builder // each schema stands for two of the next
	for i := range 20 {
		fmt.Fprintf(&doubling, `,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
	}
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object"}`, ""},
		{object + `{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`, ""},
		{object + `{"type":["string","null"],"pattern":"^x"}}}`, ""},
		{`{"type":"object","additionalProperties":{"type":"string"},"if":{"required":["a"]},"then":{"required":["b"]}}`, ""},
		{``, "schema"},
		{`[]`, "schema"},
		{`null`, "not object"},
		{`{"type":"string"}`, "not object"},
		{object + `null}}`, "null is no schema"},
		{object + `{"type":"strnig"}}}`, "did you mean string"},
		{object + `{"pattern":"("}}}`, "schema"},
		{object + `{"type":"integer","default":"x"}}}`, "schema"},
		{object + `{"$ref":"https://example.com/s.json"}}}`, "leads nowhere"},
		{object + `{"$ref":"#/$defs/none"}}}`, "leads nowhere"},
		{object + `{"$ref":"#"}}}`, "leads nowhere"},
		{object + `{"$ref":"#/$defs/n"}},"$defs":{"n":{"allOf":[{"$ref":"#/$defs/n"}]}}}`, "leads back"},
		{object + `{"$dynamicRef":"#x"}}}`, "not supported"},
		{object + `{"$ref":"#/$defs/d0"}},"$defs":{"d20":{}` + doubling.String() + `}}`, "too large"},
		{object + strings.Repeat(`{"not":`, 100) + `{}` + strings.Repeat(`}`, 100) + `}}`, "64 deep"},
		{object + `{"description":"` + strings.Repeat("x", MaxSchema) + `"}}}`, "at most 65536"},
	} {
		s, err := ParseForeignSchema([]byte(c.schema))
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.120s: %v, want %q", c.schema, err, c.want)
		case c.want == "" && string(s.JSON) != c.schema:
			t.Errorf("advertised as %s, given as %s", s.JSON, c.schema)
		}
	}
}

// What the walk of arguments.go does not know is checked all the same.
func TestForeignSchemaIsEnforced(t *testing.T) {
	s, err := ParseForeignSchema([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"type":["string","null"]}},"additionalProperties":{"type":"integer"},"$defs":{"n":{"enum":[1,2]}}}`))
	must(t, err)
	for args, fine := range map[string]bool{
		`{"a":1,"b":null,"c":3}`: true, `{"a":3}`: false, `{"b":1}`: false, `{"c":"x"}`: false, `[]`: false, `{"a":1,"a":2}`: false,
	} {
		if err := s.Check([]byte(args)); (err == nil) != fine {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestForeignNames(t *testing.T) {
	for _, c := range []struct {
		name, text string
		fine       bool
	}{
		{"a", "d", true},
		{"Get-it_2", "two\n\tlines", true},
		{"", "d", false},
		{"2a", "d", false},
		{"a b", "d", false},
		{"ä", "d", false},
		{strings.Repeat("a", 65), "d", false},
		{"a", " \n", false},
		{"a", "\x1b[31m", false},
		{"a", "a\u202eb", false},
		{"a", "\xff", false},
		{"a", strings.Repeat("d", maxDescription+1), false},
	} {
		if err := CheckForeign(c.name, c.text); (err == nil) != c.fine {
			t.Errorf("%q, %.20q: %v", c.name, c.text, err)
		}
	}
}

func FuzzForeignSchema(f *testing.F) {
	for _, seed := range []string{`{"type":"object"}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`, `{"type":"object","allOf":[{"not":{}}],"items":[{}]}`} {
		f.Add([]byte(seed), []byte(`{"a":1}`))
	}
	f.Fuzz(func(_ *testing.T, schema, args []byte) {
		if s, err := ParseForeignSchema(schema); err == nil {
			_ = s.Check(args)
		}
	})
}
