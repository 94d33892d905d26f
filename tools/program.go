package tools

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/process"
)

// Program is what a tool runs without a shell.
type Program struct {
	Tool    string   // whose it is, for the proposals
	Path    string   // of the executable; one without a "/" is looked up in the command's PATH
	Args    []string // the whole argument list, the name included
	Cwd     string   // as the agent gave it, "" for the first root
	Env     []string // over the environment of commands, as "NAME=value"
	Timeout time.Duration
	Host    bool // on the host and in the workspace itself, not in the session's sandbox
}

// Ran is how a program ended, and what it left.
type Ran struct {
	ended
	DurationMS int64        `json:"duration_ms" jsonschema:"how long the command ran, in milliseconds"`
	Stdout     string       `json:"stdout"`
	Stderr     string       `json:"stderr"`
	Order      []chunkOrder `json:"order,omitempty" jsonschema:"when both streams have something and are not cut: how they came, as bytes of the one and the other in turn; what came at the same moment can stand in either order"`
	changed
	cut
}

func (r *Ran) interrupted() bool { return r.Cancelled }

type chunkOrder struct {
	Stream string `json:"stream" jsonschema:"stdout or stderr"`
	Bytes  int64  `json:"bytes"`
}

// MayRun asks Allow whether a command may run.
func (tc *Context) MayRun(ctx context.Context, command string, argv []string) error {
	if tc.Allow == nil {
		return nil
	}
	return tc.Allow(ctx, command, argv)
}

// RunProgram runs a program to its end where the session's commands run, and
// proposes what it changed there. Whether it may run, the caller has asked ([Context.MayRun]).
// Failures: unavailable (there is no place, or no such program), those of the
// place, io.
func RunProgram(ctx context.Context, tc *Context, p Program) (Ran, error) {
	place, err := tc.begin(ctx, p.Cwd, p.Host)
	if err != nil {
		return Ran{}, err
	}
	call := diffpreview.Call{ID: tc.CallID, Tool: p.Tool}
	c, err := tc.command(ctx, place, p.Tool, p.Args, p.Timeout, p.Env...)
	if err != nil {
		_, _ = place.End(ctx, call)
		return Ran{}, err
	}
	if c.Path = p.Path; filepath.Base(p.Path) == p.Path {
		if c.Path = process.Find(p.Path, c.Env); c.Path == "" {
			_, _ = place.End(ctx, call)
			f := failf(diffpreview.CodeUnavailable, "there is no program %s", short(p.Path))
			f.Hint = "ask the person to install it, or do without it"
			return Ran{}, f
		}
	} else if !filepath.IsAbs(p.Path) {
		c.Path = filepath.Join(place.Dir(), p.Path)
	}
	return runInPlace(ctx, tc, c, place, call)
}

// begin makes the place of one command.
func (tc *Context) begin(ctx context.Context, cwd string, host bool) (Workdir, error) {
	var sandbox Sandbox = hostFolder{view: tc.View}
	if !host {
		if tc.Sandbox == nil {
			return nil, noPlace()
		}
		sandbox = tc.Sandbox
	}
	place, err := sandbox.Begin(ctx, cwd)
	if err != nil {
		return nil, ofArgument("cwd", err)
	}
	return place, nil
}

// command is a command of a tool in a place, with the secrets that the tool may
// use; its Path is the caller's to give.
func (tc *Context) command(ctx context.Context, place Workdir, tool string, args []string, timeout time.Duration, env ...string) (process.Command, error) {
	secrets, err := tc.Secrets.Env(ctx, tool)
	if err != nil {
		if ctx.Err() != nil {
			return process.Command{}, ctx.Err()
		}
		f := failf(diffpreview.CodeUnavailable, "%v", err)
		f.Hint = "go on without it; a person can see with loomd doctor what is wrong"
		return process.Command{}, f
	}
	c := process.Command{
		Args: args, Dir: place.Dir(), Env: process.Environment(os.Environ(), slices.Concat(place.Env(), env, secrets)...),
		Timeout: timeout, Clean: true,
	}
	if !tc.redactor().Idle() {
		c.Filter = tc.redactor().Writer
	}
	return c, nil
}

func noPlace() error {
	f := failf(diffpreview.CodeUnavailable, "this session has no sandbox that commands could run in")
	f.Hint = "work with the other tools, and tell the person what to run"
	return f
}

// hostFolder is a folder of the workspace itself, for programs that a person lets
// run there. What they change is not the session's.
type hostFolder struct {
	view *diffpreview.View
	dir  string
}

func (h hostFolder) Begin(_ context.Context, cwd string) (Workdir, error) {
	ws := h.view.Workspace()
	if cwd == "" {
		h.dir = ws.Roots()[0].Path
		return h, nil
	}
	p, err := h.view.Resolve(cwd)
	if err != nil {
		return nil, err
	}
	h.dir = ws.Abs(p)
	info, err := os.Stat(h.dir)
	switch {
	case err != nil:
		return nil, &diffpreview.Error{Code: diffpreview.CodeFileNotFound, Path: cwd, Message: "no such directory", Hint: "a program on the host sees what is accepted, not what you propose"}
	case !info.IsDir():
		return nil, &diffpreview.Error{Code: diffpreview.CodeNotRegularFile, Path: cwd, Message: "is not a directory"}
	}
	return h, nil
}

func (h hostFolder) Dir() string             { return h.dir }
func (h hostFolder) Env() []string           { return nil }
func (h hostFolder) Name(path string) string { return path }
func (h hostFolder) End(context.Context, diffpreview.Call) (Left, error) {
	return Left{}, nil
}
