package tools

import (
	"context"
	_ "embed"
	"time"
)

//go:embed job_output.md
var jobOutputText string

//go:embed job_kill.md
var jobKillText string

// burst is how long a call that has waited waits on: what comes first seldom comes
// alone.
const burst = 100 * time.Millisecond

type jobOutputArgs struct {
	Job      string `json:"job" jsonschema:"The id that bash gave."`
	WaitSecs int    `json:"wait_secs,omitempty" jsonschema:"How long to wait at most for new output or the end."`
}

type jobKillArgs struct {
	Job string `json:"job" jsonschema:"The id that bash gave."`
}

type jobResult struct {
	Job   string `json:"job"`
	State string `json:"state" jsonschema:"running or exited"`
	ended
	DurationMS int64  `json:"duration_ms,omitempty" jsonschema:"once it has exited: how long it ran, in milliseconds"`
	Stdout     string `json:"stdout" jsonschema:"what is new of it"`
	Stderr     string `json:"stderr" jsonschema:"what is new of it"`
	changed
	cut
}

func jobOutputTool() (Tool, error) {
	return build(spec[jobOutputArgs, jobResult]{
		name: "job_output", text: jobOutputText,
		bounds:      bounds{"job": {1, 100}, "wait_secs": {0, 300}},
		annotations: Annotations{ReadOnly: true},
		codes:       ofJobs,
		call:        callJobOutput,
	})
}

func jobKillTool() (Tool, error) {
	return build(spec[jobKillArgs, jobResult]{
		name: "job_kill", text: jobKillText,
		bounds:      bounds{"job": {1, 100}},
		annotations: Annotations{Destructive: true, Idempotent: true},
		codes:       ofJobs,
		call:        callJobKill,
	})
}

func callJobOutput(ctx context.Context, tc *Context, args jobOutputArgs) (jobResult, error) {
	one, err := tc.Jobs.find(args.Job)
	if err != nil {
		return jobResult{}, err
	}
	one.mu.Lock()
	seen := one.seen
	one.mu.Unlock()
	if args.WaitSecs > 0 {
		stop := tellLines(tc, one.process)
		await(ctx, time.Duration(args.WaitSecs)*time.Second, seen, one.over)
		stop()
	}
	if err := ctx.Err(); err != nil {
		return jobResult{}, err // what is new is there for the next call
	}
	return one.describe(tc)
}

// await waits for news or the end, and for what comes right after the news.
func await(ctx context.Context, most time.Duration, news, end <-chan struct{}) {
	select {
	case <-news:
		return
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	select {
	case <-news:
	case <-end:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-time.After(burst):
	case <-end:
	case <-ctx.Done():
	}
}

func callJobKill(ctx context.Context, tc *Context, args jobKillArgs) (jobResult, error) {
	one, err := tc.Jobs.find(args.Job)
	if err != nil {
		return jobResult{}, err
	}
	one.process.Kill()
	select {
	case <-one.over:
	case <-ctx.Done():
		return jobResult{}, ctx.Err()
	}
	return one.describe(tc)
}

// describe takes what is new of a job, and how it ended if it has.
func (one *job) describe(tc *Context) (jobResult, error) {
	over := one.isOver() // before its output is taken, so that nothing comes after it
	one.mu.Lock()
	one.seen = one.process.Changed()
	taken := one.process.Take()
	stdout, stderr := one.process.Pending()
	one.mu.Unlock()

	out := jobResult{Job: one.id, State: "running", changed: changed{Changes: []changedFile{}}}
	out.Stdout, out.Stderr, out.cut = outputText(taken, "what is left out is gone; call job_output more often, or start the job with its output piped into a file")
	if !over {
		out.Stdout += string(stdout)
		out.Stderr += string(stderr)
		return out, nil
	}
	if one.err != nil {
		return out, withOutput(one.err, Ran{ended: describeEnd(one.result), Stdout: out.Stdout, Stderr: out.Stderr})
	}
	out.State, out.ended, out.DurationMS = "exited", describeEnd(one.result), one.result.Duration.Milliseconds()
	out.changed = describeChanges(tc, one.left)
	return out, nil
}
