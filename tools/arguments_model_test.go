package tools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// node is a JSON value that can be what no Go value is: with a name that stands
// twice, with bytes that are no text.
type node struct {
	open    byte   // '{', '[', or 0 for a literal
	literal string // as it is written
	members []member
	items   []*node
}

type member struct {
	name  string
	value *node
}

func (n *node) String() string {
	var parts []string
	switch n.open {
	case '{':
		for _, m := range n.members {
			parts = append(parts, quoted(m.name)+":"+m.value.String())
		}
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		for _, item := range n.items {
			parts = append(parts, item.String())
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return n.literal
}

// get is the member of this name, nil for none.
func (n *node) get(name string) *node {
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func quoted(s string) string {
	text, err := encode(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// escaped is s with every character as \u0000 or two of these.
func escaped(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return `"` + b.String() + `"`
}

// patchOf is a patch that updates one file by the lines of one hunk.
func patchOf(path, lines string) string {
	return "*** Begin Patch\n*** Update File: " + path + "\n" + lines + "\n*** End Patch"
}

// commands are those that calls with any arguments may run.
var commands = []string{"true", "exit 3", "echo one; echo two >&2", "kill -9 $$", "echo x >>f", "rm -r dir; mkdir f2", "sleep 1000 &", "a\x00b", "printf '\\377\\033[1m\\r\\0'"}

// samples are strings that lead further than any others, by the argument's name.
var samples = map[string][]string{
	"path":    {"f", "dir/g", "dir", "absent", "new/h", ".", "f/", "f/x", "dir/../f", "../x", "/", ".git/config", "binary", "a\x00b", " "},
	"to":      {"f", "dir", "free", "new/free", "../x", ".git/x", "f/x", "free/", "a\x00b"},
	"pattern": {"one", "*", "**/*", "f", "dir/", "{a,b", "[", "(", "o.e$", `\b`, "(?=x)", "a{1001}", "../*", "/x", "^", ""},
	"glob":    {"*", "!dir/**", "!", "{f,dir/*}", "[", "../*"},
	"type":    {"go", "txt", "md", "gop", "nonsense"},
	"old_str": {"one", "two", "o", "", "\n", "three"},
	"new_str": {"one", "two", "", "\n", "\x00", "é"},
	"content": {"", "one\ntwo\ntwo\n", "\x00", "é\r\n"},
	"patch": {
		patchOf("f", "-one\n+1"), patchOf("dir", "-one\n+1"), patchOf("absent", "-one\n+1"), patchOf("f", "-three\n+1"), patchOf("f", "-two\n+2"),
		"f\n<<<<<<< SEARCH\none\n=======\n\x00\n>>>>>>> REPLACE", "--- f\n+++ ../f\n@@\n-one\n+1\n", "*** Begin Patch\n*** Delete File: binary\n*** End Patch",
	},
	"proposals": {"p1", "p99", ""},
	"command":   commands,
	"cwd":       {"dir", ".", "f", "absent", "../x", "a\x00b", ".git"},
	"job":       {"j1", "j2", "j99", "x"},
	"query":     {"one", " ", "\x00", "\u200b", "é\n"},
	"model":     {"small", "large", "none", " "},
}

// genText is a string that s allows.
func genString(name string, s *jsonschema.Schema) *rapid.Generator[string] {
	if len(s.Enum) > 0 {
		return rapid.Map(rapid.SampledFrom(s.Enum), func(v any) string { return v.(string) })
	}
	least, most := 0, 300
	if s.MinLength != nil {
		least = *s.MinLength
	}
	if s.MaxLength != nil {
		most = min(*s.MaxLength, max(most, least))
	}
	fit := slices.DeleteFunc(slices.Clone(samples[name]), func(v string) bool {
		n := utf8.RuneCountInString(v)
		return n < least || n > most
	})
	random := rapid.StringN(least, most, -1)
	if s.MaxLength != nil && *s.MaxLength <= 1<<16 {
		random = rapid.OneOf(random, rapid.Just(strings.Repeat("x", *s.MaxLength)), rapid.Just(strings.Repeat("€", *s.MaxLength)))
	}
	if len(fit) == 0 {
		return random
	}
	return rapid.OneOf(rapid.SampledFrom(fit), rapid.SampledFrom(fit), random)
}

// genInteger is one within the bounds, most often a small or the last one.
func genInteger(s *jsonschema.Schema) *rapid.Generator[int64] {
	least, most := int64(*s.Minimum), int64(*s.Maximum)
	return rapid.OneOf(rapid.Int64Range(least, min(most, least+10)), rapid.Just(most), rapid.Int64Range(least, most))
}

// genValue draws a value that s allows. all has every property in it.
func genValue(r *rapid.T, name string, s *jsonschema.Schema, all bool) *node {
	switch s.Type {
	case "object":
		n := &node{open: '{'}
		for _, p := range rapid.Permutation(slices.Sorted(keysOf(s.Properties))).Draw(r, "order") {
			if all || slices.Contains(s.Required, p) || rapid.Bool().Draw(r, "give "+p) {
				n.members = append(n.members, member{p, genValue(r, p, s.Properties[p], all)})
			}
		}
		return n
	case "array":
		n := &node{open: '['}
		for range rapid.IntRange(*s.MinItems, min(*s.MaxItems, 4)).Draw(r, name+" items") {
			n.items = append(n.items, genValue(r, name, s.Items, all))
		}
		return n
	case "integer":
		return &node{literal: strconv.FormatInt(genInteger(s).Draw(r, name), 10)}
	case "number":
		return &node{literal: strconv.FormatFloat(rapid.Float64Range(*s.Minimum, *s.Maximum).Draw(r, name), 'g', -1, 64)}
	case "boolean":
		return &node{literal: strconv.FormatBool(rapid.Bool().Draw(r, name))}
	case "string":
		text := genString(name, s).Draw(r, name)
		if rapid.IntRange(0, 3).Draw(r, "escape") == 0 {
			return &node{literal: escaped(text)}
		}
		return &node{literal: quoted(text)}
	}
	panic("no generator of " + s.Type)
}

func keysOf(properties map[string]*jsonschema.Schema) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range properties {
			if !yield(name) {
				return
			}
		}
	}
}

// site is a value in arguments.
type site struct {
	node   *node
	schema *jsonschema.Schema
	at     string // as a failure names it
}

// sites are n and all values within it.
func sites(n *node, s *jsonschema.Schema, at string) []site {
	out := []site{{n, s, at}}
	for _, m := range n.members {
		out = append(out, sites(m.value, s.Properties[m.name], below(at, m.name))...)
	}
	for i, item := range n.items {
		out = append(out, sites(item, s.Items, fmt.Sprintf("%s[%d]", at, i))...)
	}
	return out
}

func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// advertised is the input schema of a tool as a client reads it.
func advertised(t testing.TB, tool Tool) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	must(t, s.UnmarshalJSON(tool.Input.JSON))
	return &s
}
