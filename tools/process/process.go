// Package process runs commands: a [Command] is started, its output is kept in bounded
// memory, and when it exits, when its time is up or when it is cancelled, every process
// that it started is ended before the answer.
//
// On Linux a supervisor, which is this very program run once more (see [Supervise]),
// adopts all that a command starts, so that none escapes: not by a double fork, not by a
// session of its own. It also ends them when the daemon dies, however that comes. On
// other systems see what start_unix.go and start_windows.go say that they cannot do.
//
// A command has no input, no controlling terminal, and the environment that it is given.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Command is what is to run.
type Command struct {
	Path string   // of the executable: absolute
	Args []string // the whole argument list, the name included
	Dir  string   // where it starts: absolute
	Env  []string // all of its environment, as "NAME=value"

	Timeout time.Duration // from the start; 0: none
	Limits  Limits        // of what is kept; the zero value: DefaultLimits

	// Filter makes a writer that passes what is written to it on to another, changed or
	// held back as it likes, the rest at its Close; nil: nothing is changed. Every
	// stream has its own, and one more behind the cleaning.
	Filter func(io.Writer) io.WriteCloser
	// Output is shown what comes, filtered and not cleaned; nil: nobody. It must not
	// wait for anything, and not keep the chunk. Streams call it side by side.
	Output func(s Stream, chunk []byte)
	// Clean has a [Cleaner] in the way of what is kept.
	Clean bool
}

func (c *Command) check() error {
	switch {
	case !filepath.IsAbs(c.Path):
		return fmt.Errorf("the command's path %q is not absolute", c.Path)
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("the command's directory %q is not absolute", c.Dir)
	case len(c.Args) == 0:
		return errors.New("the command has no arguments, not even its name")
	case slices.ContainsFunc(slices.Concat(c.Args, c.Env, []string{c.Path, c.Dir}), hasNUL):
		return errors.New("an argument or a variable of the command has a NUL character")
	}
	if c.Limits == (Limits{}) {
		c.Limits = DefaultLimits
	}
	return nil
}

// Output is what was kept of both streams.
type Output struct {
	Stdout, Stderr Captured
	// Order is how both streams came: what arrived within the same moment may stand in
	// either order. It ends early when they take turns more than some thousand times.
	Order []Chunk
}

// Result is how a command ended.
type Result struct {
	ExitCode  int    // of the command, -1 when a signal ended it
	Signal    string // that ended it, as "SIGKILL", or ""
	TimedOut  bool
	Cancelled bool
	Duration  time.Duration // until the command ended, not what it left running

	// Killed is how many processes still ran when the command had ended or was to end.
	Killed int
	// Surviving is how many of these could not be ended within the time: they belong to
	// another user, or the system does not let go of them.
	Surviving int

	Output
}

// Process is a command that was started.
type Process struct {
	capture *capture
	out     [2]*stream
	host    host
	done    chan struct{} // closed when all of it has ended; then the fields below are set
	result  Result
	err     error
}

// host is the system's part of a running command.
type host interface {
	// wait returns when the command has ended, and all that it started. It is called
	// once.
	wait() (Result, error)
	// kill asks for the end. It can be called at any time, and does not wait.
	kill()
}

// After the end there may be output still in the pipes, and no end of them, since some
// process that is not the command's holds them.
const (
	drainTime  = 500 * time.Millisecond // of nothing, after which there is no more to come
	drainBytes = 4 << 20                // of one stream, which is more than a pipe holds
)

// Run runs a command to its end. When ctx ends, the command is cancelled, which is no
// error: the result says so.
func Run(ctx context.Context, c Command) (Result, error) {
	p, err := Start(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return p.Wait()
}

// Start starts a command. ctx is that of its whole life.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	var read, write [2]*os.File
	for i := range read {
		var err error
		if read[i], write[i], err = newPipe(); err != nil {
			closeAll(read, write)
			return nil, fmt.Errorf("making a pipe: %w", err)
		}
	}
	h, err := launch(&c, write)
	closeAll(write)
	if err != nil {
		closeAll(read)
		return nil, err
	}
	p := &Process{capture: newCapture(c.Limits), host: h, done: make(chan struct{})}
	for i, s := range []Stream{Stdout, Stderr} {
		p.out[i] = newStream(s, &c, p.capture)
	}
	go p.attend(ctx, read)
	return p, nil
}

func closeAll(lists ...[2]*os.File) {
	for _, list := range lists {
		for _, f := range list {
			if f != nil {
				f.Close()
			}
		}
	}
}

// attend reads what comes and waits for the end.
func (p *Process) attend(ctx context.Context, read [2]*os.File) {
	var readers sync.WaitGroup
	for i, f := range read {
		readers.Go(func() { p.out[i].drink(f) })
	}
	stop := context.AfterFunc(ctx, p.host.kill)
	result, err := p.host.wait()
	stop()
	drained := make(chan struct{})
	go p.drain(read, drained)
	readers.Wait()
	close(drained)
	closeAll(read)
	for _, s := range p.out {
		s.close()
	}
	p.result, p.err = result, err
	close(p.done)
}

// drain ends the reading of pipes in which nothing comes any more.
func (p *Process) drain(read [2]*os.File, drained <-chan struct{}) {
	for _, s := range p.out {
		s.rest.Store(drainBytes)
	}
	start, tick := time.Now(), time.NewTicker(drainTime/5)
	defer tick.Stop()
	for {
		select {
		case <-drained:
			return
		case <-tick.C:
		}
		for i, s := range p.out {
			since := time.Unix(0, s.waiting.Load())
			if since.Before(start) {
				since = start
			}
			if s.waiting.Load() != 0 && time.Since(since) > drainTime {
				read[i].Close()
			}
		}
	}
}

// chunkSize is how much is read at once, in bytes.
const chunkSize = 128 << 10

var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// drink passes on what a pipe has, to its end.
func (s *stream) drink(f *os.File) {
	buf := chunks.Get().(*[chunkSize]byte)
	defer chunks.Put(buf)
	for {
		s.waiting.Store(time.Now().UnixNano())
		n, err := f.Read(buf[:])
		s.waiting.Store(0)
		if n > 0 {
			s.write(buf[:n])
		}
		if err != nil || s.rest.Add(-int64(n)) < 0 {
			return
		}
	}
}

// Wait returns when the command has ended, and all that it started. Its output is
// what [Process.Take] has not taken.
func (p *Process) Wait() (Result, error) {
	<-p.done
	result := p.result
	result.Output = p.Take()
	return result, p.err
}

// Done is closed when the command has ended, and all that it started.
func (p *Process) Done() <-chan struct{} { return p.done }

// Result is how the command ended, without its output; Done must be closed.
func (p *Process) Result() (Result, error) { return p.result, p.err }

// Kill cancels the command. It does not wait for the end.
func (p *Process) Kill() { p.host.kill() }

// Changed is closed when more output has come than there was at this call.
func (p *Process) Changed() <-chan struct{} {
	p.capture.mu.Lock()
	defer p.capture.mu.Unlock()
	return p.capture.changed
}

// Pending is the unfinished last line of each stream, which is not taken before it has
// ended. Without cleaning there is none.
func (p *Process) Pending() (stdout, stderr []byte) {
	return p.out[0].pending(), p.out[1].pending()
}

// Take is what has come since it was called last. Its limits begin anew.
func (p *Process) Take() Output {
	c := p.capture
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Output{Stdout: c.rings[Stdout].take(), Stderr: c.rings[Stderr].take(), Order: c.order}
	c.rings[Stdout].reset()
	c.rings[Stderr].reset()
	c.order = nil
	return out
}

// LastLine is the newest line that has something in it, of either stream, at most so
// many bytes of it, and valid UTF-8 when the output is cleaned. It takes nothing.
func (p *Process) LastLine(most int) string {
	stdout, stderr := p.Pending()
	for _, line := range [][]byte{stdout, stderr} {
		if text := lastLine(line, most); text != "" {
			return text
		}
	}
	return p.capture.lastLine(most)
}
