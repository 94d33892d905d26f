package index

import (
	"bytes"
	"fmt"
)

// file looks for matches in pieces of a text and reports whether there are any.
func (sc *scanner) file(path string, c content, pieces []piece) bool {
	if c.late >= 0 && !sc.joined {
		pieces = clip(pieces, c.late)
	}
	switch sc.query.Mode {
	case Files:
		return sc.anyLine(path, c, pieces)
	case Count:
		return sc.count(path, c, pieces)
	}
	w := lineWriter{scanner: sc, path: path, text: c.text, late: c.late >= 0 && sc.joined}
	if c.late >= 0 && !sc.joined {
		w.text = c.text[:c.late]
	}
	before := sc.out.matches
	for _, p := range pieces {
		if !w.piece(p) {
			break
		}
	}
	found := sc.out.matches > before
	if !sc.enough() && !w.stopped {
		w.after(len(w.text))
	}
	if found && c.late >= 0 && (!sc.joined || w.stopped) {
		sc.out.warnings = append(sc.out.warnings, Warning{path, "binary: the search stopped at a NUL byte after a match"})
	}
	return found
}

// clip leaves of pieces what lies before end.
func clip(pieces []piece, end int) []piece {
	for i := range pieces {
		if pieces[i].hi >= end {
			pieces[i].hi = end
			if pieces[i].lo >= end {
				return pieces[:i]
			}
			return pieces[:i+1]
		}
	}
	return pieces
}

func (sc *scanner) anyLine(path string, c content, pieces []piece) bool {
	for _, p := range pieces {
		start, end, ok := sc.query.Pattern.Find(c.text[:p.hi], p.lo)
		if ok && c.late >= 0 && sc.joined && bytes.IndexByte(c.text[start:end], 0) >= 0 {
			return false
		}
		if ok {
			sc.out.lines = append(sc.out.lines, Line{Path: path, Match: true})
			sc.out.matches++
			return true
		}
	}
	return false
}

func (sc *scanner) count(path string, c content, pieces []piece) bool {
	n := 0
	for _, p := range pieces {
		n += sc.query.Pattern.Count(c.text[p.lo:p.hi])
	}
	if n == 0 {
		return false
	}
	if c.late >= 0 {
		sc.out.warnings = append(sc.out.warnings, Warning{path, "binary: matches are not counted"})
		return false
	}
	sc.out.lines = append(sc.out.lines, Line{Path: path, Number: n, Match: true})
	sc.out.matches++
	return true
}

// lineWriter turns the matches in one text into lines, with their context.
type lineWriter struct {
	*scanner
	path    string
	text    []byte
	late    bool // there is a NUL: what has it ends the search
	stopped bool

	done   int // lines up to here were written, or are none of ours
	line   int // the line number at counted
	at     int // counted
	behind int // lines of context to come after the last match
}

// piece writes the matches in a piece, and reports whether to go on.
func (w *lineWriter) piece(p piece) bool {
	if p.lo >= w.at || w.line == 0 {
		w.at, w.line = p.lo, p.line
	}
	text := w.text[:min(p.hi, len(w.text))]
	for from := p.lo; from < len(text); {
		start, end, ok := w.query.Pattern.Find(text, from)
		if !ok {
			break
		}
		if w.late && bytes.IndexByte(text[start:end], 0) >= 0 {
			w.stopped = true
			return false
		}
		if !w.match(start, end) {
			return false
		}
		from = end
	}
	return true
}

// match writes the lines from start to end, and the context before them.
func (w *lineWriter) match(start, end int) bool {
	if w.query.Before > 0 || w.behind > 0 {
		w.after(start)
		w.before(start)
	}
	w.behind = w.query.After
	w.lines(start, end, true)
	return !w.enough()
}

// after writes the context that is due behind the last match, up to limit.
func (w *lineWriter) after(limit int) {
	for w.behind > 0 && w.done < limit {
		end := min(w.lineEnd(w.done), limit)
		w.behind--
		w.lines(w.done, end, false)
	}
}

// before writes the context before a match at start.
func (w *lineWriter) before(start int) {
	from := start
	for n := 0; n < w.query.Before && from > w.done; n++ {
		from = bytes.LastIndexByte(w.text[:from-1], '\n') + 1
	}
	if from = max(from, w.done); from < start {
		w.lines(from, start, false)
	}
}

func (w *lineWriter) lineEnd(at int) int {
	if i := bytes.IndexByte(w.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(w.text)
}

// number returns the number of the line that begins at.
func (w *lineWriter) number(at int) int {
	if at >= w.at {
		w.line += bytes.Count(w.text[w.at:at], newline)
	} else {
		w.line -= bytes.Count(w.text[at:w.at], newline)
	}
	w.at = at
	return w.line
}

// lines writes the lines from start to end.
func (w *lineWriter) lines(start, end int, match bool) {
	number := w.number(start)
	for start < end {
		next := min(w.lineEnd(start), end)
		l := Line{Path: w.path, Number: number, Text: trimEnd(w.text[start:next]), Match: match}
		if w.query.MaxLine > 0 && len(l.Text) > w.query.MaxLine {
			l.Text, l.Cut = w.part(l.Text, match), true
		}
		w.out.lines = append(w.out.lines, l)
		if match {
			w.out.matches++
		}
		number++
		start = next
	}
	w.done = end
}

// trimEnd takes a line's end away.
func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, newline)
	return bytes.TrimSuffix(line, []byte("\r"))
}

// part returns the part of a long line that shows its first match.
func (w *lineWriter) part(line []byte, match bool) []byte {
	size := w.query.MaxLine
	start, end := 0, 0
	if match {
		start, end, _ = w.query.Pattern.Span(line)
	}
	lead := max(size-(end-start), 0) / 4 // most of what is shown follows the match
	from := max(min(start-lead, len(line)-size), 0)
	return line[from : from+size]
}

// String is the line as grep prints it.
func (l Line) String() string {
	mark := ':'
	if !l.Match {
		mark = '-'
	}
	return fmt.Sprintf("%s%c%d%c%s", l.Path, mark, l.Number, mark, l.Text)
}
