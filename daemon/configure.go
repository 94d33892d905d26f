package daemon

import (
	"slices"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/diffpreview"
)

// configure takes up what persons have configured, when it has changed, and
// returns it.
func (s *Server) configure() (config.Config, []config.Problem) {
	s.configuring.Lock()
	defer s.configuring.Unlock()
	c, problems, version := s.config.Current()
	if version == s.configured {
		return c, problems
	}
	rules := make([]diffpreview.Rule, len(c.Rules))
	for i, r := range c.Rules {
		rules[i] = diffpreview.Rule{
			Name: r.Name, Effect: diffpreview.Effect(r.Effect), Root: r.Root, Paths: r.Paths, Kinds: r.Kinds, MinLines: r.MinLines,
			MaxLines: r.MaxLines, MaxBytes: r.MaxBytes, Sessions: r.Sessions, Tools: r.Tools, Source: r.Source,
		}
	}
	s.store.ForbidAuto(c.Mode.Value != config.ModeAuto)
	s.store.SetRules(rules)
	s.takeSecrets(c)
	s.configured = version
	s.configureTools(c)
	for _, p := range problems {
		s.logger.Warn("Configuration", "file", p.File, "line", p.Line, "key", p.Key)
	}
	return c, problems
}

// reviewMode is the review mode that a session gets which asked for one, "" for
// any: the stricter of that and what is configured.
func (s *Server) reviewMode(asked string) (string, error) {
	c, _ := s.configure()
	mode := config.Mode(asked)
	switch {
	case asked == "":
		return string(c.Mode.Value), nil
	case !slices.Contains([]config.Mode{config.ModeAuto, config.ModeStaged, config.ModeBlocking}, mode):
		return "", invalid("reviewMode is %q: it is auto, staged or blocking", asked)
	}
	return string(config.Stricter(mode, c.Mode.Value)), nil
}

// modeOf is the review mode of a session as it is now: what is configured can
// have become stricter since it began.
func (s *Server) modeOf(sess diffpreview.Session) config.Mode {
	c, _ := s.configure()
	return config.Stricter(config.Mode(sess.ReviewMode), c.Mode.Value)
}

// reviewWait takes up what is configured, and is how long a call of the session
// waits for a person's decision.
func (s *Server) reviewWait(sess diffpreview.Session) time.Duration {
	if s.modeOf(sess) != config.ModeBlocking {
		return 0
	}
	c, _ := s.configure()
	return time.Duration(c.WaitSecs.Value) * time.Second
}
