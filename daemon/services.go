package daemon

import (
	"context"
	"os"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// services takes up what is configured, and is what a call may ask beyond the
// workspace.
func (s *Server) services() tools.Services {
	c, _ := s.configure()
	var out tools.Services
	out.Search = tools.SearchService{
		Default: c.WebSearch.Provider.Value, Timeout: time.Duration(c.WebSearch.TimeoutSecs.Value) * time.Second,
		Providers: map[string]tools.SearchProvider{},
	}
	for _, p := range c.WebSearch.Providers {
		out.Search.Providers[p.Name] = tools.SearchProvider{URL: p.URL, Engine: p.Engine, Key: s.key(p.KeySource, "web_search")}
	}
	if o := c.Oracle; o != nil {
		out.Oracle = tools.OracleService{
			URL: o.URL, Model: o.Model, Models: o.Models, MaxTokens: o.MaxTokens, TokenParam: o.TokenParam,
			Timeout: time.Duration(o.TimeoutSecs) * time.Second, Key: s.key(o.KeySource, "oracle"),
		}
	}
	return out
}

// key is how the key of a service that a tool asks is had; nil when it has none.
func (s *Server) key(from config.KeySource, tool string) tools.KeyFunc {
	switch {
	case from.KeySecret != "":
		return func(ctx context.Context) (string, error) { return s.secret(ctx, from.KeySecret, tool) }
	case from.KeyEnv != "":
		return func(context.Context) (string, error) { return keyInEnv(from.KeyEnv) }
	}
	return nil
}

// keyInEnv is a variable of this process, which has the environment of whoever
// started it.
func keyInEnv(name string) (string, error) {
	if value := os.Getenv(name); value != "" {
		return value, nil
	}
	return "", &tools.Failure{
		Code: string(diffpreview.CodeUnavailable), Message: "the variable " + name + ", which is configured as the key, is not set where the daemon runs",
		Hint: "go on without it; a person can set it and start the daemon again",
	}
}

// secret is the value of a named secret for a tool.
func (s *Server) secret(ctx context.Context, name, tool string) (string, error) {
	value, err := s.secrets.Value(ctx, name, tool)
	if err == nil || ctx.Err() != nil {
		return value, ctx.Err()
	}
	return "", &tools.Failure{
		Code: string(diffpreview.CodeUnavailable), Message: err.Error(),
		Hint: "go on without it; a person can see with loomd doctor what is wrong",
	}
}
