package protocol

import "encoding/json"

// Scope says which sessions a lent tool is for.
type Scope string

const (
	ScopeOwn Scope = "own" // the lending agent's session
	ScopeAll Scope = "all" // every session; editors and reviewers only
)

// LentTool is a tool that a client lends: the daemon lists it, checks arguments
// against its schema, and has the client carry the call out.
type LentTool struct {
	Name        string          `json:"name"`        // letters, digits, _ and -, at most 64
	Description string          `json:"description"` // what the model is told, at most 16 KiB
	InputSchema json.RawMessage `json:"inputSchema"` // of an object, at most 64 KiB
	// Annotations absent: it may change and destroy, and reaches beyond the
	// workspace.
	Annotations *ToolAnnotations `json:"annotations,omitempty"`
	TimeoutSecs int              `json:"timeoutSecs,omitempty"` // 1 to 600, absent: 60
}

// ToolsRegisterParams lends tools, all or none of them. One of a name that the
// client lends already takes its place.
type ToolsRegisterParams struct {
	Tools []LentTool `json:"tools"`
	Scope Scope      `json:"scope,omitempty"` // absent: own
}

// ToolsUnregisterParams takes tools back.
type ToolsUnregisterParams struct {
	Names []string `json:"names"`
}

// ToolsInvokeParams has the lending client carry a call out.
type ToolsInvokeParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object that satisfies the input schema
	CallID    string          `json:"callId"`
	Session   string          `json:"session"` // that calls
}

// ToolsInvokeResult is how the call went, in MCP's shape; at most 4 MiB.
type ToolsInvokeResult struct {
	// StructuredContent that is no object is given to the caller as {value}; absent,
	// the texts of Content are. Of a call that failed: {code?, message?, hint?}.
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	Content           []Content       `json:"content,omitempty"` // absent: the structured content as text
	IsError           bool            `json:"isError,omitempty"`
}
