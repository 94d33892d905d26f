package tools

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/process"
)

//go:embed bash.md
var bashText string

// maxCommand bounds a command in characters. Linux takes 128 KiB in one argument, and
// a character has at most four bytes.
const maxCommand = 32_000

type bashArgs struct {
	Command     string `json:"command" jsonschema:"What the shell runs. It can have several lines."`
	Cwd         string `json:"cwd,omitempty" jsonschema:"The directory to start in: relative to the workspace's root with /, or absolute inside it; without it, the root."`
	TimeoutSecs int    `json:"timeout_secs,omitempty" jsonschema:"How long it may take. Without it, a background job may take 4 hours."`
	Background  bool   `json:"background,omitempty" jsonschema:"Start it as a job and answer at once."`
}

// check gives a job that names no time all that a job can have.
func (a *bashArgs) check(given func(name string) bool) error {
	if strings.IndexByte(a.Command, 0) >= 0 {
		return badArgument("command", "must not hold a NUL character")
	}
	if a.Background && !given("timeout_secs") {
		a.TimeoutSecs = int(maxJobTime / time.Second)
	}
	return nil
}

type bashResult struct {
	Job string `json:"job,omitempty" jsonschema:"with background: the id of the job, which has only begun"`
	Ran
}

// ended is how a command ended.
type ended struct {
	ExitCode  *int   `json:"exit_code,omitempty" jsonschema:"absent when a signal ended it, and while it runs"`
	Signal    string `json:"signal,omitempty" jsonschema:"the signal that ended it, as SIGKILL"`
	TimedOut  bool   `json:"timed_out" jsonschema:"its time was up before it ended"`
	Cancelled bool   `json:"cancelled,omitempty" jsonschema:"it was ended before its time"`
	Killed    int    `json:"killed,omitempty" jsonschema:"how many processes still ran at the end, and were ended"`
	Surviving int    `json:"surviving,omitempty" jsonschema:"how many of these could not be ended"`
}

func bashTool() (Tool, error) {
	return build(spec[bashArgs, bashResult]{
		name: "bash", text: bashText,
		defaults:    bashArgs{TimeoutSecs: 60},
		bounds:      bounds{"command": {1, maxCommand}, "cwd": {1, maxPath}, "timeout_secs": {1, 300}},
		annotations: Annotations{Destructive: true, OpenWorld: true},
		codes: slices.Concat(ofPaths, []diffpreview.Code{
			diffpreview.CodeFileNotFound, diffpreview.CodeNotRegularFile, diffpreview.CodeNoSpace, diffpreview.CodeDenied, CodeTooManyJobs,
		}),
		call: callBash,
	})
}

func callBash(ctx context.Context, tc *Context, args bashArgs) (bashResult, error) {
	shell, err := findShell()
	if err != nil {
		return bashResult{}, err
	}
	if tc.Sandbox == nil || args.Background && tc.Jobs == nil {
		return bashResult{}, noPlace()
	}
	argv := []string{filepath.Base(shell), "-c", args.Command}
	if err := tc.MayRun(ctx, args.Command, argv); err != nil {
		return bashResult{}, err
	}
	place, err := tc.begin(ctx, args.Cwd, false)
	if err != nil {
		return bashResult{}, err
	}
	call := diffpreview.Call{ID: tc.CallID, Tool: "bash"}
	c, err := tc.command(ctx, place, call.Tool, argv, time.Duration(args.TimeoutSecs)*time.Second)
	if err != nil {
		_, _ = place.End(ctx, call)
		return bashResult{}, err
	}
	c.Path = shell
	if args.Background {
		id, err := tc.Jobs.start(c, place, call)
		return bashResult{Job: id, Ran: Ran{changed: changed{Changes: []changedFile{}}}}, err
	}
	ran, err := runInPlace(ctx, tc, c, place, call)
	return bashResult{Ran: ran}, err
}

// findShell is the absolute path of bash, or else of sh.
func findShell() (string, error) {
	env := process.Environment(os.Environ())
	for _, name := range []string{"bash", "sh"} {
		if path := process.Find(name, env); path != "" {
			return path, nil
		}
	}
	f := failf(diffpreview.CodeUnavailable, "neither bash nor sh is on this machine")
	f.Hint = "no command can run here; the other tools do not need a shell"
	return "", f
}

// runInPlace runs a command to its end and proposes what it left.
func runInPlace(ctx context.Context, tc *Context, c process.Command, place Workdir, call diffpreview.Call) (Ran, error) {
	p, err := process.Start(ctx, c)
	if err != nil {
		_, _ = place.End(ctx, call)
		return Ran{}, notRun(err)
	}
	stop := tellLines(tc, p)
	result, err := p.Wait()
	stop()
	var wait time.Duration
	if tc.ReviewWait != nil {
		wait = tc.ReviewWait()
	}
	left, endErr := place.End(ctx, call)
	out := describeRun(result)
	switch {
	case result.Cancelled: // whoever called wants nothing of it any more
		left = Left{}
	case err != nil:
		return out, withOutput(lostEnd(err), out)
	case endErr != nil:
		return out, withOutput(endErr, out)
	case wait > 0 && len(left.Steps) > 0:
		if err := awaitReview(ctx, tc, wait, left.Steps); err != nil {
			return out, withOutput(err, out)
		}
	}
	out.changed = describeChanges(tc, left)
	return out, nil
}

func notRun(err error) error {
	f := failf(diffpreview.CodeIO, "the command did not run: %v", err)
	f.Hint = "try it again; loomd doctor says what is wrong with this machine"
	return f
}

// lostEnd is the failure of a command that ran, and of which nobody knows how it ended.
func lostEnd(err error) error {
	f := failf(diffpreview.CodeIO, "how the command ended is not known: %v", err)
	f.Hint = "it may have done its work: look before you run it again; what it changed is in your view"
	return f
}

// maxToldOutput is how much of each stream a failure carries, in bytes.
const maxToldOutput = 4 << 10

// withOutput is a failure after a command that has run, with how that went.
func withOutput(err error, out Ran) error {
	f := *failureOf(err)
	f.Extra = nil
	for name, v := range failureOf(err).Extra {
		f.with(name, v)
	}
	if out.ExitCode != nil {
		f.with("exit_code", *out.ExitCode)
	}
	for name, text := range map[string]string{"stdout": out.Stdout, "stderr": out.Stderr} {
		c := process.Captured{Tail: []byte(text), Total: int64(len(text))}
		if c.Dropped = c.Total - maxToldOutput; c.Dropped > 0 {
			c.Tail = c.Tail[c.Dropped:]
			c = c.Lines()
		}
		f.with(name, string(c.Tail))
	}
	return &f
}

const (
	tellEvery = 250 * time.Millisecond
	maxTold   = 200 // bytes of a line
)

// tellLines tells the client the newest line of the output while the command runs. stop
// returns when nothing is told any more.
func tellLines(tc *Context, p *process.Process) (stop func()) {
	if tc.Progress == nil {
		return func() {}
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for told := ""; ; {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if line := p.LastLine(maxTold); line != told {
				told = line
				tc.Progress(Progress{Message: line})
			}
		}
	}()
	return func() { close(ended); <-done }
}
