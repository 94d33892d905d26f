package tools

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

type countArgs struct {
	Path string `json:"path" jsonschema:"the file"`
	Of   string `json:"of,omitempty"`
	Most int    `json:"most,omitempty"`
}

type countOut struct {
	Lines int `json:"lines"`
}

func counting(name string) Spec[countArgs, countOut] {
	return Spec[countArgs, countOut]{
		Name: name, Description: "Counts.", Defaults: countArgs{Of: "lines", Most: 3},
		Bounds: map[string][2]int{"most": {1, 9}}, Choices: map[string][]string{"of": {"lines", "words"}},
		Annotations: Annotations{ReadOnly: true, Idempotent: true},
		Failures:    []FailureCode{{"too_many", "More than most."}},
		Call: func(_ context.Context, _ *Context, a countArgs) (countOut, error) {
			if a.Path == "long" {
				return countOut{}, Failuref("too_many", "more than %d %s", a.Most, a.Of)
			}
			return countOut{Lines: a.Most}, nil
		},
	}
}

// TestCustomTool: defaults, bounds and choices count for a tool of somebody else
// as they do for loomd's own.
func TestCustomTool(t *testing.T) {
	tool, err := counting("count").Tool()
	must(t, err)
	own, err := Builtin()
	must(t, err)
	r, err := own.With(tool)
	must(t, err)
	for args, want := range map[string]string{
		`{"path":"f"}`:              `{"lines":3}`,
		`{"path":"long"}`:           `{"code":"too_many","message":"more than 3 lines","hint":""}`,
		`{"path":"f","most":10}`:    `{"code":"invalid_arguments","message":"most: 10 is above the maximum of 9","hint":"","field":"most"}`,
		`{"path":"f","of":"liens"}`: `{"code":"invalid_arguments","message":"of: must be one of lines, words","hint":"did you mean lines?","field":"of"}`,
		`{}`:                        `{"code":"invalid_arguments","message":"path: required","hint":"","field":"path"}`,
	} {
		out, err := r.Run(context.Background(), "count", "c", json.RawMessage(args), Context{})
		must(t, err)
		if string(out.Structured) != want {
			t.Errorf("%s: %s, want %s", args, out.Structured, want)
		}
	}
	if !slices.ContainsFunc(tool.Failures, func(f FailureCode) bool { return f.Code == "too_many" }) {
		t.Errorf("failures: %+v", tool.Failures)
	}
	part, err := r.Toolset("read_only")
	must(t, err)
	if _, in := part.Get("count"); in {
		t.Error("whatever a tool says of itself, read_only is loomd's own tools alone")
	}
}

func TestRegister(t *testing.T) {
	t.Cleanup(func() { registered.tools = nil })
	Register(counting("count"))
	r, err := All()
	must(t, err)
	if list := r.List(); list[len(list)-1].Name != "count" {
		t.Errorf("the last tool is %s", list[len(list)-1].Name)
	}
	own, err := Builtin()
	must(t, err)
	if _, in := own.Get("count"); in {
		t.Error("it is one of loomd's own")
	}
	for name, want := range map[string]string{"read_file": "twice", "count": "twice", "a b": "name"} {
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", name, err)
				}
			}()
			Register(counting(name))
		}()
	}
	if _, err := (Spec[countArgs, countOut]{Name: "x"}).Tool(); err == nil {
		t.Error("a tool without a function")
	}
	if _, err := (Spec[string, countOut]{Name: "x", Call: func(context.Context, *Context, string) (countOut, error) { return countOut{}, nil }}).Tool(); err == nil {
		t.Error("a tool whose arguments are no object")
	}
}

func TestWithToolsets(t *testing.T) {
	own, err := Builtin()
	must(t, err)
	r, err := own.WithToolsets(Toolset{"look", []string{"glob", "read_file", "none"}}, Toolset{"nothing", nil})
	must(t, err)
	for name, want := range map[string][]string{"look": {"read_file", "glob"}, "nothing": nil} {
		part, err := r.Toolset(name)
		must(t, err)
		if part.all = nil; len(part.List()) != len(want) {
			t.Errorf("%s: %v", name, part.List())
		}
	}
	if _, err := r.Toolset("loko"); err == nil || !strings.Contains(err.Error(), "did you mean look?") {
		t.Errorf("%v", err)
	}
	for _, taken := range []string{"coding", "look"} {
		if _, err := r.WithToolsets(Toolset{taken, nil}); err == nil {
			t.Errorf("%s is defined anew", taken)
		}
	}
	more, err := r.With(echoTool("extra", succeed))
	must(t, err)
	if _, err := more.Toolset("look"); err != nil {
		t.Error(err)
	}
}
