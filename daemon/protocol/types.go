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
	Sandbox    string `json:"sandbox"`
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
}

// Review is what became of one hunk since the session's last call.
type Review struct {
	Proposal string `json:"proposal"`
	Path     string `json:"path"`
	Hunk     string `json:"hunk"`
	Decision string `json:"decision"` // accepted, modified, rejected, reopened (by an undo) or conflict
	Comment  string `json:"comment,omitempty"`
	By       string `json:"by"`
	Hash     string `json:"hash"` // of the tree's file afterwards; empty when there is none
}

// ProposalState is where a proposal stands.
type ProposalState string

const (
	ProposalOpen      ProposalState = "open"
	ProposalConflict  ProposalState = "conflict"
	ProposalApplied   ProposalState = "applied"
	ProposalRejected  ProposalState = "rejected"
	ProposalWithdrawn ProposalState = "withdrawn"
)

// HunkState is where a hunk stands.
type HunkState string

const (
	HunkOpen     HunkState = "open"
	HunkAccepted HunkState = "accepted"
	HunkRejected HunkState = "rejected"
	HunkConflict HunkState = "conflict"
)

// Proposal is one file's pending change in one session. Lists carry it without
// Hunks and Diff, didChange without Diff; get carries it whole.
type Proposal struct {
	ID        string        `json:"id"`
	Session   string        `json:"session"`
	Label     string        `json:"label"` // the session's label
	Path      string        `json:"path"`
	Via       string        `json:"via,omitempty"` // the link the agent named
	Kind      string        `json:"kind"`          // create, modify, delete or binary
	State     ProposalState `json:"state"`
	Version   int           `json:"version"` // raised by every change of the proposal
	Added     int           `json:"added"`   // lines, of the undecided hunks
	Removed   int           `json:"removed"`
	HunkCount int           `json:"hunkCount"` // undecided hunks
	Steps     []Step        `json:"steps"`
	BaseHash  string        `json:"baseHash"` // of the tree's bytes it stands on; empty when there is no file
	Hunks     []Hunk        `json:"hunks,omitempty"`
	Diff      string        `json:"diff,omitempty"`      // unified, of the undecided hunks
	DiffLossy bool          `json:"diffLossy,omitempty"` // the file is not UTF-8: Diff shows U+FFFD
	// HunksOmitted is set in a didChange of a proposal with very many hunks: get
	// has them.
	HunksOmitted bool `json:"hunksOmitted,omitempty"`
	// DiffOmitted is set when the diff is too large for one answer: the texts come
	// in pages.
	DiffOmitted bool `json:"diffOmitted,omitempty"`
}

// Step is one call that extended a proposal.
type Step struct {
	CallID string `json:"callId"`
	Tool   string `json:"tool"`
	Time   string `json:"time"` // RFC 3339, UTC
}

// Hunk is one maximal run of changed lines. Line numbers count from 1; a hunk
// without old (or new) lines names the line before it, as in a unified diff.
type Hunk struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"` // text, create, delete or binary
	State    HunkState `json:"state"`
	OldStart int       `json:"oldStart"`
	OldLines int       `json:"oldLines"`
	NewStart int       `json:"newStart"`
	NewLines int       `json:"newLines"`
	Conflict *Conflict `json:"conflict,omitempty"`
	By       string    `json:"by,omitempty"` // who decided it
	Comment  string    `json:"comment,omitempty"`
}

// Conflict is the three texts of a hunk whose base was changed by somebody
// else. OldStart and OldLines of the hunk say where the tree's text stands.
type Conflict struct {
	Base  string `json:"base"`
	Tree  string `json:"tree"`
	Agent string `json:"agent"`
}

// ProposalsListParams narrows a list; every field is optional.
type ProposalsListParams struct {
	Session string        `json:"session,omitempty"` // an id or a label
	Path    string        `json:"path,omitempty"`
	State   ProposalState `json:"state,omitempty"` // absent: open and conflict
}

// ProposalsListResult is sorted by path, then by age.
type ProposalsListResult struct {
	Proposals []Proposal `json:"proposals"`
}

// ProposalsGetParams names one proposal. With Texts the answer carries the
// base and the proposed text, from byte Offset on.
type ProposalsGetParams struct {
	ID     string `json:"id"`
	Texts  bool   `json:"texts,omitempty"`
	Offset int    `json:"offset,omitempty"`
}

// ProposalsGetResult is one proposal whole.
type ProposalsGetResult struct {
	Proposal Proposal `json:"proposal"`
	Base     *Text    `json:"base,omitempty"`
	Proposed *Text    `json:"proposed,omitempty"`
}

// Text is a page of a file's text, decoded to UTF-8.
type Text struct {
	Text       string `json:"text"`
	Lossy      bool   `json:"lossy,omitempty"`
	NextOffset int    `json:"nextOffset,omitempty"` // absent: this was the end
	Exists     bool   `json:"exists"`
}

// Decision names what a reviewer says.
type Decision string

const (
	Accept Decision = "accept"
	Reject Decision = "reject"
)

// HunkDecision decides one hunk. Accepting a conflict needs Side or Text.
type HunkDecision struct {
	Hunk     string   `json:"hunk"`
	Decision Decision `json:"decision"`
	Text     *string  `json:"text,omitempty"` // accept this in place of the agent's lines
	Side     string   `json:"side,omitempty"` // of a conflict: agent or tree
	Comment  string   `json:"comment,omitempty"`
}

// DecideParams is one of three: {id, version, decisions} for hunks, {id,
// version, decision} for a whole file, {session, decision} for a change set.
type DecideParams struct {
	ID        string         `json:"id,omitempty"`
	Version   int            `json:"version,omitempty"` // that was looked at; an accept with an id needs it
	Decisions []HunkDecision `json:"decisions,omitempty"`
	Session   string         `json:"session,omitempty"`
	Decision  Decision       `json:"decision,omitempty"`
	Comment   string         `json:"comment,omitempty"`
}

// DecideResult carries Proposal and Written for one file, Proposals and
// WrittenFiles for a change set.
type DecideResult struct {
	Proposal     *Proposal  `json:"proposal,omitempty"`
	Written      *Written   `json:"written,omitempty"` // absent: nothing reached the tree
	Proposals    []Proposal `json:"proposals,omitempty"`
	WrittenFiles []Written  `json:"writtenFiles,omitempty"`
}

// Written is one file that an accept changed.
type Written struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // sha256 of the bytes now in the tree, in hex; empty when the file was deleted
	// Document is set when the change is in an editor's unsaved buffer, and on
	// disk once the person saves.
	Document bool `json:"document,omitempty"`
}

// UndoParams reopens what was decided: one hunk, or all of a proposal.
type UndoParams struct {
	ID   string `json:"id"`
	Hunk string `json:"hunk,omitempty"`
}

// ProposalDidChangeParams carries the proposal's whole state, not a delta.
type ProposalDidChangeParams struct {
	Proposal Proposal `json:"proposal"`
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
}

// Empty is a result without fields.
type Empty struct{}
