// Package watch knows what is on disk and what changes there.
//
// Ignore answers whether git would ignore a path; Files reports that watched
// files may have changed. Everything here is a hint or a name: whoever acts on
// it reads the file again and compares. The package reads and never writes.
package watch
