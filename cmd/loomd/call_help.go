package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/loomd/loomd/daemon"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/tools/schema"
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
	"web_search":   `{"query":"golang context.WithCancelCause example","max_results":3}`,
	"oracle":       `{"query":"Is a Go map safe for concurrent reads while nobody writes?"}`,
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
	input, err := schema.Parse(all[i].InputSchema)
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
	writeArguments(&out, input.Fields(), min(width, helpWidth))
	fmt.Fprintf(&out, "\nFor example:\n\n    %s\n\nThe flags are those of loomd call --help.\n", exampleOf(name))
	_, err = e.stdout.Write(out.Bytes())
	return err
}

// writeArguments writes what there is to say of each argument, those within
// others below these and further in.
func writeArguments(out io.Writer, args []schema.Field, width int) {
	for _, a := range args {
		indent := 2 + 4*a.Depth
		name := a.Name[strings.LastIndex(a.Name, ".")+1:]
		fmt.Fprintf(out, "%*s%s  %s\n", indent, "", name, formOf(a))
		paragraph(out, a.Schema.Description, indent+4, width)
	}
}

// formOf says what values an argument takes: "integer, 1 to 100, default 10".
func formOf(a schema.Field) string {
	parts := []string{a.Schema.Kind(), strings.Join(a.Schema.Enum, " | "), a.Schema.Limits(), ""}
	switch {
	case a.Required:
		parts[3] = "required"
	case len(a.Schema.Default) > 0:
		parts[3] = "default " + string(a.Schema.Default)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
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
