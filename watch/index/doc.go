// Package index answers searches over the files of one root from memory.
//
// An Index follows a watch.Tree. What is there is kept in parts: runs of
// neighbouring paths in byte order, each with its texts one behind the other,
// cut into blocks of whole lines, and two matrices of bits that tell which
// blocks may hold which four bytes in a row. A part never changes. What has
// changed since it was made lies beside it, as a view: the files that are dead
// and those that came. Parts are made anew in the background.
//
// A Snapshot is the list of views at one moment; readers never wait for
// writers. A part that is not made yet, or whose texts the memory budget leaves
// no room for, is read from the disk on demand, so an answer is right from the
// first moment on and only slower.
//
// Which files are binary and how texts are decoded is as ripgrep has it when it
// searches directories, see content.go.
package index
