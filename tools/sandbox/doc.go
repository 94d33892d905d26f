// Package sandbox gives the commands of a session a private copy of its view: real
// files, none of which is the tree's.
//
// A [Copy] holds every root as a directory below its own, private one. Three layers
// decide what is in it: the tree, over it documents with unsaved changes, over both the
// session's open proposals. Ignored files and .git are there too, since commands need
// node_modules and git.
//
// Begin brings the copy in step with the view: it walks the tree, and writes what is not
// as it was when it was last looked at (a stat tells). End walks the copy and compares it
// with what Begin left (the manifest, a record per path): what differs was done by a
// command. It becomes proposals, merged three-way onto the view of that moment; what
// cannot be proposed is told, and put back by the next Begin at which no command runs.
//
// Several commands may be at work at once, in the same copy. A change is proposed once,
// by the first End that sees it, whichever command made it. What Begin would change while
// a command has changed it already stays as the command has it, until an End merges it.
// A file that is still being written is proposed as it is then; the next End extends
// that.
//
// What ignore rules leave out belongs to the session once a command has changed it: it
// is counted, not proposed, and stays as it is for the next command. Directories are
// not proposed: an empty one that a command made or removed is so for the next one.
// .git, in any spelling, is put back.
//
// Nothing here protects the tree from a command that goes there by its absolute path:
// that takes a namespace of its own. A link into a root is rewritten to lead into the
// copy.
package sandbox
