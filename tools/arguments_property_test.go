package tools

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/loomd/loomd/watch/index"
	"github.com/loomd/loomd/watch/match"
)

// badInput is a scene for calls with any arguments: the tools that propose have a
// session of their own, so that there is nothing that await_review waits for.
func badInput(t *testing.T) *scene {
	t.Helper()
	s := &scene{newBench(t, map[string]string{
		"f": "one\ntwo\ntwo\n", "dir/g": "one\r\n", "binary": "\x00\x01", ".git/config": "x", ".gitignore": "ignored\n", "ignored": "one\n",
	})}
	s.withIndex()
	s.withSandbox().view = s.store.View(s.proposer())
	s.allow = func(_ context.Context, command string, _ []string) error {
		if !slices.Contains(commands, command) {
			return Failuref(CodeDenied, "it is none of those that the test knows")
		}
		return nil
	}
	s.services = servicesAt(serveText(t, "application/json", `{"items":[],"organic":[],"results":[],"choices":[{"message":{"content":"yes"}}]}`))
	return s
}

// maxRefusal bounds a failure in bytes: it repeats at most a path of maxPath
// characters, in its message, its hint and its path, of which each can take 6.
const maxRefusal = 16<<10 + 3*6*maxPath

// any calls a tool and checks what is true of every call, whatever its arguments.
func (s *scene) any(r *rapid.T, tool Tool, proposer string, raw string) (code string, a answer) {
	view := s.view
	if !tool.Annotations.ReadOnly {
		view = s.store.View(proposer)
	}
	was := s.tree()
	out, a := s.callIn(view, tool.Name, raw)
	if !maps.Equal(was, s.tree()) {
		r.Fatalf("%s %.300s: changed the disk", tool.Name, raw)
	}
	if out.Code == "internal" {
		r.Fatalf("%s %.300s: %s", tool.Name, raw, out.Structured)
	}
	if out.IsError && len(out.Structured) > maxRefusal {
		r.Fatalf("%s %.300s: a failure of %d bytes", tool.Name, raw, len(out.Structured))
	}
	return out.Code, a
}

// TestBadInputValid: arguments that the advertised schema allows are refused as
// invalid for what no schema can say only, and then by the argument's name.
func TestBadInputValid(t *testing.T) {
	s := badInput(t)
	proposer := s.proposer()
	for _, tool := range s.registry.List() {
		schema := advertised(t, tool)
		t.Run(tool.Name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				n := genValue(r, "", schema, false)
				code, a := s.any(r, tool, proposer, n.String())
				if field, _ := a["field"].(string); code == "invalid_arguments" && !unsayable(tool.Name, field, n) {
					r.Fatalf("%s %.300s: %v", tool.Name, n, a)
				}
			})
		})
	}
}

func (s *scene) proposer() string {
	s.t.Helper()
	s.session("proposer")
	for _, known := range s.store.Sessions() {
		if known.Label == "proposer" {
			return known.ID
		}
	}
	s.t.Fatal("no session")
	return ""
}

// unsayable reports whether a field of arguments is wrong in a way that their
// schema cannot say.
func unsayable(tool, field string, n *node) bool {
	text := func(name string) (s string) {
		if v := n.get(name); v != nil && v.literal[0] == '"' && json.Unmarshal([]byte(v.literal), &s) != nil {
			panic(v.literal)
		}
		return s
	}
	value := text(field)
	switch tool + " " + field {
	case "read_file byte_offset": // beside an offset
		return n.get("offset") != nil && n.get("offset").literal != "1"
	case "move_file to":
		if value == text("path") || strings.TrimPrefix(value, "dir/../") == strings.TrimPrefix(text("path"), "dir/../") {
			return true
		}
	case "glob pattern", "grep glob":
		_, err := index.CompileGlobs([]string{strings.TrimPrefix(value, "!")})
		return err != nil
	case "grep pattern":
		set := func(name string) bool { return n.get(name) != nil && n.get(name).literal == "true" }
		_, err := match.Compile(match.Options{
			Pattern: value, Fixed: set("fixed"), Word: set("word"), Multiline: set("multiline"), Invert: set("invert"),
		})
		return err != nil
	case "list_files max_depth": // without recursive
		return n.get("recursive") == nil || n.get("recursive").literal != "true"
	case "bash command":
		return strings.Contains(value, "\x00")
	case "web_search query", "oracle query":
		return strings.TrimFunc(value, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
		}) == ""
	case "oracle model":
		return value != "small" && value != "large"
	case "oracle max_tokens": // above what is configured
		most, err := strconv.Atoi(n.get("max_tokens").literal)
		return err == nil && most > 1000
	case "apply_patch patch": // what is no patch, or names what is no path
		return true
	case "grep type":
		return fileTypes[value]+otherTypes[value] == ""
	}
	return (field == "path" || field == "to" || field == "cwd") && (strings.Contains(value, "\x00") || len(value) > maxPath)
}

// mutation makes one thing wrong. It returns the field that the failure must
// name; ok is false where it does not apply.
type mutation struct {
	name string
	make func(r *rapid.T, at site) (field string, ok bool)
}

// spoil draws arguments of a tool with one mistake in them, and the field that
// has it.
func (m mutation) spoil(r *rapid.T, all []Tool, schemas map[string]*jsonschema.Schema) (tool Tool, n *node, field string) {
	for _, tool := range rapid.Permutation(all).Draw(r, "tool") {
		n := genValue(r, "", schemas[tool.Name], true)
		for _, at := range rapid.Permutation(sites(n, schemas[tool.Name], "")).Draw(r, "site") {
			if field, ok := m.make(r, at); ok {
				return tool, n, field
			}
		}
	}
	r.Fatalf("%s: no tool has an argument for it", m.name)
	return tool, n, field
}

// TestBadInput: arguments in which exactly one thing is not as the advertised
// schema says are refused, by the argument's name, before anything happens.
func TestBadInput(t *testing.T) {
	s := badInput(t)
	proposer := s.proposer()
	all := s.registry.List()
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range all {
		schemas[tool.Name] = advertised(t, tool)
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				tool, n, field := m.spoil(r, all, schemas)
				code, a := s.any(r, tool, proposer, n.String())
				start := field + ": "
				if field == "" {
					start = `"": `
				}
				if code != "invalid_arguments" || a["field"] != field || !strings.HasPrefix(a["message"].(string), start) {
					r.Fatalf("%s %.300s: got %s %v, want a failure of %s", tool.Name, n, code, a, field)
				}
				if hint := a["hint"].(string); m.name == near && !strings.HasPrefix(hint, "did you mean ") {
					r.Fatalf("%s %.300s: %s", tool.Name, n, hint)
				}
				if text, err := encode(a); err != nil || len(text) > 4<<10 {
					r.Fatalf("%s %.300s: the failure has %d bytes, %v", tool.Name, n, len(text), err)
				}
			})
		})
	}
	if made := s.standing(); made != "" {
		t.Errorf("bad input proposed something:\n%s", made)
	}
}

func set(at site, literal string) (string, bool) {
	*at.node = node{literal: literal}
	return at.at, true
}

// only makes a mutation of one type's values.
func only(kinds string, do func(r *rapid.T, at site) (string, bool)) func(r *rapid.T, at site) (string, bool) {
	return func(r *rapid.T, at site) (string, bool) {
		if !slices.Contains(strings.Fields(kinds), at.schema.Type) {
			return "", false
		}
		return do(r, at)
	}
}

var literals = map[string][]string{
	"string": {`""`, `"1"`, `"true"`}, "number": {"0", "1", "-1.5", "1e300"}, "boolean": {"true", "false"},
	"array": {"[]", `["f"]`, "[{}]"}, "object": {"{}", `{"path":"f"}`}, "null": {"null"},
}

const values = "string integer number boolean array"

const near = "unknown name near a known one"

var mutations = []mutation{
	{"unknown name far", only("object", func(r *rapid.T, at site) (string, bool) {
		name := rapid.OneOf(rapid.Just("zzqx"), rapid.Just(strings.Repeat("é", 1000)), rapid.Just(""), rapid.Just("a\x00b"), rapid.Just("\u2028"), rapid.String()).Draw(r, "name")
		if at.schema.Properties[name] != nil {
			return "", false
		}
		at.node.members = slices.Insert(at.node.members, rapid.IntRange(0, len(at.node.members)).Draw(r, "place"), member{name, &node{literal: "1"}})
		return short(below(at.at, name)), true
	})},
	{near, only("object", func(r *rapid.T, at site) (string, bool) {
		m := &at.node.members[rapid.IntRange(0, len(at.node.members)-1).Draw(r, "member")]
		name := rapid.SampledFrom([]string{strings.ToUpper(m.name), m.name + "s", m.name[1:], strings.ReplaceAll(m.name, "_", ""), m.name + " "}).Draw(r, "name")
		if at.schema.Properties[name] != nil {
			return "", false
		}
		at.node.members = append([]member{{name, m.value}}, at.node.members...)
		return below(at.at, name), true
	})},
	{"required is missing", only("object", func(r *rapid.T, at site) (string, bool) {
		if len(at.schema.Required) == 0 {
			return "", false
		}
		name := rapid.SampledFrom(at.schema.Required).Draw(r, "name")
		at.node.members = slices.DeleteFunc(at.node.members, func(m member) bool { return m.name == name })
		return below(at.at, name), true
	})},
	{"name twice", only("object", func(r *rapid.T, at site) (string, bool) {
		m := rapid.SampledFrom(at.node.members).Draw(r, "member")
		at.node.members = append(at.node.members, m)
		return below(at.at, m.name), true
	})},
	{"wrong type", only(values, func(r *rapid.T, at site) (string, bool) {
		kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(literals)), func(k string) bool {
			return k == at.schema.Type || k == "number" && at.schema.Type == "integer" // which is one, too
		})
		return set(at, rapid.SampledFrom(literals[rapid.SampledFrom(kinds).Draw(r, "kind")]).Draw(r, "literal"))
	})},
	{"no object", only("object", func(r *rapid.T, at site) (string, bool) {
		if at.at == "" {
			return "", false // which has no name
		}
		return set(at, rapid.SampledFrom([]string{"1", `"x"`, "null", "[]", "true"}).Draw(r, "literal"))
	})},
	{"null", only(values, func(_ *rapid.T, at site) (string, bool) { return set(at, "null") })},
	{"no integer", only("integer", func(r *rapid.T, at site) (string, bool) {
		return set(at, rapid.SampledFrom([]string{"1.5", "1.0", "1e0", "10E1", "0.5", "1e999", "2.000000000000001"}).Draw(r, "literal"))
	})},
	{"too low", only("integer number", func(r *rapid.T, at site) (string, bool) {
		least := int64(*at.schema.Minimum)
		return set(at, rapid.SampledFrom([]string{strconv.FormatInt(least-1, 10), "-9223372036854775809", "-1" + strings.Repeat("0", 400)}).Draw(r, "literal"))
	})},
	{"too high", only("integer number", func(r *rapid.T, at site) (string, bool) {
		most := int64(*at.schema.Maximum)
		return set(at, rapid.SampledFrom([]string{strconv.FormatInt(most+1, 10), "9223372036854775808", "1" + strings.Repeat("0", 400)}).Draw(r, "literal"))
	})},
	{"too long", only("string array", func(r *rapid.T, at site) (string, bool) {
		if at.schema.MaxLength != nil {
			return set(at, quoted(strings.Repeat(rapid.SampledFrom([]string{"x", "€", "\x01"}).Draw(r, "of"), *at.schema.MaxLength+1)))
		}
		if at.schema.MaxItems == nil {
			return "", false
		}
		for len(at.node.items) <= *at.schema.MaxItems {
			at.node.items = append(at.node.items, at.node.items[0])
		}
		return at.at, true
	})},
	{"too short", only("string array", func(_ *rapid.T, at site) (string, bool) {
		switch {
		case at.schema.MinLength != nil && *at.schema.MinLength > 0:
			return set(at, quoted(strings.Repeat("x", *at.schema.MinLength-1)))
		case at.schema.MinItems != nil && *at.schema.MinItems > 0:
			at.node.items = nil
			return at.at, true
		}
		return "", false
	})},
	{"none of the values", only("string", func(r *rapid.T, at site) (string, bool) {
		if len(at.schema.Enum) == 0 {
			return "", false
		}
		one := at.schema.Enum[0].(string)
		return set(at, quoted(rapid.SampledFrom([]string{strings.ToUpper(one), one + " ", "", one[1:], "zzqx", "\x00"}).Draw(r, "value")))
	})},
	{"no UTF-8", only("string", func(r *rapid.T, at site) (string, bool) {
		return set(at, `"f`+rapid.SampledFrom([]string{"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"}).Draw(r, "bytes")+`"`)
	})},
	{"half a surrogate pair", only("string", func(r *rapid.T, at site) (string, bool) {
		return set(at, rapid.SampledFrom([]string{`"\ud800"`, `"\udc00x"`, `"\ud800\ud800"`, `"f\udfff\\"`}).Draw(r, "literal"))
	})},
	{"no JSON", only(values, func(r *rapid.T, at site) (string, bool) {
		return set(at, rapid.SampledFrom([]string{"\"\n\"", "\"\x00\"", `"\x"`, `'f'`, "tru", "+1", ".5", "NaN", "1.", `"\u12"`}).Draw(r, "literal"))
	})},
	{"deep", only(values, func(r *rapid.T, at site) (string, bool) {
		open, end := "[", "]"
		if at.schema.Type == "array" || rapid.Bool().Draw(r, "objects") {
			open, end = `{"a":`, "}"
		}
		depth := rapid.SampledFrom([]int{2, 1000, 100_000}).Draw(r, "depth")
		return set(at, strings.Repeat(open, depth)+"1"+strings.Repeat(end, depth))
	})},
}
