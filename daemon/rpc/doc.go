// Package rpc carries JSON-RPC 2.0 with LSP framing over a pipe or socket and
// survives whatever the peer sends.
//
// The messages and the stream interface are those of go.lsp.dev/jsonrpc2
// v0.10.0; nothing outside this package knows that. Between the library and the
// peer stand a guarded stream ([stream]: bounded headers, bodies that grow as
// they arrive, JSON checked without recursion before anything parses it, bad
// messages answered instead of ending the connection) and a dispatcher
// ([Conn]: notifications in order, requests side by side, real cancellation,
// exactly one answer per request). The library's own Conn and Stream are not
// used: a handler's error, deep nesting or a claimed length would end the
// process.
//
// The way of a message in: frame.go (bytes to body), scan.go (body to checked
// parts), message.go (parts to a message), dispatch.go (when it may run),
// serve.go (run it, answer). The way out: encode.go, then queue.go.
package rpc
