package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/grant"
)

//go:embed command.md
var commandText string

// Bounds of the arguments of one call.
const (
	maxArgs   = 500
	maxArgLen = 32_000 // characters; Linux takes 128 KiB in one argument
)

type commandArgs struct {
	Args        []string `json:"args" jsonschema:"The arguments, one for each: there is no shell, so nothing is expanded or split."`
	Cwd         string   `json:"cwd,omitempty" jsonschema:"The directory to start in: relative to the workspace's root with /, or absolute inside it; without it, the root."`
	TimeoutSecs int      `json:"timeout_secs,omitempty" jsonschema:"How long it may take."`
}

// CommandName is the name of a grant's tool.
func CommandName(grant string) string { return "command_" + grant }

// Command is the tool of a grant.
func Command(g grant.Grant) (Tool, error) {
	return build(spec[commandArgs, Ran]{
		name: CommandName(g.Name), text: strings.ReplaceAll(commandText, "DESCRIPTION", strings.TrimSpace(g.Description)),
		defaults:    commandArgs{TimeoutSecs: 60},
		bounds:      bounds{"args": {0, maxArgs}, "cwd": {1, maxPath}, "timeout_secs": {1, 300}},
		annotations: Annotations{Destructive: true, OpenWorld: true},
		codes:       slices.Concat(ofPaths, []diffpreview.Code{diffpreview.CodeFileNotFound, diffpreview.CodeNotRegularFile, diffpreview.CodeNoSpace, diffpreview.CodeDenied}),
		call: func(ctx context.Context, tc *Context, args commandArgs) (Ran, error) {
			return callCommand(ctx, tc, g, args)
		},
	})
}

func callCommand(ctx context.Context, tc *Context, g grant.Grant, args commandArgs) (Ran, error) {
	for i, a := range args.Args {
		if len(a) > maxArgLen {
			return Ran{}, badArgument(fmt.Sprintf("args[%d]", i), "longer than %d bytes", maxArgLen)
		}
	}
	argv, err := g.Argv(args.Args)
	if err != nil {
		return Ran{}, refusedArgument(err)
	}
	name := filepath.Base(g.Path)
	// What the agent gave is what a person is asked about and what rules match.
	if err := tc.MayRun(ctx, "", slices.Concat([]string{name}, args.Args)); err != nil {
		return Ran{}, err
	}
	return RunProgram(ctx, tc, Program{
		Tool: CommandName(g.Name), Path: g.Path, Args: slices.Concat([]string{name}, argv), Cwd: args.Cwd, Env: g.Env,
		Timeout: time.Duration(args.TimeoutSecs) * time.Second, Host: g.Host,
	})
}

// refusedArgument is what a policy refused as a failure.
func refusedArgument(err error) error {
	f := &Failure{Code: CodeDenied, Message: err.Error(), Hint: "the grant allows other arguments only; do it another way, or ask the person"}
	var d *grant.Denied
	if errors.As(err, &d) {
		if d.Hint != "" {
			f.Hint = d.Hint
		}
		f.with("argument", d.Index)
	}
	return f
}
