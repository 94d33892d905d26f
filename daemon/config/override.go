package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Override is a setting that stands above the user's file: of an environment
// variable, or of a flag.
type Override struct {
	Key    string // dotted: "review.mode"
	Value  string // as it was written; a list or a table cannot be
	Source string // the variable's name, or the flag
}

// variablePrefix begins the names of the environment variables that are loomd's.
const variablePrefix = "LOOMD_"

// otherVariables are loomd's own variables that set nothing.
var otherVariables = []string{"LOOMD_READY_FD"}

// variableOf is the environment variable of a setting: LOOMD_REVIEW_MODE of
// review.mode.
func variableOf(key string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// Environment are the settings that environment variables make, in the order of
// their names. environ is what [os.Environ] returns. A variable that is called as
// if it were loomd's and is not is a problem that is ignored. An empty one sets
// nothing.
func Environment(environ []string) ([]Override, []Problem) {
	byName := map[string]string{}
	for key := range shapeOfFile().scalars() {
		byName[variableOf(key)] = key
	}
	known := slices.Sorted(maps.Keys(byName))
	var out []Override
	var problems []Problem
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(entry, "=")
		switch key := byName[name]; {
		case !strings.HasPrefix(name, variablePrefix), slices.Contains(otherVariables, name), value == "":
		case key == "":
			problems = append(problems, Problem{File: cut(name), Text: "an environment variable that sets nothing" + didYouMean(name, known), Ignored: true})
		default:
			out = append(out, Override{key, value, name})
		}
	}
	return out, problems
}

// ParseOverride reads "KEY=VALUE" of a flag. A value that the key cannot have is an
// error.
func ParseOverride(assignment, flag string) (Override, error) {
	key, value, ok := strings.Cut(assignment, "=")
	if !ok {
		return Override{}, fmt.Errorf("%q: write KEY=VALUE, as in review.mode=blocking", cut(assignment))
	}
	scalars := shapeOfFile().scalars()
	if scalars[key] == nil {
		return Override{}, fmt.Errorf("%q: there is no such setting%s", cut(key), didYouMean(key, slices.Sorted(maps.Keys(scalars))))
	}
	o := Override{key, value, flag + " " + key}
	if p := (text{}).parse(file{trusted: true}, []Override{o}).problems; len(p) > 0 {
		return Override{}, errors.New(p[0].Key + ": " + p[0].Text)
	}
	return o, nil
}

// override puts settings in the place of those of the file. Of two of one key the
// later counts.
func (d *document) override(list []Override) {
	if len(list) == 0 {
		return
	}
	if d.tree == nil {
		d.tree = map[string]any{}
	}
	d.from = map[string]string{}
	scalars := shapeOfFile().scalars()
	for _, o := range list {
		parts := strings.Split(o.Key, ".")
		table, ok := d.tree, true
		for _, part := range parts[:len(parts)-1] {
			if table[part] == nil {
				table[part] = map[string]any{}
			}
			if table, ok = table[part].(map[string]any); !ok {
				break // the file has something else there, which is a problem of the file
			}
		}
		if ok {
			table[parts[len(parts)-1]] = scalars[o.Key].value(o.Value)
			d.from[o.Key] = o.Source
		}
	}
}

// value is a text as TOML would have it for a key of this kind. What does not fit
// stays a text, of which the reader then complains.
func (t *shape) value(text string) any {
	switch {
	case t == nil:
	case t.kind == "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case t.kind == "boolean":
		if text == "true" || text == "false" {
			return text == "true"
		}
	}
	return text
}
