package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// configuredTool makes a tool of a [[tool]].
func configuredTool(t config.Tool) (tools.Tool, error) {
	input, err := tools.ParseForeignSchema(t.Schema)
	if err != nil {
		return tools.Tool{}, err
	}
	return tools.Tool{
		Name: t.Name, Description: t.Description, Input: input,
		Annotations: tools.Annotations{ReadOnly: t.ReadOnly, Destructive: !t.ReadOnly, OpenWorld: true},
		Call: func(ctx context.Context, tc *tools.Context, args json.RawMessage) (tools.Result, error) {
			argv, err := t.Argv(args)
			var wrong *config.ArgumentError
			if errors.As(err, &wrong) {
				f := tools.Failuref(string(diffpreview.CodeInvalidArguments), "%s", wrong.Error())
				f.Extra = map[string]any{"field": wrong.Field}
				return tools.Result{}, f
			}
			if err := tc.MayRun(ctx, "", argv); err != nil {
				return tools.Result{}, err
			}
			out, err := tools.RunProgram(ctx, tc, tools.Program{Tool: t.Name, Path: argv[0], Args: argv, Cwd: t.Cwd, Timeout: time.Duration(t.TimeoutSecs) * time.Second})
			return tools.Result{Structured: out, Cancelled: out.Cancelled}, err
		},
	}, nil
}

// configureTools takes up the tools and the toolsets. What cannot be is left out,
// and has been told as a problem of its file.
func (s *Server) configureTools(c config.Config) {
	more := s.grantTools(c)
	for _, t := range c.Tools {
		tool, err := configuredTool(t)
		if err != nil {
			s.logger.Error("A configured tool does not count", "tool", t.Name, "error", err)
			continue
		}
		more = append(more, tool)
	}
	sets := make([]tools.Toolset, len(c.Toolsets))
	for i, set := range c.Toolsets {
		sets[i] = tools.Toolset{Name: set.Name, Tools: set.Tools}
	}
	err := s.changeTools(func() error {
		registry, err := s.toolbox.own.With(more...)
		if err != nil {
			return err
		}
		if registry, err = registry.WithToolsets(sets...); err != nil {
			return err
		}
		s.toolbox.set(registry)
		return nil
	})
	if err != nil {
		s.logger.Error("The configured tools do not count", "error", err)
	}
}
