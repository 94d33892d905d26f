package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/place"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
	"github.com/loomd/loomd/tools/permission"
)

// maxReason bounds what a person says of a denied command, in bytes.
const maxReason = 2000

// openPermissions brings back what was allowed for good. While the file of that is
// not understood, nothing of it holds, and nothing is written over it.
func (s *Server) openPermissions() {
	list, err := config.ReadAllowed(s.place.Allowed)
	if err != nil {
		s.allowedProblem = err
		s.logger.Warn("What was allowed for good does not count", "error", err)
	}
	var kept []permission.Kept
	for _, a := range list {
		kept = append(kept, permission.Kept(a))
	}
	s.permissions = permission.NewRequests(kept, s.saveAllowed, s.announcePermission)
}

func (s *Server) saveAllowed(kept []permission.Kept) error {
	if s.allowedProblem != nil {
		return s.allowedProblem
	}
	list := make([]config.Allowed, len(kept))
	for i, k := range kept {
		list[i] = config.Allowed(k)
	}
	data, err := config.EncodeAllowed(list)
	if err != nil {
		return err
	}
	return place.WritePrivate(s.place.Allowed, data)
}

// announcePermission tells editors and reviewers of a request. It is called in
// order and only queues.
func (s *Server) announcePermission(r permission.Request) {
	params := protocol.PermissionResult{Permission: wirePermission(r)}
	for _, c := range s.deciders() {
		// A client that is gone or does not read is the connection's affair.
		_ = c.conn.Notify(protocol.MethodPermissionsDidChange, params)
	}
}

// allow makes the question whether a command of a tool may run, for a call of the
// session. It answers within the configured time.
func (s *Server) allow(sess diffpreview.Session, tool string, tell func(tools.Progress)) func(context.Context, string, []string) error {
	return func(ctx context.Context, command string, argv []string) error {
		c, _ := s.configure()
		script := permission.Of(argv)
		if command == "" {
			command = permission.Quote(argv)
		} else {
			script = permission.Parse(command)
		}
		ruling := permission.Decide(commandRules(c), permission.Call{Tool: tool, Label: sess.Label, Script: script}, s.normally(sess, tool))
		switch {
		case ruling.Effect == permission.Allow:
			return nil
		case ruling.Effect == permission.Deny:
			f := denied("denied", fmt.Sprintf("the rule %q denies this command: %s", ruling.Rule, ruling.Why), "do it another way, or tell the person what you need")
			f.Extra["rule"] = ruling.Rule
			return f
		case len(command) > permission.MaxCommand:
			return denied("denied", fmt.Sprintf("a person would have to be asked, and %d bytes are too many to be shown", len(command)), "put what it does into a script, and run that")
		}
		return s.ask(ctx, permission.Request{
			Session: sess.ID, Label: sess.Label, Tool: tool, Command: command, Runs: script.Runs(), Why: ruling.Why, Rule: ruling.Rule,
		}, time.Duration(c.AskWaitSecs.Value)*time.Second, tell)
	}
}

// normally is what becomes of a command that no rule is about. What runs in a
// sandbox harms nothing, and what it changes is reviewed.
func (s *Server) normally(sess diffpreview.Session, tool string) permission.Effect {
	s.configuring.Lock()
	defer s.configuring.Unlock()
	if kind := s.sandboxes.kindOf(sess); !s.hostTools[tool] && (kind == "staged" || kind == "virtual") {
		return permission.Allow
	}
	return permission.Ask
}

func commandRules(c config.Config) []permission.Rule {
	rules := make([]permission.Rule, len(c.CommandRules))
	for i, r := range c.CommandRules {
		rules[i] = permission.Rule{
			Name: r.Name, Effect: permission.Effect(r.Effect), Command: r.Command, Tools: r.Tools, Sessions: r.Sessions, Source: r.Source,
		}
	}
	return rules
}

// ask has a person asked, unless one has decided on the same command before, and
// waits for a while.
func (s *Server) ask(ctx context.Context, r permission.Request, wait time.Duration, tell func(tools.Progress)) error {
	now, ok, err := s.permissions.Admit(r)
	if err != nil {
		return denied("denied", err.Error(), "go on with something else until a person has decided")
	}
	if !ok && now.State == permission.Asked && wait > 0 {
		if tell != nil {
			tell(tools.Progress{Message: "A person is asked whether the command may run (" + now.ID + ")"})
		}
		waiting, cancel := context.WithTimeout(ctx, wait)
		s.permissions.Await(waiting, now.ID)
		cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
		if now, ok, err = s.permissions.Admit(r); err != nil {
			return denied("denied", err.Error(), "go on with something else until a person has decided")
		}
	}
	switch {
	case ok:
		return nil
	case now.State == permission.Denied:
		text := now.By + " denied this command"
		if now.Reason != "" {
			text += ": " + now.Reason
		}
		f := denied("denied", text, "do it another way, or not at all")
		f.Extra["permission"] = now.ID
		return f
	}
	f := denied("asked", fmt.Sprintf("a person is asked whether this command may run (%s): %s", now.ID, r.Why), "go on with something else, and call it again in the very same words later: then it runs if it was allowed")
	f.Extra["permission"] = now.ID
	return f
}

// denied is the failure of a command that may not run. state is asked or denied.
func denied(state, message, hint string) *tools.Failure {
	return &tools.Failure{Code: tools.CodeDenied, Message: message, Hint: hint, Extra: map[string]any{"state": state}}
}

func (c *client) permissionsList(_ context.Context, p protocol.PermissionsListParams) (protocol.PermissionsListResult, error) {
	states := []protocol.PermissionState{
		"", protocol.PermissionAsked, protocol.PermissionAllowed, protocol.PermissionDenied, protocol.PermissionUsed,
		protocol.PermissionRevoked, protocol.PermissionWithdrawn,
	}
	if !slices.Contains(states, p.State) {
		return protocol.PermissionsListResult{}, invalid("state is %q: it is asked, allowed, denied, used, revoked or withdrawn", p.State)
	}
	session := ""
	if p.Session != "" {
		sess, err := c.server.sessionNamed(p.Session)
		if err != nil {
			return protocol.PermissionsListResult{}, err
		}
		session = sess.ID
	}
	out := protocol.PermissionsListResult{Permissions: []protocol.Permission{}}
	for _, r := range c.server.permissions.List(permission.State(p.State)) {
		if session == "" || r.Session == session {
			out.Permissions = append(out.Permissions, wirePermission(r))
		}
	}
	return out, nil
}

func (c *client) permissionsDecide(_ context.Context, p protocol.PermissionsDecideParams) (protocol.PermissionResult, error) {
	v := permission.Verdict{Allow: p.Decision == protocol.AllowCommand, Scope: permission.Scope(p.Scope), Reason: p.Reason, By: c.name}
	scopes := []protocol.PermissionScope{"", protocol.ScopeOnce, protocol.ScopeSession, protocol.ScopeAlways}
	switch {
	case !v.Allow && p.Decision != protocol.DenyCommand:
		return protocol.PermissionResult{}, invalid("decision is %q: it is allow or deny", p.Decision)
	case !slices.Contains(scopes, p.Scope):
		return protocol.PermissionResult{}, invalid("scope is %q: it is once, session or always", p.Scope)
	case !v.Allow && p.Scope != "":
		return protocol.PermissionResult{}, invalid("scope: only an allow has one; a deny holds for the session")
	case v.Allow && p.Reason != "":
		return protocol.PermissionResult{}, invalid("reason: only a deny has one")
	case len(p.Reason) > maxReason:
		return protocol.PermissionResult{}, invalid("reason: %d bytes, at most %d", len(p.Reason), maxReason)
	}
	if v.Scope == "" {
		v.Scope = permission.Once
	}
	r, err := c.server.permissions.Decide(p.ID, v)
	if err == nil {
		c.server.logger.Info("Command decided", "permission", r.ID, "state", r.State, "scope", r.Scope, "by", c.name)
	}
	return protocol.PermissionResult{Permission: wirePermission(r)}, permissionError(p.ID, err)
}

func (c *client) permissionsRevoke(_ context.Context, p protocol.PermissionsRevokeParams) (protocol.PermissionResult, error) {
	r, err := c.server.permissions.Revoke(p.ID, c.name)
	if err == nil {
		c.server.logger.Info("Command revoked", "permission", r.ID, "by", c.name)
	}
	return protocol.PermissionResult{Permission: wirePermission(r)}, permissionError(p.ID, err)
}

func permissionError(id string, err error) error {
	var decided *permission.DecidedError
	switch {
	case errors.As(err, &decided):
		return &rpc.Error{Code: rpc.CodeContentModified, Message: err.Error(), Data: protocol.ErrorData{Kind: "already_decided"}}
	case errors.Is(err, permission.ErrUnknown):
		return &rpc.Error{
			Code: rpc.CodeRequestFailed, Message: "no permission " + id + " that this could be done with",
			Data: protocol.ErrorData{Kind: "unknown_permission", Hint: "loom/permissions/list has those there are"},
		}
	}
	return err
}

func wirePermission(r permission.Request) protocol.Permission {
	out := protocol.Permission{
		ID: r.ID, Session: r.Session, Label: r.Label, Tool: r.Tool, Command: r.Command, Runs: r.Runs, Why: r.Why, Rule: r.Rule,
		State: protocol.PermissionState(r.State), Scope: protocol.PermissionScope(r.Scope), By: r.By, Reason: r.Reason,
		Since: r.Since.Format(time.RFC3339),
	}
	if out.Runs == nil {
		out.Runs = []string{}
	}
	if !r.Decided.IsZero() {
		out.Decided = r.Decided.Format(time.RFC3339)
	}
	return out
}
