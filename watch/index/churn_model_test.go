package index_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// A model of what was true when. Every path has a history of states, each with
// the time in which a search could have seen it: from the beginning of the
// operation that made it to the end of the one that ended it. An answer is right
// when each path's part of it is what one state says that was to be seen between
// the call and the reply.

// state is what is at a path for a search: nothing, a file, a link, or a file
// that the rules leave out.
type state struct {
	kind byte
	text string
}

const (
	absent byte = iota
	aFile
	aLink
	hidden
)

// forever ends a span that has not ended.
const forever = time.Duration(1<<63 - 1)

type span struct {
	state    state
	from, to time.Duration // since the model's start
}

type model struct {
	start time.Time

	mu      sync.Mutex // guards history
	history map[string][]span
}

func newModel() *model { return &model{start: time.Now(), history: map[string][]span{}} }

func (m *model) now() time.Duration { return time.Since(m.start) }

// tree is what one writer has on disk: files and links, by path.
type tree map[string]state

// change runs act, which leads from one visible tree to the next. Until it is
// over each path may be seen as it was, as it will be, or in one of the states
// between.
func (m *model) change(before, after tree, between []state, act func() error) error {
	var touched []string
	for p, s := range after {
		if before[p] != s {
			touched = append(touched, p)
		}
	}
	for p := range before {
		if _, stays := after[p]; !stays {
			touched = append(touched, p)
		}
	}
	m.begin(touched, after, between)
	err := act()
	m.end(touched)
	return err
}

func (m *model) begin(touched []string, after tree, between []state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, p := range touched {
		spans := m.history[p]
		if spans == nil {
			spans = []span{{to: forever}}
		}
		for _, s := range between {
			spans = append(spans, span{state: s, from: now, to: forever})
		}
		m.history[p] = append(spans, span{state: after[p], from: now, to: forever})
	}
}

func (m *model) end(touched []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, p := range touched {
		spans := m.history[p]
		for i := len(spans) - 2; i >= 0 && spans[i].to == forever; i-- {
			spans[i].to = now
		}
	}
}

// seen are the states of a path that could be seen between two times.
func seen(spans []span, call, reply time.Duration) []span {
	var found []span
	for _, s := range slices.Backward(spans) {
		if s.to < call {
			break // ends come in order
		}
		if s.from <= reply {
			found = append(found, s)
		}
	}
	return found
}

// possible are the states that a search may have seen at a path. When the rules
// change between call and reply nobody can exclude that a file was judged by
// those of one moment and read at another.
func (m *model) possible(p string, call, reply time.Duration) []span {
	found := seen(m.history[p], call, reply)
	dir, _, _ := strings.Cut(p, "/")
	rules := seen(m.history[dir+"/.gitignore"], call, reply)
	if !strings.HasSuffix(p, ".tmp") || len(rules) < 2 {
		return found
	}
	for _, s := range found {
		switch s.state.kind {
		case hidden:
			s.state.kind = aFile
		case aFile:
			s.state.kind = hidden
		}
		found = append(found, s)
	}
	return found
}

// check compares an answer with what was true: part is what of the answer is
// about a path, want what a state would give.
func check[T comparable](m *model, call, reply time.Duration, parts map[string][]T, want func(p string, s state) []T) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := range m.history {
		possible := m.possible(p, call, reply)
		ok := slices.ContainsFunc(possible, func(s span) bool { return slices.Equal(parts[p], want(p, s.state)) })
		if !ok {
			return fmt.Errorf("%q: answered %v between %v and %v; could be:%s", p, parts[p], call, reply, told(possible))
		}
	}
	for p := range maps.Keys(parts) {
		if _, known := m.history[p]; !known {
			return fmt.Errorf("%q: nobody ever wrote it: %v", p, parts[p])
		}
	}
	return nil
}

func told(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		until := s.to.String()
		if s.to == forever {
			until = "now"
		}
		fmt.Fprintf(&b, "\n\t%s %.80q from %v to %s", [...]string{"nothing", "a file", "a link", "hidden"}[s.state.kind], s.state.text, s.from, until)
	}
	return b.String()
}
