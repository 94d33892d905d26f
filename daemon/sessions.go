package daemon

import (
	"context"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
)

func (c *client) sessionsList(context.Context, protocol.Empty) (protocol.SessionsListResult, error) {
	return protocol.SessionsListResult{Sessions: c.server.wireSessions()}, nil
}

func (c *client) sessionsClose(_ context.Context, p protocol.SessionsCloseParams) (protocol.Empty, error) {
	sess, err := c.server.sessionNamed(p.ID)
	if err != nil {
		return protocol.Empty{}, err
	}
	if c.session != "" && c.session != sess.ID {
		return protocol.Empty{}, forbidden("a connection of role %s closes its own session only", protocol.RoleAgent)
	}
	c.server.endJobs(sess.ID)
	return protocol.Empty{}, c.server.store.CloseSession(sess.ID)
}

// sessionNamed finds a session by id, or the newest one with that label.
func (s *Server) sessionNamed(name string) (diffpreview.Session, error) {
	var found diffpreview.Session
	for _, sess := range s.store.Sessions() {
		if sess.ID == name {
			return sess, nil
		}
		if sess.Label == name {
			found = sess
		}
	}
	if found.ID == "" {
		return found, &rpc.Error{
			Code: rpc.CodeRequestFailed, Message: "no session " + name,
			Data: protocol.ErrorData{Kind: "unknown_session"},
		}
	}
	return found, nil
}
