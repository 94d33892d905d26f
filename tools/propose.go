package tools

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
)

// maxDiff is how much of a step's diff a result carries, in bytes. The person
// who reviews it sees all of it.
const maxDiff = 64 << 10

// proposed is what edit_file and write_file say of the proposal they made or
// extended.
type proposed struct {
	Proposal string `json:"proposal" jsonschema:"id of the proposal that a person reviews"`
	State    string `json:"state" jsonschema:"open (a person has not decided), applied, rejected, conflict, or withdrawn when nothing is left to review"`
	Rule     string `json:"rule,omitempty" jsonschema:"the rule that accepted it in a person's place"`
	Version  int    `json:"version" jsonschema:"version of the proposal"`
	Hash     string `json:"hash" jsonschema:"SHA-256 of the file's new bytes in your view; empty when there is no file any more"`
	Diff     string `json:"diff" jsonschema:"unified diff of this call alone"`
	Lossy    bool   `json:"lossy,omitempty" jsonschema:"diff has U+FFFD in place of what cannot be decoded"`
	cut
}

// describeStep shows at most so many bytes of the step's diff.
func describeStep(tc *Context, step diffpreview.Step, maxDiff int) proposed {
	out := proposed{
		Proposal: step.Proposal.ID, State: string(step.Proposal.State()), Version: step.Proposal.Version,
		Hash: step.After.Hash(), Diff: tc.redactor().String(step.Diff), Lossy: step.Lossy, Rule: step.Rule,
	}
	if len(out.Diff) > maxDiff {
		end := strings.LastIndexByte(out.Diff[:maxDiff], '\n') + 1
		if end == 0 { // one line of that length
			for end = maxDiff; end > 0 && !utf8.RuneStart(out.Diff[end]); {
				end--
			}
		}
		out.cut = cut{
			Truncated: true, Shown: int64(end), Total: int64(len(out.Diff)), Unit: "bytes of the diff",
			Next: "call read_file to see the new text",
		}
		out.Diff = out.Diff[:end]
	}
	return out
}

// propose changes the file that name means. Errors of change pass through.
func propose(ctx context.Context, tc *Context, tool, name string, change func(p diffpreview.Path, now diffpreview.Content) ([]byte, error)) (p diffpreview.Path, via string, step diffpreview.Step, err error) {
	if p, via, err = tc.View.Workspace().Resolve(name); err != nil {
		return p, via, step, ofArgument("path", err)
	}
	if os.IsPathSeparator(name[len(name)-1]) {
		return p, via, step, failf(diffpreview.CodeIsDirectory, "%s names a directory", name).with("path", name)
	}
	text := func(now diffpreview.Content) (diffpreview.Content, error) {
		if now.IsLink() {
			return now, failf(diffpreview.CodeNotRegularFile, "%s is a link", name)
		}
		data, err := change(p, now)
		if err == nil {
			err = checkText(data)
		}
		now.Exists, now.Data = true, data
		return now, err
	}
	steps, err := reviewedAll(ctx, tc, func() ([]diffpreview.Step, error) {
		return proposeUnseen(ctx, tc, tool, []diffpreview.Change{{Path: p, Via: via, Make: text}})
	})
	if err != nil {
		return p, via, step, err
	}
	return p, via, steps[0], nil
}

// checkText refuses new text that a reviewer could not be shown.
func checkText(data []byte) error {
	if diffpreview.IsBinary(data) {
		return notShowable("the new text holds a NUL character, which makes it a binary file that no reviewer could read", "write the character as an escape")
	}
	return nil
}

// proposeUnseen proposes changes of parts of files. Where a file had changed since the
// agent saw it, the agent still has not seen that change, so a write of the whole file
// must stay stale until it reads.
func proposeUnseen(ctx context.Context, tc *Context, tool string, changes []diffpreview.Change) ([]diffpreview.Step, error) {
	type known struct {
		hash string
		ok   bool
	}
	before := make([]known, len(changes))
	for i := range changes {
		before[i].hash, before[i].ok = tc.View.LastSeen(changes[i].Path)
	}
	steps, err := tc.View.ProposeAll(ctx, diffpreview.Call{ID: tc.CallID, Tool: tool}, changes)
	for i := range steps {
		if was := before[i]; was.ok && was.hash != steps[i].Before.Hash() && steps[i].After.Exists {
			tc.View.Saw(changes[i].Shown(), was.hash)
		}
	}
	return steps, err
}

// reviewed is [reviewedAll] for one step.
func reviewed(ctx context.Context, tc *Context, propose func() (diffpreview.Step, error)) (diffpreview.Step, error) {
	steps, err := reviewedAll(ctx, tc, func() ([]diffpreview.Step, error) {
		step, err := propose()
		return []diffpreview.Step{step}, err
	})
	if err != nil {
		return diffpreview.Step{}, err
	}
	return steps[0], nil
}

// reviewedAll makes steps and waits for a person's decisions on them, if the session
// does that.
func reviewedAll(ctx context.Context, tc *Context, propose func() ([]diffpreview.Step, error)) ([]diffpreview.Step, error) {
	var wait time.Duration
	if tc.ReviewWait != nil {
		wait = tc.ReviewWait()
	}
	steps, err := propose()
	var e *diffpreview.Error
	if errors.As(err, &e) && e.Code == diffpreview.CodeNoChange {
		f := failureOf(err)
		f.Hint = "the file in your view already has this text; read_file shows it"
		err = f
	}
	if err == nil && wait > 0 {
		err = awaitReview(ctx, tc, wait, steps)
	}
	return steps, err
}

// awaitReview waits for the decisions on what steps propose, and says in them how
// things stand then.
func awaitReview(ctx context.Context, tc *Context, wait time.Duration, steps []diffpreview.Step) error {
	var ids []string
	for i := range steps {
		ids = append(ids, steps[i].Proposal.ID)
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tc.View.AwaitDecided(waiting, ids, tc.progress) // or some are open still
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range steps {
		if err := lookAgain(tc, &steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// lookAgain says in a step how its proposal stands now.
func lookAgain(tc *Context, step *diffpreview.Step) error {
	now, err := tc.View.Proposal(step.Proposal.ID)
	if err != nil {
		return err
	}
	if step.Proposal = now; now.Undecided() {
		return nil
	}
	p := now.Shown()
	after, err := tc.View.Read(p)
	if err != nil && step.Before.IsLink() {
		return nil // which is still there, and nothing that is read
	}
	step.After = after
	tc.View.Saw(p, after.Hash())
	return err
}

func notShowable(message, hint string) error {
	f := failf(diffpreview.CodeNotText, "%s", message)
	f.Hint = hint
	return f
}

func noSuchFile(tc *Context, p diffpreview.Path) *Failure {
	name := tc.View.Name(p)
	f := failf(diffpreview.CodeFileNotFound, "%s: no such file", name).with("path", name)
	f.Hint = missingHint(tc.View, p)
	return f
}

// unlessSeen fails when the whole of a file is to go that is not any more as the
// agent saw it last. What it never saw it may mean to replace.
func unlessSeen(tc *Context, p diffpreview.Path, now diffpreview.Content) error {
	if seen, known := tc.View.LastSeen(p); known && seen != now.Hash() {
		return stale(tc.View.Name(p), now, "%s has changed since you last read or wrote it")
	}
	return nil
}

func stale(name string, now diffpreview.Content, format string) *Failure {
	f := failf(diffpreview.CodeStale, format, name).with("path", name).with("hash", now.Hash())
	f.Hint = "read the file and decide again"
	return f
}
