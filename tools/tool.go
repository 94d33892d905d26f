package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/secret"
)

// Tool is one named operation.
type Tool struct {
	Name        string
	Description string // what the model is told
	Input       Schema // of the arguments, which are one JSON object
	Output      Schema // of the structured result of a call that succeeds
	Annotations Annotations
	Failures    []FailureCode // what a call can fail with

	// Call runs the tool on arguments that satisfy Input. A failure that the
	// model shall see is a *Failure or a *diffpreview.Error.
	Call func(ctx context.Context, tc *Context, args json.RawMessage) (Result, error)
}

// Annotations are hints about what a tool can do, in MCP's words.
type Annotations struct {
	ReadOnly    bool // changes nothing, not even in the view
	Destructive bool // can take something away
	Idempotent  bool // a second call with the same arguments changes nothing more
	OpenWorld   bool // reaches beyond the workspace
}

// Context is what a call works with.
type Context struct {
	View    *diffpreview.View
	CallID  string
	Session string       // the id of the session that calls
	Logger  *slog.Logger // never told file content or arguments
	// ReviewWait is asked by a call before it proposes, and by no other, how long
	// it waits for a person's decision; nil or 0: not at all.
	ReviewWait func() time.Duration
	// Progress tells the client what a call waits for; nil: nobody listens.
	Progress func(Progress)
	// Index answers for the roots of the workspace, in the order of
	// [diffpreview.Workspace.Roots]. For a root that it does not have, every call
	// reads the disk.
	Index []Searcher
	// Sandbox is where commands run; nil: none can run.
	Sandbox Sandbox
	// Jobs are the background jobs of the session; nil: there can be none.
	Jobs *Jobs
	// Allow is asked before a command runs: the shell's text, or "" where there is no
	// shell, and the argument list. An error is the call's failure; nil: all may run.
	Allow func(ctx context.Context, command string, argv []string) error
	// Services are asked by the tools that reach beyond the workspace.
	Services Services
	// Secrets are those that the tool may ask for by its name. What the tool
	// returns is redacted by whoever runs it; text that it cuts it redacts before.
	// nil: there are none.
	Secrets *secret.Set
}

// Progress is how far a call is.
type Progress struct {
	Message     string
	Done, Total int // of what can be counted; Total is 0 when nothing can
}

// progress tells that n proposals wait for a person.
func (tc *Context) progress(n int) {
	switch {
	case tc.Progress == nil || n == 0:
	case n == 1:
		tc.Progress(Progress{Message: "1 proposal waits for a person's decision"})
	default:
		tc.Progress(Progress{Message: fmt.Sprintf("%d proposals wait for a person's decision", n)})
	}
}

// Result is what a tool returns.
type Result struct {
	Structured any     // encoded as JSON: an object as Output describes
	Content    []Block // nil: the structured result as text
	Beside     []Block // what is shown after Content
	Cancelled  bool    // it is what there was when the call was cancelled
}

// interrupted is a structured result that can be what there was of it when the call
// was cancelled.
type interrupted interface {
	interrupted() bool
}

// besides is a structured result that something is shown beside.
type besides interface {
	beside() []Block
}

// Block is one piece of what the model is shown.
type Block struct {
	Type     string   // "text" or "image"
	Text     string   // of a text block
	Quoted   [][]byte // of a text block instead of Text: the text as JSON has it between quotation marks, cut anywhere
	Data     []byte   // of an image block
	MimeType string   // of an image block
}

// Outcome is how a call ended. Structured is the result, or with IsError the
// failure: {code, message, hint} and fields of the code's own.
type Outcome struct {
	CallID     string
	Structured json.RawMessage
	Pieces     [][]byte // of a result of rows, instead of Structured: its JSON, cut anywhere
	Release    func()   // gives Pieces and what is Quoted of them back, nil without them; whoever does not call it leaves them to the collector
	Content    []Block
	IsError    bool
	Code       string // of the failure, "" for a success
	Cancelled  bool   // it is what there was when the call was cancelled
}

// cut is what a result says when it left something out. Its fields stand beside
// the result's own.
type cut struct {
	Truncated bool   `json:"truncated"`
	Shown     int64  `json:"shown,omitempty" jsonschema:"when truncated: how much is shown, in units"`
	Total     int64  `json:"total,omitempty" jsonschema:"when truncated: how much there is, in units; absent when that is not known"`
	Unit      string `json:"unit,omitempty" jsonschema:"when truncated: what shown and total count"`
	Next      string `json:"next,omitempty" jsonschema:"when truncated: how to get the rest"`
}
