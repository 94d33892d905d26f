//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/diffpreview"
)

// background starts a job and returns its id.
func (b *bench) background(command string, more ...any) string {
	b.t.Helper()
	a := args{"command": command, "background": true}
	for i := 0; i < len(more); i += 2 {
		a[more[i].(string)] = more[i+1]
	}
	got := b.ok("bash", a)
	if got["exit_code"] != nil || got["timed_out"] != false || got["stdout"] != "" {
		b.t.Errorf("%v", got)
	}
	return got["job"].(string)
}

// exited reads a job to its end: its last answer, with all of its output.
func (b *bench) exited(job string) answer {
	b.t.Helper()
	out, err := "", ""
	for {
		a := b.ok("job_output", args{"job": job, "wait_secs": 20})
		out += a["stdout"].(string)
		err += a["stderr"].(string)
		if a["state"] == "exited" {
			a["stdout"], a["stderr"] = out, err
			return a
		}
	}
}

func TestJob(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\n"})
	b.withSandbox()
	job := b.background("echo begun; echo err >&2; until [ -e go ]; do sleep 0.01; done; echo two >>f; echo done; exit 5")
	if job != "j1" {
		t.Errorf("the id is %s", job)
	}
	for out, err := "", ""; out != "begun\n" || err != "err\n"; { // the one can come before the other
		a := b.ok("job_output", args{"job": job, "wait_secs": 20})
		if a["state"] != "running" || a["exit_code"] != nil || a["stdout"] == "" && a["stderr"] == "" {
			t.Fatalf("%v", a)
		}
		out += a["stdout"].(string)
		err += a["stderr"].(string)
	}
	if a := b.ok("job_output", args{"job": job}); a["stdout"] != "" || a["stderr"] != "" {
		t.Errorf("it is told again: %v", a)
	}
	start := time.Now()
	if b.ok("job_output", args{"job": job, "wait_secs": 1}); time.Since(start) < time.Second {
		t.Error("it did not wait")
	}
	if b.ok("read_file", args{"path": "f"})["contents"] != "one\n" {
		t.Error("its changes are there before its end")
	}
	place(t, b.jobDir(), map[string]string{"go": ""})
	a := b.exited(job)
	if a["exit_code"] != 5.0 || a["stdout"] != "done\n" || a["duration_ms"] == nil || len(a["changes"].([]any)) != 2 {
		t.Errorf("%v", a)
	}
	if b.ok("read_file", args{"path": "f"})["contents"] != "one\ntwo\n" {
		t.Error("its changes are not there")
	}
	for _, tool := range []string{"job_output", "job_kill"} {
		if a := b.ok(tool, args{"job": job}); a["state"] != "exited" || a["exit_code"] != 5.0 || a["stdout"] != "" || len(a["changes"].([]any)) != 2 {
			t.Errorf("%s: %v", tool, a)
		}
	}
}

// jobDir is where the newest copy is.
func (b *bench) jobDir() string { return b.sandbox.(*copies).newest() }

func TestJobKill(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	job := b.background("trap '' TERM; echo x >f; printf 'half a li'; sleep 1000 & wait; sleep 1000")
	if a := b.ok("job_output", args{"job": job, "wait_secs": 20}); a["stdout"] != "half a li" {
		t.Errorf("%v", a)
	}
	start := time.Now()
	a := b.ok("job_kill", args{"job": job})
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	if a["state"] != "exited" || a["cancelled"] != true || a["stdout"] != "half a li" || len(a["changes"].([]any)) != 1 {
		t.Errorf("%v", a)
	}
}

func TestJobTime(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	if a := b.exited(b.background("sleep 1000", "timeout_secs", 1)); a["timed_out"] != true {
		t.Errorf("%v", a)
	}
	var given bashArgs
	given.Background = true
	must(t, given.check(func(string) bool { return false }))
	if got := time.Duration(given.TimeoutSecs) * time.Second; got != maxJobTime {
		t.Errorf("a job has %v", got)
	}
}

func TestJobLimits(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	b.fails("unknown_job", "job_output", args{"job": "j1"})
	for range maxJobs {
		b.background("exec sleep 1000")
	}
	if a := b.fails("too_many_jobs", "bash", args{"command": "true", "background": true}); !strings.Contains(a["message"].(string), "j8") {
		t.Errorf("%v", a)
	}
	b.ok("job_kill", args{"job": "j3"})
	for range maxEnded + 1 {
		b.exited(b.background("true"))
	}
	if a := b.fails("unknown_job", "job_kill", args{"job": "j3"}); a["field"] != "job" || !strings.Contains(a["hint"].(string), "j4") {
		t.Errorf("%v", a)
	}
	b.ok("job_output", args{"job": "j1"})
}

// The end of a session ends its jobs, proposes what they did, and lets none begin.
func TestJobsClose(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	job := b.background("echo x >f; echo on; exec sleep 1000")
	b.ok("job_output", args{"job": job, "wait_secs": 20})
	b.jobs.Close()
	if a := b.ok("job_output", args{"job": job}); a["state"] != "exited" || a["cancelled"] != true || len(a["changes"].([]any)) != 1 {
		t.Errorf("%v", a)
	}
	b.fails("unavailable", "bash", args{"command": "true", "background": true})
	b.jobs = nil
	b.fails("unavailable", "bash", args{"command": "true", "background": true})
	b.fails("unknown_job", "job_output", args{"job": job})
}

// A job that could not be ended in order says so, with its output.
func TestJobFails(t *testing.T) {
	b := newBench(t, nil)
	c := b.withSandbox()
	c.fail = &diffpreview.Error{Code: diffpreview.CodeNoSpace, Message: "full"}
	job := b.background("echo on; kill -INT $$")
	var a answer
	for a = b.anyOf(job); a["state"] == "running"; a = b.anyOf(job) {
	}
	if a["code"] != "no_space" {
		t.Errorf("%v", a)
	}
}

func (b *bench) anyOf(job string) answer {
	_, a := b.call("job_output", args{"job": job, "wait_secs": 20})
	return a
}

// Output that a cancelled call would have had is there for the next.
func TestJobOutputCancelled(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	job := b.background("until [ -e go ]; do sleep 0.01; done; echo on; exec sleep 1000")
	ctx, cancel := context.WithCancel(context.Background())
	errs := make(chan error, 1)
	go func() {
		_, err := b.registry.Run(ctx, "job_output", "", json.RawMessage(fmt.Sprintf(`{"job":%q,"wait_secs":60}`, job)), Context{View: b.view, Jobs: b.jobs})
		errs <- err
	}()
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	place(t, b.jobDir(), map[string]string{"go": ""})
	if a := b.ok("job_output", args{"job": job, "wait_secs": 20}); a["stdout"] != "on\n" {
		t.Errorf("%v", a)
	}
}
