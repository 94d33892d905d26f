package tools

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/process"
)

const (
	maxJobs    = 8  // that run at once in a session
	maxEnded   = 32 // that are known after their end
	maxJobTime = 4 * time.Hour
	endTime    = time.Minute // in which what a job left is proposed
)

// Jobs are the background jobs of one session.
type Jobs struct {
	mu     sync.Mutex // guards the fields below
	given  int        // ids given out
	list   []*job     // oldest first
	closed bool

	running sync.WaitGroup
}

// job is a command that runs in the background.
type job struct {
	id      string
	process *process.Process
	over    chan struct{} // closed when it has ended and what it left is proposed; then the fields below are set
	result  process.Result
	err     error
	left    Left

	mu   sync.Mutex      // held while output is taken; guards seen
	seen <-chan struct{} // closed when there is output that was not taken
}

// NewJobs makes the jobs of a session: none yet. Their owner must close them.
func NewJobs() *Jobs { return &Jobs{} }

// Close ends all jobs, proposes what they changed, and returns when that is done. No
// job can be started any more.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	for _, one := range j.list {
		one.process.Kill()
	}
	j.mu.Unlock()
	j.running.Wait()
}

// start starts a command in a place, which it gives back when it ends.
func (j *Jobs) start(c process.Command, place Workdir, call diffpreview.Call) (id string, err error) {
	defer func() {
		if err != nil {
			_, _ = place.End(context.Background(), call)
		}
	}()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return "", failf(diffpreview.CodeUnavailable, "the session is closed")
	}
	if n := len(j.runningOnes()); n >= maxJobs {
		f := failf(CodeTooManyJobs, "%d jobs run already: %s", n, j.runningOnes())
		f.Hint = "end one with job_kill, or wait for one with job_output"
		return "", f
	}
	p, err := process.Start(context.Background(), c)
	if err != nil {
		return "", notRun(err)
	}
	j.given++
	one := &job{id: fmt.Sprintf("j%d", j.given), process: p, over: make(chan struct{}), seen: p.Changed()}
	j.list = append(j.list, one)
	j.forget()
	j.running.Go(func() { one.attend(place, call) })
	return one.id, nil
}

// attend waits for a job's end and proposes what it left.
func (one *job) attend(place Workdir, call diffpreview.Call) {
	defer close(one.over)
	<-one.process.Done()
	var err error
	if one.result, err = one.process.Result(); err != nil {
		one.err = lostEnd(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if one.left, err = place.End(ctx, call); one.err == nil {
		one.err = err
	}
}

func (one *job) isOver() bool {
	select {
	case <-one.over:
		return true
	default:
		return false
	}
}

// runningOnes are the ids of the jobs that run. j.mu is held.
func (j *Jobs) runningOnes() (ids []string) {
	for _, one := range j.list {
		if !one.isOver() {
			ids = append(ids, one.id)
		}
	}
	return ids
}

// forget drops the oldest jobs that have ended, but for the newest maxEnded. j.mu is
// held.
func (j *Jobs) forget() {
	ended := len(j.list) - len(j.runningOnes())
	j.list = slices.DeleteFunc(j.list, func(one *job) bool {
		if ended <= maxEnded || !one.isOver() {
			return false
		}
		ended--
		return true
	})
}

// find is the job of this id.
func (j *Jobs) find(id string) (*job, error) {
	var ids []string
	if j != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		for _, one := range j.list {
			if one.id == id {
				return one, nil
			}
			ids = append(ids, one.id)
		}
	}
	f := failf(CodeUnknownJob, "no job %s in this session", short(id)).with("field", "job")
	f.Hint = "there are none: bash with background starts one"
	if len(ids) > 0 {
		f.Hint = fmt.Sprintf("the jobs are %v", ids)
	}
	return nil, f
}
