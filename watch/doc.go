// Package watch knows what is on disk and what changes there.
//
// Ignore answers whether git would ignore a path; Files reports that watched
// files may have changed; Tree keeps the list of everything below a root.
// Everything here is a hint or a name: whoever acts on it reads the file again
// and compares. The package reads and never writes, but for the cookies that a
// Tree makes in a private folder to learn that no event is still on its way.
package watch
