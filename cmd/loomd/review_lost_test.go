package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// lostDaemon ends at the first decision.
type lostDaemon struct {
	*fakeDaemon
	asked int
}

func (d *lostDaemon) Decide(context.Context, protocol.DecideParams) (protocol.DecideResult, error) {
	d.asked++
	return protocol.DecideResult{}, fmt.Errorf("calling loom/proposals/decide: %w", client.ErrClosed)
}

// A daemon that is lost in the midst of a command is told of once, with where
// to look, and is asked no more.
func TestALostDaemonIsToldOnce(t *testing.T) {
	const want = "loomd: the connection to the daemon was lost before it answered\n" +
		"hint: loomd review list shows what still waits, loomd review history what was decided\n"
	for name, run := range map[string]func(d *deciding, list []protocol.Proposal){
		"one":      func(d *deciding, list []protocol.Proposal) { d.send(protocol.DecideParams{ID: "p1"}, list[0]) },
		"sessions": func(d *deciding, list []protocol.Proposal) { d.sessions(list, protocol.DecideParams{}) },
	} {
		var out, errs strings.Builder
		daemon := &lostDaemon{fakeDaemon: twoFiles(t)}
		d := &deciding{e: &env{ctx: context.Background(), stdout: &out, stderr: &errs}, rev: daemon}
		list, err := allProposals(context.Background(), daemon, protocol.ProposalsListParams{})
		if err != nil {
			t.Fatal(err)
		}
		run(d, list)
		if err := d.finish(); !errors.Is(err, errReported) {
			t.Errorf("%s: finish = %v", name, err)
		}
		if out.String() != "" || errs.String() != want || daemon.asked != 1 {
			t.Errorf("%s: asked %d times, prints %q and %q", name, daemon.asked, out.String(), errs.String())
		}
	}
	var errs strings.Builder // where nothing is decided
	(&env{ctx: context.Background(), stderr: &errs}).complain(fmt.Errorf("calling loom/status: %w", client.ErrClosed))
	if errs.String() != want {
		t.Errorf("complains %q", errs.String())
	}
}
