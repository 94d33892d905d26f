//go:build unix

package index_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A subject in a process of its own: what writes is then another process, as an
// editor is, and the subject can be stopped and given limits.

// serveRootEnv is the root that a child serves.
const serveRootEnv = "LOOMD_TEST_SERVE_ROOT"

// The child's descriptors of requests and answers.
const (
	requestsFD = 3
	answersFD  = 4
)

type request struct {
	ID       int      `json:"id"`
	Op       string   `json:"op"` // search, list, glob, status
	Question question `json:"question"`
	Patterns []string `json:"patterns,omitempty"`
}

type response struct {
	ID     int           `json:"id"`
	Rows   []row         `json:"rows,omitempty"`
	Paths  []string      `json:"paths,omitempty"`
	Status string        `json:"status,omitempty"`
	Error  string        `json:"error,omitempty"`
	Took   time.Duration `json:"took"` // within the child
}

// TestServeIndex is a test's child process and no test.
func TestServeIndex(t *testing.T) {
	kind := os.Getenv(servingEnv)
	if kind == "" {
		t.Skip("only as the child of another test")
	}
	beforeServing(t)
	open := map[string]opener{"scan": openScan, "stale": openStale, "index": openIndex, "small": openTight}[kind]
	s := open(t, os.Getenv(serveRootEnv), os.Environ())
	requests, answers := os.NewFile(requestsFD, "requests"), os.NewFile(answersFD, "answers")
	defer answers.Close()
	defer requests.Close()
	var (
		mu   sync.Mutex // guards out
		wait sync.WaitGroup
		out  = json.NewEncoder(answers)
		in   = json.NewDecoder(bufio.NewReader(requests))
	)
	defer wait.Wait()
	for {
		var r request
		if err := in.Decode(&r); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			return
		}
		wait.Go(func() {
			resp := answer(s, r)
			mu.Lock()
			defer mu.Unlock()
			if err := out.Encode(resp); err != nil {
				t.Error(err)
			}
		})
	}
}

func answer(s subject, r request) response {
	resp, err := response{ID: r.ID}, error(nil)
	ctx, start := context.Background(), time.Now()
	switch r.Op {
	case "search":
		resp.Rows, err = s.Search(ctx, r.Question)
	case "list":
		resp.Paths, err = s.List(ctx, r.Question.Under, !r.Question.NoHidden)
	case "glob":
		resp.Paths, err = s.Glob(ctx, r.Patterns, r.Question.Under, !r.Question.NoHidden)
	case "status":
		if told, ok := s.(interface{ Status() string }); ok {
			resp.Status = told.Status()
		}
	}
	resp.Took = time.Since(start)
	if err != nil {
		resp.Error = err.Error()
	}
	return resp
}

// served is the parent's end: a subject whose methods may be called from any
// goroutine.
type served struct {
	cmd    *exec.Cmd
	stderr *heard
	read   chan error // has the reader's end

	mu       sync.Mutex // guards what follows
	requests *os.File
	next     int
	waiting  map[int]chan response
}

// serve starts a child that ends with the test. adjust may change how.
func serve(t *testing.T, kind, root string, env []string, adjust ...func(*exec.Cmd)) *served {
	t.Helper()
	hear, requests, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{stderr: &heard{}, read: make(chan error, 1), requests: requests, waiting: map[int]chan response{}}
	s.cmd = exec.Command(os.Args[0], "-test.run=^TestServeIndex$", "-test.timeout=30m")
	s.cmd.Env = append(append([]string{}, env...), servingEnv+"="+kind, serveRootEnv+"="+root, "TMPDIR="+os.TempDir(), "GORACE="+os.Getenv("GORACE"))
	s.cmd.ExtraFiles = []*os.File{hear, tell}
	s.cmd.Stdout, s.cmd.Stderr = s.stderr, s.stderr
	for _, a := range adjust {
		a(s.cmd)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hear.Close()
	tell.Close()
	go func() { s.read <- s.receive(answers) }()
	t.Cleanup(func() {
		s.mu.Lock()
		s.requests.Close()
		s.mu.Unlock()
		err := errors.Join(s.cmd.Wait(), <-s.read)
		answers.Close()
		if err != nil || strings.Contains(s.stderr.String(), "DATA RACE") {
			t.Errorf("the serving child: %v: %s", err, s.stderr)
		}
	})
	return s
}

func (s *served) receive(answers *os.File) error {
	dec := json.NewDecoder(bufio.NewReader(answers))
	for {
		var r response
		err := dec.Decode(&r)
		s.mu.Lock()
		if err != nil {
			for _, w := range s.waiting {
				close(w)
			}
			s.waiting = nil
		} else {
			s.waiting[r.ID] <- r
			delete(s.waiting, r.ID)
		}
		s.mu.Unlock()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading answers: %w", err)
		}
	}
}

// ask puts one question to the child.
func (s *served) ask(r request) (response, error) {
	reply := make(chan response, 1)
	s.mu.Lock()
	if s.waiting == nil {
		s.mu.Unlock()
		return response{}, errors.New("the child has ended")
	}
	s.next++
	r.ID = s.next
	s.waiting[r.ID] = reply
	data, err := json.Marshal(r)
	if err == nil {
		_, err = s.requests.Write(append(data, '\n'))
	}
	s.mu.Unlock()
	if err != nil {
		return response{}, err
	}
	resp, ok := <-reply
	switch {
	case !ok:
		return resp, errors.New("the child ended without an answer")
	case resp.Error != "":
		return resp, errors.New(resp.Error)
	}
	return resp, nil
}

func (s *served) Search(_ context.Context, q question) ([]row, error) {
	r, err := s.ask(request{Op: "search", Question: q})
	return r.Rows, err
}

func (s *served) List(_ context.Context, under string, hidden bool) ([]string, error) {
	r, err := s.ask(request{Op: "list", Question: question{Under: under, NoHidden: !hidden}})
	return r.Paths, err
}

func (s *served) Glob(_ context.Context, patterns []string, under string, hidden bool) ([]string, error) {
	r, err := s.ask(request{Op: "glob", Patterns: patterns, Question: question{Under: under, NoHidden: !hidden}})
	return r.Paths, err
}

// status is what the subject says of itself, as JSON.
func (s *served) status() (string, error) {
	r, err := s.ask(request{Op: "status"})
	return r.Status, err
}

// heard is what a process printed, to be read while it prints.
type heard struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// eventsLost is what a tree logs when the system's queue overflowed.
const eventsLost = "file events were lost"

// said says whether the child has logged something.
func (s *served) said(text string) bool { return strings.Contains(s.stderr.String(), text) }

func (s *served) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}
