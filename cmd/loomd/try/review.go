package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// review is the person's side: what waits, and what is decided about it.
type review struct {
	loomd   string
	dir     string // where commands are typed
	changes []*change
	client  *client.Client
}

// collect learns the ids of the hunks, which are those that the agent made.
func (r *review) collect(ctx context.Context) error {
	for _, c := range r.changes {
		got, err := r.client.Proposal(ctx, protocol.ProposalsGetParams{ID: c.proposal})
		if err != nil {
			return err
		}
		hunks := got.Proposal.Hunks
		if len(hunks) != len(c.hunks) {
			return fmt.Errorf("%s: %s, where the agent changed %s", c.path, plural(len(hunks), "hunk"), plural(len(c.hunks), "place"))
		}
		for i := range hunks {
			c.hunks[i].id = hunks[i].ID
		}
	}
	return nil
}

// exitInterrupted is the exit code of what a person interrupted.
const exitInterrupted = 130

// errInterrupted says that the person left the review by ^C, which is no
// failure: the rest is decided later.
var errInterrupted = errors.New("interrupted")

// onTerminal lets a person decide.
func (r *review) onTerminal(ctx context.Context) error {
	heading("You decide: $ loomd review   (? lists the keys, q leaves the rest undecided)")
	cmd := exec.CommandContext(ctx, r.loomd, "review")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.dir, os.Stdin, os.Stdout, os.Stderr
	// ^C reaches both of us. The review restores the terminal before it ends.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endTime
	err := cmd.Run()
	if ctx.Err() != nil || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitInterrupted {
		return errInterrupted
	}
	if err != nil {
		return fmt.Errorf("loomd review: %w", err)
	}
	return nil
}

// byScript types a fixed list of commands.
func (r *review) byScript(ctx context.Context) error {
	heading("What waits for a decision")
	for _, args := range [][]string{{"list"}, {"show"}} {
		if err := r.typed(ctx, args...); err != nil {
			return err
		}
	}
	heading("A person decides (a fixed script: no terminal)")
	last := len(r.changes) - 1
	for i, c := range r.changes[:last] {
		for _, args := range script(c, i) {
			if err := r.typed(ctx, args...); err != nil {
				return err
			}
		}
	}
	return r.typed(ctx, "accept", "--all")
}

// script is what is typed about the i-th change.
func script(c *change, i int) [][]string {
	switch {
	case len(c.hunks) > 1:
		return [][]string{
			{"accept", c.path, "--hunk", c.hunks[0].id},
			{"reject", c.path, "--hunk", c.hunks[1].id, "--comment", "one is enough"},
		}
	case i == 0:
		return [][]string{{"accept", c.path, "--comment", "well put"}}
	}
	return [][]string{{"reject", c.path, "--comment", "the end is fine as it is"}}
}

// typed runs a command of the review as a person would type it, and shows both.
func (r *review) typed(ctx context.Context, args ...string) error {
	line := "$ loomd review"
	for _, arg := range args {
		line += " " + shellQuoted(arg)
	}
	fmt.Println(line)
	cmd := exec.CommandContext(ctx, r.loomd, append([]string{"review"}, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	fmt.Printf("%s\n", bytes.TrimRight(out, "\n"))
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(line, "$ "), err)
	}
	return nil
}

// settle learns what was decided, and checks that the agent was told just that.
func (r *review) settle(ctx context.Context, told []protocol.Review) error {
	for _, c := range r.changes {
		got, err := r.client.Proposal(ctx, protocol.ProposalsGetParams{ID: c.proposal})
		if err != nil {
			return err
		}
		for i := range c.hunks {
			h := &c.hunks[i]
			at := slices.IndexFunc(got.Proposal.Hunks, func(o protocol.Hunk) bool { return o.ID == h.id })
			if at < 0 {
				return fmt.Errorf("%s: hunk %s is gone", c.path, h.id)
			}
			state := got.Proposal.Hunks[at].State
			h.accepted = state == protocol.HunkAccepted
			if state == protocol.HunkOpen {
				continue
			}
			decision, ok := lastReview(told, c.proposal, h.id)
			h.modified = decision == "modified"
			if !ok || decision != string(state) && !(h.modified && h.accepted) {
				return fmt.Errorf("%s: hunk %s is %s and the agent was told %q", c.path, h.id, state, decision)
			}
		}
	}
	return nil
}

// lastReview is the last that was said of a hunk: a decision can be undone and
// made anew.
func lastReview(told []protocol.Review, proposal, hunk string) (decision string, ok bool) {
	for _, r := range told {
		if r.Proposal == proposal && r.Hunk == hunk {
			decision, ok = r.Decision, true
		}
	}
	return decision, ok
}

// showWritten checks the disk, to the byte, and shows what changed there.
func (t *tree) showWritten(changes []*change) error {
	want := map[string][]byte{}
	var rows [][]string
	for _, c := range changes {
		now, _, _, err := readFile(t.path(c.path))
		if err != nil {
			return err
		}
		if want[c.path], err = c.result(t.before[c.path], now); err != nil {
			return err
		}
		rows = append(rows, []string{c.path, c.outcome()})
	}
	if err := t.is(want); err != nil {
		return err
	}
	table(append(rows, []string{"all other files", "as they were"}))
	return nil
}

// outcome sums up what became of a change.
func (c *change) outcome() string {
	accepted := 0
	for _, h := range c.hunks {
		if h.accepted {
			accepted++
		}
	}
	switch {
	case accepted == 0 && c.fresh:
		return "not there, and neither is its folder"
	case accepted == 0:
		return "as it was"
	case c.fresh:
		return "created"
	case accepted == len(c.hunks):
		return "written"
	}
	return fmt.Sprintf("%d of %s written", accepted, plural(len(c.hunks), "hunk"))
}

// hear makes the agent's next call and returns what it is told by it.
func (a *agent) hear(ctx context.Context) ([]protocol.Review, error) {
	var listed struct{}
	told, err := a.call(ctx, "list_files", map[string]any{}, &listed)
	if err != nil {
		return nil, err
	}
	again, err := a.call(ctx, "list_files", map[string]any{}, &listed)
	if err == nil && len(again) > 0 {
		err = errors.New("the agent is told the same decisions twice")
	}
	return told, err
}

// showTold shows the decisions, and checks that the agent's view of what is
// decided is the disk.
func (a *agent) showTold(ctx context.Context, t *tree, told []protocol.Review) error {
	var rows [][]string
	for _, r := range told {
		comment := ""
		if r.Comment != "" {
			comment = `"` + r.Comment + `"`
		}
		rows = append(rows, []string{r.Decision, r.Path, r.Hunk, "by " + r.By, comment})
	}
	if len(rows) == 0 {
		rows = [][]string{{"nothing: nothing was decided"}}
	}
	table(rows)
	waiting, err := a.client.Proposals(ctx, protocol.ProposalsListParams{Session: label})
	if err != nil {
		return err
	}
	for _, c := range a.changes {
		if slices.ContainsFunc(waiting.Proposals, func(p protocol.Proposal) bool { return p.ID == c.proposal }) {
			continue
		}
		if err := a.sees(ctx, t, c.path); err != nil {
			return err
		}
	}
	if n := len(waiting.Proposals); n > 0 {
		fmt.Printf("\nStill in the agent's view alone: %s.\n", plural(n, "undecided file"))
		return nil
	}
	fmt.Println("\nNothing waits any more: the agent's view of the folder is the folder.")
	return nil
}

// sees fails unless the agent reads at a path what is on the disk there.
func (a *agent) sees(ctx context.Context, t *tree, path string) error {
	disk, _, there, err := readFile(t.path(path))
	if err != nil {
		return err
	}
	s, _, err := a.read(ctx, path)
	var failure *toolFailure
	if errors.As(err, &failure) && failure.Code == "file_not_found" && !there {
		return nil
	}
	if err != nil {
		return err
	}
	if !there || s.text != string(disk) {
		return fmt.Errorf("the agent's view of %s is not the disk", path)
	}
	return nil
}
