package secret

import (
	"io"
	"sync"
)

// Writer passes what is written to it on to w without secrets: also one that is
// cut over writes. It holds back only what may be the beginning of one, at most
// the longest of its forms. Close passes on what is held back, and does not close
// w: there a half of a secret or more is redacted, for a text that ends within one
// was cut there. What is written after a secret was loaded is searched for it,
// what was written before is not. It is safe for concurrent use.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &writer{r: r, w: w} }

type writer struct {
	r *Redactor
	w io.Writer

	mu      sync.Mutex // guards the fields below
	s       scanner
	buf     []byte // from base on; all of it was searched
	base    int    // bytes of the stream before buf
	covered int    // up to where in the stream a mark stands for what was written
	spans   []span // by their places in buf
	out     []byte
}

// Write searches p and passes on what is decided.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.r.matcher()
	if m != w.s.m { // there is a new value: what is held back is searched again
		w.s = scanner{m: m}
		w.spans = w.s.scan(w.buf, 0, nil)
	}
	if m == nil {
		return w.w.Write(p)
	}
	from := len(w.buf)
	w.buf = append(w.buf, p...)
	w.spans = w.s.scan(w.buf, from, w.spans)
	if err := w.pass(w.s.open(w.buf)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// pass writes the first n bytes of buf, in which no needle begins any more that is
// not among the spans.
func (w *writer) pass(n int) error {
	w.out = w.out[:0]
	at := 0
	for len(w.spans) > 0 && w.spans[0].start < n {
		s := w.spans[0]
		w.spans = w.spans[1:]
		if s.start >= w.covered-w.base { // else a mark stands for it already
			w.out = append(w.out, w.buf[w.visible(at):max(w.visible(at), s.start)]...)
			w.out = append(w.out, w.s.m.marks[s.name]...)
		}
		w.covered = max(w.covered, w.base+s.end)
		at = min(n, s.end)
	}
	if from := w.visible(at); from < n {
		w.out = append(w.out, w.buf[from:n]...)
	}
	w.buf = append(w.buf[:0], w.buf[n:]...)
	w.base += n
	for i := range w.spans {
		w.spans[i].start -= n
		w.spans[i].end -= n
	}
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.w.Write(w.out)
	return err
}

// visible is the first place in buf from at on that no mark stands for.
func (w *writer) visible(at int) int { return max(at, w.covered-w.base) }

// Close ends the text.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.s.m != nil {
		if start, name := w.s.begun(w.buf, MinValue, 0.5); start < len(w.buf) {
			w.spans = merge(w.spans, span{start, len(w.buf), name, len(w.buf) - start})
		}
	}
	return w.pass(len(w.buf))
}
