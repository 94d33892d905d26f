package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/loomd/loomd/daemon"
	"github.com/loomd/loomd/daemon/protocol"
)

// examples are arguments that each tool takes.
var examples = map[string]string{
	"read_file":    `{"path":"README.md","limit":20}`,
	"write_file":   `{"path":"notes.txt","content":"hello\n"}`,
	"edit_file":    `{"path":"notes.txt","edits":[{"old_str":"hello","new_str":"hi"}]}`,
	"apply_patch":  `{"patch":"*** Begin Patch\n*** Update File: notes.txt\n-hello\n+hi\n*** End Patch"}`,
	"delete_file":  `{"path":"notes.txt"}`,
	"move_file":    `{"path":"notes.txt","to":"docs/notes.txt"}`,
	"list_files":   `{"path":"src","recursive":true}`,
	"glob":         `{"pattern":"**/*_test.go"}`,
	"grep":         `{"pattern":"func \\w+Handler","type":"go","context":2}`,
	"bash":         `{"command":"go test ./...","timeout_secs":120}`,
	"job_output":   `{"job":"j1","wait_secs":10}`,
	"job_kill":     `{"job":"j1"}`,
	"await_review": `{"timeout_secs":60}`,
}

// exampleOf is a command line that calls a tool.
func exampleOf(tool string) string {
	args, ok := examples[tool]
	if !ok {
		args = `{"name":"value"}`
	}
	return fmt.Sprintf("loomd call %s '%s'", oneLine(tool), args)
}

// helpWidth is how wide help is at most, in columns.
const helpWidth = 100

// printHelp is kong's help, and for "call TOOL" that tool's.
func printHelp(e *env) kong.HelpPrinter {
	return func(options kong.HelpOptions, ctx *kong.Context) error {
		for _, p := range ctx.Path {
			if p.Positional != nil && p.Positional.Name == "tool" {
				return e.toolHelp(ctx.Value(p).String())
			}
		}
		return kong.DefaultHelpPrinter(options, ctx)
	}
}

// toolHelp writes what a tool of loomd does and takes. It needs no daemon.
func (e *env) toolHelp(name string) error {
	all, err := daemon.Tools()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t protocol.Tool) bool { return t.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no tool %q: loomd call lists them", oneLine(name))
	}
	args, err := argumentsOf(all[i].InputSchema)
	if err != nil {
		return fmt.Errorf("reading the schema of %s: %w", name, err)
	}
	width := e.width()
	if width <= 0 {
		width = plainWidth
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "Usage: loomd call %s [<json>] [flags]\n\n", name)
	paragraph(&out, all[i].Description, 0, min(width, helpWidth))
	out.WriteString("\nArguments, the members of one JSON object:\n")
	writeArguments(&out, args, 2, min(width, helpWidth))
	fmt.Fprintf(&out, "\nFor example:\n\n    %s\n\nThe flags are those of loomd call --help.\n", exampleOf(name))
	_, err = e.stdout.Write(out.Bytes())
	return err
}

// argument is one member of the object that a schema describes.
type argument struct {
	name     string
	required bool
	schema   argumentSchema
	items    string     // the type of an array's items
	inner    []argument // of items that are objects
}

// argumentSchema is what a tool's schema says of an argument.
type argumentSchema struct {
	Type                 string
	Description          string
	Default              json.RawMessage
	Enum                 []string
	Minimum, Maximum     *json.Number
	MinLength, MaxLength *json.Number
	MinItems, MaxItems   *json.Number
	Items                json.RawMessage
}

// argumentsOf reads the properties of a schema in the order in which it has them.
func argumentsOf(schema json.RawMessage) ([]argument, error) {
	var object struct {
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(schema, &object); err != nil || len(object.Properties) == 0 {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(object.Properties))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var args []argument
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		a := argument{name: fmt.Sprint(key)}
		a.required = slices.Contains(object.Required, a.name)
		if err := dec.Decode(&a.schema); err != nil {
			return nil, err
		}
		if a.schema.Items != nil {
			var items struct{ Type string }
			if err := json.Unmarshal(a.schema.Items, &items); err != nil {
				return nil, err
			}
			a.items = items.Type
			if a.inner, err = argumentsOf(a.schema.Items); err != nil {
				return nil, err
			}
		}
		args = append(args, a)
	}
	return args, nil
}

func writeArguments(out io.Writer, args []argument, indent, width int) {
	for _, a := range args {
		fmt.Fprintf(out, "%*s%s  %s\n", indent, "", a.name, a.form())
		paragraph(out, a.schema.Description, indent+4, width)
		writeArguments(out, a.inner, indent+4, width)
	}
}

// form says what values an argument takes: "integer, 1 to 100, default 10".
func (a *argument) form() string {
	s := &a.schema
	parts := []string{s.Type}
	if a.items != "" {
		parts[0] += " of " + a.items + "s"
	}
	if len(s.Enum) > 0 {
		parts = append(parts, strings.Join(s.Enum, " | "))
	}
	for _, b := range []struct {
		low, high *json.Number
		unit      string
	}{{s.Minimum, s.Maximum, ""}, {s.MinLength, s.MaxLength, " characters"}, {s.MinItems, s.MaxItems, " items"}} {
		if text := interval(b.low, b.high); text != "" {
			parts = append(parts, text+b.unit)
		}
	}
	switch {
	case a.required:
		parts = append(parts, "required")
	case len(s.Default) > 0:
		parts = append(parts, "default "+string(s.Default))
	}
	return strings.Join(parts, ", ")
}

// interval is "1 to 10", "at least 1" where there is no upper bound or only that
// of JSON's integers, "at most 10", or "".
func interval(low, high *json.Number) string {
	endless := high == nil
	if high != nil {
		n, err := strconv.ParseInt(high.String(), 10, 64)
		endless = err == nil && n == 1<<53-1
	}
	switch {
	case low == nil && endless:
		return ""
	case endless:
		return "at least " + low.String()
	case low == nil:
		return "at most " + high.String()
	}
	return low.String() + " to " + high.String()
}

// paragraph writes text in lines of at most width columns where words allow it,
// each behind indent spaces. Empty lines part paragraphs and stay.
func paragraph(out io.Writer, text string, indent, width int) {
	for line := range strings.Lines(text) {
		used := 0
		for word := range strings.FieldsSeq(line) {
			n := columnsOf(word)
			switch {
			case used == 0:
				fmt.Fprintf(out, "%*s", indent, "")
				used = indent
			case used+1+n > width:
				fmt.Fprintf(out, "\n%*s", indent, "")
				used = indent
			default:
				fmt.Fprint(out, " ")
				used++
			}
			fmt.Fprint(out, word)
			used += n
		}
		fmt.Fprintln(out)
	}
}
