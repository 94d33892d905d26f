package protocol

import "encoding/json"

// Version is the protocol version this daemon speaks by default. It is raised
// when a client written for the previous one would misread an answer.
const Version = 1

// SupportedVersions lists the protocol versions that initialize accepts,
// oldest first.
var SupportedVersions = []int{1}

// Role says what a connection may do. A connection that can propose cannot
// decide.
type Role string

const (
	RoleEditor   Role = "editor"   // syncs documents, decides
	RoleAgent    Role = "agent"    // calls tools, proposes
	RoleReviewer Role = "reviewer" // decides
)

// LoomOptions is initializationOptions.loom of an initialize request. Without
// it the client is a plain editor.
type LoomOptions struct {
	Role            Role            `json:"role"`
	ProtocolVersion int             `json:"protocolVersion,omitempty"` // absent: the newest
	Session         *SessionOptions `json:"session,omitempty"`         // agents only
}

// SessionOptions names the session an agent joins. An ID joins that session, a
// Label joins the open session of that label or starts one.
type SessionOptions struct {
	ID         string `json:"id,omitempty"`
	Label      string `json:"label,omitempty"`
	Toolset    string `json:"toolset,omitempty"`
	ReviewMode string `json:"reviewMode,omitempty"`
	Sandbox    string `json:"sandbox,omitempty"`
}

// LoomCapabilities is capabilities.experimental.loom of initialize's result.
type LoomCapabilities struct {
	ProtocolVersion   int      `json:"protocolVersion"`
	SupportedVersions []int    `json:"supportedVersions"`
	DaemonVersion     string   `json:"daemonVersion"`
	Roots             []Root   `json:"roots"`
	Rights            Rights   `json:"rights"`
	Session           *Session `json:"session,omitempty"`
}

// Root is one folder that the daemon serves.
type Root struct {
	Name string `json:"name"` // prefix of paths when there are several roots
	Path string `json:"path"` // absolute, links resolved
}

// Rights is what a connection got, which can be less than it asked for.
type Rights struct {
	Role    Role `json:"role"`
	Propose bool `json:"propose"` // may call tools that change the view
	Decide  bool `json:"decide"`  // may accept, reject and undo
}

// Session is one agent's run.
type Session struct {
	ID         string `json:"id"`
	Label      string `json:"label"`
	Toolset    string `json:"toolset"`
	ReviewMode string `json:"reviewMode"`
	Sandbox    string `json:"sandbox"` // where its commands run: staged, in a copy of its view; none: none can
	Open       bool   `json:"open"`
	Proposals  int    `json:"proposals"` // open or in conflict
	Created    string `json:"created"`   // RFC 3339, UTC
}

// Tool describes one tool as a model is shown it.
type Tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  ToolAnnotations `json:"annotations"`
}

// ToolAnnotations are MCP's hints about a tool's effects.
type ToolAnnotations struct {
	ReadOnlyHint    bool `json:"readOnlyHint"`
	DestructiveHint bool `json:"destructiveHint"`
	IdempotentHint  bool `json:"idempotentHint"`
	OpenWorldHint   bool `json:"openWorldHint"`
}

// ToolsListResult is the session's toolset, in a stable order.
type ToolsListResult struct {
	Tools []Tool `json:"tools"`
}

// ToolsCallParams calls one tool in the connection's session.
type ToolsCallParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // a JSON object
	CallID    string          `json:"callId,omitempty"`
	// WorkDoneToken is a string or a number: the call then tells by $/progress
	// what it waits for.
	WorkDoneToken json.RawMessage `json:"workDoneToken,omitempty"`
}

// Content is one block of a tool's result, in MCP's shape.
type Content struct {
	Type     string `json:"type"`               // "text" or "image"
	Text     string `json:"text,omitempty"`     // of a text block
	Data     string `json:"data,omitempty"`     // of an image block: base64
	MimeType string `json:"mimeType,omitempty"` // of an image block
}

// ToolsCallResult is the outcome of one call. A tool that failed is a result
// with IsError and a {code, message, hint} in StructuredContent.
type ToolsCallResult struct {
	CallID            string          `json:"callId"`
	Content           []Content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
	Reviews           []Review        `json:"reviews"`
	Moved             []Moved         `json:"moved,omitempty"`
}

// Review is what became of one hunk since the session's last call.
type Review struct {
	Proposal string `json:"proposal"`
	Path     string `json:"path"`
	Hunk     string `json:"hunk"`
	Decision string `json:"decision"` // accepted, modified, rejected, reopened (by an undo) or conflict
	Comment  string `json:"comment,omitempty"`
	By       string `json:"by"`             // the rule's name after "rule ", or "tree" when the tree was found to have it
	Rule     string `json:"rule,omitempty"` // that decided in a person's place
	Hash     string `json:"hash"`           // of the tree's file afterwards; empty when there is none
	// Conflict is absent where its texts are over 8 KiB: read the file.
	Conflict *Conflict `json:"conflict,omitempty"`
}

// Moved is a change that somebody made to the tree under an undecided proposal
// of the session. The proposal stands on the new text.
type Moved struct {
	Proposal  string `json:"proposal"`
	Path      string `json:"path"`
	Hash      string `json:"hash"` // of the tree's file now; empty when there is none
	Diff      string `json:"diff"` // unified, of the tree, from what the session knew to what there is
	Truncated bool   `json:"truncated,omitempty"`
}

// SessionsListResult is sorted by creation.
type SessionsListResult struct {
	Sessions []Session `json:"sessions"`
}

// SessionsCloseParams ends a session. Its proposals stay decidable.
type SessionsCloseParams struct {
	ID string `json:"id"`
}

// StatusResult describes the running daemon.
type StatusResult struct {
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	Roots     []Root    `json:"roots"`
	Socket    string    `json:"socket"`
	StateDir  string    `json:"stateDir"`
	Started   string    `json:"started"` // RFC 3339, UTC
	Clients   []Client  `json:"clients"`
	Sessions  []Session `json:"sessions"`
	Proposals int       `json:"proposals"` // open or in conflict
	Commands  int       `json:"commands"`  // that wait for allow or deny
	Problems  []string  `json:"problems"`
}

// Client is one connection.
type Client struct {
	Role Role   `json:"role"`
	Name string `json:"name"` // clientInfo of initialize
}

// ErrorData is the data member of an error response.
type ErrorData struct {
	Kind      string     `json:"kind"`
	Hint      string     `json:"hint,omitempty"`
	Path      string     `json:"path,omitempty"`
	Proposal  *Proposal  `json:"proposal,omitempty"`  // of a decision made on an older state
	Proposals []Proposal `json:"proposals,omitempty"` // that stand in the way of a change set
	Supported []int      `json:"supported,omitempty"` // protocol versions
	// Partial is what a command had written when its call was cancelled: its structured
	// result, as far as there is one.
	Partial json.RawMessage `json:"partial,omitempty"`
}

// Empty is a result without fields.
type Empty struct{}
