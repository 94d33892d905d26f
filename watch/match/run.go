package match

import "bytes"

// run walks text[i:end] from state s. It returns where a match was noticed, which is
// a byte of the match or the one behind it; or -1 and the state behind end. When end
// is the text's, a match there is noticed at end.
func (d *dfa) run(text []byte, i, end int, s uint16) (at int, behind uint16) {
	if d.loose {
		return d.walk(text, i, end, s), unknown
	}
	from := i
	t, classes := d.table, &d.p.classes
	for ; i < end; i++ {
		n := t[s|classes[text[i]]]
		if n <= d.matched {
			if n == unknown {
				d.spent += i - from
				from = i
				n = d.step(s, text, i)
			}
			if n == d.matched {
				d.spent += i - from
				return i, n
			}
			if d.loose {
				return d.walk(text, i+1, end, n), unknown
			}
		}
		s = n
	}
	d.spent += end - from
	if end == len(text) && d.endsHere(s) {
		return end, s
	}
	return -1, s
}

// walk is run without keeping states.
func (d *dfa) walk(text []byte, i, end int, s uint16) int {
	w := &d.work
	st := d.state(s)
	set, b := append(w.walked[:0], st.set...), st.before
	for ; i < end; i++ {
		c := text[i]
		if w.step(d.p, set, b, c, d.p.afterAt(text, i)) {
			w.walked = set
			return i
		}
		set, w.set = w.set, set
		b = d.p.kinds[c]
	}
	w.walked = set
	if end == len(text) && w.atEnd(d.p, set, b) {
		return end
	}
	return -1
}

// streamSize is the length of one of four parts of a text that are walked in turns.
// The walk is bound by how long the table takes to answer, so that four take the time
// of one; after a match in a later part the ones before it are walked alone, so
// parts are small.
const streamSize = 2 << 10

// findLine returns a place in the first line with a match at or behind the start of a
// line, i; or -1. No match spans lines.
func (d *dfa) findLine(text []byte, i int) int {
	for i < len(text) {
		at, next := -1, i
		if cuts, ok := streams(text, i); ok && !d.loose {
			at = d.run4(text, cuts)
			next = cuts[4]
		} else {
			next = lineEnd(text, min(i+4*streamSize, len(text)-1))
			at, _ = d.run(text, i, next, d.startAt(beforeLine))
		}
		if at == len(text) && text[at-1] == '\n' {
			return -1 // no line starts there
		}
		if at >= 0 {
			return at
		}
		i = next
	}
	return -1
}

// streams cuts what comes behind i into four parts of whole lines.
func streams(text []byte, i int) (cuts [5]int, ok bool) {
	const least = 256 // bytes; less is not worth the cuts
	size := min(streamSize, (len(text)-i)/4)
	if size < least {
		return cuts, false
	}
	cuts[0] = i
	for k := 1; k <= 4; k++ {
		at := i + k*size
		near := text[min(at, len(text)):min(at+size, len(text))]
		j := bytes.IndexByte(near, '\n')
		switch {
		case j >= 0:
			cuts[k] = at + j + 1
		case k == 4 && at+size >= len(text):
			cuts[k] = len(text)
		default:
			return cuts, false
		}
	}
	return cuts, true
}

// run4 is run over four parts of whole lines. All of them start in the same state.
func (d *dfa) run4(text []byte, cuts [5]int) int {
	start := d.startAt(beforeLine)
	losses := d.losses
	s := [4]uint16{start, start, start, start}
	shortest := cuts[1] - cuts[0]
	for k := 1; k < 4; k++ {
		shortest = min(shortest, cuts[k+1]-cuts[k])
	}
	steps, last, found := 0, 4, -1
	for last == 4 && steps+8 <= shortest {
		next := d.lockstep(text, &cuts, &s, &steps, shortest)
		if steps+8 > shortest {
			break
		}
		for k := range next {
			if next[k] > d.matched {
				s[k] = next[k]
				continue
			}
			at, behind := d.run(text, cuts[k]+steps, cuts[k]+steps+8, s[k])
			if d.losses != losses {
				return d.alone(text, cuts)
			}
			if at >= 0 {
				last, found = k, at
				break
			}
			s[k] = behind
		}
		steps += 8
	}
	return d.finish(text, &cuts, &s, steps, last, found)
}

// lockstep walks the four parts, eight bytes of each at a time, from *steps on. It
// stops with *steps at eight bytes that one of the parts has to look at closely, or
// when there are no eight left. It returns where those eight lead.
func (d *dfa) lockstep(text []byte, cuts *[5]int, s *[4]uint16, steps *int, shortest int) [4]uint16 {
	t, classes, matched := d.table, &d.p.classes, d.matched
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	a, b, c, e := text[cuts[0]:], text[cuts[1]:], text[cuts[2]:], text[cuts[3]:]
	i := *steps
	for ; i+8 <= shortest; i += 8 {
		n0, n1, n2, n3 := s0, s1, s2, s3
		w0, w1, w2, w3 := (*[8]byte)(a[i:]), (*[8]byte)(b[i:]), (*[8]byte)(c[i:]), (*[8]byte)(e[i:])
		for j := range 8 {
			n0 = t[n0|classes[w0[j]]]
			n1 = t[n1|classes[w1[j]]]
			n2 = t[n2|classes[w2[j]]]
			n3 = t[n3|classes[w3[j]]]
		}
		if n0 <= matched || n1 <= matched || n2 <= matched || n3 <= matched {
			*s, *steps = [4]uint16{s0, s1, s2, s3}, i
			d.spent += 4 * i
			return [4]uint16{n0, n1, n2, n3}
		}
		s0, s1, s2, s3 = n0, n1, n2, n3
	}
	d.spent += 4 * (i - *steps)
	*s, *steps = [4]uint16{s0, s1, s2, s3}, i
	return *s
}

// finish walks the ends of the parts before part last, in which a match was found,
// and returns the first place.
func (d *dfa) finish(text []byte, cuts *[5]int, s *[4]uint16, steps, last, found int) int {
	for k := range last {
		losses := d.losses
		at, _ := d.run(text, cuts[k]+steps, cuts[k+1], s[k])
		if at >= 0 {
			return at
		}
		if d.losses != losses && k+1 < last {
			return d.alone(text, *cuts)
		}
	}
	return found
}

// alone walks the four parts one after the other. It is for when the states of the
// parts were lost.
func (d *dfa) alone(text []byte, cuts [5]int) int {
	at, _ := d.run(text, cuts[0], cuts[4], d.startAt(beforeLine))
	return at
}
