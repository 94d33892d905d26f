package daemon

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
)

func (c *client) status(context.Context, protocol.Empty) (protocol.StatusResult, error) {
	s := c.server
	out := protocol.StatusResult{
		PID: os.Getpid(), Version: s.opts.Version, Roots: s.wireRoots(), Socket: s.socket,
		StateDir: s.place.StateDir, Started: s.started.Format(time.RFC3339),
		Clients: []protocol.Client{}, Sessions: s.wireSessions(), Problems: []string{},
	}
	for _, sess := range out.Sessions {
		out.Proposals += sess.Proposals
	}
	out.Problems = append(out.Problems, s.watching.problems()...)
	out.Problems = append(out.Problems, s.indexes.problems...)
	_, wrong := s.configure()
	for _, p := range wrong {
		out.Problems = append(out.Problems, p.String())
	}
	s.configuring.Lock()
	out.Problems = append(out.Problems, s.grantProblems...)
	s.configuring.Unlock()
	if s.allowedProblem != nil {
		out.Problems = append(out.Problems, s.allowedProblem.Error())
	}
	out.Commands = s.permissions.Waiting()
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.clients {
		other.mu.Lock()
		out.Clients = append(out.Clients, protocol.Client{Role: other.rights.Role, Name: other.name})
		other.mu.Unlock()
	}
	slices.SortFunc(out.Clients, func(a, b protocol.Client) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}
