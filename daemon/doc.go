// Package daemon is the process beside the editor: connections, sessions,
// rights, the method table, and LSP document sync.
//
// A connection is a client with a role. Its messages come through package rpc,
// are looked up in the method table (methods.go), and are answered by one
// function each, in a file per method family. The daemon holds no state of the
// review itself: that is diffpreview's, and wire.go turns its values into the
// wire's.
package daemon
