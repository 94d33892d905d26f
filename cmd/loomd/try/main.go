// Try shows loomd at work on a copy of a real folder: a scripted agent edits,
// somebody decides, and it is checked that exactly what was accepted reached
// the disk. "make try" runs it.
//
// With a terminal the person decides in "loomd review"; without one, or with
// -script, a fixed list of commands does. The copy, the daemon and its state
// live in a scratch folder that is removed at the end. The exit code is 1 when
// anything is not as it should be.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"
)

func main() {
	loomd := flag.String("loomd", "bin/loomd", "the binary to try")
	workspace := flag.String("workspace", ".", "the folder to copy")
	script := flag.Bool("script", false, "decide by a fixed script, also on a terminal")
	flag.Parse()
	// Whatever ends a trial early, a reader that has gone included, ends it by
	// way of the clean-up.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	err := run(ctx, *loomd, *workspace, *script)
	interrupted := ctx.Err() != nil && errors.Is(err, context.Canceled)
	stop()
	if interrupted {
		os.Exit(exitInterrupted)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "try:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, loomd, workspace string, script bool) (err error) {
	if loomd, err = filepath.Abs(loomd); err != nil {
		return err
	}
	if _, err := os.Stat(loomd); err != nil {
		return fmt.Errorf("the binary to try: %w", err)
	}
	tree, err := takeCopy(ctx, workspace)
	if err != nil {
		return fmt.Errorf("copying %s: %w", workspace, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tree.scratch)) }()
	interactive := !script && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))

	d, err := startDaemon(ctx, loomd, tree)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()

	heading("An agent works on a copy of %s (%s)", tree.name, tree.size())
	a, err := startAgent(ctx, d.options)
	if err != nil {
		return err
	}
	defer a.client.Close()
	if err := a.work(ctx); err != nil {
		return err
	}
	if err := tree.unchanged(); err != nil {
		return err
	}
	fmt.Printf("\nThe folder is as it was: %s compared.\n", plural(len(tree.before), "file"))

	r := &review{loomd: loomd, dir: tree.dir, changes: a.changes, client: d.reviewer}
	if err := r.collect(ctx); err != nil {
		return err
	}
	if interactive {
		err = r.onTerminal(ctx)
	} else {
		err = r.byScript(ctx)
	}
	if errors.Is(err, errInterrupted) {
		fmt.Println()
		ctx, err = context.WithoutCancel(ctx), nil
	}
	if err != nil {
		return err
	}
	return conclude(ctx, tree, a, r)
}

// conclude shows and checks what reached the disk and what the agent is told.
func conclude(ctx context.Context, tree *tree, a *agent, r *review) error {
	told, err := a.hear(ctx)
	if err != nil {
		return err
	}
	if err := r.settle(ctx, told); err != nil {
		return err
	}
	heading("What reached the disk: the accepted hunks, to the byte")
	if err := tree.showWritten(a.changes); err != nil {
		return err
	}
	heading("What the agent is told with its next call")
	return a.showTold(ctx, tree, told)
}
