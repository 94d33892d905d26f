package protocol

import "encoding/json"

// IndexState is how an index is doing. Answers are right in each.
type IndexState string

const (
	IndexBuilding IndexState = "building" // files are read for the first time: searches read the disk
	IndexLive     IndexState = "live"     // events tell of every change
	IndexPolling  IndexState = "polling"  // a part is looked at for each answer
	IndexStale    IndexState = "stale"    // lost events are made up for, or a root is gone
)

// IndexStatusResult is what the index holds, of all roots together.
type IndexStatusResult struct {
	State      IndexState     `json:"state"`
	Generation int64          `json:"generation"` // counts the changes that were taken in
	Files      int            `json:"files"`
	Dirs       int            `json:"dirs"`
	Bytes      int64          `json:"bytes"` // of text that is searched
	Watches    int            `json:"watches"`
	Memory     int64          `json:"memory"`   // bytes that are kept: text and what finds it
	Budget     int64          `json:"budget"`   // bytes of text that may be kept
	OnDemand   int            `json:"onDemand"` // files beyond the budget: read when they are searched
	Binary     int            `json:"binary"`   // files that are no text
	Build      *IndexBuild    `json:"build,omitempty"`
	Problems   []IndexProblem `json:"problems"`
}

// IndexBuild is how far the first build is.
type IndexBuild struct {
	Done  int `json:"done"`  // files
	Total int `json:"total"` // 0: not known yet
}

// IndexProblem is something that makes the index slower, never wrong.
type IndexProblem struct {
	Path    string `json:"path"` // the first one, where there are several
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what would help, such as a sysctl
	Since   string `json:"since"`          // RFC 3339, UTC
}

// IndexSyncParams asks to wait until every change that was finished before is
// in the index.
type IndexSyncParams struct {
	Built bool `json:"built,omitempty"` // wait for the first build, too
	// WorkDoneToken is a string or a number: the call then tells by $/progress
	// how far the build is.
	WorkDoneToken json.RawMessage `json:"workDoneToken,omitempty"`
}

// IndexFindParams finds files by parts of their path, for a person who types.
type IndexFindParams struct {
	Query string `json:"query"`
	Limit *int   `json:"limit,omitempty"` // 1 to 1000, absent: 100
}

// IndexFindResult is the best first.
type IndexFindResult struct {
	Files []FoundFile `json:"files"`
}

// FoundFile is a file whose path fits a query.
type FoundFile struct {
	Path  string `json:"path"`
	Score int    `json:"score"` // higher is better; only the order means anything
}
