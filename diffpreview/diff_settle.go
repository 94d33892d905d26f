package diffpreview

import "bytes"

// window is a part of two texts, in lines, and what follows it, which is the same in both.
type window struct {
	old, new [][]byte
	rest     lineCursor
	taken    int // lines of rest that are part of old and new by now
}

// grow takes the next line of the rest into the window. It reports false at the end of the texts.
func (w *window) grow() bool {
	line := w.rest.text(w.taken, w.taken+1)
	if len(line) == 0 {
		return false
	}
	w.old, w.new = append(w.old, line), append(w.new, line)
	w.taken++
	return true
}

// settle brings spans to their one canonical place: a changed run has no line in common at both its ends, an insertion
// or deletion stands as far down as it can, and what meets is joined. It works from the end of the text backwards, so
// that what lies below a span has found its place already.
func (w *window) settle(spans []Span) []Span {
	settled := make([]Span, 0, len(spans)) // last span first
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		for {
			s = trimSpan(w.old, w.new, s)
			s = w.slide(s, settled)
			n := len(settled)
			if n == 0 || s.OldStart+s.OldLines < settled[n-1].OldStart {
				break
			}
			next := settled[n-1]
			settled = settled[:n-1]
			s.OldLines += next.OldLines
			s.NewLines += next.NewLines
		}
		if s.OldLines > 0 || s.NewLines > 0 {
			settled = append(settled, s)
		}
	}
	for i, j := 0, len(settled)-1; i < j; i, j = i+1, j-1 {
		settled[i], settled[j] = settled[j], settled[i]
	}
	return settled
}

// trimSpan takes lines off both ends of a replacement that are the same on both sides.
func trimSpan(old, new [][]byte, s Span) Span {
	for s.OldLines > 0 && s.NewLines > 0 && bytes.Equal(old[s.OldStart], new[s.NewStart]) {
		s = Span{s.OldStart + 1, s.OldLines - 1, s.NewStart + 1, s.NewLines - 1}
	}
	for s.OldLines > 0 && s.NewLines > 0 && bytes.Equal(old[s.OldStart+s.OldLines-1], new[s.NewStart+s.NewLines-1]) {
		s.OldLines, s.NewLines = s.OldLines-1, s.NewLines-1
	}
	return s
}

// slide moves an insertion or deletion down while the line behind it equals its first, up to the next span.
func (w *window) slide(s Span, settled []Span) Span {
	if s.OldLines > 0 && s.NewLines > 0 || s.OldLines == s.NewLines {
		return s
	}
	last := len(settled) == 0
	limit := len(w.old) - s.OldStart - s.OldLines
	if !last {
		limit = settled[len(settled)-1].OldStart - s.OldStart - s.OldLines
	}
	for moved := 0; ; moved++ {
		if moved == limit {
			if !last || !w.grow() {
				s.OldStart, s.NewStart = s.OldStart+moved, s.NewStart+moved
				return s
			}
			limit++
		}
		text, start, length := w.old, s.OldStart, s.OldLines
		if s.OldLines == 0 {
			text, start, length = w.new, s.NewStart, s.NewLines
		}
		if !bytes.Equal(text[start+moved], text[start+length+moved]) {
			s.OldStart, s.NewStart = s.OldStart+moved, s.NewStart+moved
			return s
		}
	}
}
