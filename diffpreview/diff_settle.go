package diffpreview

import "bytes"

// settleSpans brings spans to their one canonical place: a changed run has no line in common at both its ends, an insertion
// or deletion stands as far down as it can, and what meets is joined. It works from the end of the text backwards, so
// that what lies below a span has found its place already.
func settleSpans(old, new [][]byte, spans []Span) []Span {
	settled := make([]Span, 0, len(spans)) // last span first
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		for {
			s = trimSpan(old, new, s)
			s = slideSpan(old, new, s, settled)
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

// slideSpan moves an insertion or deletion down while the line behind it equals its first, up to the next span.
func slideSpan(old, new [][]byte, s Span, settled []Span) Span {
	text, start, length := old, s.OldStart, s.OldLines
	if s.OldLines == 0 {
		text, start, length = new, s.NewStart, s.NewLines
	}
	if s.OldLines > 0 && s.NewLines > 0 || length == 0 {
		return s
	}
	limit := len(old) - s.OldStart - s.OldLines
	if n := len(settled); n > 0 {
		limit = settled[n-1].OldStart - s.OldStart - s.OldLines
	}
	moved := 0
	for moved < limit && bytes.Equal(text[start+moved], text[start+length+moved]) {
		moved++
	}
	s.OldStart, s.NewStart = s.OldStart+moved, s.NewStart+moved
	return s
}
