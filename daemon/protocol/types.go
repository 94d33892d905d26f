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
	To        string        `json:"to,omitempty"`  // the name it shall have
	Kind      string        `json:"kind"`          // create, modify, delete, rename, mode, link or binary
	State     ProposalState `json:"state"`
	Version   int           `json:"version"` // raised by every change of the proposal
	Added     int           `json:"added"`   // lines, of the undecided hunks
	Removed   int           `json:"removed"`
	HunkCount int           `json:"hunkCount"`           // undecided hunks
	Steps     []Step        `json:"steps"`               // the first and the newest ones
	StepCount int           `json:"stepCount,omitempty"` // of all, when some are left out
	BaseHash  string        `json:"baseHash"`            // of the tree's bytes it stands on; empty when there is no file
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
	Kind     string    `json:"kind"` // text, create, delete, rename, mode, link or binary
	State    HunkState `json:"state"`
	OldStart int       `json:"oldStart"`
	OldLines int       `json:"oldLines"`
	NewStart int       `json:"newStart"`
	NewLines int       `json:"newLines"`
	Conflict *Conflict `json:"conflict,omitempty"`
	From     string    `json:"from,omitempty"`    // of a rename
	To       string    `json:"to,omitempty"`      // of a rename
	OldMode  string    `json:"oldMode,omitempty"` // as git writes it, where it says something: 100644, 100755, 120000
	NewMode  string    `json:"newMode,omitempty"`
	SplitOf  string    `json:"splitOf,omitempty"` // the hunk that this is a piece of
	Words    *Words    `json:"words,omitempty"`   // when they were asked for
	By       string    `json:"by,omitempty"`      // who decided it
	Rule     string    `json:"rule,omitempty"`    // that decided in a person's place
	Comment  string    `json:"comment,omitempty"`
}

// Words are the parts of a hunk's old and new text that differ. They are absent
// where a comparison would cost too much or tell nothing.
type Words struct {
	Old []WordSpan `json:"old"`
	New []WordSpan `json:"new"`
}

// WordSpan is a part of one line of a hunk. Characters count in the connection's
// position encoding.
type WordSpan struct {
	Line  int `json:"line"`  // from 0, within the hunk's old or new lines
	Start int `json:"start"` // first character, from 0
	End   int `json:"end"`   // behind the last one
}

// Conflict is the three texts of a hunk whose base was changed by somebody
// else. OldStart and OldLines of the hunk say where the tree's text stands. Of a
// mode they are modes, of a rename names.
type Conflict struct {
	Base  string `json:"base"`
	Tree  string `json:"tree"`
	Agent string `json:"agent"`
	// Omitted is set when the texts are too long for one answer: they are in those
	// that get has in pages.
	Omitted bool `json:"omitted,omitempty"`
}

// ProposalsListParams narrows a list; every field is optional.
type ProposalsListParams struct {
	Session string        `json:"session,omitempty"` // an id or a label
	Path    string        `json:"path,omitempty"`
	State   ProposalState `json:"state,omitempty"` // absent: open and conflict
	Limit   int           `json:"limit,omitempty"` // at most so many: 1 to 5000, absent: 500
	After   string        `json:"after,omitempty"` // the next of the answer before
}

// ProposalsListResult is sorted by path, then by age.
type ProposalsListResult struct {
	Proposals []Proposal `json:"proposals"`
	Total     int        `json:"total"`               // how many match
	Truncated bool       `json:"truncated,omitempty"` // there are more
	Next      string     `json:"next,omitempty"`      // asks for them, as after
}

// ProposalsGetParams names one proposal. With Texts the answer carries the
// base and the proposed text, from byte Offset on.
type ProposalsGetParams struct {
	ID     string `json:"id"`
	Words  bool   `json:"words,omitempty"` // with the words that differ in each text hunk
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
	Lines    *Lines   `json:"lines,omitempty"` // only these; the others stay undecided
	Text     *string  `json:"text,omitempty"`  // accept this in place of the agent's lines
	Side     string   `json:"side,omitempty"`  // of a conflict: agent or tree
	Comment  string   `json:"comment,omitempty"`
}

// Lines are lines of one hunk, counted from 1 within the hunk: Old of those it
// takes away, New of those it puts in. A line that takes another's place is both.
type Lines struct {
	Old []int `json:"old,omitempty"`
	New []int `json:"new,omitempty"`
}

// DecideParams is one of three: {id, version, decisions} for hunks, {id,
// version, decision} for a whole file, {session, decision} for a change set.
type DecideParams struct {
	ID        string         `json:"id,omitempty"`
	Version   int            `json:"version,omitempty"` // that was looked at; an accept with an id needs it
	Decisions []HunkDecision `json:"decisions,omitempty"`
	Session   string         `json:"session,omitempty"`
	Decision  Decision       `json:"decision,omitempty"`
	// Text is, of a whole file that is accepted, what it shall be instead: the
	// proposed text as the reviewer edited it. It needs the present version.
	Text *string `json:"text,omitempty"`
	// SkipConflicts decides what is not in conflict of a change set, instead of
	// nothing.
	SkipConflicts bool   `json:"skipConflicts,omitempty"`
	Comment       string `json:"comment,omitempty"`
}

// DecideResult carries Proposal and Written for one file, Proposals,
// WrittenFiles and Skipped for a change set.
type DecideResult struct {
	Proposal     *Proposal  `json:"proposal,omitempty"`
	Written      *Written   `json:"written,omitempty"` // absent: nothing reached the tree
	Proposals    []Proposal `json:"proposals,omitempty"`
	WrittenFiles []Written  `json:"writtenFiles,omitempty"`
	Skipped      []Proposal `json:"skipped,omitempty"` // in conflict, and left as they are
}

// Written is one file that an accept changed.
type Written struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // sha256 of the bytes now in the tree, in hex; empty when the file was deleted
	// Document is set when the change is in an editor's unsaved buffer, and on
	// disk once the person saves.
	Document bool   `json:"document,omitempty"`
	From     string `json:"from,omitempty"` // its name before, when that changed
}

// SplitParams cuts a text hunk into several: the lines that are named from the
// others; without lines into paragraphs, or single lines where there are none.
type SplitParams struct {
	ID      string `json:"id"`
	Version int    `json:"version,omitempty"` // that was looked at
	Hunk    string `json:"hunk"`              // its id stays with the first piece
	Lines   *Lines `json:"lines,omitempty"`
}

// SplitResult is the proposal with the pieces.
type SplitResult struct {
	Proposal Proposal `json:"proposal"`
}

// DidWriteParams tells an editor that a file was written which it has open
// without unsaved changes: it should read it again.
type DidWriteParams struct {
	URI  string `json:"uri"` // as the editor spelled it
	Path string `json:"path"`
	Hash string `json:"hash"` // of the bytes on disk; empty when the file is gone
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
