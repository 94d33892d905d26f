package daemon

import (
	"context"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// folder is a place for commands: one directory, of which nothing is proposed.
type folder struct{ dir string }

func (f folder) Begin(context.Context, string) (tools.Workdir, error) { return f, nil }
func (f folder) Dir() string                                          { return f.dir }
func (f folder) Env() []string                                        { return nil }
func (f folder) Name(path string) string                              { return path }
func (f folder) End(context.Context, diffpreview.Call) (tools.Left, error) {
	return tools.Left{}, nil
}
