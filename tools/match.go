package tools

import "bytes"

// span is a range of bytes: start is in it, end is not.
type span struct{ start, end int }

// places calls yield with the places where a string occurs, from left to right,
// until yield returns false. With overlapping it names every place, else each
// one begins after the end of the one before.
type places func(overlapping bool, yield func(span) bool)

// find looks for old byte by byte; where that finds nothing, an LF in old that
// no CR precedes also stands for CR LF in the text. There is no other leniency.
func (t *editable) find(old string) (places, bool) {
	for _, p := range []places{exactly(t.text, []byte(old)), acrossLineEnds(t.text, []byte(old))} {
		found := false
		p(true, func(span) bool {
			found = true
			return false
		})
		if found {
			return p, true
		}
	}
	return nil, false
}

// exactly finds old as it is. A match that begins with the LF of a CR LF takes
// the CR with it: a line end is one thing.
func exactly(text, old []byte) places {
	return func(overlapping bool, yield func(span) bool) {
		for at := 0; ; {
			i := bytes.Index(text[at:], old)
			if i < 0 {
				return
			}
			s := span{at + i, at + i + len(old)}
			next := s.end
			if overlapping {
				next = s.start + 1
			}
			if old[0] == '\n' && s.start > 0 && text[s.start-1] == '\r' && (overlapping || s.start > at) {
				s.start--
			}
			if !yield(s) {
				return
			}
			at = next
		}
	}
}

var crlf, lf = []byte("\r\n"), []byte("\n")

// acrossLineEnds finds old where its line feeds may stand for CR LF. It searches
// a copy of the text in which all line ends are LF, and looks at the original
// where the copy matches.
func acrossLineEnds(text, old []byte) places {
	var plain, needle []byte
	return func(overlapping bool, yield func(span) bool) {
		if !bytes.Contains(old, lf) || !bytes.Contains(text, crlf) {
			return
		}
		if plain == nil {
			plain, needle = bytes.ReplaceAll(text, crlf, lf), bytes.ReplaceAll(old, crlf, lf)
		}
		origin := origin{text: text}
		for at := 0; ; {
			i := bytes.Index(plain[at:], needle)
			if i < 0 {
				return
			}
			at += i
			start := origin.of(at)
			n := matchAcross(text[start:], old)
			if n >= 0 && !yield(span{start, start + n}) {
				return
			}
			if n >= 0 && !overlapping {
				at += len(needle)
			} else {
				at++
			}
		}
	}
}

// origin maps places of a text whose line ends were all made LF to the text
// itself. The places asked for must ascend.
type origin struct {
	text       []byte
	plain, raw int
}

func (o *origin) of(plain int) int {
	for {
		d := bytes.Index(o.text[o.raw:], crlf)
		if d < 0 || o.plain+d >= plain {
			return o.raw + plain - o.plain
		}
		o.plain += d + 1
		o.raw += d + 2
	}
}

// matchAcross returns the length of what old matches at the start of text, or
// -1.
func matchAcross(text, old []byte) int {
	n := 0
	for i, c := range old {
		if c == '\n' && (i == 0 || old[i-1] != '\r') && bytes.HasPrefix(text[n:], crlf) {
			n += 2
			continue
		}
		if n >= len(text) || text[n] != c {
			return -1
		}
		n++
	}
	return n
}
