package tools

import (
	"fmt"

	"github.com/loomd/loomd/tools/process"
)

// Bounds of what a result lists.
const (
	maxOrder   = 50
	maxChanges = 200
)

// changed is what a command did to files.
type changed struct {
	Changes      []changedFile `json:"changes" jsonschema:"the files that it changed, sorted by path, at most 200 of them; they are proposals now"`
	ChangedFiles int           `json:"changed_files,omitempty" jsonschema:"how many files it changed, when changes has not all of them"`
	GitDiscarded bool          `json:"git_discarded,omitempty" jsonschema:"it changed .git, which was not kept"`
	Ignored      int           `json:"ignored,omitempty" jsonschema:"how many changed files the ignore rules leave out; only your later commands see these"`
	Refused      []refusal     `json:"refused,omitempty" jsonschema:"changes that could not be proposed, at most 200 of them, and are lost"`
	RefusedFiles int           `json:"refused_files,omitempty" jsonschema:"how many there are, when refused has not all of them"`
}

type changedFile struct {
	Path          string `json:"path" jsonschema:"where your view has the file now; of a deleted one, had it"`
	From          string `json:"from,omitempty" jsonschema:"where it was before"`
	Action        string `json:"action" jsonschema:"created, modified, deleted or moved"`
	OriginalBytes int    `json:"original_bytes" jsonschema:"size of the file in your view before"`
	NewBytes      int    `json:"new_bytes" jsonschema:"size of the file in your view now"`
	proposed
}

type refusal struct {
	Path    string `json:"path"`
	Code    string `json:"code" jsonschema:"as of a failure"`
	Message string `json:"message"`
}

// describeChanges lists what a command left, with at most maxDiff of diffs.
func describeChanges(tc *Context, left Left) changed {
	view := tc.View
	out := changed{Changes: []changedFile{}, GitDiscarded: left.GitDiscarded, Ignored: left.Ignored}
	room := maxDiff
	for i := range left.Steps[:min(len(left.Steps), maxChanges)] {
		step := &left.Steps[i]
		f := changedFile{
			Path: view.Name(step.Proposal.Shown()), Action: "modified",
			OriginalBytes: len(step.Before.Data), NewBytes: len(step.After.Data), proposed: describeStep(tc, *step, room),
		}
		switch was := view.Name(step.Proposal.Path); {
		case !step.After.Exists:
			f.Action = "deleted"
		case !step.Before.Exists:
			f.Action = "created"
		case was != f.Path:
			f.Action, f.From = "moved", was
		}
		room -= len(f.Diff)
		out.Changes = append(out.Changes, f)
	}
	if len(left.Steps) > maxChanges {
		out.ChangedFiles = len(left.Steps)
	}
	for _, r := range left.Refused[:min(len(left.Refused), maxChanges)] {
		out.Refused = append(out.Refused, refusal(r))
	}
	if len(left.Refused) > maxChanges {
		out.RefusedFiles = len(left.Refused)
	}
	return out
}

// describeRun is a command's end and output. What it changed is not in it.
func describeRun(r process.Result) Ran {
	out := Ran{ended: describeEnd(r), DurationMS: r.Duration.Milliseconds(), changed: changed{Changes: []changedFile{}}}
	out.Stdout, out.Stderr, out.cut = outputText(r.Output, "run it again with the output piped through grep or tail, or into a file")
	if !out.Truncated && out.Stdout != "" && out.Stderr != "" && len(r.Order) <= maxOrder {
		for _, c := range r.Order {
			out.Order = append(out.Order, chunkOrder{c.Stream.String(), c.Bytes})
		}
	}
	return out
}

func describeEnd(r process.Result) ended {
	out := ended{Signal: r.Signal, TimedOut: r.TimedOut, Cancelled: r.Cancelled, Killed: r.Killed, Surviving: r.Surviving}
	if r.Signal == "" {
		out.ExitCode = &r.ExitCode
	}
	return out
}

// outputText is both streams as text, and what was left out of them.
func outputText(o process.Output, next string) (stdout, stderr string, left cut) {
	stdout, shown := textOf(o.Stdout)
	stderr, more := textOf(o.Stderr)
	if shown += more; shown < o.Stdout.Total+o.Stderr.Total {
		left = cut{Truncated: true, Shown: shown, Total: o.Stdout.Total + o.Stderr.Total, Unit: "bytes of output", Next: next}
	}
	return stdout, stderr, left
}

// textOf is a stream with a line in the place of what was left out.
func textOf(c process.Captured) (text string, shown int64) {
	c = c.Lines()
	if shown = c.Total - c.Dropped; c.Dropped == 0 {
		return string(c.Head) + string(c.Tail), shown
	}
	gap := fmt.Sprintf("[%d bytes are left out here]\n", c.Dropped)
	if n := len(c.Head); n > 0 && c.Head[n-1] != '\n' {
		gap = "\n" + gap
	}
	return string(c.Head) + gap + string(c.Tail), shown
}
