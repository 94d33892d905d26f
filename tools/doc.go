// Package tools is what an agent can call.
//
// A [Tool] is a name, a text for the model (the .md file beside its code), an
// input and an output schema, and a function. A [Registry] holds tools in a
// stable order, checks every call's arguments against the schema that it
// advertises, and turns whatever happens into an [Outcome]: a tool that fails is
// an outcome with a code a model can branch on, never an error of the program.
//
// All files are read and changed through the session's [diffpreview.View]. A
// change becomes a proposal there; nothing in this package writes to the
// workspace.
//
// The text work (edits.go, match.go, line_ends.go, page.go) is pure functions over bytes.
package tools

//go:generate go run ./gen
