package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

type callCmd struct {
	target
	Tool      string        `arg:"" optional:"" help:"The tool's name; without one, the tools are listed."`
	Arguments string        `arg:"" optional:"" name:"json" help:"Its arguments, a JSON object; \"-\" reads them from stdin."`
	Session   string        `default:"cli" placeholder:"LABEL" help:"Session to call it in: the open one of this label, or a new one (default: ${default})."`
	Toolset   string        `placeholder:"NAME" help:"Toolset of the session, when it is a new one (default: coding)."`
	JSON      bool          `name:"json" xor:"form" help:"Print the whole outcome as JSON: content, result and reviews."`
	Text      bool          `xor:"form" help:"Print what grep, glob or list_files found as lines, as on a terminal."`
	Idle      time.Duration `default:"10m" help:"When this call starts the daemon: how long it stays when nobody uses it (default: ${default})."`
}

func (callCmd) Help() string {
	return `Prints the tool's structured result as JSON; on a terminal what grep, glob and list_files found as lines: path:line:text, or a path in each. What reviewers decided since the session's last call is told on stderr, one line each; so is what others changed under a proposal, with the diff, and what a call waits for; on a terminal with a bar while the index is built for the first time.

    loomd call
    loomd call grep --help
    loomd call read_file '{"path":"go.mod"}'
    generate-arguments | loomd call edit_file -`
}

// maxArguments bounds what is read from stdin: what fits a frame.
const maxArguments = 64 << 20

func (c *callCmd) Run(e *env) error {
	args, err := c.arguments(e)
	if err != nil {
		return err
	}
	if c.Text && !slices.Contains(searchTools, c.Tool) {
		return usagef("--text: only %s have a form as text", strings.Join(searchTools, ", "))
	}
	if c.Idle <= 0 {
		return usagef("--idle %v: must be positive", c.Idle)
	}
	cl, err := c.connect(e, protocol.RoleAgent, &protocol.SessionOptions{Label: c.Session, Toolset: c.Toolset}, c.Idle)
	if err != nil {
		return err
	}
	defer cl.Close()
	if c.Tool == "" {
		return c.list(e, cl)
	}
	params := protocol.ToolsCallParams{Name: c.Tool, Arguments: args}
	bar := &progressBar{e: e}
	if !c.JSON {
		params.WorkDoneToken = json.RawMessage(`"call"`)
		cl.OnProgress(bar.show)
	}
	res, err := cl.CallTool(e.ctx, params)
	bar.clear()
	if err != nil {
		return err
	}
	return c.print(e, res)
}

// arguments returns the JSON object to send, nil for none.
func (c *callCmd) arguments(e *env) (json.RawMessage, error) {
	text := []byte(c.Arguments)
	switch c.Arguments {
	case "":
		return nil, nil
	case "-":
		var err error
		if text, err = io.ReadAll(io.LimitReader(e.stdin, maxArguments+1)); err != nil {
			return nil, fmt.Errorf("reading the arguments: %w", err)
		}
		if len(text) > maxArguments {
			return nil, usagef("arguments: more than %d bytes", maxArguments)
		}
	}
	if !utf8.Valid(text) {
		return nil, c.wrong("arguments: not valid UTF-8")
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(text, &object)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, c.wrong("arguments: not JSON: %v (at byte %d)", err, syntax.Offset)
	case err != nil || object == nil:
		return nil, c.wrong("arguments: not a JSON object")
	}
	return text, nil
}

// wrong is a usage error of the arguments, with how they are written.
func (c *callCmd) wrong(format string, args ...any) error {
	hint := fmt.Sprintf("%s; loomd call %s --help has all arguments", exampleOf(c.Tool), oneLine(c.Tool))
	return &usageError{fmt.Sprintf(format, args...), hint}
}

func (c *callCmd) list(e *env, cl *client.Client) error {
	res, err := cl.Tools(e.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return e.json(res)
	}
	rows := make([][]string, len(res.Tools))
	for i, t := range res.Tools {
		first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		rows[i] = []string{t.Name, first}
	}
	for _, line := range table(rows) {
		if err := e.printf("%s\n", shortenEnd(line, e.width())); err != nil {
			return err
		}
	}
	return nil
}

// print shows an outcome and returns errReported when the tool failed.
func (c *callCmd) print(e *env, res protocol.ToolsCallResult) error {
	failed := error(nil)
	if res.IsError {
		failed = errReported
	}
	if c.JSON {
		return errors.Join(e.json(res), failed)
	}
	for _, r := range res.Reviews {
		e.note("%s", reviewLine(r))
	}
	for _, m := range res.Moved {
		e.note("%s", movedLine(m))
		for line := range strings.Lines(m.Diff) {
			e.note("  %s", visible(strings.TrimRight(line, "\r\n")))
		}
		if m.Truncated {
			e.note("  and more")
		}
	}
	if res.IsError {
		c.reportFailure(e, res)
		return failed
	}
	if c.asText(e) {
		return e.printFound(res)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, res.StructuredContent, "", "  "); err != nil {
		return fmt.Errorf("reading the result of %s: %w", c.Tool, err)
	}
	for _, block := range res.Content {
		if block.Type == "image" {
			e.note("with an image (%s), which --json prints in base64", oneLine(block.MimeType))
		}
	}
	return e.printf("%s\n", out.Bytes())
}

func (c *callCmd) reportFailure(e *env, res protocol.ToolsCallResult) {
	var failure struct{ Code, Message, Hint string }
	if err := json.Unmarshal(res.StructuredContent, &failure); err != nil || failure.Code == "" {
		failure.Code = "failed"
		for _, block := range res.Content {
			failure.Message += block.Text
		}
	}
	e.note("loomd: %s: %s: %s", c.Tool, failure.Code, oneLine(failure.Message))
	if failure.Hint != "" {
		e.note("hint: %s", oneLine(failure.Hint))
	}
}

// movedLine tells that a file was changed by somebody else under a proposal.
func movedLine(m protocol.Moved) string {
	if m.Hash == "" {
		return "gone: " + pathName(m.Path) + ", which " + m.Proposal + " changes"
	}
	return "changed: " + pathName(m.Path) + ", by somebody else under " + m.Proposal
}

// reviewLine tells a decision: "accepted f h1 by alice: comment".
func reviewLine(r protocol.Review) string {
	line := r.Decision + " " + pathName(r.Path) + " " + r.Hunk
	if r.By != "" {
		line += " by " + r.By
	}
	if r.Comment != "" {
		line += ": " + r.Comment
	}
	return oneLine(line)
}
