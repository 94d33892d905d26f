package tools

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

func echoTool(name string, call func(ctx context.Context) (Result, error)) Tool {
	schema, err := ParseSchema([]byte(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`))
	if err != nil {
		panic(err)
	}
	return Tool{Name: name, Input: schema, Call: func(ctx context.Context, _ *Context, _ json.RawMessage) (Result, error) {
		return call(ctx)
	}}
}

func succeed(context.Context) (Result, error) {
	return Result{Structured: map[string]string{"html": "<&>"}}, nil
}

func TestRegistryRefuses(t *testing.T) {
	for name, tools := range map[string][]Tool{
		"registered twice":        {echoTool("a", succeed), echoTool("b", succeed), echoTool("a", succeed)},
		"without a name":          {echoTool("", succeed)},
		"without an input schema": {{Name: "a", Call: echoTool("a", succeed).Call}},
		"or a function":           {{Name: "a", Input: echoTool("a", succeed).Input}},
	} {
		if _, err := NewRegistry(tools...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestToolsets(t *testing.T) {
	r, err := Builtin()
	must(t, err)
	names := func(r *Registry) (names []string) {
		for _, tool := range r.List() {
			names = append(names, tool.Name)
		}
		return names
	}
	all := []string{"read_file", "write_file", "edit_file", "apply_patch", "delete_file", "move_file", "list_files", "glob", "grep", "bash", "job_output", "job_kill", "web_search", "oracle", "await_review"}
	reading := []string{"read_file", "list_files", "glob", "grep", "web_search", "oracle"}
	for toolset, want := range map[string][]string{
		"": all, "coding": all, "read_only": reading, "read_only_shell": {"read_file", "list_files", "glob", "grep", "bash", "job_output", "job_kill", "web_search", "oracle"},
	} {
		part, err := r.Toolset(toolset)
		must(t, err)
		if got := names(part); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", toolset, got, want)
		}
	}
	_, err = r.Toolset("codign")
	if err == nil || !strings.Contains(err.Error(), "coding, read_only, read_only_shell") {
		t.Errorf("unknown toolset: %v", err)
	}
	part, err := r.Toolset("read_only")
	must(t, err)
	for _, tool := range part.List() {
		if !tool.Annotations.ReadOnly {
			t.Errorf("%s in read_only", tool.Name)
		}
	}
	_, err = part.Run(context.Background(), "edit_file", "", nil, Context{})
	var unknown *UnknownToolError
	if !errors.As(err, &unknown) || unknown.Toolset != "read_only" {
		t.Errorf("a tool outside the toolset: %v", err)
	}
}

func TestRunUnknownTool(t *testing.T) {
	r, err := Builtin()
	must(t, err)
	for name, want := range map[string]string{
		"read_fiel": "did you mean read_file", "readFile": "did you mean read_file", "xyz": "the tools are read_file, ",
	} {
		_, err := r.Run(context.Background(), name, "", nil, Context{})
		var unknown *UnknownToolError
		if !errors.As(err, &unknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRunMapsErrors(t *testing.T) {
	fail := func(err error) func(context.Context) (Result, error) {
		return func(context.Context) (Result, error) { return Result{}, err }
	}
	r, err := NewRegistry(
		echoTool("good", succeed),
		echoTool("failure", fail((&Failure{Code: "no_match", Message: "m", Hint: "h"}).with("edit", 1))),
		echoTool("typed", fail(&diffpreview.Error{Code: diffpreview.CodeNoSpace, Path: "f", Message: "full"})),
		echoTool("plain", fail(errors.New("plain"))),
		echoTool("slow", fail(context.DeadlineExceeded)),
		echoTool("panics", func(context.Context) (Result, error) { panic("oh") }),
		echoTool("infinite", func(context.Context) (Result, error) { return Result{Structured: func() {}}, nil }),
		echoTool("unencodable", fail((&Failure{Code: "io", Message: "m"}).with("x", func() {}))),
	)
	must(t, err)
	for name, want := range map[string]string{
		"good":        `{"html":"<&>"}`,
		"failure":     `{"code":"no_match","message":"m","hint":"h","edit":1}`,
		"typed":       `{"code":"no_space","message":"f: full","hint":"","path":"f"}`,
		"plain":       `{"code":"internal","message":"plain","hint":"this is a defect of loomd; its log says more"}`,
		"slow":        `{"code":"timeout","message":"the call took too long and was ended","hint":"ask for less at once"}`,
		"panics":      `{"code":"internal","message":"the tool panics broke down","hint":"this is a defect of loomd; its log says more"}`,
		"infinite":    `{"code":"internal","message":"encoding the result: json: unsupported type: func()","hint":"this is a defect of loomd; its log says more"}`,
		"unencodable": `{"code":"io","message":"m","hint":""}`,
	} {
		out, err := r.Run(context.Background(), name, "id", nil, Context{})
		must(t, err)
		if string(out.Structured) != want || out.CallID != "id" || out.IsError != (name != "good") {
			t.Errorf("%s: %+v\ngot  %s\nwant %s", name, out, out.Structured, want)
		}
	}
}

func TestRunPassesCancellationUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := NewRegistry(
		echoTool("waits", func(ctx context.Context) (Result, error) {
			cancel()
			return Result{}, &Failure{Code: "io", Message: ctx.Err().Error()}
		}),
		echoTool("done", succeed))
	must(t, err)
	if out, err := r.Run(ctx, "waits", "", nil, Context{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := r.Run(ctx, "done", "", nil, Context{}); !errors.Is(err, context.Canceled) {
		t.Errorf("already cancelled: %v", err)
	}
}

// TestAdvertised pins what a model is told: names, texts, schemas, annotations,
// byte by byte, because a client caches it by its bytes.
func TestAdvertised(t *testing.T) {
	r, err := Builtin()
	must(t, err)
	type advertised struct {
		Name, Description string
		Input, Output     json.RawMessage
		Annotations       Annotations
	}
	var all []advertised
	for _, tool := range r.List() {
		all = append(all, advertised{tool.Name, tool.Description, tool.Input.JSON, tool.Output.JSON, tool.Annotations})
	}
	got, err := json.MarshalIndent(all, "", "  ")
	must(t, err)
	golden(t, "testdata/advertised.json", append(got, '\n'))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		must(t, os.WriteFile(name, got, 0o644))
		return
	}
	want, err := os.ReadFile(name)
	must(t, err)
	if string(got) != string(want) {
		t.Errorf("%s is not what is there (go test ./tools -update writes it):\n%s", name, got)
	}
}
