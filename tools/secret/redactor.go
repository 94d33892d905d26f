package secret

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
)

// maxOld is how many values of one secret are remembered; above it the oldest is
// forgotten. It bounds what a provider costs that gives another value each time.
const maxOld = 64

// Redactor replaces secrets by their marks. It is safe for concurrent use; nil,
// and one that knows no values, leaves everything as it is and costs nothing.
type Redactor struct {
	now atomic.Pointer[matcher] // nil: no values

	mu     sync.Mutex // guards the fields below
	names  []string
	values map[string][]string // by name, the oldest first
}

// learn adds a value. From then on it is redacted.
func (r *Redactor) learn(name, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.values[name], value) {
		return
	}
	if r.values == nil {
		r.values = map[string][]string{}
	}
	if !slices.Contains(r.names, name) {
		r.names = append(slices.Clip(r.names), name)
	}
	list := append(r.values[name], value)
	r.values[name] = list[max(0, len(list)-maxOld):]
	r.now.Store(newMatcher(r.names, r.values))
}

func (r *Redactor) matcher() *matcher {
	if r == nil {
		return nil
	}
	return r.now.Load()
}

// Idle reports whether there is nothing to redact.
func (r *Redactor) Idle() bool { return r.matcher() == nil }

// Bytes is text with marks in the place of secrets: text itself when it holds
// none.
func (r *Redactor) Bytes(text []byte) []byte {
	m := r.matcher()
	if m == nil {
		return text
	}
	spans := m.find(text)
	if len(spans) == 0 {
		return text
	}
	return m.replaced(text, spans, 0, len(text), new(int))
}

// String is Bytes for a string.
func (r *Redactor) String(text string) string {
	m := r.matcher()
	if m == nil {
		return text
	}
	spans := m.find([]byte(text))
	if len(spans) == 0 {
		return text
	}
	return string(m.replaced([]byte(text), spans, 0, len(text), new(int)))
}

// Part is text[from:to] with marks in the place of what it has of secrets that
// are in text: one across a border is a mark on each side of it.
func (r *Redactor) Part(text []byte, from, to int) []byte {
	m := r.matcher()
	if m == nil || from == to {
		return text[from:to]
	}
	return m.replaced(text, m.find(text), from, to, new(int))
}

// Margin is how many bytes on both sides of a part its secrets can reach; 0 when
// there is nothing to redact.
func (r *Redactor) Margin() int {
	m := r.matcher()
	if m == nil {
		return 0
	}
	return m.longest + m.longest/8 + 8 // line breaks, of up to four bytes, of which there is one in 60 or fewer
}

// Cut is Bytes for text that was cut out of a longer one that is not at hand: what
// is at its borders and may be a part of a secret is redacted, too, if it is at
// least 4 bytes long.
func (r *Redactor) Cut(text []byte) []byte {
	m := r.matcher()
	if m == nil {
		return text
	}
	s := scanner{m: m}
	spans := s.scan(text, 0, nil)
	if start, name := s.begun(text, edge, 0); start < len(text) {
		spans = merge(spans, span{start, len(text), name, len(text) - start})
	}
	if size, name := m.tail(text); size > 0 {
		first := span{0, size, name, size}
		for len(spans) > 0 && spans[0].start < first.end {
			first.end = max(first.end, spans[0].end)
			spans = spans[1:]
		}
		spans = slices.Insert(spans, 0, first)
	}
	if len(spans) == 0 {
		return text
	}
	return m.replaced(text, spans, 0, len(text), new(int))
}

// Holds reports whether text holds a secret, and the name of the first one.
func (r *Redactor) Holds(text []byte) (name string, ok bool) {
	m := r.matcher()
	if m == nil {
		return "", false
	}
	spans := m.find(text)
	if len(spans) == 0 {
		return "", false
	}
	return m.names[spans[0].name], true
}

// More is the name of a secret that after shows more often than before, "" when
// there is none. marked is one whose mark is what there is more of.
func (r *Redactor) More(before, after []byte) (name, marked string) {
	m := r.matcher()
	if m == nil {
		return "", ""
	}
	counts := make([]int, len(m.names))
	for _, s := range m.find(after) {
		counts[s.name]++
	}
	if slices.Max(counts) > 0 {
		for _, s := range m.find(before) {
			counts[s.name]--
		}
	}
	for i, n := range counts {
		if n > 0 {
			return m.names[i], ""
		}
	}
	for i, mark := range m.marks {
		if n := bytes.Count(after, []byte(mark)); n > 0 && n > bytes.Count(before, []byte(mark)) {
			return "", m.names[i]
		}
	}
	return "", ""
}

func (m *matcher) find(text []byte) []span {
	s := scanner{m: m}
	return s.scan(text, 0, nil)
}

// maxMarks is how many marks one result has. What comes after is left out without
// one, so that a file that is nothing but secrets does not outgrow a message.
const maxMarks = 100_000

// replaced is text[from:to] with marks in the place of spans; marks counts them.
func (m *matcher) replaced(text []byte, spans []span, from, to int, marks *int) []byte {
	out := make([]byte, 0, to-from+16*len(spans))
	for _, s := range spans {
		if s.end <= from || s.start >= to {
			continue
		}
		out = append(out, text[from:max(from, s.start)]...)
		if *marks++; *marks <= maxMarks {
			out = append(out, m.marks[s.name]...)
		}
		from = min(to, s.end)
	}
	return append(out, text[from:to]...)
}
