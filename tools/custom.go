package tools

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sync"

	"github.com/loomd/loomd/diffpreview"
)

// Spec is a tool made of a function over typed arguments. Args and Out are
// structs; their fields' json tags are the names of arguments and results, and the
// jsonschema tags what a model is told of them. An argument with omitempty may be
// left out and has then the value that Defaults has.
type Spec[Args, Out any] struct {
	Name        string // letters, digits, _ and -, at most 64
	Description string // what the model is told
	Defaults    Args
	// Bounds are the least and the greatest value that is allowed, by the argument's
	// name: of an integer, of a list's number of items, of a text's number of
	// characters.
	Bounds      map[string][2]int
	Choices     map[string][]string // the values that a text can have
	Annotations Annotations
	Failures    []FailureCode // that Call fails with, beside those of every tool
	// Call gets arguments that satisfy all of the above. It reads and changes files
	// by tc.View alone. An error that the model shall see is a *Failure.
	Call func(ctx context.Context, tc *Context, args Args) (Out, error)
}

// Tool is the tool that s describes.
func (s Spec[Args, Out]) Tool() (Tool, error) {
	switch {
	case !ValidName(s.Name):
		return Tool{}, fmt.Errorf("tool %q: a name has letters, digits, _ and -, at most %d, and begins with a letter", short(s.Name), maxName)
	case s.Call == nil:
		return Tool{}, fmt.Errorf("tool %s: without a function", s.Name)
	case reflect.TypeFor[Args]().Kind() != reflect.Struct || reflect.TypeFor[Out]().Kind() != reflect.Struct:
		return Tool{}, fmt.Errorf("tool %s: its arguments and its result are structs", s.Name)
	}
	t, err := build(spec[Args, Out]{
		name: s.Name, text: s.Description, defaults: s.Defaults, bounds: s.Bounds, choices: s.Choices,
		annotations: s.Annotations, call: s.Call,
	})
	t.Failures = append(t.Failures, s.Failures...)
	return t, err
}

// Failuref is the failure of a call, with one of the codes of the tool.
func Failuref(code, format string, args ...any) *Failure {
	return failf(diffpreview.Code(code), format, args...)
}

const maxName = 64

var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// ValidName reports whether a tool can be called so: what the makers of models
// take.
func ValidName(name string) bool { return len(name) <= maxName && toolName.MatchString(name) }

var registered struct {
	sync.Mutex
	tools []Tool
}

// Register makes a tool one of those that every daemon of this process has, after
// loomd's own. It is called before the first daemon is made, and panics when the
// tool cannot be: that is a defect of the program. Nothing that loomd brings can
// be replaced.
func Register[Args, Out any](s Spec[Args, Out]) {
	t, err := s.Tool()
	if err != nil {
		panic(err)
	}
	registered.Lock()
	defer registered.Unlock()
	own, err := Builtin()
	if err == nil {
		_, err = own.With(slices.Concat(registered.tools, []Tool{t})...)
	}
	if err != nil {
		panic(err)
	}
	registered.tools = append(registered.tools, t)
}

// All are loomd's own tools and those of [Register].
func All() (*Registry, error) {
	own, err := Builtin()
	if err != nil {
		return nil, err
	}
	registered.Lock()
	defer registered.Unlock()
	return own.With(registered.tools...)
}
