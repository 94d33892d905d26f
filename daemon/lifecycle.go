package daemon

import (
	"context"
	"fmt"
	"slices"

	lsp "go.lsp.dev/protocol"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
)

func (c *client) initialize(_ context.Context, p protocol.InitializeParams) (*protocol.InitializeResult, error) {
	options := protocol.LoomOptions{Role: protocol.RoleEditor}
	if p.Options.Loom != nil {
		options = *p.Options.Loom
	}
	version, err := chooseVersion(options.ProtocolVersion)
	if err != nil {
		return nil, err
	}
	rights, err := rightsOf(options)
	if err != nil {
		return nil, err
	}
	caps := protocol.LoomCapabilities{
		ProtocolVersion: version, SupportedVersions: protocol.SupportedVersions,
		DaemonVersion: c.server.opts.Version, Roots: c.server.wireRoots(), Rights: rights,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage != fresh {
		return nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "initialize comes once"}
	}
	if rights.Propose {
		sess, err := c.joinSession(options.Session)
		if err != nil {
			return nil, err
		}
		wire := c.server.wireSession(sess)
		caps.Session = &wire
	}
	c.rights = rights
	c.name = string(rights.Role)
	if p.ClientInfo != nil && p.ClientInfo.Name != "" {
		c.name = p.ClientInfo.Name
	}
	if slices.Contains(p.Capabilities.General.PositionEncodings, protocol.UTF8) {
		c.encoding = protocol.UTF8
	}
	// Neovim takes versioned edits and says so only by the operations on files,
	// which come in the same member of an edit.
	takes := p.Capabilities.Workspace.WorkspaceEdit
	c.edits = p.Capabilities.Workspace.ApplyEdit && (takes.DocumentChanges || len(takes.ResourceOperations) > 0)
	// Changes are announced from here on: the client may not send initialized
	// before it has listed, and must not miss what happens in between.
	c.stage = running
	c.server.join(c)
	return &protocol.InitializeResult{
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding: c.encoding,
			TextDocumentSync: &lsp.TextDocumentSyncOptions{
				OpenClose: true, Change: lsp.TextDocumentSyncKindIncremental, Save: &lsp.SaveOptions{},
			},
			Experimental: protocol.Experimental{Loom: caps},
		},
		ServerInfo: &lsp.ServerInfo{Name: "loomd", Version: c.server.opts.Version},
	}, nil
}

func chooseVersion(asked int) (int, error) {
	if asked == 0 {
		return protocol.Version, nil
	}
	if !slices.Contains(protocol.SupportedVersions, asked) {
		return 0, &rpc.Error{
			Code:    rpc.CodeInvalidParams,
			Message: fmt.Sprintf("protocol version %d is not spoken here: supported are %v", asked, protocol.SupportedVersions),
			Data:    protocol.ErrorData{Kind: "protocol_version", Supported: protocol.SupportedVersions},
		}
	}
	return asked, nil
}

func rightsOf(o protocol.LoomOptions) (protocol.Rights, error) {
	switch o.Role {
	case protocol.RoleAgent:
		return protocol.Rights{Role: o.Role, Propose: true}, nil
	case protocol.RoleEditor, protocol.RoleReviewer:
		if o.Session != nil {
			return protocol.Rights{}, invalid("session: only an agent has one")
		}
		return protocol.Rights{Role: o.Role, Decide: true}, nil
	}
	return protocol.Rights{}, invalid("role is %q: it is editor, agent or reviewer", o.Role)
}

// joinSession joins or makes the agent's session. An agent can ask for less
// than a person's settings allow, never for more.
func (c *client) joinSession(o *protocol.SessionOptions) (diffpreview.Session, error) {
	var asked protocol.SessionOptions
	if o != nil {
		asked = *o
	}
	toolset := asked.Toolset
	if toolset == "" {
		toolset = "coding"
	}
	c.server.configure()
	if _, err := c.server.toolbox.of("", toolset); err != nil {
		return diffpreview.Session{}, err
	}
	mode, err := c.server.reviewMode(asked.ReviewMode)
	if err != nil {
		return diffpreview.Session{}, err
	}
	sess, err := c.server.store.JoinSession(diffpreview.Session{
		ID: asked.ID, Label: asked.Label, Toolset: toolset, ReviewMode: mode, Sandbox: c.server.sandboxes.kind(),
	})
	if err != nil {
		return diffpreview.Session{}, err
	}
	if _, err := c.server.toolbox.of(sess.ID, sess.Toolset); err != nil {
		return diffpreview.Session{}, err
	}
	c.session = sess.ID
	return sess, nil
}

func (c *client) initialized(context.Context, protocol.Empty) (none, error) { return nil, nil }

func (c *client) setTrace(context.Context, protocol.Empty) (none, error) { return nil, nil }

// shutdown makes the connection refuse everything but exit.
func (c *client) shutdown(context.Context, protocol.Empty) (none, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage = shutDown
	return nil, nil
}

// exit ends the connection. Over stdio that ends the process.
func (c *client) exit(context.Context, protocol.Empty) (none, error) {
	// From its own goroutine, because Close waits for this handler.
	go c.conn.Close()
	return nil, nil
}
