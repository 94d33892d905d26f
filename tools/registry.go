package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/secret"
)

// Registry is a list of tools in a stable order. It does not change, so it can
// be used by many calls at once.
type Registry struct {
	toolset string // "" when it holds all tools
	all     []string
	order   []Tool
	byName  map[string]*Tool
	sets    []Toolset // loomd's own, then those of [Registry.WithToolsets]
}

// NewRegistry keeps the order of tools. A name given twice, a tool without a
// name, an input schema or a function is refused.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{order: slices.Clone(tools), byName: map[string]*Tool{}, sets: ownToolsets}
	for i := range r.order {
		t := &r.order[i]
		switch {
		case t.Name == "":
			return nil, errors.New("tool without a name")
		case t.Input.root == nil || t.Call == nil:
			return nil, fmt.Errorf("tool %s: without an input schema or a function", t.Name)
		case r.byName[t.Name] != nil:
			return nil, fmt.Errorf("tool %s: registered twice", t.Name)
		}
		r.byName[t.Name] = t
		r.all = append(r.all, t.Name)
	}
	return r, nil
}

// Builtin is loomd's own tools.
func Builtin() (*Registry, error) {
	var tools []Tool
	for _, build := range []func() (Tool, error){readFile, writeFile, editFile, applyPatch, deleteFile, moveFile, listFiles, glob, grep, bashTool, jobOutputTool, jobKillTool, webSearch, oracle, awaitReviewTool} {
		t, err := build()
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return NewRegistry(tools...)
}

// Get finds a tool by its exact name.
func (r *Registry) Get(name string) (Tool, bool) {
	t := r.byName[name]
	if t == nil {
		return Tool{}, false
	}
	return *t, true
}

// List returns the tools in the order they were registered.
func (r *Registry) List() []Tool { return slices.Clone(r.order) }

// UnknownToolError says that a registry has no tool of this name.
type UnknownToolError struct {
	Name    string
	Toolset string // the toolset that leaves the tool out, "" when there is no such tool at all
	Hint    string
}

func (e *UnknownToolError) Error() string {
	msg := fmt.Sprintf("unknown tool %q", short(e.Name))
	if e.Toolset != "" {
		msg = fmt.Sprintf("tool %q is not in the toolset %s", short(e.Name), e.Toolset)
	}
	if e.Hint != "" {
		msg += ": " + e.Hint
	}
	return msg
}

func (r *Registry) unknown(name string) error {
	e := &UnknownToolError{Name: name}
	var known []string
	for _, t := range r.order {
		known = append(known, t.Name)
	}
	if slices.Contains(r.all, name) {
		e.Toolset = r.toolset
	} else {
		e.Hint = didYouMean(name, known)
	}
	if e.Hint == "" {
		e.Hint = "the tools are " + strings.Join(known, ", ")
	}
	return e
}

// Run calls a tool and logs that it did. No args are an empty object. A tool that
// fails, or that panics, is an outcome; the error is an *UnknownToolError, or the
// context's when the call failed because it was cancelled.
func (r *Registry) Run(ctx context.Context, name, callID string, args json.RawMessage, tc Context) (Outcome, error) {
	if tc.Logger == nil {
		tc.Logger = slog.New(slog.DiscardHandler)
	}
	tc.CallID = callID
	start := time.Now()
	out, err := r.call(ctx, name, args, &tc)
	r.logCall(ctx, &tc, name, args, &out, err, time.Since(start))
	return out, err
}

func (r *Registry) call(ctx context.Context, name string, args json.RawMessage, tc *Context) (Outcome, error) {
	tool := r.byName[name]
	if tool == nil {
		return Outcome{}, r.unknown(name)
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return Outcome{}, err
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	out, err := tool.run(ctx, tc, args)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return Outcome{}, ctx.Err()
	}
	if err != nil {
		out = failed(failureOf(err), tc.redactor())
	}
	out.CallID = tc.CallID
	return out, nil
}

func (t *Tool) run(ctx context.Context, tc *Context, args json.RawMessage) (out Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			tc.Logger.Error("tool panicked", "tool", t.Name, "call", tc.CallID, "panic", p, "stack", string(debug.Stack()))
			out = Outcome{}
			err = &Failure{
				Code: string(diffpreview.CodeInternal), Message: "the tool " + t.Name + " broke down",
				Hint: "this is a defect of loomd; its log says more",
			}
		}
	}()
	if err := t.Input.Check(args); err != nil {
		return Outcome{}, err
	}
	result, err := t.Call(ctx, tc, args)
	if err != nil {
		return Outcome{}, err
	}
	if rows, ok := result.Structured.(renderer); ok {
		w := rows.render()
		out.Pieces, out.Release = w.pieces(), w.release
	} else if out.Structured, err = encode(result.Structured); err != nil {
		return Outcome{}, fmt.Errorf("encoding the result: %w", err)
	}
	out.Cancelled = result.Cancelled
	out.redact(tc.redactor())
	if out.Content = redacted(result.Content, tc.redactor()); result.Content == nil {
		out.Content = out.asText()
	}
	out.Content = append(out.Content, redacted(result.Beside, tc.redactor())...)
	return out, nil
}

func failed(f *Failure, r *secret.Redactor) Outcome {
	text, err := encode(f)
	if err != nil { // Extra holds what JSON cannot
		f.Extra = nil
		text, _ = encode(f)
	}
	out := Outcome{Structured: text, IsError: true, Code: f.Code}
	out.redact(r)
	out.Content = out.asText()
	return out
}

// maxText is the size in bytes up to which a structured result is repeated as
// text, where it can take twice as many: both fit into a frame of 64 MiB.
const maxText = 16 << 20

// maxRowsText is the same for a result of many rows: 25,000 tokens at four bytes
// each. Hosts pass on no more than about that to a model, and the calls' own limits
// stay below it unless lines are very long.
const maxRowsText = 100_000

// asText is the structured result as the text that a model reads.
func (o *Outcome) asText() []Block {
	if o.Pieces == nil {
		if len(o.Structured) > maxText {
			return tooLong(len(o.Structured))
		}
		return []Block{{Type: "text", Quoted: [][]byte{appendEscaped(nil, o.Structured)}}}
	}
	size := 0
	for _, p := range o.Pieces {
		size += len(p)
	}
	if size > maxRowsText {
		return tooLong(size)
	}
	w := newRowWriter()
	for _, p := range o.Pieces {
		w.escaped(p)
	}
	release := o.Release
	o.Release = func() { release(); w.release() }
	return []Block{{Type: "text", Quoted: w.pieces()}}
}

func tooLong(size int) []Block {
	return []Block{{Type: "text", Text: fmt.Sprintf("The result has %d bytes: too many to repeat as text. It is in structuredContent; ask for less to have it here, too.", size)}}
}

// spec is what a tool of this package is made of.
type spec[Args, Out any] struct {
	name        string
	text        string // the .md file beside the code
	defaults    Args
	bounds      bounds
	choices     map[string][]string // the values that a string argument can have
	annotations Annotations
	codes       []diffpreview.Code // of its failures, beside those of all tools
	call        func(ctx context.Context, tc *Context, args Args) (Out, error)
}

// checker are arguments that have more to check than a schema can say. given
// reports whether an argument was given, be it with the value of its default.
type checker interface {
	check(given func(name string) bool) error
}

// given reports which members an object has.
func given(object json.RawMessage) func(name string) bool {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(object, &members) // the caller has decoded it
	return func(name string) bool { _, ok := members[name]; return ok }
}

func build[Args, Out any](s spec[Args, Out]) (Tool, error) {
	input, err := inputSchema(s.defaults, s.bounds, s.choices)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: input: %w", s.name, err)
	}
	output, err := outputSchema[Out]()
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: output: %w", s.name, err)
	}
	failures, err := failuresOf(s.codes)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: %w", s.name, err)
	}
	call := func(ctx context.Context, tc *Context, raw json.RawMessage) (Result, error) {
		args := s.defaults
		if err := json.Unmarshal(raw, &args); err != nil {
			return Result{}, badArgument("", "%v", err)
		}
		if c, ok := any(&args).(checker); ok {
			if err := c.check(given(raw)); err != nil {
				return Result{}, err
			}
		}
		out, err := s.call(ctx, tc, args)
		if rows, ok := any(&out).(renderer); ok {
			return Result{Structured: rows}, err
		}
		result := Result{Structured: out}
		if part, ok := any(&out).(interrupted); ok {
			result.Cancelled = part.interrupted()
		}
		if more, ok := any(&out).(besides); ok {
			result.Beside = more.beside()
		}
		return result, err
	}
	return Tool{
		Name: s.name, Description: strings.TrimSpace(s.text), Input: input, Output: output,
		Annotations: s.annotations, Failures: failures, Call: call,
	}, nil
}
