package protocol

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
	OldBytes int       `json:"oldBytes,omitempty"` // of a binary file, whose text is nothing to show
	NewBytes int       `json:"newBytes,omitempty"`
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
	// SkipConflicts decides the files without a conflict of a change set, instead of
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
