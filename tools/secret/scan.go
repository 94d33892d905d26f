package secret

// scanner is where a search for needles stands between two chunks of a text.
type scanner struct {
	m       *matcher
	plain   int32 // state of the matcher's automata
	wrapped int32
	breaks  int  // line breaks since the last byte that wrapped saw
	escape  bool // the last byte was a backslash, which may begin a line break
}

// maxBreaks is how many line breaks may stand in a row within a needle: CR and LF.
const maxBreaks = 2

// span is a part of a text that shows a secret.
type span struct {
	start, end int
	name       int
	size       int // bytes of the longest needle in it
}

// scan searches buf[from:], the bytes after those that it searched before; what
// depth says of these must still be in buf. It adds the spans to those of before.
func (s *scanner) scan(buf []byte, from int, spans []span) []span {
	for at := from; at < len(buf); {
		if s.plain == 0 && s.wrapped == 0 {
			s.breaks, s.escape = 0, false
			if at = s.m.skip(buf, at); at == len(buf) {
				break
			}
		}
		c := buf[at]
		at++
		if s.plain = s.m.plain.step(s.plain, c); s.plain != 0 {
			if found := &s.m.plain.states[s.plain]; found.found > 0 {
				spans = merge(spans, span{at - int(found.found), at, int(found.name), int(found.found)})
			}
		}
		if s.stepWrapped(c); s.wrapped != 0 && s.breaks == 0 && !s.escape {
			if found := &s.m.wrapped.states[s.wrapped]; found.found > 0 {
				spans = merge(spans, span{back(buf, at, int(found.found)), at, int(found.name), int(found.found)})
			}
		}
	}
	return spans
}

// sees is scan for who only asks whether there is a span. Then nothing of what was
// searched before need be at hand.
func (s *scanner) sees(buf []byte) bool {
	for at := 0; at < len(buf); at++ {
		if s.plain == 0 && s.wrapped == 0 {
			s.breaks, s.escape = 0, false
			if at = s.m.skip(buf, at); at == len(buf) {
				break
			}
		}
		s.plain = s.m.plain.step(s.plain, buf[at])
		s.stepWrapped(buf[at])
		if s.m.plain.states[s.plain].found > 0 || s.m.wrapped.states[s.wrapped].found > 0 {
			return true
		}
	}
	return false
}

// stepWrapped takes a byte to the automaton that line breaks do not disturb: CR,
// LF, and the two as JSON writes them.
func (s *scanner) stepWrapped(c byte) {
	switch {
	case s.wrapped == 0:
		s.breaks, s.escape = 0, false
	case s.escape && (c == 'n' || c == 'r'), c == '\n' || c == '\r':
		s.escape = false
		if s.breaks++; s.breaks > maxBreaks {
			s.wrapped, s.breaks = 0, 0
		}
		return
	case s.escape:
		s.wrapped, s.breaks, s.escape = 0, 0, false
	case c == '\\':
		s.escape = true
		return
	}
	s.breaks = 0
	s.wrapped = s.m.wrapped.step(s.wrapped, c)
}

// skip returns the next place where a needle may begin, at or shortly before it.
func (m *matcher) skip(buf []byte, at int) int {
	for ; at+window <= len(buf); at += window - 1 {
		a, b := buf[at+window-2], buf[at+window-1]
		if m.pairs.has(a, b) {
			return at
		}
		if m.breaks.has(a, b) && (a != 'n' && a != 'r' || b == '\\' || buf[at+window-3] == '\\') {
			return at
		}
	}
	return at
}

// back returns where the n bytes before end begin when line breaks do not count.
func back(buf []byte, end, n int) int {
	for n > 0 {
		end--
		switch c := buf[end]; {
		case c == '\n' || c == '\r':
		case (c == 'n' || c == 'r') && end > 0 && buf[end-1] == '\\':
			end--
		default:
			n--
		}
	}
	return end
}

// open is where in buf, all of which was searched, a needle may have begun that
// has not come to its end.
func (s *scanner) open(buf []byte) int {
	at := len(buf) - s.m.plain.begun(s.plain)
	if depth := s.m.wrapped.begun(s.wrapped); depth > 0 {
		end := len(buf)
		if s.escape {
			end--
		}
		at = min(at, back(buf, end, depth))
	}
	return at
}

// begun is the part at the end of buf that begins a needle, when it is at least
// least bytes and a share of one, and the name; else its start is len(buf).
func (s *scanner) begun(buf []byte, least int, share float64) (start, name int) {
	start = len(buf)
	for _, a := range []struct {
		automaton *automaton
		at        int32
		wrapped   bool
	}{{&s.m.plain, s.plain, false}, {&s.m.wrapped, s.wrapped, true}} {
		for at := a.at; at != 0; at = a.automaton.states[at].fail {
			st := &a.automaton.states[at]
			if len(st.next) == 0 || int(st.depth) < least || float64(st.depth) < share*float64(st.least) {
				continue // a whole one is among the spans
			}
			from := len(buf) - int(st.depth)
			if a.wrapped {
				end := len(buf)
				if s.escape {
					end--
				}
				from = back(buf, end, int(st.depth))
			}
			if from < start {
				start, name = from, int(st.leastN)
			}
			break
		}
	}
	return start, name
}

// merge adds a span whose end is behind those of all others: what overlaps is one.
func merge(spans []span, s span) []span {
	for len(spans) > 0 {
		last := spans[len(spans)-1]
		if last.end <= s.start {
			break
		}
		s.start, s.end = min(s.start, last.start), max(s.end, last.end)
		if last.size > s.size {
			s.name, s.size = last.name, last.size
		}
		spans = spans[:len(spans)-1]
	}
	return append(spans, s)
}
