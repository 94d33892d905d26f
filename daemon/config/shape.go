package config

import (
	"slices"
	"strings"
)

// shape is what the reader of a configuration file asks of a key. It is noted
// while the reader runs over a file that says nothing, so that the schema for
// editors and the names of environment variables come from the very code that
// reads. A nil *shape notes nothing.
type shape struct {
	kind        string // of JSON schema
	words       []string
	pattern     string
	least, most int64  // of a number; 0, 0: none
	item        *shape // of a list, and of [[tables]]
	open        bool   // of a table: it may have any key
	keys        []string
	fields      map[string]*shape
	required    []string
}

// shapeOfFile runs the reader of a file and returns what it asks for.
func shapeOfFile() *shape {
	whole := newTable()
	f := file{trusted: true}
	f.read((&section{file: &f, doc: &document{}}).within("", whole))
	return whole
}

func newTable() *shape { return &shape{kind: "object", fields: map[string]*shape{}} }

// field is the shape of a key, which becomes one of the table's.
func (t *shape) field(key, kind string) *shape {
	if t == nil {
		return &shape{}
	}
	f := t.fields[key]
	if f == nil {
		f = &shape{kind: kind, fields: map[string]*shape{}}
		t.keys, t.fields[key] = append(t.keys, key), f
	}
	return f
}

func (t *shape) text(key string)  { t.field(key, "string") }
func (t *shape) truth(key string) { t.field(key, "boolean") }

func (t *shape) choice(key string, words []string) { t.field(key, "string").words = words }

func (t *shape) size(key string) {
	var units []string
	for _, u := range sizeUnits {
		units = append(units, u.name)
	}
	t.field(key, "string").pattern = "^[0-9]+ *(" + strings.Join(units, "|") + ")$"
}

func (t *shape) number(key string, least, most int64) {
	f := t.field(key, "integer")
	f.least, f.most = least, most
}

func (t *shape) list(key string) {
	if f := t.field(key, "array"); f.item == nil {
		f.item = &shape{kind: "string"}
	}
}

func (t *shape) choices(key string, words []string) {
	t.field(key, "array").item = &shape{kind: "string", words: words}
}

func (t *shape) long(key string, most int64) { t.field(key, "string").most = most }

// texts notes that the table may have any keys, each a text.
func (t *shape) texts() {
	if t == nil {
		return
	}
	t.fields[placeholder], t.keys = &shape{kind: "string"}, []string{placeholder}
}

func (t *shape) table(key string) *shape { return t.field(key, "object") }

func (t *shape) tables(key string) *shape {
	f := t.field(key, "array")
	f.item = newTable()
	return f.item
}

func (t *shape) require(key string) {
	if t != nil && !slices.Contains(t.required, key) {
		t.required = append(t.required, key)
	}
}

// any notes a key of which the reader takes any table.
func (t *shape) any(key string) { t.field(key, "object").open = true }

// placeholder is the one name that a table has while its shape is noted: it stands
// for any that a person may give.
const placeholder = "anyname"

// each calls do for every key below, "review.rule[].paths" and
// "toolsets.NAME.tools", in the order in which the reader asks.
func (t *shape) each(above string, do func(key string, s *shape)) {
	for _, name := range t.keys {
		key, f := join(above, shown(name)), t.fields[name]
		do(key, f)
		f.each(key, do)
		if f.item != nil {
			f.item.each(key+"[]", do)
		}
	}
}

// shown is a name as explanations have it.
func shown(name string) string {
	if name == placeholder {
		return "NAME"
	}
	return name
}

// scalars are the settings that are one value: those that an environment variable
// or a flag can set.
func (t *shape) scalars() map[string]*shape {
	out := map[string]*shape{}
	t.each("", func(key string, s *shape) {
		if s.kind != "object" && s.kind != "array" && !strings.Contains(key, "[]") && !slices.Contains(strings.Split(key, "."), "NAME") {
			out[key] = s
		}
	})
	return out
}
