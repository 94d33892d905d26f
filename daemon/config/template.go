package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxArgv bounds what a command is called with, in bytes of all its arguments.
const maxArgv = 96 << 10

// argument is one element of a command's template: text and {parameters} in turn.
type argument []piece

type piece struct {
	text  string
	param string // "": it is text
}

// parseArgument reads one element. {{ and }} are the braces themselves.
func parseArgument(text string) (argument, error) {
	var out argument
	var plain strings.Builder
	for rest := text; rest != ""; {
		switch i := strings.IndexAny(rest, "{}"); {
		case i < 0:
			plain.WriteString(rest)
			rest = ""
		case i+1 < len(rest) && rest[i+1] == rest[i]:
			plain.WriteString(rest[:i+1])
			rest = rest[i+2:]
		case rest[i] == '}':
			return nil, errors.New("a } without its {; write }} for the brace itself")
		default:
			plain.WriteString(rest[:i])
			name, after, closed := strings.Cut(rest[i+1:], "}")
			if !closed || !paramName.MatchString(name) {
				return nil, errors.New("a { that begins no {parameter}; write {{ for the brace itself")
			}
			if plain.Len() > 0 {
				out = append(out, piece{text: plain.String()})
				plain.Reset()
			}
			out = append(out, piece{param: name})
			rest = after
		}
	}
	if plain.Len() > 0 || len(out) == 0 {
		out = append(out, piece{text: plain.String()})
	}
	return out, nil
}

// with puts the values of options in the place of their names.
func (a argument) with(options map[string]string) argument {
	var out argument
	for _, p := range a {
		if value, ok := options[p.param]; ok && p.param != "" {
			p = piece{text: value}
		}
		if n := len(out); p.param == "" && n > 0 && out[n-1].param == "" {
			out[n-1].text += p.text
			continue
		}
		out = append(out, p)
	}
	return out
}

func (a argument) params() []string {
	var names []string
	for _, p := range a {
		if p.param != "" {
			names = append(names, p.param)
		}
	}
	return names
}

// ArgumentError is an argument of a call that cannot be a part of a command.
type ArgumentError struct {
	Field string
	Text  string
}

func (e *ArgumentError) Error() string { return e.Field + ": " + e.Text }

// Argv is the argument list that a call with these arguments, a JSON object that
// satisfies Schema, runs: its first element is the program. Each element of the
// template is one argument, whatever is in the values; there is no shell. One that
// is a list's {name} alone becomes as many as the list has; one with a parameter
// that was not given is left out. A value that would begin an argument with "-",
// and so be read as an option, is refused unless a "--" stands before it. The error
// is an *ArgumentError.
func (t Tool) Argv(args json.RawMessage) ([]string, error) {
	d := json.NewDecoder(strings.NewReader(string(args)))
	d.UseNumber()
	var values map[string]any
	if err := d.Decode(&values); err != nil {
		return nil, &ArgumentError{"", err.Error()}
	}
	var argv []string
	size, options := 0, true
	for _, a := range t.template {
		words, err := a.expand(values, options)
		if err != nil {
			return nil, err
		}
		for _, word := range words {
			size += len(word) + 1
		}
		if size > maxArgv {
			return nil, &ArgumentError{a.params()[0], fmt.Sprintf("the command would be longer than %d bytes", maxArgv)}
		}
		argv = append(argv, words...)
		if len(a) == 1 && a[0] == (piece{text: "--"}) {
			options = false
		}
	}
	return argv, nil
}

// expand makes the words of one element. options: what begins with "-" would be
// one.
func (a argument) expand(values map[string]any, options bool) ([]string, error) {
	if len(a) == 1 && a[0].param != "" {
		if list, ok := values[a[0].param].([]any); ok {
			var words []string
			for i, v := range list {
				word, err := wordOf(fmt.Sprintf("%s[%d]", a[0].param, i), v, options)
				if err != nil {
					return nil, err
				}
				words = append(words, word)
			}
			return words, nil
		}
	}
	var word strings.Builder
	for i, p := range a {
		if p.param == "" {
			word.WriteString(p.text)
			continue
		}
		v, given := values[p.param]
		if !given {
			return nil, nil
		}
		text, err := wordOf(p.param, v, options && i == 0)
		if err != nil {
			return nil, err
		}
		word.WriteString(text)
	}
	return []string{word.String()}, nil
}

// wordOf is a value as a part of a command. first: it begins an argument.
func wordOf(field string, v any, first bool) (string, error) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number, bool:
		text = fmt.Sprint(v)
	default:
		return "", &ArgumentError{field, "a list or an object is no part of an argument"}
	}
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return "", &ArgumentError{field, "must not hold a NUL character"}
	case first && strings.HasPrefix(text, "-"):
		return "", &ArgumentError{field, "must not begin with -: it would be read as an option"}
	}
	return text, nil
}

// unknownParam is the first parameter of a template that a schema does not have,
// with the nearest that it has.
func unknownParam(a argument, properties map[string]any) string {
	for _, name := range a.params() {
		if _, ok := properties[name]; !ok {
			return fmt.Sprintf("{%s}: there is no such parameter%s", name, didYouMean(name, slices.Sorted(maps.Keys(properties))))
		}
	}
	return ""
}
