package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	lsp "go.lsp.dev/protocol"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
)

// place finds the file that a document's URI names, also when the editor came to a
// root by a link. Documents that are no files, or lie outside the workspace, are
// nothing to a daemon.
func (c *client) place(u lsp.DocumentURI) (diffpreview.Path, bool) {
	abs, ok := fileOf(u)
	if !ok {
		return diffpreview.Path{}, false
	}
	p, _, err := c.server.ws.Resolve(abs)
	if diffpreview.CodeOf(err) == diffpreview.CodePathOutsideWorkspace {
		real, failed := filepath.EvalSymlinks(abs)
		if failed != nil { // there may be no file yet
			real, failed = filepath.EvalSymlinks(filepath.Dir(abs))
			real = filepath.Join(real, filepath.Base(abs))
		}
		if failed != nil {
			return p, false
		}
		p, _, err = c.server.ws.Resolve(real)
	}
	return p, err == nil
}

// opened is [client.place] of a document that the editor has opened before, which does
// not look at the disk again unless its URI is spelled in another way now.
func (c *client) opened(u lsp.DocumentURI) (diffpreview.Path, bool) {
	c.mu.Lock()
	p, known := c.files[u]
	c.mu.Unlock()
	if !known {
		return c.place(u)
	}
	return p, p != diffpreview.Path{}
}

func (c *client) didOpen(_ context.Context, p lsp.DidOpenTextDocumentParams) (none, error) {
	uri := p.TextDocument.URI
	path, ok := c.place(uri)
	c.mu.Lock()
	c.files[uri] = path
	if ok {
		c.uris[path] = uri
	}
	c.mu.Unlock()
	if ok {
		c.server.store.OpenDocument(c, path, p.TextDocument.Version, p.TextDocument.Text)
		c.server.watch()
	}
	return nil, nil
}

func (c *client) didChange(_ context.Context, p protocol.DidChangeParams) (none, error) {
	path, ok := c.opened(p.TextDocument.URI)
	if !ok {
		return nil, nil
	}
	text, _, open := c.server.store.Document(c, path)
	if !open {
		return nil, fmt.Errorf("didChange of %s, which is not open", c.server.ws.Name(path))
	}
	for _, change := range p.ContentChanges {
		var err error
		if text, err = changed(text, change, c.encoding); err != nil {
			return nil, err
		}
	}
	c.server.store.ChangeDocument(c, path, p.TextDocument.Version, text)
	return nil, nil
}

func changed(text string, change protocol.ContentChange, enc protocol.PositionEncoding) (string, error) {
	if change.Range == nil {
		return change.Text, nil
	}
	start, end := offsetOf(text, change.Range.Start, enc), offsetOf(text, change.Range.End, enc)
	if end < start {
		return "", errors.New("didChange: a range that ends before it starts")
	}
	var b strings.Builder
	b.Grow(start + len(change.Text) + len(text) - end)
	b.WriteString(text[:start])
	b.WriteString(change.Text)
	b.WriteString(text[end:])
	return b.String(), nil
}

func (c *client) didSave(_ context.Context, p lsp.DidSaveTextDocumentParams) (none, error) {
	if path, ok := c.opened(p.TextDocument.URI); ok {
		c.server.store.SaveDocument(c, path)
	}
	return nil, nil
}

func (c *client) didClose(_ context.Context, p lsp.DidCloseTextDocumentParams) (none, error) {
	path, ok := c.opened(p.TextDocument.URI)
	c.mu.Lock()
	delete(c.files, p.TextDocument.URI)
	delete(c.uris, path)
	c.mu.Unlock()
	if ok {
		c.server.store.CloseDocument(c, path)
		c.server.watch()
	}
	return nil, nil
}

// FileWritten tells the editor that a file it has open was written on disk.
func (c *client) FileWritten(path diffpreview.Path, hash string) {
	c.mu.Lock()
	uri := c.uris[path]
	c.mu.Unlock()
	// A client that is gone or does not read is the connection's affair.
	_ = c.conn.Notify(protocol.MethodDocumentsDidWrite, protocol.DidWriteParams{URI: string(uri), Path: c.server.ws.Name(path), Hash: hash})
}

// editLabels are what an editor shows for edits in its history.
var editLabels = map[diffpreview.EditReason]string{
	diffpreview.EditAccept:   "loomd: accepted change",
	diffpreview.EditRule:     "loomd: change accepted by a rule",
	diffpreview.EditUndo:     "loomd: undo of an accepted change",
	diffpreview.EditTakeBack: "loomd: change taken back, because not all of it could be made",
}

// ApplyEdits asks the editor to edit an open document at a version, so that
// the change is in its undo history and nothing that was typed meanwhile is
// lost.
func (c *client) ApplyEdits(ctx context.Context, path diffpreview.Path, version int32, text string, edits []diffpreview.DocumentEdit, why diffpreview.EditReason) error {
	c.mu.Lock()
	takes, enc, uri := c.edits, c.encoding, c.uris[path]
	c.mu.Unlock()
	if !takes {
		return errors.New("it does not take versioned edits")
	}
	change := lsp.TextDocumentEdit{
		TextDocument: lsp.OptionalVersionedTextDocumentIdentifier{
			TextDocumentIdentifier: lsp.TextDocumentIdentifier{URI: uri}, Version: &version,
		},
	}
	for _, e := range edits {
		change.Edits = append(change.Edits, lsp.TextEdit{
			Range:   lsp.Range{Start: positionOf(text, e.Start, enc), End: positionOf(text, e.End, enc)},
			NewText: e.Text,
		})
	}
	var answer lsp.ApplyWorkspaceEditResponse
	err := c.conn.Call(ctx, "workspace/applyEdit", lsp.ApplyWorkspaceEditParams{
		Label: editLabels[why], Edit: lsp.WorkspaceEdit{DocumentChanges: []lsp.TextDocumentEdit{change}},
	}, &answer)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("it did not answer in time; the edit may still arrive there")
	case errors.Is(err, rpc.ErrClosed):
		return errors.New("it has gone")
	case err != nil:
		return err
	case !answer.Applied && answer.FailureReason != "":
		return errors.New(answer.FailureReason)
	case !answer.Applied:
		return errors.New("it refused the edit")
	}
	return nil
}
