// Package protocol is the only source of loomd's wire types and method names.
//
// Every type here crosses the wire as JSON with camelCase fields. Slices are
// never null and optional fields are absent rather than null. [Methods] is the
// table of what a client and the daemon may send each other; the TypeScript
// types of the editors are generated from it and from the types it names, and
// a test fails when the committed files are stale.
//
// LSP's own messages keep the types of go.lsp.dev/protocol; what LSP 3.17 and
// later add is declared in lsp.go.
package protocol

//go:generate go run ./gen
