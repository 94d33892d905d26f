package sandbox

import (
	"context"
	"errors"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// workdir implements [tools.Workdir].
type workdir struct {
	copy  *Copy
	dir   string
	ended bool // guarded by the copy's turn
}

// Dir implements [tools.Workdir].
func (w *workdir) Dir() string { return w.dir }

// Env implements [tools.Workdir].
func (w *workdir) Env() []string { return gitEnv(w.copy.files()) }

// Name implements [tools.Workdir].
func (w *workdir) Name(path string) string {
	out := w.copy.outward(path)
	if out == path {
		return path
	}
	ws := w.copy.opts.View.Workspace()
	p, ok := ws.FromAbs(out)
	if !ok {
		return path
	}
	return ws.Name(p)
}

// errEnded is a mistake of the caller's.
var errEnded = errors.New("this command has ended already")

// End implements [tools.Workdir]. When ctx has ended nothing is proposed, and what the
// command did is taken back. A change that another command of the session made meanwhile
// is proposed here, too, if nobody has proposed it yet.
func (w *workdir) End(ctx context.Context, call diffpreview.Call) (tools.Left, error) {
	c := w.copy
	c.turn <- struct{}{} // it has to be given back, whatever becomes of ctx
	defer c.give()
	if w.ended {
		return tools.Left{}, errEnded
	}
	w.ended = true
	c.active--
	if c.closed {
		return tools.Left{}, closedError()
	}
	left, err := c.end(ctx, call)
	if err != nil {
		return left, failure(err)
	}
	return left, nil
}
