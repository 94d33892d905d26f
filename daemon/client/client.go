// Package client is how a command speaks to a daemon: it finds the one that
// serves the caller's roots, starts one when asked to, and gives loomd's
// methods as Go methods.
//
// It knows the wire's types and nothing of the daemon's inside.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	loom "github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// helloTime bounds the wait for the answer to initialize, and partTime the one
// to shutdown: a daemon that works answers both within a millisecond.
const (
	helloTime = 10 * time.Second
	partTime  = 2 * time.Second
)

// Identity is who connects and as what.
type Identity struct {
	Name    string // clientInfo of initialize
	Version string
	Role    loom.Role
	Session *loom.SessionOptions // agents only
}

// Client is one initialized connection. Its methods may be called from several
// goroutines. An error answer is an *[Error].
type Client struct {
	conn  *rpc.Conn
	ended chan struct{} // closed when conn has ended, by the goroutine that runs it
	info  loom.LoomCapabilities

	progress atomic.Pointer[func(Progress)] // see OnProgress
}

// Progress is what a call that gave a WorkDoneToken waits for.
type Progress struct {
	Message    string
	Percentage *int // nil: there is nothing to count
}

// OnProgress has told called, on the connection's goroutine.
func (c *Client) OnProgress(told func(Progress)) { c.progress.Store(&told) }

// New speaks to the daemon at the other end of conn and takes conn over, also
// when it fails. didChange, when not nil, is called in order for each proposal
// that the daemon announces, on the connection's goroutine.
func New(ctx context.Context, conn io.ReadWriteCloser, who Identity, didChange func(loom.Proposal), log *slog.Logger) (*Client, error) {
	c := &Client{
		conn:  rpc.NewConn(conn, rpc.Options{Logger: log, Name: "daemon"}),
		ended: make(chan struct{}),
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(c.ended)
		defer stop()
		if err := c.conn.Run(run, c.handler(didChange)); err != nil && log != nil {
			log.Debug("The connection to the daemon has ended", "error", err)
		}
	}()
	if err := c.hello(ctx, who); err != nil {
		c.conn.Close()
		<-c.ended
		return nil, fmt.Errorf("greeting the daemon: %w", err)
	}
	return c, nil
}

// handler answers what a daemon sends to a client that shows no documents.
func (c *Client) handler(didChange func(loom.Proposal)) rpc.Handler {
	return func(_ context.Context, _ *rpc.Conn, req *rpc.Request) (any, error) {
		if req.Method == loom.MethodProposalsDidChange && didChange != nil {
			var params loom.ProposalDidChangeParams
			if err := json.Unmarshal(req.Params, &params); err != nil {
				return nil, fmt.Errorf("reading %s: %w", req.Method, err)
			}
			didChange(params.Proposal)
		}
		if told := c.progress.Load(); req.Method == "$/progress" && told != nil {
			var params struct{ Value Progress }
			if err := json.Unmarshal(req.Params, &params); err != nil {
				return nil, fmt.Errorf("reading %s: %w", req.Method, err)
			}
			if params.Value.Message != "" {
				(*told)(params.Value)
			}
		}
		if req.IsNotification() {
			return nil, nil
		}
		return nil, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "this client has no method " + req.Method}
	}
}

func (c *Client) hello(ctx context.Context, who Identity) error {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	params := struct {
		ProcessID             int                         `json:"processId"`
		ClientInfo            protocol.ClientInfo         `json:"clientInfo"`
		RootURI               *uri.URI                    `json:"rootUri"`
		Capabilities          protocol.ClientCapabilities `json:"capabilities"`
		InitializationOptions any                         `json:"initializationOptions"`
	}{
		ProcessID:  os.Getpid(),
		ClientInfo: protocol.ClientInfo{Name: who.Name, Version: who.Version},
		InitializationOptions: map[string]any{"loom": loom.LoomOptions{
			Role: who.Role, ProtocolVersion: loom.Version, Session: who.Session,
		}},
	}
	var result struct {
		Capabilities struct {
			Experimental struct {
				Loom *loom.LoomCapabilities `json:"loom"`
			} `json:"experimental"`
		} `json:"capabilities"`
	}
	if err := c.conn.Call(ctx, protocol.MethodInitialize, params, &result); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("no answer within %v", helloTime)
		}
		return wireError(err)
	}
	if result.Capabilities.Experimental.Loom == nil {
		return errors.New("what answers is not a loomd")
	}
	c.info = *result.Capabilities.Experimental.Loom
	return c.conn.Notify(protocol.MethodInitialized, protocol.InitializedParams{})
}

// Info is what the daemon answered to initialize.
func (c *Client) Info() loom.LoomCapabilities { return c.info }

// Close ends the connection in LSP's order and waits until it has ended.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), partTime)
	defer cancel()
	if err := c.conn.Call(ctx, protocol.MethodShutdown, nil, nil); err == nil {
		c.conn.Notify(protocol.MethodExit, nil)
	}
	err := c.conn.Close()
	<-c.ended
	return err
}

func call[R any](ctx context.Context, c *Client, method string, params any) (R, error) {
	var result R
	if err := c.conn.Call(ctx, method, params, &result); err != nil {
		return result, wireError(err)
	}
	return result, nil
}

// Tools lists the session's tools.
func (c *Client) Tools(ctx context.Context) (loom.ToolsListResult, error) {
	return call[loom.ToolsListResult](ctx, c, loom.MethodToolsList, loom.Empty{})
}

// CallTool runs one tool. A tool that failed is a result, not an error.
func (c *Client) CallTool(ctx context.Context, p loom.ToolsCallParams) (loom.ToolsCallResult, error) {
	return call[loom.ToolsCallResult](ctx, c, loom.MethodToolsCall, p)
}

// Proposals lists proposals without hunks and diff.
func (c *Client) Proposals(ctx context.Context, p loom.ProposalsListParams) (loom.ProposalsListResult, error) {
	return call[loom.ProposalsListResult](ctx, c, loom.MethodProposalsList, p)
}

// Proposal gets one proposal whole.
func (c *Client) Proposal(ctx context.Context, p loom.ProposalsGetParams) (loom.ProposalsGetResult, error) {
	return call[loom.ProposalsGetResult](ctx, c, loom.MethodProposalsGet, p)
}

// Decide accepts or rejects.
func (c *Client) Decide(ctx context.Context, p loom.DecideParams) (loom.DecideResult, error) {
	return call[loom.DecideResult](ctx, c, loom.MethodProposalsDecide, p)
}

// Split cuts a hunk into several.
func (c *Client) Split(ctx context.Context, p loom.SplitParams) (loom.SplitResult, error) {
	return call[loom.SplitResult](ctx, c, loom.MethodProposalsSplit, p)
}

// History is what was decided, oldest first.
func (c *Client) History(ctx context.Context, p loom.HistoryParams) (loom.HistoryResult, error) {
	return call[loom.HistoryResult](ctx, c, loom.MethodProposalsHistory, p)
}

// Rules lists the rules in force.
func (c *Client) Rules(ctx context.Context) (loom.RulesListResult, error) {
	return call[loom.RulesListResult](ctx, c, loom.MethodRulesList, loom.Empty{})
}

// AddRule adds a rule, for a session or for good.
func (c *Client) AddRule(ctx context.Context, p loom.RulesAddParams) (loom.RulesAddResult, error) {
	return call[loom.RulesAddResult](ctx, c, loom.MethodRulesAdd, p)
}

// RemoveRule takes an added rule away.
func (c *Client) RemoveRule(ctx context.Context, p loom.RulesRemoveParams) error {
	_, err := call[loom.Empty](ctx, c, loom.MethodRulesRemove, p)
	return err
}

// Permissions lists commands that wait for allow or deny, and what was decided.
func (c *Client) Permissions(ctx context.Context, p loom.PermissionsListParams) (loom.PermissionsListResult, error) {
	return call[loom.PermissionsListResult](ctx, c, loom.MethodPermissionsList, p)
}

// DecidePermission allows or denies a command.
func (c *Client) DecidePermission(ctx context.Context, p loom.PermissionsDecideParams) (loom.PermissionResult, error) {
	return call[loom.PermissionResult](ctx, c, loom.MethodPermissionsDecide, p)
}

// RevokePermission takes back what was decided about a command.
func (c *Client) RevokePermission(ctx context.Context, p loom.PermissionsRevokeParams) (loom.PermissionResult, error) {
	return call[loom.PermissionResult](ctx, c, loom.MethodPermissionsRevoke, p)
}

// Undo reopens what was decided.
func (c *Client) Undo(ctx context.Context, p loom.UndoParams) (loom.DecideResult, error) {
	return call[loom.DecideResult](ctx, c, loom.MethodProposalsUndo, p)
}

// Sessions lists the sessions.
func (c *Client) Sessions(ctx context.Context) (loom.SessionsListResult, error) {
	return call[loom.SessionsListResult](ctx, c, loom.MethodSessionsList, loom.Empty{})
}

// IndexStatus is what the index holds.
func (c *Client) IndexStatus(ctx context.Context) (loom.IndexStatusResult, error) {
	return call[loom.IndexStatusResult](ctx, c, loom.MethodIndexStatus, loom.Empty{})
}

// Status describes the daemon.
func (c *Client) Status(ctx context.Context) (loom.StatusResult, error) {
	return call[loom.StatusResult](ctx, c, loom.MethodStatus, loom.Empty{})
}
