// Loomd puts a review door between an AI agent and the files: the agent's tools
// work on a view of their own, and what they change reaches the working tree
// when a person accepts it.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/tools/process"
)

// Exit codes. Scripts rely on them.
const (
	exitDone        = 0
	exitFailed      = 1   // the tool failed, the decision was refused, a check failed
	exitUsage       = 2   // the command line is wrong: trying again cannot help
	exitNoDaemon    = 3   // there is no daemon to speak to and none can be started
	exitInterrupted = 130 // as a shell reports SIGINT
)

type commands struct {
	Serve  serveCmd  `cmd:"" help:"Run the daemon for a folder."`
	Call   callCmd   `cmd:"" help:"Call one tool as an agent would."`
	Review reviewCmd `cmd:"" help:"Look at what agents propose and decide: accept, reject, undo."`
	Rules  rulesCmd  `cmd:"" help:"List, add and remove rules that accept or hold in your place."`

	Permissions permissionsCmd `cmd:"" help:"List commands that agents want to run, and allow or deny them."`

	Config  configCmd  `cmd:"" help:"Say what is configured, and where it was set."`
	Trust   trustCmd   `cmd:"" help:"Trust what a workspace's own configuration adds."`
	Status  statusCmd  `cmd:"" help:"Say whether a daemon runs and what it does."`
	Doctor  doctorCmd  `cmd:"" help:"Check this machine and the daemon for what would get in the way."`
	Version versionCmd `cmd:"" help:"Print the version of this binary."`

	VersionFlag versionFlag `name:"version" help:"Print the version of this binary."`
}

const description = `loomd runs an AI agent's tools and puts a door between the agent and your files: what it changes is a proposal, and only what you accept is written.

An agent edits and reads its edit back; the file stays as it was:

    loomd call edit_file '{"path":"f.go","edits":[{"old_str":"a","new_str":"b"}]}'
    loomd call read_file '{"path":"f.go"}'

You look and decide, hunk by hunk on a terminal or by name:

    loomd review
    loomd review show
    loomd review accept f.go --hunk h1
    loomd review reject f.go --comment "keep the old name"

Rules decide in your place what you need not see:

    loomd rules add accept 'docs/**' --max-lines 50

The agent hears of each decision, and of your comment, with its next call.

Commands work on the nearest folder upwards that holds .git or .loom, or on --root. Those that need a daemon start one; it ends by itself when nobody uses it. Exit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 no daemon.`

func main() {
	process.Supervise() // which does not return in a process that is one for commands
	os.Exit(run(os.Args[1:]))
}

// run carries out one command line and returns the exit code.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	e := newEnv(ctx, os.Stdin, os.Stdout, os.Stderr)

	var cmds commands
	parser, err := kong.New(&cmds,
		kong.Name("loomd"),
		kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.Help(printHelp(e)),
		kong.Bind(e),
	)
	if err != nil {
		e.complain(err)
		return exitFailed
	}
	if len(args) == 0 {
		args = []string{"--help"} // kong prints it and exits 0
	}
	chosen, err := parser.Parse(args)
	if err != nil {
		e.complain(usagef("%v; see loomd --help", err))
		return exitUsage
	}
	err = chosen.Run(e)
	if err != nil {
		e.complain(err)
	}
	return exitCode(ctx, err)
}

// endSignals are the signals by which a person or a system ends a process.
// nohup has a hangup ignored; that stays so.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// usageError is a command line that makes no sense. hint, if any, says how it is
// written.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }

// errReported says that the command failed and has said so already.
var errReported = errors.New("failed")

func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var answer *client.Error
	var none *client.NoDaemonError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &none):
		return exitNoDaemon
	case errors.As(err, &answer) && answer.IsUsage():
		return exitUsage
	}
	return exitFailed
}
