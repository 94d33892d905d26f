package protocol

import "go.lsp.dev/protocol"

// What LSP 3.17 adds to, or go.lsp.dev/protocol v0.12.0 cannot tell of, LSP's
// own messages. No method of loomd's table uses these.

// PositionEncoding is how character offsets count (LSP 3.17).
type PositionEncoding string

// The encodings offered, the cheaper one first.
const (
	UTF8  PositionEncoding = "utf-8"
	UTF16 PositionEncoding = "utf-16"
)

// InitializeParams is the part of initialize that the daemon reads.
type InitializeParams struct {
	ClientInfo *protocol.ClientInfo `json:"clientInfo,omitempty"`
	Options    struct {
		Loom *LoomOptions `json:"loom,omitempty"`
	} `json:"initializationOptions"`
	Capabilities struct {
		General struct {
			PositionEncodings []PositionEncoding `json:"positionEncodings,omitempty"`
		} `json:"general"`
		Workspace struct {
			ApplyEdit     bool `json:"applyEdit,omitempty"`
			WorkspaceEdit struct {
				DocumentChanges    bool     `json:"documentChanges,omitempty"`
				ResourceOperations []string `json:"resourceOperations,omitempty"`
			} `json:"workspaceEdit"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// InitializeResult is the answer to initialize.
type InitializeResult struct {
	Capabilities ServerCapabilities   `json:"capabilities"`
	ServerInfo   *protocol.ServerInfo `json:"serverInfo,omitempty"`
}

// ServerCapabilities is what the daemon offers an editor.
type ServerCapabilities struct {
	PositionEncoding PositionEncoding                  `json:"positionEncoding"`
	TextDocumentSync *protocol.TextDocumentSyncOptions `json:"textDocumentSync"`
	Experimental     Experimental                      `json:"experimental"`
}

// Experimental holds loomd's own capabilities.
type Experimental struct {
	Loom LoomCapabilities `json:"loom"`
}

// DidChangeParams is textDocument/didChange with ranges that can be absent,
// which means the whole text.
type DidChangeParams struct {
	TextDocument   protocol.VersionedTextDocumentIdentifier `json:"textDocument"`
	ContentChanges []ContentChange                          `json:"contentChanges"`
}

// ContentChange replaces a range, or the whole text when Range is nil.
type ContentChange struct {
	Range *protocol.Range `json:"range,omitempty"`
	Text  string          `json:"text"`
}
