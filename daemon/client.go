package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	lsp "go.lsp.dev/protocol"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
)

// client is one connection.
type client struct {
	server *Server
	conn   *rpc.Conn

	mu       sync.Mutex // guards the fields below
	stage    stage
	name     string // who decides, in reviews
	rights   protocol.Rights
	session  string // an agent's
	encoding protocol.PositionEncoding
	edits    bool // the editor takes versioned edits
	// uris is how the editor spells its open documents; files is where these are, with
	// no path for one outside of the workspace.
	uris  map[diffpreview.Path]lsp.DocumentURI
	files map[lsp.DocumentURI]diffpreview.Path
}

// stage is where a connection is in LSP's life cycle.
type stage int

const (
	fresh stage = iota
	running
	shutDown
)

func newClient(s *Server) *client {
	return &client{server: s, encoding: protocol.UTF16, uris: map[diffpreview.Path]lsp.DocumentURI{}, files: map[lsp.DocumentURI]diffpreview.Path{}}
}

// handle answers one message: the table says who may send it.
func (c *client) handle(ctx context.Context, _ *rpc.Conn, req *rpc.Request) (any, error) {
	m, known := methods[req.Method]
	if err := c.admit(req.Method, m, known); err != nil {
		return nil, c.server.shownError(err, false)
	}
	result, err := m.run(ctx, c, req.Params)
	agent := c.proposes()
	if err != nil {
		return nil, c.server.shownError(c.server.wireError(err), agent)
	}
	if _, long := result.(rpc.Pieces); agent && !long { // these toolsCall has redacted
		return c.server.shown(result), nil
	}
	return result, nil
}

func (c *client) proposes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rights.Propose
}

func (c *client) admit(name string, m method, known bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case name == "exit":
		return nil
	case c.stage == fresh && name != "initialize":
		return &rpc.Error{Code: rpc.CodeServerNotInitialized, Message: "initialize comes first"}
	case c.stage != fresh && name == "initialize":
		return &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "initialize comes once"}
	case c.stage == shutDown:
		return &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "the connection is shut down"}
	case !known:
		return &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "no method " + name}
	case m.propose && !c.rights.Propose:
		return forbidden("a connection of role %s calls no tools: connect as agent", c.rights.Role)
	case m.decide && !c.rights.Decide:
		return forbidden("a connection of role %s decides nothing: connect as editor or reviewer", c.rights.Role)
	}
	return nil
}

func forbidden(format string, role protocol.Role) error {
	return &rpc.Error{
		Code: rpc.CodeRequestFailed, Message: fmt.Sprintf(format, role),
		Data: protocol.ErrorData{Kind: "rights", Hint: "what proposes cannot decide, and what decides cannot propose"},
	}
}

// decode reads parameters strictly enough to say what is wrong with them.
func decode[T any](params json.RawMessage) (T, error) {
	var p T
	if len(params) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return p, undecodable(err)
	}
	return p, nil
}

func invalid(format string, args ...any) error {
	return &rpc.Error{
		Code: rpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...),
		Data: protocol.ErrorData{Kind: "invalid_params"},
	}
}

// announce tells editors and reviewers of a change. It is called in order and
// only queues.
func (s *Server) announce(e diffpreview.Event) {
	if e.Session != nil && !e.Session.Open {
		s.permissions.EndSession(e.Session.ID)
	}
	if deciders := s.deciders(); len(deciders) > 0 {
		method, params := s.notification(e)
		params = s.shown(params)
		for _, c := range deciders {
			// A client that is gone or does not read is the connection's affair.
			_ = c.conn.Notify(method, params)
		}
	}
	s.watch()
}

// deciders are the connections that may decide.
func (s *Server) deciders() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*client
	for c := range s.clients {
		if c.decides() {
			list = append(list, c)
		}
	}
	return list
}

func (s *Server) notification(e diffpreview.Event) (string, any) {
	if e.Session != nil {
		return protocol.MethodSessionsDidChange, s.wireSession(*e.Session)
	}
	return protocol.MethodProposalsDidChange, protocol.ProposalDidChangeParams{Proposal: s.wireProposal(e.Proposal, withHunks)}
}

func (c *client) decides() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stage == running && c.rights.Decide
}
