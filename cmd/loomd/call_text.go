package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

// searchTools are those whose results have a form as lines.
var searchTools = []string{"grep", "glob", "list_files"}

// foundRow is one entry of a search's result; which fields it has depends on the
// tool and its mode.
type foundRow struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Context bool   `json:"context"`
	Cut     bool   `json:"cut"`
	Count   int    `json:"count"`
	IsDir   bool   `json:"is_dir"`
}

// UnmarshalJSON reads a row, or a path alone.
func (r *foundRow) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &r.Path)
	}
	type plain foundRow
	return json.Unmarshal(data, (*plain)(r))
}

// found is the result of grep, glob or list_files.
type found struct {
	Matches []foundRow `json:"matches"`
	Files   []foundRow `json:"files"`
	Counts  []foundRow `json:"counts"`

	Total        int    `json:"total"`
	TotalAtLeast bool   `json:"total_at_least"`
	Ignored      int    `json:"ignored"`
	Binary       int    `json:"skipped_binary"`
	Hint         string `json:"hint"`
	Warnings     []struct{ Path, Message string }
	Truncated    bool   `json:"truncated"`
	Shown        int    `json:"shown"`
	Unit         string `json:"unit"`
	Next         string `json:"next"`
}

// asText reports whether a result is shown as lines instead of JSON: those of
// the search tools on a terminal, or where --text asks for it.
func (c *callCmd) asText(e *env) bool {
	return c.Text || e.outIsTerm && slices.Contains(searchTools, c.Tool)
}

// printFound writes a search's result as lines: "path:line:text" for a match and
// "path-line-text" for its context as grep does, else one path in each, that of a
// directory with "/" at the end. On stderr it says what was left out.
func (e *env) printFound(res protocol.ToolsCallResult) error {
	var f found
	if err := json.Unmarshal(res.StructuredContent, &f); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	out := bufio.NewWriter(e.stdout)
	e.matches(out, f.Matches)
	for _, r := range f.Files {
		name := pathName(r.Path)
		if r.IsDir {
			name += "/"
		}
		fmt.Fprintln(out, name)
	}
	for _, r := range f.Counts {
		fmt.Fprintf(out, "%s:%d\n", e.paint.place(pathName(r.Path)), r.Count)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	for _, line := range f.leftOut() {
		e.note("%s", line)
	}
	return nil
}

// matches writes lines of grep, with "--" where context has a gap.
func (e *env) matches(out *bufio.Writer, rows []foundRow) {
	groups := slices.ContainsFunc(rows, func(r foundRow) bool { return r.Context })
	for i, r := range rows {
		if groups && i > 0 && (r.Path != rows[i-1].Path || r.Line != rows[i-1].Line+1) {
			fmt.Fprintln(out, e.paint.faint("--"))
		}
		sep := ":"
		if r.Context {
			sep = "-"
		}
		fmt.Fprintf(out, "%s%s%d%s%s\n", e.paint.place(pathName(r.Path)), sep, r.Line, sep, visible(r.Text))
	}
}

// leftOut are the lines that say what a result does not have.
func (f *found) leftOut() []string {
	var lines []string
	if len(f.Matches)+len(f.Files)+len(f.Counts) == 0 && !f.Truncated {
		lines = append(lines, f.nothing())
	}
	if f.Hint != "" {
		lines = append(lines, "hint: "+oneLine(f.Hint))
	}
	for _, w := range f.Warnings {
		lines = append(lines, "warning: "+pathName(w.Path)+": "+oneLine(w.Message))
	}
	cut := 0
	for _, r := range f.Matches {
		if r.Cut {
			cut++
		}
	}
	if cut > 0 {
		lines = append(lines, plural(cut, "long line")+" shown in part")
	}
	if f.Truncated {
		total := fmt.Sprint(f.Total)
		if f.TotalAtLeast {
			total = "at least " + total
		}
		lines = append(lines, oneLine(fmt.Sprintf("shown %d of %s %s: %s", f.Shown, total, f.Unit, f.Next)))
	}
	return lines
}

// nothing says that nothing was found, and what was not looked at.
func (f *found) nothing() string {
	var besides []string
	if f.Ignored > 0 {
		besides = append(besides, fmt.Sprintf("%d ignored", f.Ignored))
	}
	if f.Binary > 0 {
		besides = append(besides, plural(f.Binary, "binary file")+" passed over")
	}
	if len(besides) == 0 {
		return "nothing found"
	}
	return "nothing found (" + strings.Join(besides, ", ") + ")"
}
