package tools

import (
	"context"

	"github.com/loomd/loomd/watch/index"
)

// Searcher answers for the files of one root.
type Searcher interface {
	// Snapshot is what the root holds: every write that was finished before the
	// call is in it.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Building tells how far the first build is, in files; ok is false when there
	// is nothing to tell any more. total is 0 while it is not known.
	Building() (done, total int, ok bool)
}

// Snapshot is one moment of a root's files. Its paths are relative to the root,
// and its answers in the order of path bytes. An *[index.Snapshot] is one, but
// for what it does not know of ignored entries.
type Snapshot interface {
	// Search emits the lines that match until emit returns false.
	Search(ctx context.Context, q index.Query, emit func(index.Line) bool) (index.Summary, error)
	// Glob emits the entries that fit until emit returns false.
	Glob(ctx context.Context, l index.List, emit func(index.Entry) bool) (index.Listed, error)
	// Lookup returns the entry at a path.
	Lookup(path string) (index.Entry, bool)
	// Ignored is how many entries the ignore rules leave out below the directory
	// under, down to a depth; an ignored directory counts once. 0 is any depth.
	Ignored(under string, depth int) int
	// Remember is whether the ignore rules leave a path out that is not there.
	// ignored finds out and is asked once in a generation.
	Remember(path string, ignored func() bool) bool
	// Unread are the directories below under that could not be looked into. Links
	// and files that could not be read are the affair of a search.
	Unread(under string) []index.Warning
	Release()
}
