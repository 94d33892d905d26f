package protocol

// HistoryParams narrows the history; every field is optional.
type HistoryParams struct {
	Session  string `json:"session,omitempty"` // an id or a label
	Path     string `json:"path,omitempty"`
	Proposal string `json:"proposal,omitempty"`
	Since    string `json:"since,omitempty"`  // RFC 3339
	Before   int    `json:"before,omitempty"` // only entries with a lower seq
	Limit    int    `json:"limit,omitempty"`  // the newest so many: 1 to 1000, absent: 100
}

// HistoryResult is what was decided, oldest first.
type HistoryResult struct {
	Entries   []HistoryEntry `json:"entries"`
	Truncated bool           `json:"truncated,omitempty"` // there are older ones: ask with before
}

// HistoryEntry is what was decided about one hunk, or undone.
type HistoryEntry struct {
	Seq        int      `json:"seq"`  // from 1, without gaps
	Time       string   `json:"time"` // RFC 3339, UTC
	Proposal   string   `json:"proposal"`
	Session    string   `json:"session"`
	Label      string   `json:"label"`
	Path       string   `json:"path"`
	From       string   `json:"from,omitempty"` // the file's name before, when the decision changed it
	Hunk       string   `json:"hunk"`
	Kind       string   `json:"kind"`
	Decision   string   `json:"decision"` // accepted, modified, rejected or reopened
	By         string   `json:"by"`
	Rule       string   `json:"rule,omitempty"`
	Comment    string   `json:"comment,omitempty"`
	HashBefore string   `json:"hashBefore"` // of the file; empty where there is none
	HashAfter  string   `json:"hashAfter"`
	Added      int      `json:"added"` // lines
	Removed    int      `json:"removed"`
	Tools      []string `json:"tools"` // that made the proposal
}

// Rule decides proposals in a person's place (accept), or sees to it that no
// other rule does (hold). An absent condition fits everything. An accept rule
// wants every part of the proposal to fit, a hold rule one; hold beats accept.
type Rule struct {
	ID       string   `json:"id,omitempty"` // of a rule that a person added here
	Name     string   `json:"name"`
	Effect   string   `json:"effect"`             // accept or hold
	Root     string   `json:"root,omitempty"`     // only paths in this root, absolute
	Paths    []string `json:"paths,omitempty"`    // globs, relative to the root; without "/" at any depth
	Kinds    []string `json:"kinds,omitempty"`    // create, modify, delete, rename, mode, link or binary
	MinLines int      `json:"minLines,omitempty"` // lines added and removed: at least
	MaxLines int      `json:"maxLines,omitempty"` // at most
	MaxBytes int      `json:"maxBytes,omitempty"`
	Sessions []string `json:"sessions,omitempty"` // globs of labels
	Tools    []string `json:"tools,omitempty"`    // that made the steps
	Session  string   `json:"session,omitempty"`  // the id of the session that the rule ends with
	Source   string   `json:"source,omitempty"`   // where it was read
}

// RulesListResult is the rules in force: from configuration, then added ones.
type RulesListResult struct {
	Rules []Rule `json:"rules"`
}

// RulesAddParams adds a rule for proposals that come from now on: for one session
// when the rule names it, else for good. To decide once, decide.
type RulesAddParams struct {
	Rule Rule `json:"rule"`
}

// RulesAddResult is the rule with its id.
type RulesAddResult struct {
	Rule Rule `json:"rule"`
}

// RulesRemoveParams takes away a rule that a person added.
type RulesRemoveParams struct {
	ID string `json:"id"`
}
