// Package diffpreview is the door between an agent and the files.
//
// It holds the workspace (the only writable handle of it in the program), the
// open documents that shadow the disk, the proposals of every session, and the
// journal that outlives a crash. What an agent changes becomes a [Proposal];
// what a person accepts is written, compare-and-swap on the base's hash; what
// nobody accepted is never on disk.
//
// The parts, from the bottom:
//
//   - text, diff, unified, merge: pure functions over bytes and lines
//   - workspace, apply: paths that cannot leave a root, and all-or-nothing writes
//   - hunk, rebase: a proposal as a value; every operation makes a new one
//   - journal: what was answered is on disk first
//   - store, view, decide: sessions, what their tools see, what people decide
package diffpreview
