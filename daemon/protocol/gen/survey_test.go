package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// survey walks JSON along the model, and remembers what it saw of it.
type survey struct {
	types    map[string]*typeDecl
	unseen   map[string]bool // "Type.field present", "Type.field absent", "Enum value"
	problems []string
}

func newSurvey(m *model) *survey {
	s := &survey{types: map[string]*typeDecl{}, unseen: map[string]bool{}}
	for _, d := range m.types {
		s.types[d.name] = d
		if len(d.fields) == 0 && !d.isEnum() {
			s.unseen[d.name] = true
		}
		for _, f := range d.fields {
			s.unseen[d.name+"."+f.name+" present"] = true
			if f.optional {
				s.unseen[d.name+"."+f.name+" absent"] = true
			}
		}
		for _, v := range d.values {
			s.unseen[d.name+" "+v.text] = true
		}
	}
	return s
}

func (s *survey) missing() []string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(s.unseen)) {
		out = append(out, "no example shows "+what)
	}
	return out
}

func (s *survey) problem(at, format string, args ...any) {
	s.problems = append(s.problems, at+": "+fmt.Sprintf(format, args...))
}

// visit checks one value of a declared type.
func (s *survey) visit(at, name string, raw json.RawMessage) {
	d := s.types[name]
	if d == nil {
		s.problem(at, "no type %q", name)
		return
	}
	if d.isEnum() {
		s.visitEnum(at, d, raw)
		return
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		s.problem(at, "%s: not an object: %s", name, raw)
		return
	}
	delete(s.unseen, name)
	for _, f := range d.fields {
		value, ok := object[f.name]
		delete(object, f.name)
		here := at + ": " + name + "." + f.name
		switch {
		case ok:
			delete(s.unseen, name+"."+f.name+" present")
			s.visitRef(here, f.typ, value)
		case f.optional:
			delete(s.unseen, name+"."+f.name+" absent")
		default:
			s.problem(here, "absent, but not optional")
		}
	}
	for extra := range object {
		s.problem(at, "%s has no field %q", name, extra)
	}
}

func (s *survey) visitEnum(at string, d *typeDecl, raw json.RawMessage) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		s.problem(at, "%s: not a string: %s", d.name, raw)
		return
	}
	if !slices.ContainsFunc(d.values, func(v value) bool { return v.text == text }) {
		s.problem(at, "%s has no value %q", d.name, text)
	}
	delete(s.unseen, d.name+" "+text)
}

func (s *survey) visitRef(at string, t typeRef, raw json.RawMessage) {
	var got any
	if err := json.Unmarshal(raw, &got); err != nil || got == nil {
		s.problem(at, "null or no JSON: %s", raw)
		return
	}
	ok := true
	switch t.kind {
	case kindString:
		_, ok = got.(string)
	case kindBool:
		_, ok = got.(bool)
	case kindInteger:
		n, isNumber := got.(float64)
		ok = isNumber && n == math.Trunc(n)
	case kindNumber:
		_, ok = got.(float64)
	case kindUnknown:
	case kindNamed:
		s.visit(at, t.name, raw)
	case kindList:
		var items []json.RawMessage
		ok = json.Unmarshal(raw, &items) == nil
		for _, item := range items {
			s.visitRef(at, *t.elem, item)
		}
	case kindMap:
		var items map[string]json.RawMessage
		ok = json.Unmarshal(raw, &items) == nil
		for _, item := range items {
			s.visitRef(at, *t.elem, item)
		}
	}
	if !ok {
		s.problem(at, "of another type: %s", raw)
	}
}
