package tools

import (
	"context"

	"github.com/loomd/loomd/diffpreview"
)

// Sandbox is where the commands of a session run: a place with the files of the
// session's view in it, none of which is the tree's.
type Sandbox interface {
	// Begin makes the workspace's files as the session's view has them. cwd is a path
	// as the agent gives it, "" for the first root. The Workdir is the caller's until
	// its End. Several may be open at once.
	Begin(ctx context.Context, cwd string) (Workdir, error)
}

// Workdir is a place where one command, or one job, runs.
type Workdir interface {
	// Dir is the absolute path of where the command starts.
	Dir() string
	// Env is what the sandbox adds to the command's environment, as "NAME=value".
	// It wins over what the command would have otherwise.
	Env() []string
	// Name is how the agent knows the absolute path of a file of the copy; a path
	// outside of it stays as it is.
	Name(path string) string
	// End proposes what the command left, attributed to call, and gives the place
	// back. It is called once, when no process of the command lives any more. It gives
	// the place back even when it fails or ctx has ended.
	End(ctx context.Context, call diffpreview.Call) (Left, error)
}

// Left is what a command left behind.
type Left struct {
	Steps        []diffpreview.Step // what was proposed, sorted by path
	GitDiscarded bool               // .git was changed; that is not kept
	Ignored      int                // changed paths that the ignore rules leave out; they stay in the session's copy
	Refused      []Refusal          // changes that could not be proposed
}

// Refusal is a change that could not be proposed.
type Refusal struct {
	Path    string // as the agent knows it
	Code    string // one of the failure codes
	Message string
}
