package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
	"github.com/loomd/loomd/tools/secret"
)

// SecretsOf is a set of the secrets that are configured. environ is the
// environment that it works in.
func SecretsOf(list []config.Secret, environ []string) *secret.Set {
	set := secret.NewSet(environ)
	set.Configure(specsOf(list))
	return set
}

func specsOf(list []config.Secret) []secret.Spec {
	specs := make([]secret.Spec, len(list))
	for i, c := range list {
		specs[i] = secret.Spec{
			Name: c.Name, Provider: c.Provider, Env: c.Env, File: c.File, Ref: c.Ref, Account: c.Account, Command: c.Command,
			Timeout: time.Duration(c.TimeoutSecs) * time.Second, Tools: c.Tools,
		}
	}
	return specs
}

// takeSecrets makes the configured secrets those of the daemon, and loads those
// that any tool could come across. A tool may use those that list it, a grant and a
// service also those that they name themselves.
func (s *Server) takeSecrets(c config.Config) {
	specs := specsOf(c.Secrets)
	give := func(name, tool string) {
		for i := range specs {
			if spec := &specs[i]; spec.Name == name && !slices.Contains(spec.Tools, tool) {
				spec.Tools = append(slices.Clone(spec.Tools), tool)
			}
		}
	}
	for _, g := range c.Grants {
		for _, name := range g.Secrets {
			give(name, tools.CommandName(g.Name))
		}
	}
	for _, p := range c.WebSearch.Providers {
		give(p.KeySecret, "web_search")
	}
	if c.Oracle != nil {
		give(c.Oracle.KeySecret, "oracle")
	}
	s.secrets.Configure(specs)
	for _, err := range s.secrets.Preload(context.Background()) {
		s.logger.Warn("A secret is not loaded, so it is not redacted", "error", err)
	}
}

// refreshSecrets takes up what has changed of the user's configuration, or of the
// files that secrets are in, before a call that could show them.
func (s *Server) refreshSecrets(ctx context.Context) {
	if s.config.UserChanged() {
		s.configure()
	}
	s.secrets.Refresh(ctx)
}

// checkProposed is the [diffpreview.Options.Check]: new text holds no secret that
// the old one has not, and no mark of one.
func (s *Server) checkProposed(before, after []byte) error {
	name, marked := s.secrets.Redactor().More(before, after)
	switch {
	case name != "":
		return &diffpreview.Error{
			Code: diffpreview.CodeDenied, Message: "this would put the secret " + name + " into a file",
			Hint: "have the program read it from its environment, or ask the person to put it there",
		}
	case marked != "":
		return &diffpreview.Error{
			Code: diffpreview.CodeDenied, Message: fmt.Sprintf("the new text has %s, which is only how a secret is shown: the file would have the mark instead", secret.Mark(marked)),
			Hint: "change what is around it by edit_file, with an old_str that leaves it out",
		}
	}
	return nil
}

// shown is what a client is sent, without secrets: unasked, or to an agent. A
// person who decides asks for what they decide on, and is shown it as it is.
func (s *Server) shown(v any) any {
	if s.secrets.Redactor().Idle() || v == nil {
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return v // whoever sends it has the same error
	}
	if clean, changed := s.secrets.Redactor().JSON(text); changed {
		return json.RawMessage(clean)
	}
	return v
}

// shownError is an error without secrets. What it has of proposals a person sees
// as they are.
func (s *Server) shownError(err error, agent bool) error {
	r := s.secrets.Redactor()
	var wire *rpc.Error
	if r.Idle() || !errors.As(err, &wire) {
		return err
	}
	out := &rpc.Error{Code: wire.Code, Message: r.String(wire.Message), Data: wire.Data}
	switch data := wire.Data.(type) {
	case protocol.ErrorData:
		data.Hint, data.Path = r.String(data.Hint), r.String(data.Path)
		if out.Data = data; agent {
			out.Data = s.shown(data)
		}
	case nil:
	default:
		out.Data = s.shown(data)
	}
	return out
}
