package secret

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds of a value in bytes. A shorter one is in too many other words to be
// redacted: "12345" would be found in sizes and hashes. The upper one is far above
// keys and certificates.
const (
	MinValue = 6
	MaxValue = 8 << 10
)

// keep is how long a value counts as the present one. After that the next call
// that needs it asks the provider again.
const keep = 10 * time.Minute

// settled is how old a file's time must be when it is read for the same time to
// mean the same content: the clocks of file systems tick every 2 s at worst.
const settled = 3 * time.Second

// The providers.
const (
	ProviderEnv     = "env"
	ProviderFile    = "file"
	ProviderOp      = "op"
	ProviderCommand = "command"
)

// Spec is a secret as it is configured.
type Spec struct {
	Name     string
	Provider string
	Env      string   // of env: the variable
	File     string   // of file: its absolute path
	Ref      string   // of op: as in op://vault/item/field
	Account  string   // of op: the account; "": op's default
	Command  []string // of command: what is run, and its arguments
	Timeout  time.Duration
	Tools    []string // that may use it; none: it is only redacted
}

// Error says why a secret cannot be used. It never holds a value.
type Error struct {
	Name   string
	Reason string
}

func (e *Error) Error() string { return "secret " + e.Name + ": " + e.Reason }

// Set is the secrets of a daemon. It is safe for concurrent use. A nil Set has
// none.
type Set struct {
	environ  []string
	redactor Redactor
	now      func() time.Time

	mu      sync.Mutex // guards the fields below
	entries map[string]*entry
	names   []string // in the order in which they are configured
	watched bool     // some are from files
}

// entry is one secret.
type entry struct {
	spec Spec
	turn chan struct{} // holds one token; who has it may load and use the fields below

	value string
	read  time.Time // when the value was loaded
	stamp fileStamp // of the file that it is from
}

// NewSet is a set without secrets. environ is the environment that env reads and
// that op and commands run in, as [os.Environ] gives it.
func NewSet(environ []string) *Set {
	return &Set{environ: slices.Clone(environ), now: time.Now, entries: map[string]*entry{}}
}

// Redactor redacts every value that the set has loaded.
func (s *Set) Redactor() *Redactor {
	if s == nil {
		return nil
	}
	return &s.redactor
}

// Configure makes these the secrets of the set; nothing is loaded. What was loaded
// before stays redacted.
func (s *Set) Configure(specs []Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.entries
	s.entries, s.names, s.watched = map[string]*entry{}, nil, false
	for _, spec := range specs {
		e := old[spec.Name]
		if e == nil || !same(e.spec, spec) {
			e = &entry{turn: make(chan struct{}, 1)}
			e.turn <- struct{}{}
		} else {
			e = &entry{turn: e.turn, value: e.value, read: e.read, stamp: e.stamp}
		}
		e.spec = spec
		s.entries[spec.Name] = e
		s.names = append(s.names, spec.Name)
		s.watched = s.watched || spec.Provider == ProviderFile
	}
}

// same reports whether two secrets of one name have the same value.
func same(a, b Spec) bool {
	return a.Provider == b.Provider && a.Env == b.Env && a.File == b.File && a.Ref == b.Ref && a.Account == b.Account &&
		slices.Equal(a.Command, b.Command)
}

// Preload loads the secrets that cost nothing and that a tool may show without
// having asked for them: those of env and of files. It returns what failed.
func (s *Set) Preload(ctx context.Context) []error {
	var failed []error
	for _, e := range s.list() {
		if p := e.spec.Provider; p == ProviderEnv || p == ProviderFile {
			if _, err := s.load(ctx, e); err != nil {
				failed = append(failed, err)
			}
		}
	}
	return failed
}

// Refresh loads the secrets of files again that have changed.
func (s *Set) Refresh(ctx context.Context) {
	if s == nil {
		return
	}
	s.mu.Lock()
	watched := s.watched
	s.mu.Unlock()
	if !watched {
		return
	}
	for _, e := range s.list() {
		if e.spec.Provider == ProviderFile {
			_, _ = s.load(ctx, e) // who needs it hears of the failure
		}
	}
}

func (s *Set) list() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*entry, len(s.names))
	for i, name := range s.names {
		out[i] = s.entries[name]
	}
	return out
}

// Names are the secrets that a tool may use.
func (s *Set) Names(tool string) []string {
	if s == nil {
		return nil
	}
	var names []string
	for _, e := range s.list() {
		if slices.Contains(e.spec.Tools, tool) {
			names = append(names, e.spec.Name)
		}
	}
	return names
}

// Value is the secret of this name for a tool, which must be one of those that may
// use it. The error is an *[Error], or the context's.
func (s *Set) Value(ctx context.Context, name, tool string) (string, error) {
	var e *entry
	if s != nil {
		s.mu.Lock()
		e = s.entries[name]
		s.mu.Unlock()
	}
	switch {
	case e == nil:
		return "", &Error{name, "is not configured"}
	case !slices.Contains(e.spec.Tools, tool):
		return "", &Error{name, "is not for " + tool + ": its tools do not list it"}
	}
	return s.load(ctx, e)
}

// Env are the secrets that a tool may use as variables, "NAME=value". One that
// cannot be had fails the whole.
func (s *Set) Env(ctx context.Context, tool string) ([]string, error) {
	var out []string
	for _, name := range s.Names(tool) {
		value, err := s.Value(ctx, name, tool)
		if err != nil {
			return nil, err
		}
		out = append(out, name+"="+value)
	}
	return out, nil
}

// load returns the value of a secret as it is now, which is then redacted for
// good. Calls that need the same secret ask its provider once.
func (s *Set) load(ctx context.Context, e *entry) (string, error) {
	select {
	case <-e.turn:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { e.turn <- struct{}{} }()
	fresh := !e.read.IsZero() && s.now().Sub(e.read) < keep
	if e.spec.Provider == ProviderFile {
		fresh = e.read.Sub(e.stamp.changed) > settled && stampOf(e.spec.File) == e.stamp
	}
	if fresh {
		return e.value, nil
	}
	e.read = time.Time{}
	value, stamp, err := s.provide(ctx, &e.spec)
	if err != nil {
		return "", err
	}
	s.redactor.learn(e.spec.Name, value)
	e.value, e.read, e.stamp = value, s.now(), stamp
	return value, nil
}

// provide asks the provider, and refuses a value that could not be redacted.
func (s *Set) provide(ctx context.Context, spec *Spec) (string, fileStamp, error) {
	fail := func(format string, args ...any) (string, fileStamp, error) {
		return "", fileStamp{}, &Error{spec.Name, fmt.Sprintf(format, args...)}
	}
	data, stamp, err := s.ask(ctx, spec)
	if err != nil {
		if ctx.Err() != nil {
			return "", fileStamp{}, ctx.Err()
		}
		return fail("%v", err)
	}
	value := string(bytes.TrimRight(data, "\r\n"))
	s.mu.Lock()
	names := s.names
	s.mu.Unlock()
	switch {
	case strings.TrimSpace(value) == "":
		return fail("is empty")
	case len(value) < MinValue:
		return fail("is shorter than %d bytes, which cannot be redacted reliably", MinValue)
	case len(value) > MaxValue:
		return fail("is longer than %d bytes", MaxValue)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return fail("is no text in UTF-8 without NUL")
	case unmarkable(value, append([]string{spec.Name}, names...)):
		return fail("is a part of %s, which stands in its place", Mark(spec.Name))
	}
	return value, stamp, nil
}

// Check tells whether each secret can be loaded, in the order in which they are
// configured: nil, or why not. It asks the providers of all.
func (s *Set) Check(ctx context.Context) (names []string, failures []error) {
	for _, e := range s.list() {
		_, err := s.load(ctx, e)
		names, failures = append(names, e.spec.Name), append(failures, err)
	}
	return names, failures
}
