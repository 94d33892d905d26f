package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/secret"
)

// The failure codes that only tools have; the others are [diffpreview.Code]s.
const (
	CodeNoMatch        = "no_match"
	CodeAmbiguousMatch = "ambiguous_match"
	CodeTimeout        = "timeout"
	CodeToolFailed     = "tool_failed" // of a tool that is not loomd's own and gives no code

	CodeUnsupportedPattern = "unsupported_pattern"

	CodeDenied      = string(diffpreview.CodeDenied)
	CodeUnknownJob  = "unknown_job"
	CodeTooManyJobs = "too_many_jobs"
)

// Failure is a tool's failure as a model is told it.
type Failure struct {
	Code    string
	Message string         // what is wrong, naming the field or path
	Hint    string         // what to do about it
	Extra   map[string]any // more fields of the structured result, bounded in size
}

func (f *Failure) Error() string { return f.Message }

// MarshalJSON writes code, message and hint first, then Extra sorted by name.
func (f *Failure) MarshalJSON() ([]byte, error) {
	head, err := encode(struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	}{f.Code, f.Message, f.Hint})
	if err != nil || len(f.Extra) == 0 {
		return head, err
	}
	rest, err := encode(f.Extra)
	if err != nil {
		return nil, err
	}
	return append(append(head[:len(head)-1], ','), rest[1:]...), nil
}

// with adds a field to f's structured form.
func (f *Failure) with(name string, value any) *Failure {
	if f.Extra == nil {
		f.Extra = map[string]any{}
	}
	f.Extra[name] = value
	return f
}

func failf(code diffpreview.Code, format string, args ...any) *Failure {
	return &Failure{Code: string(code), Message: fmt.Sprintf(format, args...)}
}

// badArgument is the failure of one argument. field is its path in the
// arguments, as "edits[1].old_str".
func badArgument(field, format string, args ...any) *Failure {
	f := failf(diffpreview.CodeInvalidArguments, format, args...)
	if field != "" {
		f.Message = field + ": " + f.Message
		f.with("field", field)
	}
	return f
}

// ofArgument is err as the failure of the argument that a path came in, when
// there can be no such path.
func ofArgument(field string, err error) error {
	if diffpreview.CodeOf(err) != diffpreview.CodeInvalidArguments {
		return err
	}
	f := failureOf(err)
	f.Message = field + ": " + f.Message
	return f.with("field", field)
}

// failureOf gives any error of a tool its code.
func failureOf(err error) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	var e *diffpreview.Error
	if errors.As(err, &e) {
		f := &Failure{Code: string(e.Code), Message: e.Error(), Hint: e.Hint}
		if e.Path != "" {
			f.with("path", e.Path)
		}
		return f
	}
	var missing *secret.Error
	if errors.As(err, &missing) {
		return &Failure{Code: string(diffpreview.CodeUnavailable), Message: missing.Error(), Hint: "the person who runs loomd can mend that: loomd doctor checks every secret"}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Failure{Code: CodeTimeout, Message: "the call took too long and was ended", Hint: "ask for less at once"}
	}
	return &Failure{Code: string(diffpreview.CodeInternal), Message: err.Error(), Hint: "this is a defect of loomd; its log says more"}
}

// encode is v as JSON, with <, > and & as they are.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
