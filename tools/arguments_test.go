package tools

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

var badArguments = []struct {
	tool, args   string
	field, words string // words stand in the message or the hint
}{
	{"read_file", `{"path":"f","max_byte":1}`, "max_byte", "did you mean max_bytes?"},
	{"read_file", `{"path":"f","maxBytes":1}`, "maxBytes", "did you mean max_bytes?"},
	{"read_file", `{"file_path":"f"}`, "file_path", "did you mean path?"},
	{"read_file", `{"path":"f","xyz":1}`, "xyz", "the arguments are path, max_bytes, offset, limit, byte_offset"},
	{"read_file", `{"Path":"f"}`, "Path", "did you mean path?"},
	{"read_file", `{}`, "path", "required"},
	{"read_file", ``, "path", "required"},
	{"read_file", `{"path":1}`, "path", "must be a string, not a number"},
	{"read_file", `{"path":null}`, "path", "must be a string, not null"},
	{"read_file", `{"path":""}`, "path", "must not be empty"},
	{"read_file", `{"path":["f"]}`, "path", "not an array"},
	{"read_file", `{"path":"f","max_bytes":0}`, "max_bytes", "0 is below the minimum of 1"},
	{"read_file", `{"path":"f","max_bytes":8388609}`, "max_bytes", "above the maximum of 8388608"},
	{"read_file", `{"path":"f","max_bytes":1.5}`, "max_bytes", "must be an integer, not 1.5"},
	{"read_file", `{"path":"f","max_bytes":10.0}`, "max_bytes", "must be an integer, not 10.0"},
	{"read_file", `{"path":"f","max_bytes":1e3}`, "max_bytes", "must be an integer, not 1e3"},
	{"read_file", `{"path":"f","max_bytes":"10"}`, "max_bytes", "must be an integer, not a string"},
	{"read_file", `{"path":"f","offset":-1}`, "offset", "below the minimum"},
	{"read_file", `{"path":"f","offset":99999999999999999999}`, "offset", "above the maximum of 9007199254740991"},
	{"read_file", `{"path":"f","offset":1e999}`, "offset", "out of range"},
	{"read_file", `{"path":"f","path":"g"}`, "path", "given twice"},
	{"read_file", `{"path":"\ud800"}`, "path", "surrogate"},
	{"read_file", "{\"path\":\"\xff\"}", "path", "UTF-8"},
	{"read_file", "{\"\xff\":\"f\"}", "\uFFFD", "no such argument"},
	{"read_file", "\xff", "", "not JSON"},
	{"read_file", `{"":1}`, "", `\"\": no such argument`},
	{"read_file", `{"path":"a\u0000b"}`, "path", "NUL"},
	{"read_file", `{"path":"` + strings.Repeat("€", maxPath/3+1) + `"}`, "path", "4098 bytes"},
	{"read_file", `{"path":"f","byte_offset":1,"offset":2}`, "byte_offset", "does not go with offset"},
	{"list_files", `{"path":"a\u0000b"}`, "path", "NUL"},
	{"glob", `{"path":"a\u0000b","pattern":"*"}`, "path", "NUL"},
	{"delete_file", `{"path":"a\u0000b"}`, "path", "NUL"},
	{"write_file", `{"path":"a\u0000b","content":""}`, "path", "NUL"},
	{"move_file", `{"path":"f","to":"a\u0000b"}`, "to", "NUL"},
	{"move_file", `{"path":"f","to":"./f"}`, "to", "another place"},
	{"glob", `{"pattern":"["}`, "pattern", ""},
	{"read_file", `[]`, "", "the arguments must be an object, not an array"},
	{"read_file", `"f"`, "", "the arguments must be an object, not a string"},
	{"read_file", `null`, "", "the arguments must be an object, not null"},
	{"read_file", `{"path":"f"`, "", "not JSON"},
	{"read_file", `{"path":"f"} {}`, "", "follows"},
	{"list_files", `{"recursive":"true"}`, "recursive", "must be a boolean, not a string"},
	{"list_files", `{"max_depth":0}`, "max_depth", "below the minimum of 1"},
	{"list_files", `{"max_depth":101}`, "max_depth", "above the maximum of 100"},
	{"list_files", `{"limit":100001}`, "limit", "above the maximum of 100000"},
	{"edit_file", `{"path":"f","edits":[]}`, "edits", "at least 1 needed"},
	{"edit_file", `{"path":"f","edits":{}}`, "edits", "must be an array, not an object"},
	{"edit_file", `{"path":"f","edits":[{"old_str":"a","new_str":"b"},{"old_string":"a"}]}`, "edits[1].old_string", "did you mean old_str?"},
	{"edit_file", `{"path":"f","edits":[{"old_str":"a","new_str":"b"},{"new_str":"b"}]}`, "edits[1].old_str", "required"},
	{"edit_file", `{"path":"f","edits":[{"old_str":"a","new_str":"b","replace_all":1}]}`, "edits[0].replace_all", "must be a boolean"},
	{"edit_file", `{"path":"f","edits":[{"old_str":"a","new_str":"\udc00x"}]}`, "edits[0].new_str", "surrogate"},
	{"edit_file", `{"path":"f","edits":["x"]}`, "edits[0]", "must be an object, not a string"},
	{"edit_file", `{"path":"f","edits":[{"old_str":"a","new_str":"b","old_str":"a"}]}`, "edits[0].old_str", "given twice"},
	{"edit_file", `{"path":"f","edits":[{"old_str":"a","new_str":"b"}],"expected_hash":"abc"}`, "expected_hash", "at least 64 needed"},
	{"read_file", `{"path":"` + strings.Repeat("x", maxPath+1) + `"}`, "path", "at most 4095"},
}

func TestCheckNamesTheArgument(t *testing.T) {
	r, err := Builtin()
	must(t, err)
	b := newBench(t, map[string]string{"f": "a"})
	for _, tt := range badArguments {
		_, a := b.call(tt.tool, tt.args)
		field, _ := a["field"].(string)
		said, _ := json.Marshal(a)
		if a["code"] != "invalid_arguments" || field != tt.field || !strings.Contains(string(said), tt.words) {
			t.Errorf("%s %.200s:\n%s", tt.tool, tt.args, said)
		}
		if tt.field != "" && !strings.HasPrefix(a["message"].(string), tt.field) {
			t.Errorf("%s %.200s: the message does not begin with the field: %s", tt.tool, tt.args, a["message"])
		}
	}
	for _, good := range []string{
		`{"path":"f"}`, ` { "path" : "f" , "max_bytes" : 1 } `, `{"path":"\ud834\udd1e\\ud800"}`, `{"limit":1,"path":"f"}`,
	} {
		tool, _ := r.Get("read_file")
		if err := tool.Input.Check(json.RawMessage(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// TestCheckAgreesWithTheLibrary: what our walk lets through satisfies the schema
// that is advertised, and what it refuses does not, but for the things it is
// stricter in.
func TestCheckAgreesWithTheLibrary(t *testing.T) {
	schema, err := ParseSchema([]byte(`{"type":"object","additionalProperties":false,"required":["s"],"properties":{
		"s":{"type":"string","minLength":1,"maxLength":3},"i":{"type":"integer","minimum":-2,"maximum":5},
		"n":{"type":"number","maximum":1.5},"b":{"type":"boolean"},"e":{"type":"string","enum":["x","yy"]},
		"l":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["k"],"properties":{"k":{"type":"integer"}}}}}}`))
	must(t, err)
	if schema.whole != nil {
		t.Fatal("the library checks what the walk does")
	}
	resolved, err := schema.root.Resolve(nil)
	must(t, err)
	scalar := rapid.SampledFrom([]any{"", "x", "yy", "four", "ü€𝄞", -3, -2, 5, 6, 1.5, 1.75, true, nil, []any{}, map[string]any{}})
	key := rapid.SampledFrom([]string{"s", "i", "n", "b", "e", "l", "k", "other"})
	rapid.Check(t, func(r *rapid.T) {
		value := map[string]any{}
		for range rapid.IntRange(0, 5).Draw(r, "fields") {
			value[key.Draw(r, "key")] = scalar.Draw(r, "value")
		}
		if rapid.Bool().Draw(r, "list") {
			var list []any
			for range rapid.IntRange(0, 3).Draw(r, "items") {
				list = append(list, map[string]any{key.Draw(r, "item key"): scalar.Draw(r, "item")})
			}
			value["l"] = list
		}
		raw, err := json.Marshal(value)
		must(t, err)
		var plain any
		must(t, json.Unmarshal(raw, &plain))
		ours, theirs := schema.Check(raw), resolved.Validate(plain)
		if (ours == nil) != (theirs == nil) {
			r.Fatalf("%s: we say %v, the library says %v", raw, ours, theirs)
		}
	})
}

// TestCheckOfForeignKeywords: what the walk does not know the library decides.
func TestCheckOfForeignKeywords(t *testing.T) {
	schema, err := ParseSchema([]byte(`{"type":"object","properties":{"a":{"type":"string","pattern":"^x"}}}`))
	must(t, err)
	if err := schema.Check([]byte(`{"a":"xy","more":{"deep":[1,{"k":2.5}]}}`)); err != nil {
		t.Error(err)
	}
	var f *Failure
	if err := schema.Check([]byte(`{"a":"y"}`)); !errors.As(err, &f) || f.Code != "invalid_arguments" {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{`{"type":"array"}`, `{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`, `[]`} {
		if _, err := ParseSchema([]byte(bad)); err == nil {
			t.Errorf("%s compiles", bad)
		}
	}
	if _, err := inputSchema(listArgs{}, bounds{"nothing": {1, 2}}, nil); err == nil {
		t.Error("bounds of nothing are taken")
	}
}

// TestDefaultsAreAdvertised: the schema's defaults are the values that are used.
func TestDefaultsAreAdvertised(t *testing.T) {
	r, err := Builtin()
	must(t, err)
	for tool, want := range map[string]map[string]string{
		"read_file":  {"max_bytes": "1048576", "offset": "1"},
		"list_files": {"path": `"."`, "max_depth": "10", "limit": "1000", "hidden": "true"},
		"grep":       {"offset": "0", "context": "0"},
	} {
		tl, _ := r.Get(tool)
		var s jsonschema.Schema
		must(t, json.Unmarshal(tl.Input.JSON, &s))
		for name, value := range want {
			if got := string(s.Properties[name].Default); got != value {
				t.Errorf("%s %s: %s, want %s", tool, name, got, value)
			}
		}
	}
}

// FuzzCheck: whatever the arguments are, a failure is bounded text, and what is let
// through is what the advertised schema allows.
func FuzzCheck(f *testing.F) {
	f.Add(`{"path":"f","edits":[{"old_str":"a","new_str":"\ud834\udd1e"}]}`)
	f.Add(`{"path":1e5,"edits":[[[[`)
	for _, bad := range badArguments {
		f.Add(bad.args)
	}
	r, err := Builtin()
	if err != nil {
		f.Fatal(err)
	}
	library := map[string]*jsonschema.Resolved{}
	for _, tool := range r.List() {
		if library[tool.Name], err = advertised(f, tool).Resolve(nil); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, tool := range r.List() {
			err := tool.Input.Check(json.RawMessage(raw))
			var failure *Failure
			if errors.As(err, &failure) {
				if said, err := encode(failure); err != nil || !utf8.Valid(said) || len(said) > 4<<10 || failure.Code != "invalid_arguments" {
					t.Fatalf("%s: a failure of %d bytes: %.300q, %v", tool.Name, len(said), said, err)
				}
				continue
			}
			must(t, err)
			var into map[string]any
			must(t, json.Unmarshal([]byte(raw), &into))
			if err := library[tool.Name].Validate(into); err != nil {
				t.Errorf("%s: %q is let through: %v", tool.Name, raw, err)
			}
		}
	})
}
